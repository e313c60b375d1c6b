//! For comparison only: spreads of every row's own, scaled by the rows around it, and as
//! small as k allows.
//!
//! # Guarantee
//! With the published spreads of a row, at least as many rows as it asks for fit its blurred
//! numbers at least as well, on average over its noise. All rows of the frame count, as in
//! the paper.
//!
//! # Limits
//! Somebody who holds the table computes these spreads as we do, and looks up whose they
//! are: they name almost everybody.
//! Rows that count next to nothing are not counted, so spreads may be a little wider than the least.
//!
//! # Cost
//! A row looks at the rows within some spreads; in many dimensions those are most of them.
//!
//! # Source
//! `aggarwal2008unifying`, section 2.C; a zero among the local scales is replaced by the
//! global one, which the paper leaves open.

use std::ops::ControlFlow;

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::method::blur::frame::{OWN, published};
use crate::method::blur::local::deviation;
use crate::method::blur::{BlurTask, Frame};
use crate::promise::{Law, shape};
use crate::space::Space;
use crate::watch::Watch;

/// Rows that count less are not looked at: a million of them would add at most 4.
const LITTLE: f64 = 4e-6;

/// How far the factor may be above the least one.
const EXACT: f64 = 1e-4;

/// The spread of each row of a frame on each of its columns, row after row, in the scales of
/// the rows near it.
pub(super) fn local_spreads(
    task: &BlurTask<'_>,
    watch: &dyn Watch,
    frame: &Frame,
) -> Result<Vec<f64>> {
    let dims = frame.dims;
    if dims == 0 {
        return Ok(Vec::new());
    }
    let units: Vec<f64> = frame
        .scales
        .iter()
        .map(|scale| if *scale > 0.0 { *scale } else { 1.0 })
        .collect();
    let scaled: Vec<f64> = frame
        .coordinates
        .chunks_exact(dims)
        .flat_map(|row| row.iter().zip(&units).map(|(value, unit)| value / unit))
        .collect();
    let space = Space::new(dims, &scaled);
    let spreads: Vec<Vec<f64>> = (0..frame.rows.len())
        .into_par_iter()
        .map(|row| {
            watch.check()?;
            let wish = task.wishes[frame.rows[row] as usize];
            Nearby { frame, space: &space, units: &units, row, wish }.spreads()
        })
        .collect::<Result<_>>()?;
    Ok(spreads.concat())
}

/// A row among those near it.
struct Nearby<'a> {
    frame: &'a Frame,
    space: &'a Space,
    units: &'a [f64],
    row: usize,
    wish: f64,
}

impl Nearby<'_> {
    fn spreads(&self) -> Result<Vec<f64>> {
        let scales = self.scales();
        if self.frame.rows.len() < self.wish.ceil() as usize {
            return Err(self.impossible());
        }
        // Rows at more and more distance, until enough of them are known for a spread.
        let mut count = 8 * self.wish.ceil() as usize;
        let first = loop {
            let all = count >= self.space.len();
            let near = self.space.nearest(self.space.point(self.row), count);
            let known = self.differences(near.into_iter().map(|(_, row)| row), &scales);
            match self.least(&known, all) {
                Some(factor) => break factor,
                None if all => return Err(self.impossible()),
                None => count *= 4,
            }
        };
        // All rows that matter at this spread, which can only make it smaller.
        let scale = scales
            .iter()
            .zip(self.units)
            .map(|(scale, unit)| scale / unit)
            .fold(0.0, f64::max);
        let reach = first * scale * (1.0 + 1e-9);
        let mut rows = Vec::new();
        let visit = |row: usize, _: &[f64], _: f64| {
            rows.push(row);
            ControlFlow::Continue(())
        };
        let centre = self.space.point(self.row);
        let mut halves = 0.5;
        while shape::of(self.frame.shape).at_most(halves) > LITTLE {
            halves += 0.5;
        }
        self.frame.shape.within(self.space, centre, 2.0 * halves * reach, visit);
        let known = self.differences(rows.into_iter(), &scales);
        let factor = self.least(&known, true).unwrap_or(first).min(first);
        let spread = |axis: usize| {
            published(
                factor * scales[axis],
                self.frame.steps[axis],
                self.frame.shape,
                OWN,
            )
        };
        Ok((0..self.frame.dims).map(spread).collect())
    }

    /// The standard deviations among the rows nearest to it, as many as it asks for.
    fn scales(&self) -> Vec<f64> {
        let count = (self.wish.ceil() as usize).max(2);
        let near = self.space.nearest(self.space.point(self.row), count);
        (0..self.frame.dims)
            .map(|axis| {
                let values = near.iter().map(|(_, row)| self.value(*row, axis));
                let own = deviation(values);
                if own > 0.0 { own } else { self.frame.scales[axis] }
            })
            .collect()
    }

    fn value(&self, row: usize, axis: usize) -> f64 {
        self.frame.coordinates[row * self.frame.dims + axis]
    }

    /// Differences from rows in the scales given. A column without any spread is left out:
    /// all rows are equal in it.
    fn differences(
        &self,
        rows: impl Iterator<Item = usize>,
        scales: &[f64],
    ) -> Vec<f64> {
        rows.flat_map(|row| {
            scales.iter().enumerate().map(move |(axis, scale)| {
                let w = self.value(row, axis) - self.value(self.row, axis);
                if *scale > 0.0 { w / scale } else { 0.0 }
            })
        })
        .collect()
    }

    /// The least factor with which enough of the rows known fit, or nothing if they do not
    /// suffice. If they are not all, a factor that makes nearly all of them fit is no good
    /// guess.
    fn least(&self, differences: &[f64], all: bool) -> Option<f64> {
        let dims = self.frame.dims;
        let n = differences.len() / dims;
        let sum = |factor: f64| -> f64 {
            let (spreads, cuts) = (vec![factor; dims], vec![0.0; dims]);
            let law = Law { shape: self.frame.shape, spreads, cuts };
            differences.chunks_exact(dims).map(|w| law.count_without_reach(w)).sum()
        };
        // A little more than asked: the audit sums in another order.
        let wanted = self.wish * (1.0 + 1e-9);
        if sum(0.0) >= wanted {
            return Some(0.0);
        }
        if !all && n < 2 * self.wish.ceil() as usize {
            return None;
        }
        let widest = differences.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        let most = if all { 1e6 } else { 1.0 };
        let (mut low, mut high) = (0.0, widest * most);
        if sum(high) < wanted {
            return None;
        }
        let mut start = widest * 1e-3;
        while start < high {
            if sum(start) >= wanted {
                high = start;
            } else {
                low = start;
                start *= 2.0;
            }
        }
        while high - low > EXACT * high {
            let middle = 0.5 * (low + high);
            if sum(middle) >= wanted { high = middle } else { low = middle }
        }
        Some(high)
    }

    fn impossible(&self) -> Error {
        Error::unsatisfiable(
            "expected-anonymity",
            format!(
                "a row asks to be hidden among {}, but even endless {} noise hides nobody \
                 so well among {} rows",
                self.wish,
                self.frame.shape.name(),
                self.frame.rows.len()
            ),
        )
        .with_hint("ask for less, or use `shape = \"uniform\"`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::blur::testing::{clusters, frame_of, task};
    use crate::space::{FrameKind, Shape};
    use crate::watch::Unwatched;

    /// The plain way: scales of the k nearest rows by sorting all.
    fn scales(frame: &Frame, row: usize, k: usize) -> Vec<f64> {
        let dims = frame.dims;
        let of = |row: usize| &frame.coordinates[row * dims..][..dims];
        let mut order: Vec<(f64, usize)> = (0..frame.rows.len())
            .map(|other| {
                let w = of(other).iter().zip(of(row)).zip(&frame.scales);
                let w = w.map(|((a, b), unit)| ((a / unit) - (b / unit)).powi(2));
                (w.sum(), other)
            })
            .collect();
        order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        (0..dims)
            .map(|axis| {
                let near: Vec<f64> =
                    order[..k].iter().map(|(_, other)| of(*other)[axis]).collect();
                let mean = near.iter().sum::<f64>() / k as f64;
                let square = near.iter().map(|v| (v - mean).powi(2)).sum::<f64>();
                let own = (square / k as f64).sqrt();
                if own > 1e-12 { own } else { frame.scales[axis] }
            })
            .collect()
    }

    fn anonymity(frame: &Frame, row: usize, spreads: &[f64]) -> f64 {
        let dims = frame.dims;
        let of = |row: usize| &frame.coordinates[row * dims..][..dims];
        (0..frame.rows.len())
            .map(|other| {
                let w: Vec<f64> =
                    of(other).iter().zip(of(row)).map(|(a, b)| a - b).collect();
                let law = Law {
                    shape: frame.shape,
                    spreads: spreads.to_vec(),
                    cuts: vec![0.0; dims],
                };
                law.count_without_reach(&w)
            })
            .sum()
    }

    #[test]
    fn spreads_are_as_small_as_k_allows_in_the_rows_own_scales() {
        for (seed, shape) in (1..).zip(Shape::ALL) {
            let numbers = clusters(3, 400, seed);
            let wishes: Vec<f64> = (0..400).map(|row| f64::from(2 + row % 9)).collect();
            let task = task(&numbers, &wishes, shape, FrameKind::Local);
            let (_, frame) = frame_of(&task);
            let spreads = local_spreads(&task, &Unwatched, &frame).unwrap();
            for row in (0..400).step_by(3) {
                let own = &spreads[row * 3..][..3];
                let wish = wishes[row];
                assert!(anonymity(&frame, row, own) >= wish * (1.0 + 1e-9));
                let scales = scales(&frame, row, wish as usize);
                let factors: Vec<f64> =
                    own.iter().zip(&scales).map(|(a, b)| a / b).collect();
                let least = factors.iter().copied().fold(f64::INFINITY, f64::min);
                if least == 0.0 {
                    continue;
                }
                let in_steps = shape::of(shape).in_steps();
                let smaller: Vec<f64> = match in_steps {
                    false => scales.iter().map(|scale| scale * least * 0.985).collect(),
                    // Sides grow by two steps at a time.
                    true => {
                        own.iter().map(|side| (side - 0.2).max(0.0) * 0.999).collect()
                    }
                };
                assert!(anonymity(&frame, row, &smaller) < wish);
                if !in_steps {
                    assert!(factors.iter().all(|f| (f / least - 1.0).abs() < 0.002));
                }
            }
        }
    }

    #[test]
    fn what_no_noise_can_do_is_said() {
        let numbers = clusters(2, 30, 3);
        let wishes = vec![25.0; 30];
        let task = task(&numbers, &wishes, Shape::Gaussian, FrameKind::Local);
        let error = local_spreads(&task, &Unwatched, &frame_of(&task).1).unwrap_err();
        assert_eq!(
            error.to_string(),
            "expected-anonymity cannot be met: a row asks to be hidden among 25, but even \
             endless gaussian noise hides nobody so well among 30 rows"
        );
        let cubes = BlurTask { shape: Shape::Uniform, ..task };
        assert!(local_spreads(&cubes, &Unwatched, &frame_of(&cubes).1).is_ok());
    }
}
