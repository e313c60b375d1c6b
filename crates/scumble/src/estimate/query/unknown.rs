//! Values that a question names and a release does not have.

use crate::error::Result;
use crate::estimate::evidence::cells::hides;
use crate::estimate::evidence::{Column, Evidence, Nature};
use crate::estimate::query::{
    Check, Comparison, Condition, Literal, Measure, Query, Test, Tester,
};
use crate::words::nearest;

/// A value that a question names, but no published row and no domain has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// The column, as the release calls it.
    pub column: String,
    /// The value, as the question has it.
    pub value: String,
    /// A value of the column that is nearly the same. Published values are public.
    pub nearest: Option<String>,
}

impl Evidence {
    /// The values that a question asks for and nothing has, each once, in the order of the
    /// question. Their counts are 0, which is right, but seldom what was meant.
    pub fn unknown(&self, query: &Query) -> Result<Vec<Unknown>> {
        let mut found = Vec::new();
        self.collect_unknown(&query.condition, &mut found)?;
        Ok(found)
    }

    fn collect_unknown(
        &self,
        condition: &Condition,
        found: &mut Vec<Unknown>,
    ) -> Result<()> {
        let test = match condition {
            Condition::And(parts) | Condition::Or(parts) => {
                return parts.iter().try_for_each(|p| self.collect_unknown(p, found));
            }
            Condition::Not(part) | Condition::NotTrue(part) => {
                return self.collect_unknown(part, found);
            }
            Condition::Test(test) => test,
        };
        let literals: &[Literal] = match &test.check {
            Check::Compare(Comparison::Equal | Comparison::NotEqual, literal) => {
                std::slice::from_ref(literal)
            }
            Check::Among(literals) => literals,
            // Limits need not be values themselves.
            Check::Compare(..) | Check::Like(_) | Check::Missing => &[],
        };
        let column = &self.columns[self.column(&test.column)?];
        let lattice = match column.nature {
            Nature::Coarse(number) => self.cells[number].lattice.is_some(),
            _ => false,
        };
        if lattice || matches!(column.nature, Nature::Number(_)) {
            // What rows had is not known.
            return Ok(());
        }
        let published = |literal: &Literal| match (column.nature, literal) {
            (Nature::Coarse(number), Literal::Text(text)) => {
                self.cells[number].texts.iter().any(|cell| hides(text, cell))
            }
            _ => false,
        };
        for literal in literals.iter().filter(|literal| !published(literal)) {
            if let Some(unknown) = column.unknown(literal)?
                && !found.contains(&unknown)
            {
                found.push(unknown);
            }
        }
        Ok(())
    }
}

/// Rows with cells in a column whose values are not listed, and are taken from other rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guessed {
    /// The column.
    pub column: String,
    /// How many published rows have such a cell.
    pub rows: u64,
}

impl Evidence {
    /// The columns of a question in which what rows have is partly taken from other rows.
    pub fn guessed(&self, query: &Query) -> Result<Vec<Guessed>> {
        let names = query.columns();
        let places = names.iter().map(|name| self.column(name));
        let mut places: Vec<usize> = places.collect::<Result<_>>()?;
        places.sort_unstable();
        places.dedup();
        let guessed = |place: usize| {
            let column = &self.columns[place];
            let Nature::Coarse(number) = column.nature else { return None };
            let cells = &self.cells[number];
            let own = column.codes.iter().zip(&self.rows);
            let own = own.filter(|(code, _)| cells.is_guess(**code));
            let rows = own.map(|(_, rows)| rows).sum();
            (rows > 0).then(|| Guessed { column: column.name.clone(), rows })
        };
        Ok(places.into_iter().filter_map(guessed).collect())
    }
}

impl Query {
    /// The columns that it names, as it names them.
    pub fn columns(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.group_by.iter().map(String::as_str).collect();
        names.extend(self.measure.column());
        self.condition.collect_columns(&mut names);
        if let Measure::Share(Some(part)) = &self.measure {
            part.collect_columns(&mut names);
        }
        names
    }
}

impl Condition {
    fn collect_columns<'a>(&'a self, names: &mut Vec<&'a str>) {
        match self {
            Self::And(parts) | Self::Or(parts) => {
                parts.iter().for_each(|part| part.collect_columns(names));
            }
            Self::Not(part) | Self::NotTrue(part) => part.collect_columns(names),
            Self::Test(test) => names.push(&test.column),
        }
    }
}

impl Column {
    /// The value, if no row has it.
    fn unknown(&self, literal: &Literal) -> Result<Option<Unknown>> {
        let texts = || self.texts.iter().map(|text| &**text);
        let known = || texts().filter(|text| !self.reading.is_missing(text));
        let (value, nearest) = match literal {
            // Whoever asks for missing values knows what they may be.
            Literal::Text(text) if self.reading.is_missing(text) => return Ok(None),
            Literal::Text(text) => (text.clone(), nearest(text, known())),
            // The nearest number is not the one that was meant.
            Literal::Number(number) => (number.to_string(), None),
        };
        let check = Check::Compare(Comparison::Equal, literal.clone());
        let test = Test { column: self.name.clone(), check };
        if self.spelled_out(&test).is_some() {
            return Ok(None);
        }
        let tester = Tester::new(&test, &self.reading, texts())?;
        if texts().any(|text| tester.test(text) == Some(true)) {
            return Ok(None);
        }
        let nearest = nearest.map(str::to_owned);
        Ok(Some(Unknown { column: self.name.clone(), value, nearest }))
    }
}
