//! Method and release of a recipe.

use crate::decimal::Decimal;
use crate::error::Result;
use crate::hierarchy::Cells;
use crate::loss::{self, Loss};
use crate::method::{ColumnChoice, ValueChoice};
use crate::recipe::Spot;
use crate::recipe::section::{Item, Section};
use crate::release::DataFormat;

/// How the release is made, as typed.
#[derive(Debug, Clone)]
pub struct MethodSpec {
    /// Where the section stands, or the method's name if it has one.
    pub spot: Option<Spot>,
    /// Which method, if said.
    pub name: Option<MethodName>,
    /// What is made small.
    pub loss: Loss,
    /// The largest share of rows that may be left out, from 0 to 1.
    pub suppression: Decimal,
    /// What published cells look like, if said.
    pub cells: Option<Cells>,
    /// Which column Mondrian cuts first.
    pub column: ColumnChoice,
    /// Where Mondrian cuts it.
    pub value: ValueChoice,
}

/// A method that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodName {
    /// One level for each column, searched for the best.
    FullDomain,
    /// Groups cut in two again and again.
    Mondrian,
}

/// Where the release goes, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseSpec {
    /// The folder.
    pub directory: String,
    /// The format of its rows.
    pub format: DataFormat,
}

const METHODS: [(&str, MethodName); 2] =
    [("full-domain", MethodName::FullDomain), ("mondrian", MethodName::Mondrian)];

const LATER_METHODS: [&str; 9] = [
    "anatomy",
    "robust",
    "uniform-perturbation",
    "partitioned-perturbation",
    "fine-grain-perturbation",
    "general-perturbation",
    "blur",
    "condensation",
    "perturbed-generalization",
];

const CELLS: [(&str, Cells); 3] =
    [("taxonomy", Cells::Taxonomy), ("interval", Cells::Interval), ("set", Cells::Set)];

const COLUMNS: [(&str, ColumnChoice); 4] = [
    ("widest", ColumnChoice::Widest),
    ("next", ColumnChoice::Next),
    ("priority", ColumnChoice::Priority),
    ("best", ColumnChoice::Best),
];

const VALUES: [(&str, ValueChoice); 3] = [
    ("balanced", ValueChoice::Balanced),
    ("first", ValueChoice::First),
    ("balanced-values", ValueChoice::BalancedValues),
];

const FORMATS: [(&str, DataFormat); 2] =
    [("csv", DataFormat::Csv), ("parquet", DataFormat::Parquet)];

impl Default for MethodSpec {
    fn default() -> Self {
        Self {
            spot: None,
            name: None,
            loss: Loss::Cells(&loss::Lm),
            suppression: Decimal::ZERO,
            cells: None,
            column: ColumnChoice::Widest,
            value: ValueChoice::Balanced,
        }
    }
}

impl MethodSpec {
    pub(super) fn read(item: &Item<'_>) -> Result<Self> {
        let mut section = item.section()?;
        let name = section.take("name");
        let loss = section.take("loss");
        let suppression = section.take("suppression");
        let cells = section.take("cells");
        let column = section.take("column");
        let value = section.take("value");
        section.done()?;
        let mut method = Self { spot: Some(item.spot()), ..Self::default() };
        if let Some(item) = name {
            method.spot = Some(item.spot());
            method.name =
                Some(item.choice_or_later("method", &METHODS, &LATER_METHODS)?);
        }
        if let Some(item) = loss {
            let known = loss::ALL.map(|loss| (loss.name(), loss));
            method.loss = item.choice("loss", &known)?;
        }
        if let Some(item) = suppression {
            if !(0.0..=1.0).contains(&item.float()?) {
                let error = item.out_of_range("from 0 to 1");
                return Err(if item.float()? > 1.0 {
                    error.with_hint("it is a share: 5 % is 0.05")
                } else {
                    error
                });
            }
            method.suppression = item.decimal()?;
        }
        if let Some(item) = cells {
            method.cells =
                Some(item.choice_or_later("form of cells", &CELLS, &["pdf"])?);
        }
        if let Some(item) = column {
            method.column = item.choice("choice of the column", &COLUMNS)?;
        }
        if let Some(item) = value {
            method.value = item.choice("choice of the value", &VALUES)?;
        }
        Ok(method)
    }
}

impl Default for ReleaseSpec {
    fn default() -> Self {
        Self { directory: "release".to_owned(), format: DataFormat::Csv }
    }
}

impl ReleaseSpec {
    pub(super) fn read(section: &mut Section<'_>) -> Result<Self> {
        let directory = section.take("directory");
        let format = section.take("format");
        section.done()?;
        let mut release = Self::default();
        if let Some(item) = directory {
            release.directory = item.string()?.to_owned();
            if release.directory.is_empty() {
                return Err(item.error("`directory` is empty, but must name a folder"));
            }
        }
        if let Some(item) = format {
            release.format = item.choice("format", &FORMATS)?;
        }
        Ok(release)
    }
}
