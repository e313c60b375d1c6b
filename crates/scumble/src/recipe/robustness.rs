//! The promise of r-robustness, as typed.

use crate::error::Result;
use crate::promise::RRobustness;
use crate::recipe::Spot;
use crate::recipe::promise::short;
use crate::recipe::section::Item;

/// r-robustness, as typed.
#[derive(Debug, Clone)]
pub struct RobustnessSpec {
    /// The promise.
    pub robustness: RRobustness,
    /// What the adversary knows.
    pub knowledge: KnowledgeSpec,
    /// The sets of quasi columns that the adversary looks at, if said, and where each
    /// stands.
    pub signatures: Option<Vec<(Vec<String>, Spot)>>,
    /// How many rows a signature needs for its own distribution to be knowledge.
    pub support: u64,
}

/// What an adversary knows, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KnowledgeSpec {
    /// How values depend on quasi columns in the table itself.
    Table,
    /// What files say; their paths are relative to the recipe's folder.
    Files(Vec<String>, Spot),
}

/// With fewer rows a distribution would be the truth about a handful of people.
const SUPPORT: u64 = 30;

impl RobustnessSpec {
    /// `r-robustness = 3`, or a table.
    pub(super) fn read(item: &Item<'_>) -> Result<Self> {
        let mut spec = Self {
            robustness: RRobustness::new(crate::decimal::Decimal::from_f64("r", 2.0)?)?,
            knowledge: KnowledgeSpec::Table,
            signatures: None,
            support: SUPPORT,
        };
        let bound = |r: &Item<'_>| {
            if r.float()? <= 1.0 {
                return Err(r.out_of_range("above 1").with_hint(
                    "no belief passes 1/r, so r = 1 asks for no protection",
                ));
            }
            RRobustness::new(r.decimal()?).map_err(|error| r.at(error))
        };
        if let Some(r) = short(item, "r") {
            spec.robustness = bound(&r)?;
            return Ok(spec);
        }
        let mut section = item.section()?;
        let knowledge = section.take("knowledge");
        let signatures = section.take("signatures");
        let support = section.take("support");
        let r = section.need("r")?;
        section.done()?;
        spec.robustness = bound(&r)?;
        if let Some(item) = knowledge {
            spec.knowledge = known(&item)?;
        }
        if let Some(item) = signatures {
            spec.signatures = Some(sets(&item)?);
        }
        if let Some(item) = support {
            if spec.knowledge != KnowledgeSpec::Table {
                return Err(
                    item.error("`support` goes with `knowledge = \"table\"` only")
                );
            }
            spec.support = match u64::try_from(item.integer()?) {
                Ok(rows @ 1..) => rows,
                _ => return Err(item.out_of_range("at least 1")),
            };
        }
        Ok(spec)
    }
}

/// `"table"`, a file, or a list of files.
fn known(item: &Item<'_>) -> Result<KnowledgeSpec> {
    let wanted = "\"table\", a CSV file, or a list of CSV files";
    if let Ok(word) = item.string() {
        return Ok(match word {
            "table" => KnowledgeSpec::Table,
            path => KnowledgeSpec::Files(vec![path.to_owned()], item.spot()),
        });
    }
    let files = item.list(wanted)?;
    if files.is_empty() {
        return Err(item.error("`knowledge` names no file"));
    }
    let paths = files.iter().map(|file| file.string().map(str::to_owned));
    Ok(KnowledgeSpec::Files(paths.collect::<Result<_>>()?, item.spot()))
}

/// `[["sex"], ["age", "sex"]]`, or `["sex", "age"]` for single columns.
fn sets(item: &Item<'_>) -> Result<Vec<(Vec<String>, Spot)>> {
    let wanted = "a list of lists of columns, as in `[[\"sex\"], [\"age\", \"sex\"]]`";
    let mut sets: Vec<(Vec<String>, Spot)> = Vec::new();
    for element in item.list(wanted)? {
        let mut columns = match element.string() {
            Ok(name) => vec![name.to_owned()],
            Err(_) => {
                let names = element.list(wanted)?;
                let names = names.iter().map(|name| name.string().map(str::to_owned));
                names.collect::<Result<_>>()?
            }
        };
        if columns.is_empty() {
            return Err(element.error("a set of `signatures` has no column"));
        }
        columns.sort();
        if let Some(pair) = columns.windows(2).find(|pair| pair[0] == pair[1]) {
            let message = format!("`{}` is twice in one of the `signatures`", pair[0]);
            return Err(element.error(message));
        }
        if sets.iter().any(|(known, _)| *known == columns) {
            return Err(element.error("the same columns are twice in `signatures`"));
        }
        sets.push((columns, element.spot()));
    }
    if sets.is_empty() {
        return Err(item
            .error("`signatures` is empty")
            .with_hint("leave it out: then every single quasi column is looked at"));
    }
    Ok(sets)
}
