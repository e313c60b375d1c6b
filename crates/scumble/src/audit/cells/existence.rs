//! Existence: who is in the table, if weights are likelihoods and nothing more.
//!
//! The adversary of the source. A person of the group is as likely as the product of the
//! weights of their values, and a set of n people as the product of its people's.
//!
//! # Guarantee
//! Existence probabilities are right up to 1e-11, for likelihoods of any size.
//!
//! *Proof.* Multiplying all likelihoods p by one number changes nothing, as all sets have n
//! people. Choose it such that independent people, present with probability q = p / (1 + p),
//! are n on average. With S their number, a person exists with the probability
//! `q Pr(S' = n - 1) / Pr(S = n)`, S' being the number of the others. The distribution of S
//! is built person by person, with positive terms only, in a window around the running mean
//! outside of which less than 1e-20 is lost. That of S' follows from
//! `Pr(S = k) = (1 - q) Pr(S' = k) + q Pr(S' = k - 1)`, solved upwards for q up to one half
//! and downwards beyond: either way an error is multiplied by at most 1 at each step. ∎
//!
//! # Limits
//! Somebody who counts finds more: see `counting`. Groups that take more than [`MOST_STEPS`] are not
//! certified.
//!
//! # Cost
//! O(people times the spread of their number) a group.
//!
//! # Source
//! `nergiz2007pdf`, section V; docs/methods.md, "Shifted weights". The publisher sums
//! over a circle instead.

use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::audit::cells::{CellClasses, People, Share, Shares, WeightsByCode};
use crate::table::Code;
use crate::watch::Watch;

/// More steps than this are not taken for one group.
const MOST_STEPS: f64 = 2e9;

/// How many standard deviations the window is wide to each side, and how much more.
const WINDOW: (f64, f64) = (12.0, 60.0);

/// The shares that the adversary of the source finds.
pub(crate) fn shares(
    view: &CellClasses,
    people: &People<'_>,
    bound: &WeightsByCode,
) -> Shares {
    let tuples = people.tuples_of_groups();
    let found: Vec<Vec<Share>> = (0..view.n_groups())
        .into_par_iter()
        .map(|group| {
            let ln = |tuple: u32| ln_likelihood(people, &bound[group], tuple as usize);
            let mut classes: BTreeMap<u64, LikelyPeople> = BTreeMap::new();
            for tuple in &tuples[group] {
                let (ln, n) = (ln(*tuple), people.known.people[*tuple as usize]);
                let class = classes.entry(ln.to_bits());
                class.or_insert(LikelyPeople { ln, people: 0 }).people += n;
            }
            let given: Vec<LikelyPeople> = classes.values().copied().collect();
            let shares = existence(&given, view.sizes[group], people.known.watch);
            let share_of: BTreeMap<u64, Share> =
                classes.into_keys().zip(shares).collect();
            let share = |tuple: &u32| share_of[&ln(*tuple).to_bits()];
            tuples[group].iter().map(share).collect()
        })
        .collect();
    Shares::by_tuple(people, &tuples, found.into_iter())
}

/// The logarithm of the product of the weights of a tuple's values.
fn ln_likelihood(people: &People<'_>, cells: &[Vec<(Code, f64)>], tuple: usize) -> f64 {
    let columns = cells.iter().zip(&people.known.tuples);
    let ln = columns.map(|(cell, codes)| {
        let place = cell.binary_search_by_key(&codes[tuple], |(code, _)| *code);
        place.map_or(f64::NEG_INFINITY, |place| cell[place].1.ln())
    });
    ln.sum()
}

/// People who are equally likely.
#[derive(Debug, Clone, Copy)]
struct LikelyPeople {
    /// The logarithm of the likelihood of each.
    ln: f64,
    people: u64,
}

/// For each class the probability to be among the `rows` people who are present.
fn existence(classes: &[LikelyPeople], rows: u64, watch: &dyn Watch) -> Vec<Share> {
    let able = classes.iter().filter(|class| class.ln > f64::NEG_INFINITY);
    let n_able: u64 = able.clone().map(|class| class.people).sum();
    let of_able = |share: Share| {
        let share = |class: &LikelyPeople| match class.ln > f64::NEG_INFINITY {
            true => share,
            false => Share::of(0, 1),
        };
        classes.iter().map(share).collect()
    };
    if n_able < rows {
        return vec![Share::Guess(rows as f64 / n_able.max(1) as f64); classes.len()];
    }
    if able.count() == 1 || n_able == rows {
        return of_able(Share::of(rows, n_able));
    }
    let factor = factor(classes, rows as f64);
    let chances: Vec<f64> =
        classes.iter().map(|class| logistic(class.ln + factor)).collect();
    let people = classes.iter().zip(&chances);
    let variance: f64 =
        people.map(|(class, q)| class.people as f64 * q * (1.0 - q)).sum();
    let width = WINDOW.0 * variance.sqrt() + WINDOW.1;
    if n_able as f64 * 2.0 * width > MOST_STEPS {
        return of_able(Share::Guess(rows as f64 / n_able as f64));
    }
    let number = Number::of(classes, &chances, width, watch);
    let all = number.at(rows as i64);
    let share = |(class, q): (&LikelyPeople, &f64)| match class.ln > f64::NEG_INFINITY {
        true => Share::Near(q * number.without(*q, rows as i64 - 1) / all),
        false => Share::of(0, 1),
    };
    classes.iter().zip(&chances).map(share).collect()
}

fn logistic(ln_odds: f64) -> f64 {
    if ln_odds < 0.0 {
        let odds = ln_odds.exp();
        odds / (1.0 + odds)
    } else {
        1.0 / (1.0 + (-ln_odds).exp())
    }
}

/// The logarithm of the number that likelihoods are multiplied with, such that `rows`
/// people are expected. That grows with it: the interval is halved until nothing is left.
fn factor(classes: &[LikelyPeople], rows: f64) -> f64 {
    let able = classes.iter().filter(|class| class.ln > f64::NEG_INFINITY);
    let expected = |factor: f64| -> f64 {
        let able = able.clone();
        able.map(|class| class.people as f64 * logistic(class.ln + factor)).sum()
    };
    let largest = able.clone().map(|class| class.ln).fold(f64::NEG_INFINITY, f64::max);
    let smallest = able.clone().map(|class| class.ln).fold(f64::INFINITY, f64::min);
    // At these all are absent, or present, but for less than a person in 10^17.
    let (mut low, mut high) = (-largest - 90.0, -smallest + 90.0);
    for _ in 0..200 {
        let middle = low + (high - low) / 2.0;
        if expected(middle) < rows {
            low = middle;
        } else {
            high = middle;
        }
    }
    low + (high - low) / 2.0
}

/// How likely each number of people is, in a window: `weights[i]` for `start + i`.
struct Number {
    start: i64,
    weights: Vec<f64>,
}

impl Number {
    /// Of independent people, each present with the probability of their class.
    fn of(
        classes: &[LikelyPeople],
        chances: &[f64],
        width: f64,
        watch: &dyn Watch,
    ) -> Self {
        let mut number = Self { start: 0, weights: vec![1.0] };
        let mut mean = 0.0;
        for (class, q) in classes.iter().zip(chances) {
            for _ in 0..class.people {
                if watch.is_cancelled() {
                    return number;
                }
                mean += q;
                number.add(*q, mean - width, mean + width);
            }
        }
        number
    }

    /// Adds a person, and forgets what is outside of `low..high`.
    fn add(&mut self, q: f64, low: f64, high: f64) {
        let mut before = 0.0;
        for weight in &mut self.weights {
            let here = *weight;
            *weight = here * (1.0 - q) + before * q;
            before = here;
        }
        self.weights.push(before * q);
        let end = self.start + self.weights.len() as i64 - 1;
        if end as f64 > high {
            self.weights.pop();
        }
        if (self.start as f64) < low {
            self.weights.remove(0);
            self.start += 1;
        }
    }

    fn at(&self, n: i64) -> f64 {
        let place = usize::try_from(n - self.start).ok();
        place.and_then(|place| self.weights.get(place)).copied().unwrap_or(0.0)
    }

    /// How likely `n` is for everybody but a person with the probability `q`.
    fn without(&self, q: f64, n: i64) -> f64 {
        let end = self.start + self.weights.len() as i64;
        let mut last = 0.0;
        if q <= 0.5 {
            for k in self.start..=n {
                last = (self.at(k) - q * last) / (1.0 - q);
            }
        } else {
            for k in (n + 1..end).rev() {
                last = (self.at(k) - (1.0 - q) * last) / q;
            }
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::watch::Unwatched;

    fn classes(given: &[(f64, u64)]) -> Vec<LikelyPeople> {
        given
            .iter()
            .map(|(p, people)| LikelyPeople { ln: p.ln(), people: *people })
            .collect()
    }

    fn found(given: &[(f64, u64)], rows: u64) -> Vec<f64> {
        existence(&classes(given), rows, &Unwatched)
            .iter()
            .map(|share| share.to_f64())
            .collect()
    }

    /// docs/methods.md, "Shifted weights": five people, four present.
    #[test]
    fn the_five_men_of_the_paper() {
        let shares = found(&[(3.0 / 16.0, 2), (9.0 / 16.0, 2), (1.0 / 16.0, 1)], 4);
        for (share, wanted) in shares.iter().zip([14.0 / 17.0, 16.0 / 17.0, 8.0 / 17.0])
        {
            assert!((share - wanted).abs() < 1e-14, "{share} {wanted}");
        }
    }

    #[test]
    fn probabilities_are_those_of_all_sets() {
        let likelihoods = [0.5f64, 0.01, 0.3, 0.3, 1e-9, 0.9, 0.2];
        for rows in 1..=6u32 {
            let (mut all, mut sums) = (0.0, [0.0; 7]);
            for set in 0..1u32 << 7 {
                if set.count_ones() != rows {
                    continue;
                }
                let here = |person: &usize| set >> person & 1 == 1;
                let product: f64 =
                    (0..7).filter(here).map(|p| likelihoods[p]).product();
                all += product;
                (0..7).filter(here).for_each(|person| sums[person] += product);
            }
            let given: Vec<(f64, u64)> =
                likelihoods.iter().map(|likelihood| (*likelihood, 1)).collect();
            for (share, sum) in found(&given, rows.into()).iter().zip(sums) {
                assert!((share - sum / all).abs() < 1e-13, "{share} {}", sum / all);
            }
        }
    }

    #[test]
    fn large_groups_have_as_many_people_as_rows() {
        let given: Vec<(f64, u64)> = (1..=60)
            .map(|place| (0.9f64.powi(place) / 7.0, 40 + place as u64))
            .collect();
        let shares = found(&given, 700);
        let sum: f64 =
            shares.iter().zip(&given).map(|(share, (_, n))| share * *n as f64).sum();
        assert!((sum - 700.0).abs() < 1e-8, "{sum}");
        assert!(shares.is_sorted_by(|a, b| a > b), "the likelier exist the rather");
    }

    #[test]
    fn who_is_equally_likely_has_an_exact_share() {
        let even = existence(&classes(&[(0.25, 10), (0.0, 5)]), 4, &Unwatched);
        assert_eq!(even, [Share::of(4, 10), Share::of(0, 1)]);
        let forced =
            existence(&classes(&[(0.25, 2), (0.5, 2), (0.0, 1)]), 4, &Unwatched);
        assert_eq!(forced[..2], [Share::of(4, 4); 2]);
        let too_few = existence(&classes(&[(0.25, 2), (0.0, 5)]), 4, &Unwatched);
        assert!(matches!(too_few[0], Share::Guess(_)));
    }
}
