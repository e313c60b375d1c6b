//! Method and release of a recipe.

use crate::decimal::Decimal;
use crate::error::Result;
use crate::recipe::Spot;
use crate::recipe::section::{Item, Section};

/// How the release is made, as typed.
#[derive(Debug, Clone)]
pub struct MethodSpec {
    /// Where the section stands, or the method's name if it has one.
    pub spot: Option<Spot>,
    /// Which method, if said.
    pub name: Option<MethodName>,
    /// What is made small.
    pub loss: LossName,
    /// The largest share of rows that may be left out, from 0 to 1.
    pub suppression: Decimal,
    /// What published cells look like, if said.
    pub cells: Option<CellForm>,
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

/// A loss that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LossName {
    /// The share of the domain a cell covers.
    Loss,
    /// The sum of squared group sizes.
    Discernibility,
    /// The average size of a group.
    AverageGroup,
    /// The bits lost by coarsening.
    Entropy,
    /// The share of the hierarchy's height climbed.
    Precision,
    /// The divergence of the published table from the true one.
    Kl,
}

/// What published cells look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellForm {
    /// Nodes of the hierarchy.
    Taxonomy,
    /// Ranges of the domain.
    Interval,
    /// Sets of values.
    Set,
}

/// Which column is cut first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnChoice {
    /// The one whose values spread widest.
    Widest,
    /// One after the other.
    Next,
    /// The first in the recipe that can be cut.
    Priority,
    /// The one whose cut leaves the smallest loss.
    Best,
}

/// Where a column is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueChoice {
    /// So that both sides have about as many rows.
    Balanced,
    /// At the first place that keeps the promise.
    First,
    /// So that both sides have about as many different values.
    BalancedValues,
}

/// Where the release goes, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseSpec {
    /// The folder.
    pub directory: String,
    /// The format of its rows.
    pub format: Format,
}

/// How published rows are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Text with commas.
    Csv,
    /// Apache Parquet.
    Parquet,
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

const LOSSES: [(&str, LossName); 6] = [
    ("loss", LossName::Loss),
    ("discernibility", LossName::Discernibility),
    ("average-group", LossName::AverageGroup),
    ("entropy", LossName::Entropy),
    ("precision", LossName::Precision),
    ("kl", LossName::Kl),
];

const CELLS: [(&str, CellForm); 3] = [
    ("taxonomy", CellForm::Taxonomy),
    ("interval", CellForm::Interval),
    ("set", CellForm::Set),
];

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

const FORMATS: [(&str, Format); 2] =
    [("csv", Format::Csv), ("parquet", Format::Parquet)];

impl Default for MethodSpec {
    fn default() -> Self {
        Self {
            spot: None,
            name: None,
            loss: LossName::Loss,
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
            method.loss = item.choice("loss", &LOSSES)?;
        }
        if let Some(item) = suppression {
            if !(0.0..=1.0).contains(&item.float()?) {
                return Err(item.out_of_range("from 0 to 1"));
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
        Self { directory: "release".to_owned(), format: Format::Csv }
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
