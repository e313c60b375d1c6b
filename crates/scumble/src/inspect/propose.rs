//! A hierarchy for one column, as lines of a file.

use std::collections::BTreeMap;

use crate::error::{Error, Result};
use crate::hierarchy::{NAMED_RULES, Rule, Template, Tree, named_rule};
use crate::inspect::{Coarsening, inspect_column, words};
use crate::table::{ColumnId, Kind, Reading, Source};
use crate::text::grouped;
use crate::watch::Watched;

/// More values than these make no file that anybody reads.
const MOST_VALUES: usize = 100_000;

/// A hierarchy that was proposed or asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// Where it comes from, in a sentence.
    pub from: String,
    /// What a recipe says instead of naming a file, if that is possible.
    pub recipe: Option<String>,
    /// A line for each value: the value, what is above it, the root. The texts are those of
    /// the table.
    pub lines: Vec<Vec<String>>,
    /// How many rows each value has.
    pub rows: Vec<u64>,
    /// Values without a place in it, which are `other` in its lines.
    pub lacking: usize,
}

impl Proposal {
    /// The lines as a hierarchy file.
    pub fn csv(&self) -> String {
        let cell = |cell: &String| match cell.contains([';', '"', '\n', '\r']) {
            true => format!("\"{}\"", cell.replace('"', "\"\"")),
            false => cell.clone(),
        };
        let line = |line: &Vec<String>| {
            line.iter().map(cell).collect::<Vec<_>>().join(";") + "\n"
        };
        self.lines.iter().map(line).collect()
    }

    /// How many nodes each level has, the values first.
    pub fn nodes(&self) -> Vec<usize> {
        let levels = self.lines.first().map_or(0, Vec::len);
        let count = |level: usize| {
            let mut labels: Vec<&String> =
                self.lines.iter().map(|line| &line[level]).collect();
            labels.sort_unstable();
            labels.dedup();
            labels.len()
        };
        (0..levels).map(count).collect()
    }
}

/// The names of templates, for messages and help.
pub fn template_names() -> Vec<&'static str> {
    Template::ALL.map(Template::name).into_iter().chain(NAMED_RULES).collect()
}

/// A hierarchy for a column of a table: by this template, or else what fits its values.
pub fn propose<'a>(
    source: impl Into<Watched<'a, Source>>,
    column: &str,
    template: Option<&str>,
) -> Result<Proposal> {
    let Watched { task: source, watch } = source.into();
    let id = source.column(column)?;
    let counted = values(Watched { task: source, watch }, id)?;
    if counted.is_empty() {
        return Err(
            Error::input(format!("`{column}` has no values")).in_file(source.name())
        );
    }
    if let Some(name) = template {
        return by_template(name, &counted, column, source.name());
    }
    let found = inspect_column(Watched { task: source, watch }, id)?;
    let form = |rule: Rule, kind: Kind, from: String, recipe: String| {
        let reading = Reading {
            kind,
            missing: Reading::category().missing,
            date_format: found.date_format.clone(),
        };
        by_rule(&rule, &reading, &counted, from, Some(recipe))
    };
    let numbers = |widths: &[String]| -> Result<Rule> {
        Rule::widths(
            widths.iter().filter_map(|width| width.parse().ok()).collect(),
            0.0,
        )
    };
    Ok(match &found.coarsening {
        Some(Coarsening::Template(template, lacking)) => {
            return Ok(by_tree(*template, &counted, *lacking));
        }
        Some(Coarsening::Order(order)) => form(
            Rule::Tree(Tree::ladder(order, &[])?),
            Kind::Category,
            "the values are ranges, and neighbours are joined".to_owned(),
            format!("order = {}", listed(order)),
        ),
        Some(Coarsening::Widths(widths)) => form(
            numbers(widths)?,
            Kind::Number,
            "ranges of numbers".to_owned(),
            format!("widths = [{}]", widths.join(", ")),
        ),
        Some(Coarsening::Mask) => form(
            Rule::mask(crate::hierarchy::Side::Right),
            Kind::Category,
            "codes that lose their last characters".to_owned(),
            "mask = \"right\"".to_owned(),
        ),
        Some(Coarsening::Dates) => {
            use crate::hierarchy::Grain::{Month, Quarter, Year};
            form(
                Rule::calendar(vec![Month, Quarter, Year])?,
                Kind::Date,
                "parts of the calendar".to_owned(),
                "dates = [\"month\", \"quarter\", \"year\"]".to_owned(),
            )
        }
        None => alike(&counted)?,
    })
}

/// The values of a column, and how many rows have each.
fn values(source: Watched<'_, Source>, column: ColumnId) -> Result<Vec<(String, u64)>> {
    let folded = source.fold(
        &[column],
        BTreeMap::<String, u64>::new,
        |values, _, cells| {
            match values.get_mut(cells[0]) {
                Some(rows) => *rows += 1,
                None => {
                    values.insert(cells[0].to_owned(), 1);
                }
            }
            match values.len() > MOST_VALUES {
                false => Ok(()),
                true => Err(Error::input(format!(
                    "the column has more than {} values",
                    grouped(MOST_VALUES as u64)
                ))
                .with_hint(
                    "a hierarchy file is for categories; numbers take `widths`",
                )),
            }
        },
        source.watch,
    )?;
    let mut all = BTreeMap::new();
    for (value, rows) in folded.states.into_iter().flatten() {
        *all.entry(value).or_insert(0) += rows;
    }
    all.retain(|value: &String, _| !value.is_empty());
    Ok(all.into_iter().collect())
}

fn by_template(
    name: &str,
    counted: &[(String, u64)],
    column: &str,
    file: &str,
) -> Result<Proposal> {
    if let Some(template) = Template::ALL.into_iter().find(|known| known.name() == name)
    {
        let known = |(value, _): &&(String, u64)| template.leaf(value).is_some();
        let n_known = counted.iter().filter(known).count();
        if n_known == 0 {
            let error = format!("no value of `{column}` is {}", template.wanted());
            let hint = "leave `--template` out to see what its values look like";
            return Err(Error::input(error).in_file(file).with_hint(hint));
        }
        return Ok(by_tree(template, counted, n_known < counted.len()));
    }
    let Some((rule, _)) = named_rule(name) else {
        let error = Error::input(format!("no template is called `{name}`"));
        return Err(
            error.with_hint(format!("there are {}", template_names().join(", ")))
        );
    };
    let kind = rule.default_kind().unwrap_or(Kind::Category);
    let reading = Reading { kind, ..Reading::category() };
    let from = format!("the template `{name}`");
    let proposal =
        by_rule(&rule, &reading, counted, from, Some(format!("template = \"{name}\"")));
    if proposal.lacking == counted.len() {
        let error = format!("no value of `{column}` is a number");
        return Err(Error::input(error)
            .in_file(file)
            .with_hint("this template is for numbers"));
    }
    Ok(proposal)
}

fn by_tree(template: Template, counted: &[(String, u64)], lacking: bool) -> Proposal {
    let tree = if lacking { template.tree().with_other() } else { template.tree() };
    let other = if lacking { ", other = true" } else { "" };
    let name = template.name();
    let mut proposal = by_rule(
        &Rule::Tree(tree),
        &Reading::category(),
        counted,
        format!("the template `{name}`"),
        Some(format!("template = \"{name}\"{other}")),
    );
    // Values are below their leaves: `E11.65` is below `E11`.
    for line in &mut proposal.lines {
        let leaf = template.leaf(&line[0]).unwrap_or_else(|| "other".to_owned());
        line.insert(1, leaf);
    }
    let lacks = |(value, _): &&(String, u64)| template.leaf(value).is_none();
    proposal.lacking = counted.iter().filter(lacks).count();
    proposal
}

/// The lines that a rule makes of values. What it does not cover is `other`.
fn by_rule(
    rule: &Rule,
    reading: &Reading,
    counted: &[(String, u64)],
    from: String,
    recipe: Option<String>,
) -> Proposal {
    let longest = counted.iter().map(|(value, _)| value.chars().count()).max();
    let rule = match rule {
        Rule::Mask(mask) => {
            Rule::Mask(crate::hierarchy::Mask { length: longest, ..mask.clone() })
        }
        rule => rule.clone(),
    };
    let paths: Vec<Option<Vec<String>>> =
        counted.iter().map(|(value, _)| rule.path(reading, value)).collect();
    let steps = paths.iter().flatten().map(Vec::len).max().unwrap_or(0);
    let lacking = paths.iter().filter(|path| path.is_none()).count();
    let line = |((value, _), path): (&(String, u64), Option<Vec<String>>)| {
        let mut line = vec![value.clone()];
        line.extend(path.unwrap_or_else(|| vec!["other".to_owned(); steps]));
        line.push("*".to_owned());
        line
    };
    Proposal {
        from,
        recipe,
        lines: counted.iter().zip(paths).map(line).collect(),
        rows: counted.iter().map(|(_, rows)| *rows).collect(),
        lacking,
    }
}

/// Words that look alike, put together.
fn alike(counted: &[(String, u64)]) -> Result<Proposal> {
    if counted.len() > words::MOST_WORDS {
        let error = Error::input(format!(
            "the column has {} values, too many to see which are alike",
            grouped(counted.len() as u64)
        ));
        return Err(error.with_hint("write a hierarchy file, or choose a `--template`"));
    }
    let texts: Vec<String> = counted.iter().map(|(value, _)| value.clone()).collect();
    let groups = words::groups(&texts);
    let line = |(value, [fine, coarse]): (String, [String; 2])| {
        vec![value, fine, coarse, "*".to_owned()]
    };
    Ok(Proposal {
        from: "words that look alike, from the table: a proposal to be reviewed"
            .to_owned(),
        recipe: None,
        lines: texts.into_iter().zip(groups).map(line).collect(),
        rows: counted.iter().map(|(_, rows)| *rows).collect(),
        lacking: 0,
    })
}

fn listed(words: &[String]) -> String {
    let words: Vec<String> =
        words.iter().map(|word| format!("\"{}\"", word.replace('"', "\\\""))).collect();
    format!("[{}]", words.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::ReadOptions;

    fn source(text: &str) -> Source {
        let bytes = text.as_bytes().to_vec();
        Source::from_bytes("t.csv", bytes, &ReadOptions::default()).unwrap()
    }

    fn lines(text: &str, template: Option<&str>) -> String {
        propose(&source(text), "a", template).unwrap().csv()
    }

    #[test]
    fn templates_are_written_for_the_values_there_are() {
        let text = "a,b\nE11.65,1\nI10,1\nfever,1\n";
        assert_eq!(
            lines(text, Some("icd10")),
            "E11.65;E11;E08-E13;E00-E90 endocrine;*\nI10;I10;I10-I15;I00-I99 circulatory;*\n\
             fever;other;other;other;*\n"
        );
        let found = propose(&source(text), "a", Some("icd10")).unwrap();
        assert_eq!(found.recipe.as_deref(), Some("template = \"icd10\", other = true"));
        assert_eq!((found.lacking, found.nodes()), (1, vec![3, 3, 3, 3, 1]));
        // What is written can be read.
        assert!(Tree::parse(&found.csv(), "t").is_ok());
    }

    #[test]
    fn without_a_template_values_say_what_fits() {
        assert!(
            lines("a,b\n[0-10),1\n[10-20),1\n[20-30),1\n", None)
                .starts_with("[0-10);[0-20);*\n")
        );
        let recipe = |text: &str| propose(&source(text), "a", None).unwrap().recipe;
        let dates = "a,b\n2020-01-02,1\n2021-02-03,2\n";
        assert_eq!(
            recipe(dates).as_deref(),
            Some("dates = [\"month\", \"quarter\", \"year\"]")
        );
        let words =
            propose(&source("a,b\nSurgery-A1,1\nred,1\nblue,2\n"), "a", None).unwrap();
        assert_eq!((words.recipe, words.lines.len()), (None, 3));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let error = |text: &str, column: &str, template: &str| {
            propose(&source(text), column, Some(template)).unwrap_err().to_string()
        };
        let text = "a,b\nred,1\nblue,2\n";
        assert_eq!(
            error(text, "a", "icd10"),
            "t.csv: no value of `a` is a code of ICD-10, as `E11.9`"
        );
        assert_eq!(error(text, "a", "icd11"), "no template is called `icd11`");
        assert_eq!(error(text, "a", "age-hipaa"), "t.csv: no value of `a` is a number");
        assert!(error(text, "c", "icd10").contains("no column is called `c`"));
    }
}
