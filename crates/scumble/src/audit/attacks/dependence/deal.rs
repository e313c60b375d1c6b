//! Values of a group, dealt to its rows: how often each row has each value, over all
//! arrangements, if each counts as much as its values fit its rows.
//!
//! Small groups are gone through: what a row has depends on what the others can have, and
//! that is most of what a group of few values tells. In larger ones rows are scaled so that
//! every row has one value and every value is had as often as it is there. Scaling alone
//! forgets that whoever takes a value leaves another one: two rows of which each fits its own
//! value a times as well as the other have them with odds of a² to 1, and scaled with a to 1.
//! With n rows that fit nearly evenly the odds are those of a^(n / (n - 1)), so fits are raised
//! to that power before: exact for two rows, for nearly even ones and for very many, and short
//! of the truth, never beyond it, between.

/// Larger groups are not gone through.
const SMALL: f64 = 5.0;

/// The rounds in which the values of a large group are scaled.
const ROUNDS: usize = 5;

/// Rows that are alike: how many they are, and how well each value of the group fits them.
pub(super) type Alike = (f64, Vec<f64>);

/// For rows that are alike, how many of them have each value. `counts` says how often each
/// value is there.
pub(super) fn deal(rows: &[Alike], counts: &[f64]) -> Vec<Vec<f64>> {
    let size: f64 = counts.iter().sum();
    let gone_through = (size <= SMALL).then(|| exact(rows, counts)).flatten();
    gone_through.unwrap_or_else(|| scaled(rows, counts, size))
}

/// How much likelier such rows make the values of a group than rows of which nothing is seen,
/// in nats. Of a large group each row is taken for itself.
pub(super) fn likelihood(rows: &[Alike], counts: &[f64]) -> f64 {
    const LEAST: f64 = 1e-9;
    let size: f64 = counts.iter().sum();
    if size <= SMALL {
        let unseen = [(size, vec![1.0; counts.len()])];
        let (worlds, even) = (Worlds::of(rows, counts), Worlds::of(&unseen, counts));
        return (worlds.total() / even.total().max(1.0)).max(LEAST).ln();
    }
    let of_row = |fits: &[f64]| -> f64 {
        let sum: f64 = fits.iter().zip(counts).map(|(fit, n)| fit * n).sum();
        (sum / size).max(LEAST).ln()
    };
    rows.iter().map(|(n, fits)| n * of_row(fits)).sum()
}

/// All arrangements of a small group. A state says how many rows have had each value; the
/// number of these is the row that is next.
struct Worlds<'a> {
    /// The fits of each row, and with whom it is alike.
    rows: Vec<(usize, &'a [f64])>,
    /// For each value how often it is there, and by how much a state grows with it.
    steps: Vec<(usize, usize)>,
    before: Vec<f64>,
}

impl<'a> Worlds<'a> {
    fn of(alike: &'a [Alike], counts: &[f64]) -> Self {
        let rows = alike.iter().enumerate().flat_map(|(kind, (n, fits))| {
            std::iter::repeat_n((kind, fits.as_slice()), n.round() as usize)
        });
        let (mut steps, mut n_states) = (Vec::with_capacity(counts.len()), 1);
        for count in counts {
            let count = count.round() as usize;
            steps.push((count, n_states));
            n_states *= count + 1;
        }
        let mut worlds =
            Self { rows: rows.collect(), steps, before: vec![0.0; n_states] };
        worlds.before[0] = 1.0;
        for state in 0..n_states {
            let weight = worlds.before[state];
            let Some((_, fits)) = worlds.next(state).filter(|_| weight > 0.0) else {
                continue;
            };
            for (value, step) in worlds.free(state).collect::<Vec<_>>() {
                worlds.before[state + step] += weight * fits[value];
            }
        }
        worlds
    }

    /// How many rows had this value before.
    fn had(&self, state: usize, (count, step): (usize, usize)) -> usize {
        state / step % (count + 1)
    }

    /// The row that is next.
    fn next(&self, state: usize) -> Option<(usize, &'a [f64])> {
        let had: usize = self.steps.iter().map(|step| self.had(state, *step)).sum();
        self.rows.get(had).copied()
    }

    /// The values that are left, and by how much the state grows with each.
    fn free(&self, state: usize) -> impl Iterator<Item = (usize, usize)> {
        let steps = self.steps.iter().enumerate();
        let left = steps.filter(move |(_, step)| self.had(state, **step) < step.0);
        left.map(|(value, step)| (value, step.1))
    }

    /// What all arrangements count together.
    fn total(&self) -> f64 {
        self.before.last().copied().unwrap_or(0.0)
    }
}

fn exact(rows: &[Alike], counts: &[f64]) -> Option<Vec<Vec<f64>>> {
    let worlds = Worlds::of(rows, counts);
    let total = worlds.total();
    if !(total > 0.0 && total.is_finite()) {
        return None;
    }
    let n_states = worlds.before.len();
    let mut after = vec![0.0; n_states];
    after[n_states - 1] = 1.0;
    let mut dealt = vec![vec![0.0; counts.len()]; rows.len()];
    for state in (0..n_states).rev() {
        let Some((kind, fits)) = worlds.next(state) else { continue };
        let mut sum = 0.0;
        for (value, step) in worlds.free(state) {
            let rest = fits[value] * after[state + step];
            dealt[kind][value] += worlds.before[state] * rest / total;
            sum += rest;
        }
        after[state] = sum;
    }
    Some(dealt)
}

fn scaled(rows: &[Alike], counts: &[f64], size: f64) -> Vec<Vec<f64>> {
    let power = size / (size - 1.0).max(1.0);
    let raised = rows.iter().map(|(n, fits)| {
        let fits = fits.iter().map(|fit| fit.powf(power));
        (*n, fits.collect::<Vec<f64>>())
    });
    let rows: Vec<Alike> = raised.collect();
    let mut weights = counts.to_vec();
    let mut dealt = vec![vec![0.0; counts.len()]; rows.len()];
    for _ in 0..ROUNDS {
        let mut given = vec![0.0; counts.len()];
        for ((n, fits), dealt) in rows.iter().zip(&mut dealt) {
            let shares = fits.iter().zip(&weights).map(|(fit, w)| fit * w);
            let shares: Vec<f64> = shares.collect();
            let total: f64 = shares.iter().sum();
            for (place, share) in shares.iter().enumerate() {
                dealt[place] = match total > 0.0 {
                    true => n * share / total,
                    false => n / shares.len() as f64,
                };
                given[place] += dealt[place];
            }
        }
        for ((weight, n), given) in weights.iter_mut().zip(counts).zip(&given) {
            *weight *= n / given.max(1e-12);
        }
    }
    dealt
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All ways to give values to rows, one by one.
    fn listed(
        rows: &[&[f64]],
        left: &mut [f64],
        given: &mut Vec<usize>,
        sums: &mut [Vec<f64>],
    ) -> f64 {
        let Some(fits) = rows.get(given.len()) else {
            let weight =
                rows.iter().zip(&*given).map(|(fits, value)| fits[*value]).product();
            for (sums, value) in sums.iter_mut().zip(&*given) {
                sums[*value] += weight;
            }
            return weight;
        };
        let mut total = 0.0;
        for value in 0..fits.len() {
            if left[value] > 0.0 {
                left[value] -= 1.0;
                given.push(value);
                total += listed(rows, left, given, sums);
                given.pop();
                left[value] += 1.0;
            }
        }
        total
    }

    #[test]
    fn small_groups_are_all_arrangements() {
        let fits = [[3.0, 1.0, 0.5], [0.2, 4.0, 1.0], [1.0, 1.0, 1.0], [2.0, 0.1, 7.0]];
        let counts = [2.0, 1.0, 2.0];
        // The last two rows are alike.
        let alike: Vec<Alike> = fits
            .iter()
            .map(|fits| fits.to_vec())
            .zip([1.0, 1.0, 1.0, 2.0])
            .map(|(fits, n)| (n, fits))
            .collect();
        let rows: Vec<&[f64]> =
            fits.iter().chain(&fits[3..]).map(|fits| &fits[..]).collect();
        let mut sums = vec![vec![0.0; 3]; 5];
        let total = listed(&rows, &mut counts.clone(), &mut Vec::new(), &mut sums);
        let dealt = deal(&alike, &counts);
        for (kind, dealt) in dealt.iter().enumerate() {
            for (value, dealt) in dealt.iter().enumerate() {
                let both = if kind == 3 { sums[4][value] } else { 0.0 };
                let wanted = (sums[kind][value] + both) / total;
                assert!((dealt - wanted).abs() < 1e-12, "{kind} {value}");
            }
        }
        // 5! / (2! 1! 2!) arrangements.
        assert!((likelihood(&alike, &counts) - (total / 30.0).ln()).abs() < 1e-12);
    }

    #[test]
    fn large_groups_come_near_and_stay_below() {
        // Seven rows, each with a value of its own that fits better.
        // What is left of the way from scaling alone to the truth.
        for (fit, left) in [(1.2, 0.15), (2.0, 0.4), (6.0, 0.8)] {
            let n = 7;
            let row = |own: usize| -> Vec<f64> {
                (0..n).map(|value| if value == own { fit } else { 1.0 }).collect()
            };
            let rows: Vec<Vec<f64>> = (0..n).map(row).collect();
            let alike: Vec<Alike> = rows.iter().map(|row| (1.0, row.clone())).collect();
            let all: Vec<&[f64]> = rows.iter().map(|row| &row[..]).collect();
            let (mut sums, counts) = (vec![vec![0.0; n]; n], vec![1.0; n]);
            let total = listed(&all, &mut counts.clone(), &mut Vec::new(), &mut sums);
            let (truth, found) = (sums[0][0] / total, deal(&alike, &counts)[0][0]);
            let plain = fit / (fit + 6.0);
            assert!(
                plain < found && found < truth + 1e-3,
                "{fit}: {plain} {found} {truth}"
            );
            assert!(
                truth - found < left * (truth - plain),
                "{fit}: {plain} {found} {truth}"
            );
        }
    }

    #[test]
    fn what_cannot_be_is_dealt_evenly() {
        let dealt = deal(&[(2.0, vec![0.0, 0.0])], &[1.0, 1.0]);
        assert_eq!(dealt, [[1.0, 1.0]]);
        assert!(likelihood(&[(2.0, vec![0.0, 0.0])], &[1.0, 1.0]).is_finite());
    }
}
