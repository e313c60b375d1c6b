//! What is learned from groups against how their values came about.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::learn::arrangements::deal;
use crate::watch::Unwatched;

const N_VALUES: usize = 6;

/// Groups of `size` rows with different values. Of the two columns that are seen the first
/// says the value for this share of rows, and the second nothing; `truth` has the value of
/// each row.
struct Planted {
    groups: Groups,
    seen: Vec<SeenColumn>,
    truth: Vec<u32>,
}

fn planted(n_groups: usize, size: usize, share: f64, seed: u64) -> Planted {
    let mut random = ChaCha20Rng::seed_from_u64(seed);
    let mut groups = Groups::new();
    let mut seen = [Vec::new(), Vec::new()];
    let mut truth = Vec::new();
    for _ in 0..n_groups {
        let mut left: Vec<u32> = (0..N_VALUES as u32).collect();
        let first = truth.len() as u32;
        let mut values: Vec<(u32, u64)> = Vec::new();
        for _ in 0..size {
            let value = left.swap_remove(random.random_range(0..left.len()));
            let told = random.random::<f64>() < share;
            let own =
                if told { value } else { random.random_range(0..N_VALUES as u32) };
            seen[0].push(own);
            seen[1].push(random.random_range(0..5u32));
            truth.push(value);
            values.push((value, 1));
        }
        values.sort_unstable();
        groups.push((first..first + size as u32).map(|row| (row, 1)), values);
    }
    let [first, second] = seen;
    let seen = vec![
        SeenColumn { codes: first, n_codes: N_VALUES },
        SeenColumn { codes: second, n_codes: 5 },
    ];
    Planted { groups, seen, truth }
}

impl Planted {
    fn learn(&self) -> Option<Learned> {
        Learned::from(&self.groups, self.seen.clone(), N_VALUES, &|_| 1.0, &Unwatched)
    }

    /// How often the likeliest value is right, and how often that is believed.
    fn right(&self, fits: &dyn Fn(usize) -> (Vec<Alike>, Vec<f64>)) -> (f64, f64) {
        let (mut right, mut believed) = (0.0, 0.0);
        for group in 0..self.groups.len() {
            let (rows, counts) = fits(group);
            let members = self.groups.members(group).iter();
            for ((row, _), dealt) in members.zip(deal(&rows, &counts)) {
                let best = (0..dealt.len()).fold(0, |best, value| {
                    if dealt[value] > dealt[best] { value } else { best }
                });
                believed += dealt[best];
                let (value, _) = self.groups.values(group)[best];
                right += f64::from(u8::from(value == self.truth[*row as usize]));
            }
        }
        let n = self.truth.len() as f64;
        (right / n, believed / n)
    }
}

/// Whoever learns is within .02 of somebody who knows how codes come about; of 6,000 rows 2
/// standard errors are .013.
#[test]
fn what_was_planted_is_learned_as_well_as_it_can_be() {
    for (size, share, seed) in [(3, 0.5, 1), (3, 0.9, 2), (4, 0.7, 3), (2, 0.8, 4)] {
        let planted = planted(6_000 / size, size, share, seed);
        let learned = planted.learn().unwrap();
        assert_eq!(learned.rows, planted.truth.len() as u64);
        let told = share + (1.0 - share) / N_VALUES as f64;
        let known = |group: usize| {
            let values = planted.groups.values(group);
            let rows = planted.groups.members(group).iter().map(|(row, _)| {
                let code = planted.seen[0].codes[*row as usize];
                let fit = |(value, _): &(u32, u64)| match *value == code {
                    true => told,
                    false => (1.0 - told) / (N_VALUES - 1) as f64,
                };
                (1.0, values.iter().map(fit).collect())
            });
            (rows.collect(), vec![1.0; values.len()])
        };
        let (best, _) = planted.right(&known);
        let (right, believed) =
            planted.right(&|group| learned.rows_of(&planted.groups, group));
        assert!((right - best).abs() < 0.02, "{size} {share}: {right} {best}");
        assert!((believed - right).abs() < 0.03, "{size} {share}: {believed} {right}");
        assert!(right > 1.0 / size as f64 + 0.1);
    }
}

#[test]
fn where_nothing_depends_nothing_is_learned() {
    for seed in 0..20 {
        let planted = planted(1_000, 3, 0.0, 100 + seed);
        assert!(planted.learn().is_none(), "{seed}");
    }
}

/// All groups have the same values: which value a code means nothing can say.
#[test]
fn groups_that_always_have_the_same_values_teach_nothing() {
    assert!(planted(1_000, N_VALUES, 0.9, 7).learn().is_none());
}

/// The same groups give the same, on however many threads.
#[test]
fn it_is_the_same_every_time() {
    let planted = planted(500, 3, 0.7, 9);
    let fits = || {
        let learned = planted.learn().unwrap();
        (0..500)
            .map(|group| learned.rows_of(&planted.groups, group))
            .collect::<Vec<_>>()
    };
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    assert_eq!(fits(), pool.install(fits));
}
