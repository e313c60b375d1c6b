//! Draws as distributions.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::method::perturb::round_down;

const DRAWS: u32 = 200_000;

/// The statistic of a chi-square test, and the largest that is believed: beyond it lies one
/// millionth (by Laurent and Massart's bound, x = ln 10^6).
fn chi_square(seen: &[u32], expected: &[f64]) -> (f64, f64) {
    let mut freedom = -1.0;
    let mut total = 0.0;
    for (seen, p) in seen.iter().zip(expected) {
        let mean = p * f64::from(DRAWS);
        if *p == 0.0 {
            assert_eq!(*seen, 0, "what is impossible was drawn");
            continue;
        }
        freedom += 1.0;
        total += (f64::from(*seen) - mean).powi(2) / mean;
    }
    let x = 1e6f64.ln();
    // The counts are not quite normal: a little more is believed.
    (total, (freedom + 2.0 * (freedom * x).sqrt() + 2.0 * x) * 1.1)
}

fn follows(sampler: &Sampler, operator: &Operator, seed: u64) -> bool {
    draws_follow(|original, words| sampler.draw(original, words), operator, seed)
}

fn draws_follow(
    draw: impl Fn(u32, &mut ChaCha20Rng) -> u32,
    operator: &Operator,
    seed: u64,
) -> bool {
    let m = operator.size();
    let mut words = ChaCha20Rng::seed_from_u64(seed);
    (0..m).all(|original| {
        let mut seen = vec![0u32; m];
        for _ in 0..DRAWS {
            seen[draw(original as u32, &mut words) as usize] += 1;
        }
        let expected: Vec<f64> =
            (0..m).map(|row| operator.entry(row, original)).collect();
        let (found, most) = chi_square(&seen, &expected);
        found <= most
    })
}

fn random_column(rng: &mut ChaCha20Rng, m: usize) -> Vec<f64> {
    let raw: Vec<f64> = (0..m).map(|_| rng.random::<f64>().powi(3)).collect();
    let total: f64 = raw.iter().sum();
    let mut column: Vec<f64> = raw.iter().map(|x| round_down(x / total)).collect();
    column[0] = 0.0;
    column[1] = 1.0 - column[2..].iter().sum::<f64>();
    column
}

fn examples() -> [Operator; 3] {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    [
        Operator::Uniform { keep: round_down(0.3), size: 7 },
        Operator::FineGrain {
            keep: [0.5, 0.0, 1.0, 0.1, 0.25].map(round_down).to_vec(),
        },
        Operator::General {
            columns: (0..6).map(|_| random_column(&mut rng, 6)).collect(),
        },
    ]
}

#[test]
fn draws_follow_the_operator() {
    for operator in examples() {
        assert!(follows(&Sampler::new(&operator), &operator, 11), "{operator:?}");
    }
}

#[test]
fn draws_by_a_clock_follow_the_operator() {
    for operator in examples() {
        let sampler = Sampler::new(&operator);
        let draw =
            |original, words: &mut ChaCha20Rng| sampler.draw_by_clock(original, words);
        assert!(draws_follow(draw, &operator, 12), "{operator:?}");
    }
}

/// What a second, noisier operator publishes of those that the first one published as they
/// are is as likely whether the value was kept or drawn again: with words that are used for
/// both in any other way, somebody whose two values differ has the first one for certain.
#[test]
fn what_a_noisier_operator_adds_does_not_depend_on_the_value() {
    let (more, less) = (round_down(0.6), round_down(0.24));
    let first = Sampler::new(&Operator::Uniform { keep: more, size: 3 });
    let second = Sampler::new(&Operator::Uniform { keep: less, size: 3 });
    let words = |person| ChaCha20Rng::seed_from_u64(person);
    let caught = |draw: &dyn Fn(&Sampler, u32, u64) -> u32| {
        (0..3u32).any(|original| {
            (0..3u32).any(|shown| {
                let of = (0..u64::from(DRAWS))
                    .filter(|person| draw(&first, original, *person) == shown);
                let mut seen = [0u32; 3];
                of.for_each(|person| {
                    seen[draw(&second, original, person) as usize] += 1;
                });
                let n: u32 = seen.iter().sum();
                let stays = less / more;
                let expected = |place: u32| {
                    (1.0 - stays) / 3.0 + if place == shown { stays } else { 0.0 }
                };
                // As `chi_square`, for as many as there are.
                let total: f64 = (0..3)
                    .map(|place| {
                        let mean = expected(place) * f64::from(n);
                        (f64::from(seen[place as usize]) - mean).powi(2) / mean
                    })
                    .sum();
                let x = 1e6f64.ln();
                total > (2.0 + 2.0 * (2.0 * x).sqrt() + 2.0 * x) * 1.1
            })
        })
    };
    let by_clock = |sampler: &Sampler, original, person| {
        sampler.draw_by_clock(original, &mut words(person))
    };
    assert!(!caught(&by_clock));
    let at_once = |sampler: &Sampler, original, person| {
        sampler.draw(original, &mut words(person))
    };
    assert!(caught(&at_once));
}

#[test]
fn a_sampler_that_keeps_two_points_more_is_caught() {
    let [uniform, fine_grain, _] = examples();
    let more = Operator::Uniform { keep: round_down(0.32), size: 7 };
    assert!(!follows(&Sampler::new(&more), &uniform, 11));
    let keep = [0.5, 0.02, 1.0, 0.1, 0.25].map(round_down).to_vec();
    let more = Operator::FineGrain { keep };
    assert!(!follows(&Sampler::new(&more), &fine_grain, 11));
}

#[test]
fn a_table_without_its_aliases_is_caught() {
    let [.., general] = examples();
    let mut broken = Sampler::new(&general);
    if let DrawTable::Alias(tables) = &mut broken.table {
        // The alias of one slot is its neighbour.
        let slot = tables[3].iter_mut().find(|slot| slot.bound < ONE / 2).unwrap();
        slot.alias = if slot.alias == 5 { 1 } else { slot.alias + 1 };
    }
    assert!(!follows(&broken, &general, 11));
}

#[test]
fn the_tables_hold_the_columns_exactly() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    for round in 0..200 {
        let m = 2 + round % 40;
        let column = random_column(&mut rng, m);
        let mut held = vec![0u64; m];
        for (own, slot) in alias_table(&column).iter().enumerate() {
            held[own] += slot.bound;
            held[slot.alias as usize] += ONE - slot.bound;
        }
        let expected: Vec<u64> = column.iter().map(|p| count(*p) * m as u64).collect();
        assert_eq!(held, expected);
    }
}

#[test]
fn the_whole_domain_is_drawn_without_a_remainder() {
    /// Words one after the other.
    struct Words(Vec<u64>);
    impl rand::TryRng for Words {
        type Error = std::convert::Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            unreachable!("only words of 64 bits")
        }
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            Ok(self.0.pop().unwrap())
        }
        fn try_fill_bytes(&mut self, _: &mut [u8]) -> Result<(), Self::Error> {
            unreachable!("only words of 64 bits")
        }
    }
    let any = |size, words: Vec<u64>| {
        let sampler = Sampler { size, table: DrawTable::Keep(vec![0]) };
        sampler.any(&mut Words(words))
    };
    // 2^64 = 1 modulo 3: of all words one has to be drawn again, the first.
    assert_eq!(any(3, vec![u64::MAX, 0]), 2);
    assert_eq!(any(3, vec![1]), 0);
    assert_eq!(any(4, vec![0]), 0);
    assert_eq!(any(1, vec![7]), 0);
}

#[test]
fn the_same_words_give_the_same_draws() {
    for operator in examples() {
        let sampler = Sampler::new(&operator);
        let run = || {
            let mut words = ChaCha20Rng::seed_from_u64(5);
            let draws = (0..1000).map(|i| match i % 2 {
                0 => sampler.draw(i % 5, &mut words),
                _ => sampler.draw_by_clock(i % 5, &mut words),
            });
            draws.collect::<Vec<u32>>()
        };
        assert_eq!(run(), run());
    }
}
