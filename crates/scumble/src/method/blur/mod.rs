#![doc = include_str!("blur.md")]

mod calibrate;
mod company;
mod core;
mod frame;
mod guess;
mod ladder;
mod local;
mod nearby;
mod noise;
mod parts;
mod spare;
#[cfg(test)]
mod testing;

use calibrate::watched_factors;
pub use calibrate::{anonymity, least_factors, most_company};
pub use core::{RowNeeds, largest_set, need};
pub use frame::Frame;
pub use ladder::{Ladder, ladder, peel};
pub use noise::{NoiseDrawer, draw_noise};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::promise::shape::hides_among_all;
use crate::space::{FrameKind, Shape};
use crate::table::Numbers;
use crate::watch::{Watch, Watched};

/// What to blur.
#[derive(Debug, Clone)]
pub struct BlurTask<'a> {
    /// The numbers, rounded to `decimals`.
    pub numbers: &'a Numbers,
    /// How many decimals each column has.
    pub decimals: &'a [u32],
    /// The shape of the noise.
    pub shape: Shape,
    /// Which way it is scaled and turned.
    pub frame: FrameKind,
    /// Among how many people each row is hidden.
    pub wishes: &'a [f64],
    /// Whether only rows of the same frame and level count. For comparison only: `false`.
    pub strict: bool,
    /// How often the best guess may be right.
    pub best_guess: Option<f64>,
    /// The most levels of a frame's ladder.
    pub levels: usize,
    /// The most parts of space with a frame of their own; chosen if not given.
    pub parts: Option<usize>,
    /// How many rows may be left out.
    pub limit: u64,
    /// What classes of cells ask, where rows have any.
    pub classes: ClassRules,
}

/// What classes of cells ask of noise within them: each is a kind of rows.
#[derive(Debug, Clone, Copy, Default)]
pub struct ClassRules {
    /// The kind of rows that are left out already.
    pub absent: Option<u32>,
    /// How many people a kind has at least, if it has any that are not left out.
    pub least: usize,
}

/// How every row is blurred.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Blurred {
    /// The frames; without `strict`, none.
    pub frames: Vec<BlurredFrame>,
    /// For each row its frame and level, both from 0; nothing for rows left out. Empty
    /// without `strict`.
    pub places: Vec<Option<(u32, u32)>>,
    /// Without `strict`: the spread of each row on each column, row after row.
    pub spreads: Vec<f64>,
    /// For each row the first one whose noise it shares, where people have several rows:
    /// equal numbers of a person are one fact, and are drawn once. Empty if nobody has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drawn_as: Vec<u32>,
}

/// A frame and its ladder.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BlurredFrame {
    /// The kind of its rows, by exact cells.
    pub kind: u32,
    /// The columns its rows have numbers in.
    pub columns: Vec<usize>,
    /// For each of these columns, from where and up to where its rows come.
    pub part: Vec<[Option<f64>; 2]>,
    /// The axes, each with a number for each of these columns, if they are turned.
    pub axes: Option<Vec<Vec<f64>>>,
    /// For each level the spread on each axis.
    pub levels: Vec<Vec<f64>>,
}

/// What is said where people with several rows cannot be served.
const SEVERAL: &str = "somebody with several rows is the best guess with any of them, \
                           and `strict = false` counts rows";

/// Chooses frames, ladders, and who is at which level; without `strict`, each row's spreads.
pub fn blur<'a>(task: impl Into<Watched<'a, BlurTask<'a>>>) -> Result<Blurred> {
    let Watched { task, watch } = task.into();
    if !task.numbers.persons.is_empty() && (!task.strict || task.best_guess.is_some()) {
        return Err(Error::recipe(SEVERAL));
    }
    let frames = parts::frames(task);
    if task.strict {
        let parts = frames.into_iter().flat_map(|frame| local::divide(task, frame));
        strict(task, watch, parts.collect())
    } else {
        plain(task, watch, &frames)
    }
}

fn strict(
    task: &BlurTask<'_>,
    watch: &dyn Watch,
    frames: Vec<(BlurredFrame, Frame)>,
) -> Result<Blurred> {
    let spares = spare::share_out(task, &frames)?;
    let mut blurred = Blurred {
        frames: Vec::with_capacity(frames.len()),
        places: vec![None; task.numbers.n_rows],
        spreads: Vec::new(),
        drawn_as: task.numbers.same_of_person().unwrap_or_default(),
    };
    for ((mut note, frame), spare) in frames.into_iter().zip(spares) {
        // All of it is left out.
        let Some(spare) = spare else { continue };
        let company = needs_of(task, &frame);
        let best_guess = task.best_guess;
        let needs = RowNeeds { company: &company, best_guess, watch };
        let ladder = ladder(&frame, needs, task.levels, spare);
        watch.check()?;
        let ladder = ladder.ok_or_else(|| out_of_reach(task, &frame, spare))?;
        let number = blurred.frames.len() as u32;
        let mut used: Vec<Option<u32>> = vec![None; ladder.laws.len()];
        for level in ladder.levels.iter().flatten() {
            used[*level as usize] = Some(0);
        }
        // Levels that took nobody are not part of the ladder: without them the others take
        // the same rows.
        for (law, slot) in ladder.laws.iter().zip(&mut used) {
            if let Some(level) = slot {
                *level = note.levels.len() as u32;
                note.levels.push(law.spreads.clone());
            }
        }
        if note.levels.is_empty() {
            continue;
        }
        for (row, level) in frame.rows.iter().zip(&ladder.levels) {
            let level = level.and_then(|level| used[level as usize]);
            blurred.places[*row as usize] = level.map(|level| (number, level));
        }
        blurred.frames.push(note);
    }
    if blurred.frames.is_empty() {
        return Err(Error::unsatisfiable(
            "expected-anonymity",
            "all rows would be left out",
        )
        .with_hint("ask for a smaller k, or allow less `suppression`"));
    }
    Ok(blurred)
}

fn needs_of(task: &BlurTask<'_>, frame: &Frame) -> Vec<f64> {
    frame.rows.iter().map(|row| need(task.wishes[*row as usize])).collect()
}

fn out_of_reach(task: &BlurTask<'_>, frame: &Frame, left_out: usize) -> Error {
    let n_rows = frame.n_all_people();
    let asked =
        frame.rows.iter().map(|row| task.wishes[*row as usize]).fold(1.0, f64::max);
    // What a single row asks for is private.
    let same = task.wishes.windows(2).all(|pair| pair[0] == pair[1]);
    let k =
        if same { format!("k = {asked}") } else { "what some rows ask for".to_owned() };
    let whole = frame.rows.len() == task.numbers.n_rows;
    let which = if whole { "the table has" } else { "a frame has" };
    let rows = match (task.numbers.persons.is_empty(), n_rows) {
        (true, 1) => "row",
        (true, _) => "rows",
        (false, 1) => "person",
        (false, _) => "people",
    };
    let most = most_company(frame.shape, n_rows, 1);
    let too_few = asked > n_rows as f64;
    let reason = if too_few {
        format!("{which} {n_rows} {rows}, fewer than {k}")
    } else if need(asked) >= most {
        format!(
            "{which} {n_rows} {rows}, and {} noise hides nobody among more than {most} of \
             them, fewer than {k}",
            frame.shape.name()
        )
    } else if let Some(share) = task.best_guess {
        format!(
            "no noise keeps the best guess below {share} for everybody in {n_rows} {rows}"
        )
    } else {
        format!("no ladder of {} levels hides all {n_rows} {rows}", task.levels)
    };
    let mut error = Error::unsatisfiable("expected-anonymity", reason);
    if !whole {
        error = error.with_hint(
            "rows share a frame if their exact cells are equal and the same numbers are \
             missing: blur, generalize or drop more columns",
        );
    }
    if !whole && (left_out as u64 > task.limit || task.limit == 0) || !too_few {
        error = error.with_hint("let rows be left out, with a larger `suppression`");
    }
    if !hides_among_all(frame.shape) && !too_few {
        error =
            error.with_hint("`shape = \"uniform\"` can hide a row among all others");
    }
    error.with_hint("ask for a smaller k")
}

/// For comparison only: the paper's scheme, in which everybody counts.
fn plain(
    task: &BlurTask<'_>,
    watch: &dyn Watch,
    frames: &[(BlurredFrame, Frame)],
) -> Result<Blurred> {
    let n_columns = task.numbers.n_columns();
    let mut spreads = vec![f64::NAN; task.numbers.n_rows * n_columns];
    for (note, frame) in frames {
        if task.frame == FrameKind::Local {
            let own = nearby::local_spreads(task, watch, frame)?;
            for (row, own) in frame.rows.iter().zip(own.chunks_exact(frame.dims.max(1)))
            {
                for (column, spread) in note.columns.iter().zip(own) {
                    spreads[*row as usize * n_columns + column] = *spread;
                }
            }
            continue;
        }
        let rows: Vec<u32> = (0..frame.rows.len() as u32).collect();
        let factors = watched_factors(frame, &needs_of(task, frame), &rows, watch);
        watch.check()?;
        if factors.iter().any(|factor| factor.is_infinite()) {
            return Err(out_of_reach(task, frame, 0));
        }
        for (row, factor) in frame.rows.iter().zip(factors) {
            let law = frame.own_law(factor);
            for (column, spread) in note.columns.iter().zip(law.spreads) {
                spreads[*row as usize * n_columns + column] = spread;
            }
        }
    }
    Ok(Blurred {
        frames: Vec::new(),
        places: Vec::new(),
        spreads,
        drawn_as: Vec::new(),
    })
}
