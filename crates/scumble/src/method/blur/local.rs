//! Frames for parts of space: noise follows the shape of the rows around.
//!
//! # Guarantee
//! The parts are boxes with public limits, and every row of the frame is in exactly one.
//! No limit is a number that somebody can have: limits lie half a step between numbers.
//! Scales and axes of a part are shared by all its rows, so that they tell no more than the
//! part does.
//!
//! # Limits
//! Rows near a limit have company on one side only, and every part needs a ladder of its
//! own. So parts pay only where rows of different places are spread differently.
//! Measured as the geometric mean of the noise's standard deviation over axes and rows, in
//! standard deviations of the columns (4,000 rows, 5 columns, k = 10, 5 levels, gaussian):
//!
//! | rows | global | local, 2 / 4 / 8 parts | rotated, 1 / 4 / 8 parts |
//! | --- | --- | --- | --- |
//! | 20 narrow clusters | 0.253 | 0.267 / 0.296 / 0.325 | 0.262 / 0.315 / 0.337 |
//! | 20 clusters whose columns go together | 0.395 | 0.445 / 0.488 / 0.479 | 0.383 / 0.443 / 0.460 |
//! | Adult (4,500 rows) | 0.502 | 0.554 / 0.577 / 0.591 | 0.413 / 0.575 / 0.580 |
//! | two halves, each wide where the other is narrow | 0.289 | 0.087 / 0.092 / 0.099 | 0.291 / 0.092 / 0.099 |
//!
//! So parts are few unless asked for, and one frame for all is the better choice unless
//! places differ much. Turned boxes lose to rounding: on Adult, whose numbers are whole,
//! they are twice as wide as boxes along the columns (0.712 and 0.376).
//!
//! # Cost
//! O(d n log n) for each doubling of parts.
//!
//! # Source
//! Local and rotated frames are `aggarwal2008unifying`, one for each row; sharing them is
//! ours: docs/methods.md, "Local and rotated frames".

use nalgebra::{DMatrix, SymmetricEigen};

use crate::method::blur::{BlurTask, BlurredFrame, Frame};
use crate::space::FrameKind;
use crate::table::snapped;

/// Parts, if the task does not say how many: with fewer, local scales would be global ones.
const LOCAL_PARTS: usize = 2;
const ROTATED_PARTS: usize = 1;

/// No part has fewer people than this many times the largest wish: its ladder has to hide
/// those at its rim, too.
const COMPANY: f64 = 20.0;

/// A part of a frame on the way.
struct FramePart {
    /// Places in the frame.
    rows: Vec<u32>,
    limits: Vec<[Option<f64>; 2]>,
    /// Whether no cut was found.
    whole: bool,
}

/// Divides a frame whose axes are the columns into parts of space, and gives each scales or
/// axes of its own.
pub(super) fn divide(
    task: &BlurTask<'_>,
    (note, frame): (BlurredFrame, Frame),
) -> Vec<(BlurredFrame, Frame)> {
    if task.frame == FrameKind::Global || frame.dims == 0 {
        return vec![(note, frame)];
    }
    let few = match task.frame {
        FrameKind::Rotated => ROTATED_PARTS,
        FrameKind::Local | FrameKind::Global => LOCAL_PARTS,
    };
    let most = task.parts.unwrap_or(few).max(1);
    let mut parts = vec![FramePart {
        rows: (0..frame.rows.len() as u32).collect(),
        limits: note.part.clone(),
        whole: false,
    }];
    while parts.len() < most {
        // The largest part first; of equal ones the first.
        let largest = (0..parts.len())
            .filter(|part| !parts[*part].whole)
            .max_by_key(|part| (parts[*part].rows.len(), std::cmp::Reverse(*part)));
        let Some(largest) = largest else { break };
        match cut(task, &note, &frame, &parts[largest]) {
            Some([below, above]) => {
                parts[largest] = below;
                parts.insert(largest + 1, above);
            }
            None => parts[largest].whole = true,
        }
    }
    parts.into_iter().map(|part| framed(task, &note, &frame, part)).collect()
}

/// Cuts a part near the median of its widest column.
fn cut(
    task: &BlurTask<'_>,
    note: &BlurredFrame,
    frame: &Frame,
    part: &FramePart,
) -> Option<[FramePart; 2]> {
    let wish =
        part.rows.iter().map(|row| wish_of(task, frame, *row)).fold(1.0, f64::max);
    let least = (COMPANY * wish).ceil() as usize;
    if frame.n_people(part.rows.iter()) < 2 * least {
        return None;
    }
    let of =
        |row: &u32, axis: usize| frame.coordinates[*row as usize * frame.dims + axis];
    let mut widths: Vec<(f64, usize)> = (0..frame.dims)
        .filter(|axis| frame.scales[*axis] > 0.0)
        .map(|axis| {
            let values = part.rows.iter().map(|row| of(row, axis));
            (deviation(values) / frame.scales[axis], axis)
        })
        .filter(|(width, _)| *width > 0.0)
        .collect();
    widths.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    for (_, axis) in widths {
        let mut values: Vec<f64> = part.rows.iter().map(|row| of(row, axis)).collect();
        values.sort_unstable_by(f64::total_cmp);
        let decimals = task.decimals[note.columns[axis]];
        let Some(limit) = round_limit(&values, decimals) else { continue };
        let (below, above): (Vec<u32>, Vec<u32>) =
            part.rows.iter().partition(|row| of(row, axis) < limit);
        let few = |rows: &[u32]| frame.n_people(rows.iter()) < least;
        if few(&below) || few(&above) {
            continue;
        }
        let (mut low, mut high) = (part.limits.clone(), part.limits.clone());
        low[axis][1] = Some(limit);
        high[axis][0] = Some(limit);
        return Some([
            FramePart { rows: below, limits: low, whole: false },
            FramePart { rows: above, limits: high, whole: false },
        ]);
    }
    None
}

fn wish_of(task: &BlurTask<'_>, frame: &Frame, place: u32) -> f64 {
    task.wishes[frame.rows[place as usize] as usize]
}

/// The roundest limit between the second and the third fifth of ascending values, half a
/// step below a number.
fn round_limit(values: &[f64], decimals: u32) -> Option<f64> {
    let n = values.len();
    let (from, to) = (values[2 * n / 5], values[3 * n / 5]);
    let median = values[n / 2];
    let step = 1.0 / 10f64.powi(decimals as i32);
    // From a step as wide as the numbers down to the lattice's own.
    let widest = from.abs().max(to.abs()).max(step).log10().ceil() as i32;
    for power in (-(decimals as i32)..=widest).rev() {
        let unit = 10f64.powi(power);
        let near = (median / unit).round();
        let candidates = [near, near + 1.0, near - 1.0].map(|count| count * unit);
        let inside = candidates.into_iter().find(|limit| *limit > from && *limit <= to);
        if let Some(limit) = inside {
            let limit = snapped(limit - step / 2.0, decimals + 1);
            // Numbers so large that half a step is lost cannot be cut safely.
            return (limit < to && limit > from).then_some(limit);
        }
    }
    None
}

/// The frame of a part.
fn framed(
    task: &BlurTask<'_>,
    note: &BlurredFrame,
    frame: &Frame,
    part: FramePart,
) -> (BlurredFrame, Frame) {
    let dims = frame.dims;
    let mut own = frame.part(&part.rows);
    let mut note = BlurredFrame { part: part.limits, ..note.clone() };
    if task.frame == FrameKind::Rotated {
        let axes = principal_axes(&own.coordinates, &frame.scales);
        own.coordinates = own
            .coordinates
            .chunks_exact(dims)
            .flat_map(|row| axes.iter().map(|axis| along(axis, row)))
            .collect();
        let steps: Vec<f64> = note
            .columns
            .iter()
            .map(|column| 1.0 / 10f64.powi(task.decimals[*column] as i32))
            .collect();
        let sizes = |axis: &Vec<f64>| axis.iter().map(|w| w.abs()).collect::<Vec<_>>();
        own.cuts = axes.iter().map(|axis| along(&sizes(axis), &steps)).collect();
        own.steps = vec![0.0; dims];
        note.axes = Some(axes);
    }
    own.scales = (0..dims)
        .map(|axis| deviation(own.coordinates.iter().skip(axis).step_by(dims).copied()))
        .collect();
    (note, own)
}

/// A row's coordinate along an axis.
fn along(axis: &[f64], row: &[f64]) -> f64 {
    axis.iter().zip(row).map(|(weight, value)| weight * value).sum()
}

/// The standard deviation of numbers; exactly zero if all are equal.
pub(super) fn deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let Some(first) = values.clone().next() else { return 0.0 };
    if values.clone().all(|value| value == first) {
        return 0.0;
    }
    // Differences from the first are small where numbers are large and close.
    let n = values.clone().count() as f64;
    let mean = values.clone().map(|value| value - first).sum::<f64>() / n;
    let squares = values.map(|value| (value - first - mean).powi(2)).sum::<f64>();
    (squares / n).sqrt()
}

/// The principal axes of rows in units of the columns' scales, widest first, as weights of
/// the columns with six digits.
fn principal_axes(values: &[f64], scales: &[f64]) -> Vec<Vec<f64>> {
    let dims = scales.len();
    let n = (values.len() / dims) as f64;
    let unit = |axis: usize| if scales[axis] > 0.0 { scales[axis] } else { 1.0 };
    let mut scaled: Vec<f64> = values.to_vec();
    for axis in 0..dims {
        let own = || values.iter().skip(axis).step_by(dims);
        let mean = own().sum::<f64>() / n;
        for value in scaled.iter_mut().skip(axis).step_by(dims) {
            *value = (*value - mean) / unit(axis);
        }
    }
    let mut covariance = DMatrix::<f64>::zeros(dims, dims);
    for row in scaled.chunks_exact(dims) {
        for a in 0..dims {
            for b in 0..dims {
                covariance[(a, b)] += row[a] * row[b] / n;
            }
        }
    }
    let eigen = SymmetricEigen::new(covariance);
    let mut order: Vec<usize> = (0..dims).collect();
    order.sort_by(|a, b| {
        eigen.eigenvalues[*b].total_cmp(&eigen.eigenvalues[*a]).then(a.cmp(b))
    });
    order
        .into_iter()
        .map(|place| {
            let direction: Vec<f64> =
                eigen.eigenvectors.column(place).iter().copied().collect();
            let largest = direction
                .iter()
                .copied()
                .fold(0.0, |a: f64, b| if b.abs() > a.abs() + 1e-9 { b } else { a });
            let sign = if largest < 0.0 { -1.0 } else { 1.0 };
            // Six decimals first: a column that plays no part gets zero.
            let weight = |(axis, part): (usize, &f64)| {
                six_digits(snapped(sign * part, 6) / unit(axis))
            };
            direction.iter().enumerate().map(weight).collect()
        })
        .collect()
}

/// A number as its text with six digits reads back.
fn six_digits(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::blur::testing::{clusters, frame_of, task};
    use crate::space::Shape;

    fn divided(kind: FrameKind, parts: usize) -> Vec<(BlurredFrame, Frame)> {
        let numbers = clusters(3, 1000, 5);
        let wishes = vec![5.0; 1000];
        let task = BlurTask {
            parts: Some(parts),
            ..task(&numbers, &wishes, Shape::Uniform, kind)
        };
        let divided = divide(&task, frame_of(&task));
        let mut seen = vec![false; 1000];
        for (note, frame) in &divided {
            assert!(frame.rows.len() >= 100);
            for row in &frame.rows {
                assert!(!std::mem::replace(&mut seen[*row as usize], true));
            }
            for row in 0..1000 {
                let values = numbers.row(row).iter().zip(&note.part);
                let inside = values.into_iter().all(|(value, [from, to])| {
                    assert!(Some(*value) != *from && Some(*value) != *to);
                    from.is_none_or(|from| from < *value)
                        && to.is_none_or(|to| *value < to)
                });
                assert_eq!(inside, frame.rows.contains(&(row as u32)));
            }
        }
        assert!(seen.iter().all(|seen| *seen));
        divided
    }

    #[test]
    fn every_row_is_in_one_part_and_parts_have_scales_of_their_own() {
        let parts = divided(FrameKind::Local, 6);
        assert_eq!(parts.len(), 6);
        for (note, frame) in &parts {
            assert!(note.axes.is_none());
            assert_eq!(frame.steps, [0.1; 3]);
            for axis in 0..3 {
                let own = frame.coordinates.iter().skip(axis).step_by(3).copied();
                assert_eq!(frame.scales[axis], deviation(own));
            }
        }
        assert!(divided(FrameKind::Local, 1000).len() <= 10);
        assert_eq!(divided(FrameKind::Global, 1000).len(), 1);
    }

    #[test]
    fn turned_axes_are_those_along_which_columns_do_not_go_together() {
        for (note, frame) in divided(FrameKind::Rotated, 3) {
            let axes = note.axes.unwrap();
            let n = frame.rows.len() as f64;
            let centred: Vec<Vec<f64>> = (0..3)
                .map(|axis| {
                    let own: Vec<f64> = frame
                        .coordinates
                        .iter()
                        .skip(axis)
                        .step_by(3)
                        .copied()
                        .collect();
                    let mean = own.iter().sum::<f64>() / n;
                    own.into_iter().map(|value| value - mean).collect()
                })
                .collect();
            for a in 0..3 {
                assert!(axes[a].iter().all(|weight| {
                    weight.to_string().trim_start_matches(['-', '0', '.']).len() <= 7
                }));
                let cut: f64 = axes[a].iter().map(|weight| 0.1 * weight.abs()).sum();
                assert!((frame.cuts[a] - cut).abs() < 1e-12);
                for b in 0..a {
                    let product: f64 =
                        centred[a].iter().zip(&centred[b]).map(|(x, y)| x * y).sum();
                    let common = product / n / (frame.scales[a] * frame.scales[b]);
                    assert!(common.abs() < 1e-3, "{common}");
                }
            }
            assert!(frame.scales.is_sorted_by(|a, b| a >= b));
        }
    }

    #[test]
    fn a_column_without_spread_has_none() {
        let mut numbers = clusters(2, 400, 1);
        numbers.values.iter_mut().skip(1).step_by(2).for_each(|value| *value = 0.1);
        let wishes = vec![3.0; 400];
        for kind in [FrameKind::Local, FrameKind::Rotated] {
            let task = BlurTask {
                parts: Some(2),
                ..task(&numbers, &wishes, Shape::Gaussian, kind)
            };
            let frames = divide(&task, frame_of(&task));
            assert_eq!(frames.len(), 2);
            for (_, frame) in frames {
                assert!(frame.scales[0] > 0.0);
                assert_eq!(frame.scales[1], 0.0);
            }
        }
    }

    #[test]
    fn limits_are_round_and_nobodys_number() {
        let ages: Vec<f64> = (0..100).map(|row| f64::from(17 + row / 2)).collect();
        assert_eq!(round_limit(&ages, 0), Some(39.5));
        let incomes: Vec<f64> = (0..100).map(|row| 1234.56 * f64::from(row)).collect();
        assert_eq!(round_limit(&incomes, 2), Some(59_999.995));
        assert_eq!(round_limit(&[0.0; 50], 0), None);
        let mut few = vec![0.0; 80];
        few.extend([7.0; 20]);
        assert_eq!(round_limit(&few, 0), None);
        let below: Vec<f64> =
            (0..100).map(|row| -0.01 * f64::from(row)).rev().collect();
        assert_eq!(round_limit(&below, 2), Some(-0.505));
    }
}
