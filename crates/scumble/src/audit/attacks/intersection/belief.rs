//! What groups of several releases that have some people in common tell about these.
//!
//! Of `n` people who stand together in a group of each release, `x` have a value, and the
//! others of a group with `h` such rows have the remaining `h - x`. Arrangements that give
//! all groups their counts are as many as the product, over values, of
//! `h₁!/(h₁-x)! · h₂!/(h₂-x)! · … / x!`, if what the groups have beside these people is free:
//! the belief in a value is the mean of `x / n` over all of them.

/// What a group tells of its rows: values by ascending code.
#[derive(Debug, Clone)]
pub(super) struct Told {
    /// How many rows have each value; of a mixture of groups, shares.
    pub(super) values: Vec<(u32, f64)>,
    /// How many rows there are; of a mixture 1.
    pub(super) size: f64,
    /// Whether its rows are those of the people who fit it, so that they can be counted off.
    pub(super) is_exact: bool,
    /// Whether everybody who fits has a row in it.
    pub(super) is_sure: bool,
}

/// What is believed of one of the people.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Belief {
    /// How likely each possible value is, by ascending code.
    pub(super) values: Vec<(u32, f64)>,
}

impl Belief {
    /// The likeliest value, of several the first, and how likely it is.
    pub(super) fn likeliest(&self) -> Option<(u32, f64)> {
        let best = |best: (u32, f64), next: &(u32, f64)| {
            if next.1 > best.1 { *next } else { best }
        };
        let (first, rest) = self.values.split_first()?;
        Some(rest.iter().fold(*first, best))
    }
}

/// A value that all groups have.
struct Candidate {
    code: u32,
    /// Its rows in each group whose rows can be counted off.
    exact: Vec<f64>,
    /// The logarithm of its shares in the others, added up.
    loose: f64,
    /// How many of the people can have it.
    most: u64,
}

/// Products of people and values up to which all arrangements are added up; above, the
/// likeliest one stands for them.
const MOST_WORK: u64 = 1 << 20;

/// What is believed of each of `n` people who stand together in all these groups; nothing if
/// they cannot.
pub(super) fn believed(told: &[&Told], n: u64) -> Option<Belief> {
    let mut candidates = candidates(told, n)?;
    candidates.retain(|candidate| candidate.most > 0);
    // Whoever has one of these, the others of a group can have what is left.
    let room: u64 = candidates.iter().map(|candidate| candidate.most).sum();
    if room < n || n == 0 {
        return None;
    }
    let tilt = tilt(&candidates, n as f64);
    let means = match n.saturating_mul(room) <= MOST_WORK {
        true => means(&candidates, n as usize, tilt),
        false => candidates.iter().map(|c| c.at(tilt, n as f64)).collect(),
    };
    let total: f64 = means.iter().sum();
    if !total.is_normal() {
        return None;
    }
    let codes = candidates.iter().map(|candidate| candidate.code);
    let values = codes.zip(means.iter().map(|mean| mean / total)).collect();
    Some(Belief { values })
}

/// The values that all groups have; nothing without groups.
fn candidates(told: &[&Told], n: u64) -> Option<Vec<Candidate>> {
    let (first, rest) = told.split_first()?;
    let mut found = Vec::new();
    'values: for (code, count) in &first.values {
        let mut candidate =
            Candidate { code: *code, exact: vec![], loose: 0.0, most: n };
        candidate.add(first, *count);
        for told in rest {
            let place = told.values.binary_search_by_key(code, |(code, _)| *code);
            let Ok(place) = place else { continue 'values };
            candidate.add(told, told.values[place].1);
        }
        found.push(candidate);
    }
    Some(found)
}

impl Candidate {
    fn add(&mut self, told: &Told, count: f64) {
        if !told.is_exact {
            self.loose += (count / told.size).ln();
            return;
        }
        self.exact.push(count);
        self.most = self.most.min(count as u64);
    }

    /// The logarithm of how many more arrangements there are with one more person than `x`.
    fn gain(&self, x: f64) -> f64 {
        let exact: f64 = self.exact.iter().map(|rows| (rows - x).max(0.0).ln()).sum();
        self.loose + exact - x.ln()
    }

    /// How many people have it where one more gains `tilt`: the likeliest number.
    fn at(&self, tilt: f64, n: f64) -> f64 {
        let (mut low, mut high) = (0.0, (self.most as f64).min(n));
        if self.gain(high) >= tilt {
            return high;
        }
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            match self.gain(middle) >= tilt {
                true => low = middle,
                false => high = middle,
            }
        }
        low
    }
}

/// The gain at which the likeliest numbers add up to everybody.
fn tilt(candidates: &[Candidate], n: f64) -> f64 {
    let (mut low, mut high) = (-200.0, 200.0);
    for _ in 0..60 {
        let tilt = (low + high) / 2.0;
        let sum: f64 = candidates.iter().map(|candidate| candidate.at(tilt, n)).sum();
        match sum >= n {
            true => low = tilt,
            false => high = tilt,
        }
    }
    low
}

/// How many people have each value, in the mean over all arrangements. Every person is
/// divided by the same number, `tilt`, which changes no mean and keeps floats in bounds.
fn means(candidates: &[Candidate], n: usize, tilt: f64) -> Vec<f64> {
    let ways: Vec<Vec<f64>> = candidates
        .iter()
        .map(|candidate| {
            let mut logarithms = vec![0.0];
            for x in 1..=candidate.most.min(n as u64) {
                let exact = candidate.exact.iter().map(|rows| rows - (x - 1) as f64);
                let more = exact.map(f64::ln).sum::<f64>() + candidate.loose;
                let last = logarithms[logarithms.len() - 1];
                logarithms.push(last + more - (x as f64).ln() - tilt);
            }
            let most = logarithms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            logarithms.into_iter().map(|log| (log - most).exp()).collect()
        })
        .collect();
    // Ways to give so many people values of the first so many candidates, and of the others.
    let mut before = vec![ways_of_nobody(n)];
    for own in &ways {
        let last = &before[before.len() - 1];
        before.push(convolved(last, own));
    }
    let mut after = vec![ways_of_nobody(n)];
    for own in ways.iter().rev() {
        let last = &after[after.len() - 1];
        after.push(convolved(last, own));
    }
    after.reverse();
    let mean = |place: usize| {
        let (mut sum, mut all) = (0.0, 0.0);
        let (others, own) = (&before[place], &ways[place]);
        for (x, way) in own.iter().enumerate() {
            let left = n - x;
            let pairs =
                others[..=left].iter().zip(after[place + 1][..=left].iter().rev());
            let weight = way * pairs.map(|(a, b)| a * b).sum::<f64>();
            all += weight;
            sum += weight * x as f64;
        }
        if all > 0.0 { sum / all } else { 0.0 }
    };
    (0..ways.len()).map(mean).collect()
}

fn ways_of_nobody(n: usize) -> Vec<f64> {
    let mut ways = vec![0.0; n + 1];
    ways[0] = 1.0;
    ways
}

/// The ways of both together, relative to the largest number.
fn convolved(ways: &[f64], own: &[f64]) -> Vec<f64> {
    let mut both = vec![0.0; ways.len()];
    for (place, held) in ways.iter().enumerate().filter(|(_, held)| **held > 0.0) {
        for (sum, more) in both[place..].iter_mut().zip(own) {
            *sum += held * more;
        }
    }
    let most = both.iter().copied().fold(0.0, f64::max);
    if most > 0.0 {
        both.iter_mut().for_each(|ways| *ways /= most);
    }
    both
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_chacha::ChaCha20Rng;

    use super::*;

    fn told(values: &[u32]) -> Told {
        let mut counts: Vec<(u32, f64)> = Vec::new();
        let mut sorted = values.to_vec();
        sorted.sort_unstable();
        for value in sorted {
            match counts.last_mut() {
                Some((last, n)) if *last == value => *n += 1.0,
                _ => counts.push((value, 1.0)),
            }
        }
        Told {
            values: counts,
            size: values.len() as f64,
            is_exact: true,
            is_sure: true,
        }
    }

    /// All ways to give values to people that fit two groups: those of both, then those of
    /// the first only, then those of the second only.
    fn counted(groups: [&[u32]; 2], n: usize, n_values: u32) -> (Vec<f64>, usize) {
        let mut left: Vec<Vec<i32>> = groups
            .iter()
            .map(|values| {
                let count = |v| values.iter().filter(|own| **own == v).count() as i32;
                (0..n_values).map(count).collect()
            })
            .collect();
        let people: Vec<Vec<usize>> = std::iter::repeat_n(vec![0, 1], n)
            .chain(std::iter::repeat_n(vec![0], groups[0].len() - n))
            .chain(std::iter::repeat_n(vec![1], groups[1].len() - n))
            .collect();
        let mut ways = vec![0.0; n_values as usize];
        let mut held = Vec::new();
        fn go(
            people: &[Vec<usize>],
            left: &mut [Vec<i32>],
            held: &mut Vec<usize>,
            ways: &mut [f64],
        ) {
            let Some((own, rest)) = people.split_first() else {
                ways[held[0]] += 1.0;
                return;
            };
            for value in 0..ways.len() {
                if own.iter().any(|group| left[*group][value] == 0) {
                    continue;
                }
                own.iter().for_each(|group| left[*group][value] -= 1);
                held.push(value);
                go(rest, left, held, ways);
                held.pop();
                own.iter().for_each(|group| left[*group][value] += 1);
            }
        }
        go(&people, &mut left, &mut held, &mut ways);
        let total: f64 = ways.iter().sum();
        let possible = ways.iter().filter(|n| **n > 0.0).count();
        (ways.iter().map(|n| n / total).collect(), possible)
    }

    #[test]
    fn beliefs_are_shares_of_all_arrangements() {
        let mut rng = ChaCha20Rng::seed_from_u64(7);
        let mut alone = 0;
        for _ in 0..300 {
            let n = rng.random_range(1..4);
            let both: Vec<u32> = (0..n).map(|_| rng.random_range(0..3)).collect();
            let group = |rng: &mut ChaCha20Rng| -> Vec<u32> {
                let more = (0..rng.random_range(0..3)).map(|_| rng.random_range(0..3));
                both.iter().copied().chain(more).collect()
            };
            let (first, second) = (group(&mut rng), group(&mut rng));
            let (wanted, possible) = counted([&first, &second], n, 3);
            let found = believed(&[&told(&first), &told(&second)], n as u64).unwrap();
            for (code, belief) in &found.values {
                let wanted = wanted[*code as usize];
                assert!((belief - wanted).abs() < 1e-9, "{first:?} {second:?} {n}");
            }
            assert_eq!(found.values.len(), possible, "{first:?} {second:?} {n}");
            alone += usize::from(possible == 1);
        }
        assert!((20..280).contains(&alone), "{alone}");
    }

    #[test]
    fn the_same_group_twice_tells_what_it_tells_once() {
        let group = told(&[0, 0, 0, 1]);
        let found = believed(&[&group, &group], 4).unwrap();
        assert!((found.values[0].1 - 0.75).abs() < 1e-12);
        assert_eq!(found.values.len(), 2);
    }

    #[test]
    fn one_person_has_the_product_of_shares() {
        let found = believed(&[&told(&[0, 0, 1, 2]), &told(&[0, 1, 1, 1])], 1).unwrap();
        assert_eq!(found.values.len(), 2);
        assert!((found.values[0].1 - 0.4).abs() < 1e-12);
        assert_eq!(found.likeliest().map(|(code, _)| code), Some(1));
    }

    /// The likeliest arrangement is near the mean of all.
    #[test]
    fn many_people_are_believed_as_the_likeliest_arrangement_has_them() {
        let group = |counts: [f64; 3]| Told {
            values: (0..).zip(counts).collect(),
            size: counts.iter().sum(),
            is_exact: true,
            is_sure: true,
        };
        let (a, b) = (group([300.0, 500.0, 200.0]), group([900.0, 100.0, 400.0]));
        let exact = believed(&[&a, &b], 400).unwrap();
        let all = candidates(&[&a, &b], 400).unwrap();
        let tilt = tilt(&all, 400.0);
        for (candidate, (_, belief)) in all.iter().zip(&exact.values) {
            let near = candidate.at(tilt, 400.0) / 400.0;
            assert!((near - belief).abs() < 0.002, "{near} {belief}");
        }
    }

    #[test]
    fn people_who_cannot_stand_together_are_not_believed() {
        assert_eq!(believed(&[&told(&[0, 1]), &told(&[2, 2])], 1), None);
        assert_eq!(believed(&[&told(&[0, 1]), &told(&[0, 2])], 2), None);
    }
}
