use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::*;
use crate::decimal::Decimal;
use crate::method::testing::{has_every_row_once, random_rows, table, with_threads};
use crate::promise::{
    Distance, Diversity, LDiversity, PriorSet, SignatureId, TCloseness,
};

fn r(r: f64) -> RRobustness {
    RRobustness::new(Decimal::from_f64("r", r).unwrap()).unwrap()
}

/// The task with defaults.
struct AskedGroups<'a> {
    data: &'a Microdata,
    promises: Promises,
    parts: u64,
    r: RRobustness,
    priors: Priors,
    largest: usize,
    limit: u64,
}

impl<'a> AskedGroups<'a> {
    fn new(data: &'a Microdata, asked: f64, priors: Priors) -> Self {
        let promises = Promises::new(vec![]);
        let (parts, largest, limit) = (1, 6, 0);
        Self { data, promises, parts, r: r(asked), priors, largest, limit }
    }

    fn run(&self, seed: u64) -> Result<Robust> {
        robust(&RobustTask {
            data: self.data,
            promises: &self.promises,
            parts: self.parts,
            robustness: &self.r,
            priors: &self.priors,
            largest: self.largest,
            limit: self.limit,
            randomness: &Randomness::of_seed(seed),
        })
    }
}

/// The largest posterior, by going through every way to give values to rows.
fn largest_posterior(priors: &[Vec<f64>]) -> f64 {
    fn worlds(
        priors: &[Vec<f64>],
        given: &mut Vec<usize>,
        weight: f64,
        sums: &mut [f64],
    ) {
        let n = priors.len();
        if given.len() == n {
            for (row, value) in given.iter().enumerate() {
                sums[row * n + value] += weight;
            }
            return;
        }
        for value in 0..n {
            if !given.contains(&value) {
                let weight = weight * priors[given.len()][value];
                given.push(value);
                worlds(priors, given, weight, sums);
                given.pop();
            }
        }
    }
    let n = priors.len();
    let mut sums = vec![0.0; n * n];
    worlds(priors, &mut Vec::new(), 1.0, &mut sums);
    let total: f64 = sums[..n].iter().sum();
    sums.iter().fold(0.0, |most, sum| f64::max(most, sum / total))
}

/// Reads a result as a stranger would.
fn check(asked: &AskedGroups<'_>, found: &Robust) {
    let census = &asked.data.census;
    let buckets = &found.buckets;
    assert!(has_every_row_once(asked.data, buckets));
    assert!(buckets.left_out.len() as u64 <= asked.limit);
    let tuple_of = census.tuple_of();
    let r = asked.r.r().to_f64();
    for group in buckets.groups() {
        let values: Vec<usize> =
            group.iter().map(|row| census.sensitive[0][*row].index()).collect();
        let mut different = values.clone();
        different.sort_unstable();
        different.dedup();
        assert_eq!(different.len(), group.len());
        assert!(group.len() as f64 >= r && group.len() as u64 >= asked.parts);
        assert!(group.len() <= asked.largest);
        for set in &asked.priors.sets {
            let priors: Vec<Vec<f64>> = group
                .iter()
                .map(|row| {
                    let beliefs = set.of(tuple_of[*row]);
                    values.iter().map(|value| beliefs[*value]).collect()
                })
                .collect();
            assert!(largest_posterior(&priors) <= 1.0 / r + 1e-9);
        }
    }
}

fn sets() -> Vec<Vec<usize>> {
    vec![vec![0], vec![1], vec![0, 1]]
}

#[test]
fn random_tables_are_dealt_as_promised() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let (mut done, mut refused) = (0, 0);
    for seed in 0..60 {
        let n_rows = rng.random_range(1..300);
        let (n_codes, n_values) = (rng.random_range(1..6), rng.random_range(2..20));
        let data = table(&random_rows(&mut rng, n_rows, n_codes, n_values));
        let support = [1, 10, 30][rng.random_range(0..3)];
        let priors = Priors::of_table(&data, 0, &sets(), support);
        let mut asked =
            AskedGroups::new(&data, [2.0, 2.5, 3.0][seed as usize % 3], priors);
        asked.limit = [0, 20, 1000][rng.random_range(0..3)];
        asked.parts = rng.random_range(1..4);
        let [one, four] = with_threads(|| asked.run(seed));
        match (one, four) {
            (Ok(one), Ok(four)) => {
                assert_eq!(one, four);
                check(&asked, &one);
                assert_eq!(one.binary, 0);
                done += 1;
            }
            (Err(one), Err(four)) => {
                assert_eq!((one.to_string(), one.exit_code()), (four.to_string(), 1));
                refused += 1;
            }
            _ => panic!("threads change the result"),
        }
    }
    assert!(done > 20 && refused > 5, "{done} {refused}");
}

#[test]
fn rows_believed_alike_have_the_smallest_groups() {
    // Values do not depend on the column that is known.
    let rows: Vec<(Vec<u32>, u32)> =
        (0..1200).map(|at| (vec![at % 3, at / 12], at / 3 % 8)).collect();
    let data = table(&rows);
    let asked =
        AskedGroups::new(&data, 4.0, Priors::of_table(&data, 0, &[vec![0]], 30));
    let found = asked.run(1).unwrap();
    check(&asked, &found);
    assert_eq!(found.buckets.n_groups(), 300);
}

/// A signature of which one value is sure: its rows cannot be protected, the others can.
#[test]
fn an_extreme_signature_is_refused_or_left_out() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    let mut rows: Vec<(Vec<u32>, u32)> = (0..800)
        .map(|_| (vec![rng.random_range(0..2), 0], rng.random_range(0..10)))
        .collect();
    rows.extend((0..40).map(|_| (vec![2, 0], 3)));
    let data = table(&rows);
    let priors = Priors::of_table(&data, 0, &[vec![1], vec![0]], 30);
    let mut asked = AskedGroups::new(&data, 3.0, priors);
    let error = asked.run(1).unwrap_err();
    let text = error.to_string();
    let start = "3-robustness cannot be met: no group was found for ";
    let end = "of 840 rows; most groups tried fail against who knows how values depend on \
               `q0`";
    assert!(text.starts_with(start) && text.contains(end), "{text}");
    let hopeless = "of 40 rows a value is believed with more than 1/r";
    assert!(text.contains(hopeless), "{text}");
    assert!(error.hints()[0].contains("`suppression = 0.0"), "{:?}", error.hints());
    asked.limit = 60;
    let found = asked.run(1).unwrap();
    check(&asked, &found);
    assert!(found.buckets.left_out.len() >= 40);
}

#[test]
fn other_promises_are_kept_too() {
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    let rows: Vec<(Vec<u32>, u32)> = (0..600)
        .map(|_| (vec![rng.random_range(0..3), 0], rng.random_range(0..12)))
        .collect();
    let data = table(&rows);
    let priors = Priors::of_table(&data, 0, &[vec![0]], 30);
    let mut asked = AskedGroups::new(&data, 2.0, priors);
    let decimal = |value| Decimal::from_f64("x", value).unwrap();
    let entropy = LDiversity::new(Diversity::Entropy(decimal(4.0))).unwrap();
    let close = TCloseness::new(decimal(0.65), Distance::Equal).unwrap();
    asked.promises = Promises::new(vec![Box::new(entropy), Box::new(close)]);
    asked.limit = 30;
    asked.parts = 4;
    let found = asked.run(1).unwrap();
    check(&asked, &found);
    let census = &data.census;
    let count = |rows: &mut dyn Iterator<Item = EntryId>| {
        let mut values = [Histogram::new(census.sensitive_sizes[0])];
        rows.for_each(|row| values[0].add(census.sensitive[0][row], 1));
        values
    };
    let whole = count(&mut found.buckets.entries.iter().copied());
    let n = whole[0].total();
    let whole = Group { rows: n, people: n, values: &whole };
    for group in found.buckets.groups() {
        let values = count(&mut group.iter().copied());
        let n = group.len() as u64;
        assert!(
            asked.promises.hold(Group { rows: n, people: n, values: &values }, whole)
        );
    }
}

/// Priors in which every row is a class of its own, and groups too large to sum.
#[test]
fn groups_too_large_to_sum_are_counted() {
    let rows: Vec<(Vec<u32>, u32)> = (0..40).map(|at| (vec![at], at % 20)).collect();
    let data = table(&rows);
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let shares: Vec<f64> =
        (0..40 * 20).map(|_| 0.02 + 0.08 * rng.random::<f64>()).collect();
    let set = PriorSet {
        columns: vec![0],
        of_tuple: SignatureId::first(40).collect(),
        n_values: 20,
        shares,
        signatures: 40,
        rare: 0,
        rare_rows: 0,
        whole_rows: 0,
    };
    let mut asked = AskedGroups::new(&data, 2.0, Priors { sets: vec![set] });
    asked.largest = 20;
    asked.parts = 17;
    let found = asked.run(1).unwrap();
    assert!(has_every_row_once(&data, &found.buckets));
    assert_eq!((found.buckets.n_groups(), found.binary), (2, 2));
    asked.parts = 1;
    assert_eq!(asked.run(1).unwrap().binary, 0);
}

#[test]
fn a_value_too_common_is_an_error_that_helps() {
    let rows: Vec<(Vec<u32>, u32)> =
        (0..100).map(|at| (vec![0], if at < 50 { 0 } else { at })).collect();
    let data = table(&rows);
    let asked =
        AskedGroups::new(&data, 2.5, Priors::of_table(&data, 0, &[vec![0]], 30));
    let error = asked.run(0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "2.5-robustness cannot be met: the commonest value has 50.0 % of the rows, and no \
         value may have more than 1/3 = 33.3 %"
    );
}
