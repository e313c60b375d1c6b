//! Method and release of a recipe.

use crate::decimal::Decimal;
use crate::error::Result;
use crate::hierarchy::Cells;
use crate::loss::{self, Loss};
use crate::method::pdf::Shift;
use crate::method::{ColumnChoice, EFFORT, ValueChoice};
use crate::recipe::methods::{METHODS, Method};
use crate::recipe::section::{Item, Section};
use crate::recipe::{BlurSpec, NoiseSpec, Spot};
use crate::release::DataFormat;

/// How the release is made, as typed.
#[derive(Debug, Clone)]
pub struct MethodSpec {
    /// Where the section stands, or the method's name if it has one.
    pub spot: Option<Spot>,
    /// Which method, if said.
    pub name: Option<&'static dyn Method>,
    /// What is made small.
    pub loss: Loss,
    /// The largest share of rows that may be left out, from 0 to 1.
    pub suppression: Decimal,
    /// What published cells look like, if said.
    pub cells: Option<Cells>,
    /// Where ranges of numbers and dates end.
    pub ends: RangeEnds,
    /// Which column Mondrian cuts first.
    pub column: ColumnChoice,
    /// Where Mondrian cuts it.
    pub value: ValueChoice,
    /// Whether Mondrian tries every choice and keeps the best.
    pub search: bool,
    /// How Mondrian looks at cuts, if said, and where that stands.
    pub looks: Option<(Looks, Spot)>,
    /// How many nodes of a lattice are looked at, at most.
    pub effort: usize,
    /// How cells that are distributions are weighted, if they are.
    pub pdf: Option<PdfSpec>,
    /// How values are randomized.
    pub noise: NoiseSpec,
    /// How numbers are blurred.
    pub blur: BlurSpec,
    /// The largest group that `robust` may form, if said, and where that stands.
    pub largest_group: Option<(usize, Spot)>,
    /// The columns it is for, if said, and where each stands.
    pub columns: Option<Vec<(String, Spot)>>,
    /// The keys that are there, `name` and `columns` aside, and where they stand.
    pub keys: Vec<(String, Spot)>,
}

/// Where published ranges of numbers and dates end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RangeEnds {
    /// On lines that are public.
    #[default]
    Grid,
    /// For comparison only: at the least and the largest value of a group, which are
    /// somebody's.
    Tight,
}

impl RangeEnds {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Grid, Self::Tight];

    /// Its name in recipes and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grid => "grid",
            Self::Tight => "tight",
        }
    }
}

/// How cuts, or levels, are looked at under a promise about presence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Looks {
    /// One cut of a part, or one finer node, chosen before looking, and refused by coins so
    /// that a refusal tells nothing harmful.
    Coins,
    /// For comparison only, where coins can be had: at all of them, as the source does, so
    /// that where the search ends tells who is in the table.
    Free,
}

impl Looks {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Coins, Self::Free];

    /// Its name in recipes and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Coins => "coins",
            Self::Free => "free",
        }
    }
}

/// How pdf cells are weighted, as typed.
#[derive(Debug, Clone, Copy)]
pub struct PdfSpec {
    /// Where it stands.
    pub spot: Spot,
    /// Whose weights, if said.
    pub weights: Option<Weights>,
    /// How the weights of the paper are found, if said.
    pub shift: Option<Shift>,
}

/// Whose weights pdf cells have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weights {
    /// The table's where the counting adversary may see them, the population's elsewhere.
    Counted,
    /// The population's.
    Population,
    /// For comparison only: between uniform and the table's, as the source has it.
    Paper,
}

/// Where the release goes, as typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseSpec {
    /// The folder.
    pub directory: String,
    /// The format of its rows.
    pub format: DataFormat,
    /// Whether cells that a spreadsheet would take for formulas get an apostrophe.
    pub spreadsheet_safe: bool,
    /// Whether the manifest says how far answers are off.
    pub calibrate: bool,
    /// Whether it is said how often the values of quasi columns occur.
    pub shares: SharesSpec,
}

/// Whether the shares of values are published, as typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SharesSpec {
    /// Where they tell nothing to whoever the promises are made against.
    #[default]
    Harmless,
    /// Of each column; an error where they would tell something.
    Column(Spot),
    /// They are not.
    None,
}

const CELLS: [(&str, Cells); 4] = [
    ("taxonomy", Cells::Taxonomy),
    ("interval", Cells::Interval),
    ("set", Cells::Set),
    ("pdf", Cells::Pdf),
];

const WEIGHTS: [(&str, Weights); 3] = [
    ("counted", Weights::Counted),
    ("population", Weights::Population),
    ("paper", Weights::Paper),
];

/// Steps between uniform and optimal weights, if the recipe does not say: the source's.
const STEPS: u32 = 10;

const CALIBRATION: [(&str, bool); 2] = [("measured", true), ("none", false)];

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
            ends: RangeEnds::Grid,
            column: ColumnChoice::Widest,
            value: ValueChoice::Balanced,
            search: false,
            looks: None,
            effort: EFFORT,
            pdf: None,
            noise: NoiseSpec::default(),
            blur: BlurSpec::default(),
            largest_group: None,
            columns: None,
            keys: Vec::new(),
        }
    }
}

impl MethodSpec {
    pub(super) fn read(item: &Item<'_>) -> Result<Self> {
        let mut section = item.section()?;
        let name = section.take("name");
        let columns = section.take("columns");
        let loss = section.take("loss");
        let suppression = section.take("suppression");
        let cells = section.take("cells");
        let ends = section.take("ends");
        let column = section.take("column");
        let value = section.take("value");
        let strategy = section.take("strategy");
        let looks = section.take("looks");
        let effort = section.take("effort");
        let largest_group = section.take("largest-group");
        let noise = NoiseSpec::take(&mut section);
        let blur = BlurSpec::take(&mut section);
        section.done()?;
        let mut method = Self { spot: Some(item.spot()), ..Self::default() };
        method.noise = noise.read()?;
        method.blur = blur.read()?;
        method.columns = columns.map(|item| item.columns()).transpose()?;
        let keys = section.items().into_iter().map(|(_, item)| item);
        let keys = keys.filter(|item| item.name != "name" && item.name != "columns");
        method.keys = keys.map(|item| (item.name.clone(), item.spot())).collect();
        method.largest_group = largest_group.map(|item| largest(&item)).transpose()?;
        if let Some(item) = name {
            method.spot = Some(item.spot());
            let known = METHODS.map(|method| (method.name(), method));
            method.name = Some(item.choice("method", &known)?);
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
            (method.cells, method.pdf) = cells_of(&item)?;
        }
        if let Some(item) = ends {
            let known = RangeEnds::ALL.map(|ends| (ends.name(), ends));
            method.ends = item.choice("way for ranges to end", &known)?;
        }
        if let Some(item) = strategy {
            item.choice("strategy", &[("search", ())])?;
            if let Some(choice) = column.as_ref().or(value.as_ref()) {
                return Err(choice.error(format!(
                    "`{}` is one choice, but `strategy = \"search\"` tries them all",
                    choice.name
                )));
            }
            method.search = true;
        }
        if let Some(item) = looks {
            let known = Looks::ALL.map(|looks| (looks.name(), looks));
            method.looks = Some((item.choice("way to look", &known)?, item.spot()));
        }
        if let Some(item) = effort {
            method.effort = match item.natural()? {
                0 => return Err(item.out_of_range("at least 1")),
                effort => effort,
            };
        }
        if let Some(item) = column {
            method.column = item.choice(
                "choice of the column",
                &ColumnChoice::ALL.map(|choice| (choice.name(), choice)),
            )?;
        }
        if let Some(item) = value {
            method.value = item.choice(
                "choice of the value",
                &ValueChoice::ALL.map(|choice| (choice.name(), choice)),
            )?;
        }
        Ok(method)
    }
}

/// Possible worlds are counted for every group, and checking that still ends must be
/// possible.
const LARGEST_GROUP: usize = 1000;

fn largest(item: &Item<'_>) -> Result<(usize, Spot)> {
    match item.natural()? {
        size @ 2..=LARGEST_GROUP => Ok((size, item.spot())),
        _ => Err(item.out_of_range("from 2 to 1000")),
    }
}

/// The ways to find the weights of the paper.
pub(super) fn shifts(steps: Option<u32>) -> [(&'static str, Shift); 3] {
    let steps = Shift::Steps(steps.unwrap_or(STEPS));
    [("exact", Shift::Exact), ("bounds", Shift::Bounds), ("steps", steps)]
}

/// `"set"`, `"pdf"`, or `{ kind = "pdf", weights = "counted" }`.
fn cells_of(item: &Item<'_>) -> Result<(Option<Cells>, Option<PdfSpec>)> {
    if !item.is_table() {
        let cells = item.choice("form of cells", &CELLS)?;
        let pdf = PdfSpec { spot: item.spot(), weights: None, shift: None };
        return Ok((Some(cells), (cells == Cells::Pdf).then_some(pdf)));
    }
    let mut section = item.section()?;
    let weights = section.take("weights");
    let shift = section.take("shift");
    let steps = section.take("steps");
    let kind = section.need("kind")?;
    section.done()?;
    let cells = kind.choice("form of cells", &CELLS)?;
    let more = weights.as_ref().or(shift.as_ref()).or(steps.as_ref());
    if let (Some(more), true) = (more, cells != Cells::Pdf) {
        return Err(more.error(format!("`{}` is for cells of kind `pdf`", more.name)));
    }
    let n_steps = match &steps {
        Some(steps) => match u32::try_from(steps.natural()?) {
            Ok(n) if (1..=1000).contains(&n) => Some(n),
            _ => return Err(steps.out_of_range("from 1 to 1000")),
        },
        None => None,
    };
    let shift = shift.map(|item| item.choice("shift", &shifts(n_steps))).transpose()?;
    if let (Some(steps), false) = (&steps, matches!(shift, Some(Shift::Steps(_)))) {
        return Err(steps.error("`steps` goes with `shift = \"steps\"` only"));
    }
    let spot = item.spot();
    let whose = weights.as_ref().map(|w| w.choice("kind of weights", &WEIGHTS));
    let pdf = PdfSpec { spot, weights: whose.transpose()?, shift };
    if shift.is_some() && pdf.weights != Some(Weights::Paper) {
        return Err(item.error("`shift` goes with `weights = \"paper\"` only"));
    }
    Ok((Some(cells), (cells == Cells::Pdf).then_some(pdf)))
}

impl Default for ReleaseSpec {
    fn default() -> Self {
        let directory = "release".to_owned();
        Self {
            directory,
            format: DataFormat::Csv,
            spreadsheet_safe: false,
            calibrate: true,
            shares: SharesSpec::default(),
        }
    }
}

impl ReleaseSpec {
    pub(super) fn read(section: &mut Section<'_>) -> Result<Self> {
        let directory = section.take("directory");
        let format = section.take("format");
        let safe = section.take("spreadsheet-safe");
        let calibration = section.take("calibration");
        let shares = section.take("shares");
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
        if let Some(item) = safe {
            release.spreadsheet_safe = item.truth()?;
        }
        if let Some(item) = calibration {
            release.calibrate = item.choice("calibration", &CALIBRATION)?;
        }
        if let Some(item) = shares {
            let known = [
                ("column", SharesSpec::Column(item.spot())),
                ("none", SharesSpec::None),
            ];
            release.shares = item.choice("kind of shares", &known)?;
        }
        Ok(release)
    }
}
