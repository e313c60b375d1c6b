//! What an experiment found: a table, a picture, and what the source said.

use scumble::text::{aligned, grouped, quoted, short};
use serde_json::{Value, json};

use crate::chart::{Figure, Panel};

/// The series of numbers that the source prints, and of those that stand beside them. Where
/// a picture has both, the text has their ratio, too.
pub(crate) const SOURCE: &str = "the source";
pub(crate) const OURS: &str = "ours";

/// What an experiment found.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<Cell>>,
    pub(crate) claims: Vec<Claim>,
    /// What is shown before the tables.
    pub(crate) notes: Vec<String>,
    pub(crate) figure: Figure,
}

/// One cell of the table.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cell {
    Text(String),
    Whole(u64),
    Number(f64),
    /// There is no such value.
    Nothing,
}

/// Something the source says, and what we found.
#[derive(Debug, Clone)]
pub(crate) struct Claim {
    /// In the source's words, shortened.
    pub(crate) said: String,
    pub(crate) found: String,
    pub(crate) agrees: bool,
}

impl Claim {
    pub(crate) fn new(
        said: impl Into<String>,
        found: impl Into<String>,
        agrees: bool,
    ) -> Self {
        Self { said: said.into(), found: found.into(), agrees }
    }
}

impl Outcome {
    /// `columns` are the names of the table's columns, with commas between them.
    pub(crate) fn new(
        columns: &'static str,
        rows: Vec<Vec<Cell>>,
        claims: Vec<Claim>,
        figure: Figure,
    ) -> Self {
        let columns = columns.split(',').collect();
        Self { columns, rows, claims, notes: Vec::new(), figure }
    }

    /// What is shown before the tables.
    pub(crate) fn noting(mut self, notes: Vec<String>) -> Self {
        self.notes = notes;
        self
    }

    /// What a person reads: the panels of the picture as tables, and the claims.
    pub(crate) fn text(&self) -> String {
        let mut text: String =
            self.notes.iter().map(|note| format!("{note}\n")).collect();
        for (title, lines) in self.tables() {
            text.push_str(&format!("{title}\n{}\n", aligned(&lines)));
        }
        let claims = self.claims.iter().map(|Claim { said, found, agrees }| {
            let verdict = if *agrees { "agrees" } else { "differs" };
            format!("said   {said}\nfound  {found}: {verdict}\n")
        });
        text + &claims.collect::<Vec<_>>().join("\n")
    }

    /// Whether the source prints numbers that ours stand beside.
    pub(crate) fn is_compared(&self) -> bool {
        self.compared().is_some()
    }

    /// The series of the source's numbers and of ours.
    fn compared(&self) -> Option<(usize, usize)> {
        let named = |name| self.figure.series.iter().position(|s| s.name == name);
        named(SOURCE).zip(named(OURS))
    }

    /// The panels of the picture as tables: title and lines, the heading first.
    pub(crate) fn tables(&self) -> Vec<(String, Vec<Vec<String>>)> {
        let compared = self.compared();
        let panels = self.figure.panels.iter().filter(|panel| !panel.places.is_empty());
        let table = |panel: &Panel| {
            let names = self.figure.series.iter().map(|series| series.name.clone());
            let ratio = compared.map(|_| "ratio".to_owned());
            let heading = std::iter::once(panel.across.clone())
                .chain(names)
                .chain(ratio)
                .collect();
            let places = panel.places.iter().enumerate().map(|(number, place)| {
                let values: Vec<Option<f64>> =
                    panel.values.iter().map(|line| line[number]).collect();
                let ratio = compared.map(|(source, ours)| {
                    let pair = values[source].zip(values[ours]);
                    pair.map(|(theirs, ours)| ours / theirs).filter(|r| r.is_finite())
                });
                let cells = values.iter().copied().chain(ratio);
                let cells = cells.map(|value| Cell::from(value).text());
                std::iter::once(place.clone()).chain(cells).collect()
            });
            (panel.title.clone(), std::iter::once(heading).chain(places).collect())
        };
        panels.map(table).collect()
    }

    /// The table as a CSV file.
    pub(crate) fn csv(&self) -> String {
        let mut text = self.columns.join(",") + "\n";
        for row in &self.rows {
            let cells: Vec<String> = row.iter().map(Cell::raw).collect();
            text.push_str(&(cells.join(",") + "\n"));
        }
        text
    }

    /// What a program reads.
    pub(crate) fn json(&self) -> Value {
        let row = |row: &Vec<Cell>| {
            let cells = self.columns.iter().zip(row);
            cells.map(|(name, cell)| ((*name).to_owned(), cell.json())).collect()
        };
        let rows: Vec<Value> = self.rows.iter().map(row).collect();
        let claim = |claim: &Claim| json!({ "said": claim.said, "found": claim.found, "agrees": claim.agrees });
        let claims: Vec<Value> = self.claims.iter().map(claim).collect();
        json!({ "rows": rows, "claims": claims })
    }
}

impl Cell {
    fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Whole(number) => grouped(*number),
            Self::Number(number) => short(*number),
            Self::Nothing => "-".to_owned(),
        }
    }

    fn raw(&self) -> String {
        match self {
            Self::Text(text) => quoted(text).into_owned(),
            Self::Whole(number) => number.to_string(),
            Self::Number(number) => number.to_string(),
            Self::Nothing => String::new(),
        }
    }

    fn json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Whole(number) => json!(number),
            Self::Number(number) => json!(number),
            Self::Nothing => Value::Null,
        }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::Whole(number)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Self {
        Self::Number(number)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, Into::into)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chart::{Form, Mark, Scale, Series};

    #[test]
    fn one_table_is_text_csv_and_json() {
        let series = |name: &str| Series::new(name, 0, Mark::Circle);
        let panel = Panel::new(
            "loss",
            ("delta", vec!["0–.1".to_owned()]),
            ("loss", Scale::Linear, Form::Lines),
            vec![vec![Some(0.25)], vec![None]],
        );
        let outcome = Outcome::new(
            "method,k,loss",
            vec![
                vec!["full, domain".into(), 1957u64.into(), 0.25.into()],
                vec!["mondrian".into(), Cell::Nothing, None::<f64>.into()],
            ],
            vec![Claim::new("k is large", "1,957 of 1,957", true)],
            Figure::new(
                "",
                vec![series("full, domain"), series("mondrian")],
                vec![panel],
            ),
        );
        assert_eq!(
            outcome.text(),
            "loss\n\
             delta  full, domain  mondrian\n\
             0–.1   0.25          -\n\n\
             said   k is large\nfound  1,957 of 1,957: agrees\n"
        );
        assert_eq!(
            outcome.csv(),
            "method,k,loss\n\"full, domain\",1957,0.25\nmondrian,,\n"
        );
        let mut outcome = outcome;
        outcome.figure.series = vec![series(SOURCE), series(OURS)];
        outcome.figure.panels[0].values = vec![vec![Some(0.25)], vec![Some(0.5)]];
        let compared =
            "loss\ndelta  the source  ours  ratio\n0–.1   0.25        0.5   2\n";
        assert!(outcome.text().starts_with(compared), "{}", outcome.text());
        let json = outcome.json();
        assert_eq!(json["rows"][1]["k"], Value::Null);
        assert_eq!(json["claims"][0]["agrees"], true);
    }
}
