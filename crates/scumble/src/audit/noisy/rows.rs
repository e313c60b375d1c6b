//! A blurred release as any reader sees it: numbers, spreads, and which class each row is in.

use crate::audit::cells::published_reading;
use crate::audit::noisy::shape;
use crate::error::{Error, Result};
use crate::release::{
    BlurNote, FRAME_COLUMN, FrameNote, LEVEL_COLUMN, Manifest, PublishedColumn, Seen,
    spread_column,
};
use crate::space::{FrameKind, Shape};
use crate::table::{Numbers, NumbersTask, Reading, snapped};
use crate::watch::Watch;

/// Two spreads are the same if they differ by no more than reading and writing may.
const ROUNDING: f64 = 1e-12;

/// The published rows.
#[derive(Debug)]
pub(crate) struct NoisyRows {
    /// What the manifest says of the noise.
    pub(crate) note: BlurNote,
    /// The blurred columns, then what else was read; exact cells.
    pub(crate) numbers: Numbers,
    /// The frame of each row, from 0; all 0 without `strict`.
    pub(crate) frames: Vec<u32>,
    /// The level of each row, from 0; all 0 without `strict`.
    pub(crate) levels: Vec<u32>,
    /// Whether there are columns of spreads.
    with_spreads: bool,
}

impl NoisyRows {
    /// Reads the rows, and checks that cells and the manifest fit each other.
    pub(crate) fn read(seen: &Seen<'_>, watch: &dyn Watch) -> Result<Self> {
        let manifest = seen.manifest();
        let note = manifest.blur().ok_or_else(|| {
            Error::input("the manifest does not say how numbers were blurred")
        })?;
        check_note(manifest, &note)?;
        let wrong = |what: &str| Error::input(what).in_file(seen.name());
        let (with_spreads, with_frames) = (note.has_spreads(), note.has_frames());

        let reading = |name: &str| Ok(published_reading(published(manifest, name)?));
        let columns = note.columns.iter().map(|column| &*column.name);
        let spreads: Vec<String> = columns.clone().map(spread_column).collect();
        let readings: Vec<Reading> =
            columns.clone().map(reading).collect::<Result<_>>()?;
        let mut numbers: Vec<(&str, Reading)> = columns.zip(readings.clone()).collect();
        if with_spreads {
            numbers.extend(spreads.iter().map(String::as_str).zip(readings));
        }
        if note.strict {
            numbers.push((LEVEL_COLUMN, Reading::number()));
        }
        if with_frames {
            numbers.push((FRAME_COLUMN, Reading::number()));
        }
        let exact = note.exact.iter().map(|name| Ok((&**name, reading(name)?)));
        let exact = exact.collect::<Result<_>>()?;
        let task = NumbersTask { numbers, exact, wish: None, person: None };
        let numbers = seen.numbers(&task, watch)?;
        if numbers.n_rows == 0 {
            return Err(wrong("there are no rows"));
        }
        let n_rows = numbers.n_rows;
        let (frames, levels) = (vec![0; n_rows], vec![0; n_rows]);
        let mut view = Self { note, numbers, frames, levels, with_spreads };
        let checked = match view.note.strict {
            true => view.place(with_frames),
            false => view.check_loose(),
        };
        checked.map_err(|error| error.in_file(seen.name()))?;
        Ok(view)
    }

    /// How many rows there are.
    pub(crate) fn n_rows(&self) -> usize {
        self.numbers.n_rows
    }

    /// The blurred numbers of a row.
    pub(crate) fn row(&self, row: usize) -> &[f64] {
        &self.numbers.row(row)[..self.note.columns.len()]
    }

    /// The published spreads of a row, if there are such columns; NaN where a number is
    /// missing.
    pub(crate) fn spreads(&self, row: usize) -> &[f64] {
        let n_columns = self.note.columns.len();
        match self.with_spreads {
            true => &self.numbers.row(row)[n_columns..2 * n_columns],
            false => &[],
        }
    }

    /// The rows of each level of each frame.
    pub(crate) fn classes(&self) -> Vec<Vec<Vec<u32>>> {
        let frames = self.note.frames.iter();
        let mut classes: Vec<Vec<Vec<u32>>> =
            frames.map(|frame| vec![Vec::new(); frame.levels.len()]).collect();
        let places = self.frames.iter().zip(&self.levels);
        for (row, (frame, level)) in (0u32..).zip(places) {
            // Without `strict` there are no levels.
            let levels = classes.get_mut(*frame as usize);
            if let Some(rows) = levels.and_then(|l| l.get_mut(*level as usize)) {
                rows.push(row);
            }
        }
        classes
    }

    /// Reads frames and levels, and checks all other cells against them.
    fn place(&mut self, with_frames: bool) -> Result<()> {
        let note = &self.note;
        let n_columns = note.columns.len();
        let at = n_columns * if self.with_spreads { 2 } else { 1 };
        for row in 0..self.numbers.n_rows {
            let place = |column: &str, what: &str| wrong_cell(row, column, what);
            let cells = self.numbers.row(row);
            let number = |cell: f64, most: usize| {
                let whole = cell >= 1.0 && cell <= most as f64 && cell.fract() == 0.0;
                whole.then(|| cell as u32 - 1)
            };
            let frame = match with_frames {
                true => number(cells[at + 1], note.frames.len())
                    .ok_or_else(|| place(FRAME_COLUMN, "there is no such frame"))?,
                false => 0,
            };
            let described = &note.frames[frame as usize];
            let level = number(cells[at], described.levels.len())
                .ok_or_else(|| place(LEVEL_COLUMN, "the frame has no such level"))?;
            let exact = &self.numbers.kind_cells[self.numbers.kinds[row] as usize];
            let same = note.exact.iter().zip(exact).all(|(name, cell)| {
                described.exact.get(name).is_some_and(|known| **known == **cell)
            });
            if !same {
                return Err(place(
                    FRAME_COLUMN,
                    "the row does not have the exact cells of its frame",
                ));
            }
            let mut axis = 0;
            for (place_of, column) in note.columns.iter().enumerate() {
                let (value, name) = (cells[place_of], &column.name);
                let missing = described.missing.contains(name);
                if value.is_nan() != missing {
                    return Err(place(
                        name,
                        "a number is missing or not, other than in its frame",
                    ));
                }
                if !missing && snapped(value, column.decimals) != value {
                    return Err(place(name, "the number has too many decimals"));
                }
                if self.with_spreads {
                    let spread = cells[n_columns + place_of];
                    let fits = match missing {
                        true => spread.is_nan(),
                        false => {
                            let known = described.levels[level as usize][axis];
                            (spread - known).abs() <= ROUNDING * known
                        }
                    };
                    if !fits {
                        return Err(place(
                            &spread_column(name),
                            "the spread is not the one of its level",
                        ));
                    }
                }
                axis += usize::from(!missing);
            }
            self.frames[row] = frame;
            self.levels[row] = level;
        }
        Ok(())
    }

    /// Checks the cells of a release in which every row has spreads of its own.
    fn check_loose(&self) -> Result<()> {
        let n_columns = self.note.columns.len();
        for row in 0..self.numbers.n_rows {
            let cells = self.numbers.row(row);
            for (place, column) in self.note.columns.iter().enumerate() {
                let (value, spread) = (cells[place], cells[n_columns + place]);
                if !value.is_nan() && snapped(value, column.decimals) != value {
                    let what = "the number has too many decimals";
                    return Err(wrong_cell(row, &column.name, what));
                }
                let fits = match value.is_nan() {
                    true => spread.is_nan(),
                    false => spread_fits(self.note.shape, spread, column.decimals),
                };
                if !fits {
                    let name = spread_column(&column.name);
                    return Err(wrong_cell(row, &name, "this cannot be a spread"));
                }
            }
        }
        Ok(())
    }
}

fn wrong_cell(row: usize, column: &str, what: &str) -> Error {
    Error::input(format!("row {}, column `{column}`: {what}", row + 1))
}

/// What the manifest says of a column.
pub(crate) fn published<'a>(
    manifest: &'a Manifest,
    name: &str,
) -> Result<&'a PublishedColumn> {
    manifest.column(name).ok_or_else(|| {
        Error::input(format!("the manifest has no column `{name}`, but speaks of it"))
    })
}

/// Whether the manifest can be meant.
fn check_note(manifest: &Manifest, note: &BlurNote) -> Result<()> {
    let wrong = |what: String| Err(Error::input(format!("the manifest {what}")));
    let known = |name: &String| note.columns.iter().any(|c| c.name == *name);
    for (place, column) in note.columns.iter().enumerate() {
        published(manifest, &column.name)?;
        let [low, high] = column.domain;
        if !(low.is_finite() && high.is_finite() && low <= high) {
            return wrong(format!("gives `{}` an impossible domain", column.name));
        }
        let again = note.columns[..place].iter().any(|c| c.name == column.name);
        if again || note.exact.contains(&column.name) || column.decimals > 22 {
            return wrong(format!("cannot mean `{}` as it stands", column.name));
        }
    }
    if note.columns.is_empty() {
        return wrong("blurs no column".to_owned());
    }
    if note.strict == note.frames.is_empty() {
        return wrong("has frames without `strict`, or `strict` without frames".into());
    }
    if note.frame == FrameKind::Rotated && !note.strict {
        return wrong("has turned frames without `strict`".to_owned());
    }
    if note.best_guess.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
        return wrong("has an impossible `best_guess`".to_owned());
    }
    for (number, frame) in (1u32..).zip(&note.frames) {
        let wrong = |what: &str| wrong(format!("has a frame {number} {what}"));
        if frame.frame != number {
            return wrong("out of order");
        }
        let exact = frame.exact.keys().eq({
            let mut names: Vec<&String> = note.exact.iter().collect();
            names.sort();
            names
        });
        if !exact || !frame.missing.iter().all(known) || !frame.part.keys().all(known) {
            return wrong("with other columns than the release");
        }
        let sane = frame.part.values().all(|[low, high]| match (low, high) {
            (Some(low), Some(high)) => low < high,
            _ => true,
        });
        if !sane {
            return wrong("that nobody can be in");
        }
        if let Some(what) = wrong_ladder(note, frame) {
            return wrong(what);
        }
    }
    Ok(())
}

/// What is wrong with a frame's axes and ladder.
fn wrong_ladder(note: &BlurNote, frame: &FrameNote) -> Option<&'static str> {
    let present = note.present(frame);
    let dims = present.len();
    let turned = note.frame == FrameKind::Rotated;
    if frame.axes.is_some() != turned && dims > 0 {
        return Some("with axes where there should be none, or the other way round");
    }
    if let Some(axes) = &frame.axes {
        let square = axes.len() == dims && axes.iter().all(|axis| axis.len() == dims);
        let finite = axes.iter().flatten().all(|weight| weight.is_finite());
        if !square || !finite {
            return Some("whose axes do not fit its columns");
        }
    }
    for (place, level) in frame.levels.iter().enumerate() {
        if level.len() != dims {
            return Some("whose spreads do not fit its axes");
        }
        for (axis, spread) in level.iter().enumerate() {
            let decimals = note.columns[present[axis]].decimals;
            let fits = match frame.axes {
                Some(_) => spread.is_finite() && *spread >= 0.0,
                None => spread_fits(note.shape, *spread, decimals),
            };
            if !fits {
                return Some("with a spread that cannot be");
            }
        }
        if place > 0 {
            let below = &frame.levels[place - 1];
            let pairs = || below.iter().zip(level);
            if pairs().any(|(a, b)| a > b) || pairs().all(|(a, b)| a == b) {
                return Some("whose ladder does not ascend");
            }
        }
    }
    None
}

/// Whether a spread can be published of a column with so many decimals: boxes along the
/// columns are an odd number of steps wide, so that rounding changes nothing.
fn spread_fits(shape: Shape, spread: f64, decimals: u32) -> bool {
    if !(spread.is_finite() && spread >= 0.0) {
        return false;
    }
    if !shape::of(shape).in_steps() || spread == 0.0 {
        return true;
    }
    let steps = spread * 10f64.powi(decimals as i32);
    let whole = steps.round();
    // Beyond this, doubles are coarser than steps.
    (steps - whole).abs() <= 1e-6f64.max(1e-12 * steps)
        && (whole > 9e15 || whole % 2.0 == 1.0)
}
