//! Tables for tests of blur.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rand_distr::StandardNormal;

use crate::method::blur::local::deviation;
use crate::method::blur::{BlurTask, BlurredFrame, ClassRules, Frame};
use crate::space::{FrameKind, Shape};
use crate::table::Numbers;

/// Five clusters of different shapes, with one decimal.
pub(super) fn clusters(n_columns: usize, n_rows: usize, seed: u64) -> Numbers {
    let mut generator = ChaCha20Rng::seed_from_u64(seed);
    let mut values = Vec::new();
    for row in 0..n_rows {
        let cluster = (row % 5) as f64;
        let common: f64 = generator.sample(StandardNormal);
        for column in 0..n_columns {
            let own: f64 = generator.sample(StandardNormal);
            let centre = 8.0 * ((cluster + column as f64) % 5.0);
            let width = 0.3 + ((cluster + 2.0 * column as f64) % 3.0);
            values.push(centre + width * (own + common));
        }
    }
    let mut numbers = Numbers {
        n_rows,
        decimals: vec![1; n_columns],
        values,
        kinds: vec![0; n_rows],
        kind_cells: vec![Vec::new()],
        wishes: Vec::new(),
        persons: Vec::new(),
    };
    let decimals = numbers.decimals.clone();
    numbers.snap(&decimals);
    numbers
}

/// A strict task without more.
pub(super) fn task<'a>(
    numbers: &'a Numbers,
    wishes: &'a [f64],
    shape: Shape,
    frame: FrameKind,
) -> BlurTask<'a> {
    BlurTask {
        numbers,
        decimals: &numbers.decimals,
        shape,
        frame,
        wishes,
        strict: true,
        best_guess: None,
        levels: 4,
        parts: None,
        limit: 0,
        classes: ClassRules::default(),
    }
}

/// The frame of all rows.
pub(super) fn frame_of(task: &BlurTask<'_>) -> (BlurredFrame, Frame) {
    let dims = task.numbers.n_columns();
    let values = &task.numbers.values;
    let scale = |axis| deviation(values.iter().skip(axis).step_by(dims).copied());
    let step = |decimals: &u32| 10f64.powi(-(*decimals as i32));
    let note = BlurredFrame {
        kind: 0,
        columns: (0..dims).collect(),
        part: vec![[None, None]; dims],
        axes: None,
        levels: Vec::new(),
    };
    let frame = Frame {
        rows: (0..task.numbers.n_rows as u32).collect(),
        dims,
        coordinates: values.clone(),
        scales: (0..dims).map(scale).collect(),
        steps: task.decimals.iter().map(step).collect(),
        cuts: vec![0.0; dims],
        shape: task.shape,
        people: Vec::new(),
    };
    (note, frame)
}
