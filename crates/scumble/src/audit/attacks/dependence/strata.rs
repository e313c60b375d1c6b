//! Rows by what their quasi cells tell about all other columns: a tree that is split where it
//! tells most.

use super::rows::Feature;

/// No more parts.
const MOST: usize = 32;

/// No smaller parts.
const SMALLEST: usize = 50;

/// The part of each row, as something a reader sees.
pub(super) fn strata(quasi: &[Feature], told: &[&Feature], n_rows: usize) -> Feature {
    let mut parts: Vec<(Vec<u32>, Option<Split>)> = Vec::new();
    let all: Vec<u32> = (0..n_rows as u32).collect();
    let best = best_split(&all, quasi, told);
    parts.push((all, best));
    while parts.len() < MOST {
        let gain = |place: &usize| parts[*place].1.as_ref().map_or(0.0, |s| s.gain);
        let place = (0..parts.len()).max_by(|a, b| gain(a).total_cmp(&gain(b)));
        let Some(place) = place.filter(|place| gain(place) > 0.0) else { break };
        let (rows, split) = parts.swap_remove(place);
        let Some(split) = split else { break };
        let is_in = |row: &u32| split.takes(&quasi[split.feature], *row);
        let (inside, outside): (Vec<u32>, Vec<u32>) = rows.into_iter().partition(is_in);
        for rows in [inside, outside] {
            let best = best_split(&rows, quasi, told);
            parts.push((rows, best));
        }
    }
    let mut of_row = vec![0; n_rows];
    for (part, (rows, _)) in parts.iter().enumerate() {
        rows.iter().for_each(|row| of_row[*row as usize] = part as u32);
    }
    Feature::certain("", of_row, parts.len(), false)
}

/// Rows with a value, or with one up to it.
#[derive(Debug)]
struct Split {
    feature: usize,
    value: u32,
    gain: f64,
}

impl Split {
    fn takes(&self, feature: &Feature, row: u32) -> bool {
        let found = feature.of_row[row as usize];
        if feature.ordered { found <= self.value } else { found == self.value }
    }
}

/// The split that tells most, less what a split without any meaning would tell.
fn best_split(rows: &[u32], quasi: &[Feature], told: &[&Feature]) -> Option<Split> {
    let mut best: Option<Split> = None;
    for (place, feature) in quasi.iter().enumerate() {
        let size = feature.n_values;
        let mut gains = vec![0.0; size];
        let mut sizes = vec![0.0; size];
        for target in told {
            let width = target.n_values;
            let mut counts = vec![0.0f64; size * width];
            for row in rows {
                let (value, other) =
                    (feature.of_row[*row as usize], target.of_row[*row as usize]);
                counts[value as usize * width + other as usize] += 1.0;
            }
            let mut whole = vec![0.0; width];
            for line in counts.chunks(width) {
                whole.iter_mut().zip(line).for_each(|(sum, n)| *sum += n);
            }
            let n_told = whole.iter().filter(|n| **n > 0.0).count();
            let penalty =
                n_told.saturating_sub(1) as f64 * (rows.len().max(2) as f64).ln() / 2.0;
            let mut inside = vec![0.0; width];
            for (value, line) in counts.chunks(width).enumerate() {
                if feature.ordered {
                    inside.iter_mut().zip(line).for_each(|(sum, n)| *sum += n);
                } else {
                    inside.copy_from_slice(line);
                }
                let outside: Vec<f64> =
                    whole.iter().zip(&inside).map(|(all, n)| all - n).collect();
                sizes[value] = inside.iter().sum();
                gains[value] +=
                    surprise(&whole) - surprise(&inside) - surprise(&outside) - penalty;
            }
        }
        for (value, (gain, size)) in gains.into_iter().zip(sizes).enumerate() {
            let smaller = f64::min(size, rows.len() as f64 - size);
            let is_better = best.as_ref().is_none_or(|best| gain > best.gain);
            if smaller >= SMALLEST as f64 && gain > 0.0 && is_better {
                best = Some(Split { feature: place, value: value as u32, gain });
            }
        }
    }
    best
}

/// Rows times the entropy of their values, in nats.
fn surprise(counts: &[f64]) -> f64 {
    let total: f64 = counts.iter().sum();
    counts.iter().filter(|n| **n > 0.0).map(|n| n * (total / n).ln()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_split_where_it_tells_something() {
        let quasi = |of_row: fn(u32) -> u32, n_values| {
            Feature::certain("q", (0..600).map(of_row).collect(), n_values, false)
        };
        let features = [quasi(|row| row % 3, 3), quasi(|row| row / 3 % 2, 2)];
        let told = quasi(|row| u32::from(row % 3 == 1), 2);
        let parts = strata(&features, &[&told], 600);
        assert_eq!(parts.n_values, 2);
        let first = parts.of_row[1];
        let is_right = |row: usize| (parts.of_row[row] == first) == (row % 3 == 1);
        assert!((0..600).all(is_right));
        assert_eq!(strata(&features[1..], &[&told], 600).n_values, 1);
        assert_eq!(strata(&[], &[&told], 600).n_values, 1);
    }
}
