use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use super::hold::hold;
use super::*;
use crate::decimal::Decimal;
use crate::method::testing::{has_every_row_once, random_rows, table, with_threads};
use crate::promise::{Distance, Diversity, GroupPromise, LDiversity, TCloseness};
use crate::table::EntryId;

fn none() -> Promises {
    Promises::new(vec![])
}

fn distinct(l: u64) -> Promises {
    let promise = LDiversity::new(Diversity::Distinct(l)).unwrap();
    Promises::new(vec![Box::new(promise)])
}

fn decimal(value: f64) -> Decimal {
    Decimal::from_f64("x", value).unwrap()
}

fn deal(
    data: &Microdata,
    promises: &Promises,
    parts: u64,
    limit: u64,
    seed: u64,
) -> Result<Buckets> {
    let randomness = &Randomness::of_seed(seed);
    anatomy(&AnatomyTask { data, promises, parts, limit, randomness })
}

/// How often each value occurs in each group.
fn histograms(data: &Microdata, buckets: &Buckets) -> Vec<Histogram> {
    let groups = buckets.groups();
    groups
        .map(|group| {
            let mut values = Histogram::new(data.census.sensitive_sizes[0]);
            for entry in group {
                values.add(data.census.sensitive[0][*entry], 1);
            }
            values
        })
        .collect()
}

fn most(values: &Histogram) -> u64 {
    values.present().map(|(_, count)| count).max().unwrap_or(0)
}

/// The most rows that can be kept: of all numbers of rows kept of each value.
fn most_kept(counts: &[u64], parts: u64) -> u64 {
    let mut best = 0;
    let mut kept = vec![0; counts.len()];
    loop {
        let total: u64 = kept.iter().sum();
        if kept.iter().all(|n| n * parts <= total) {
            best = best.max(total);
        }
        let Some(next) = (0..counts.len()).find(|at| kept[*at] < counts[*at]) else {
            return best;
        };
        kept[..next].fill(0);
        kept[next] += 1;
    }
}

#[test]
fn random_tables_are_dealt_as_promised() {
    let mut rng = ChaCha20Rng::seed_from_u64(1);
    let (mut cut, mut refused) = (0, 0);
    for seed in 0..200 {
        let n_rows = rng.random_range(1..400);
        let n_values = rng.random_range(2..20);
        let n_codes = [3, 10, 1000][rng.random_range(0..3)];
        let rows = random_rows(&mut rng, n_rows, n_codes, n_values);
        let data = table(&rows);
        let parts = rng.random_range(2..6);
        let promises = distinct(parts);
        let mut whole = data.census.histograms();
        data.census.tuples().for_each(|at| data.census.add_to(at, &mut whole));
        let fits = most(&whole[0]) * parts <= n_rows as u64;
        let [one, four] = with_threads(|| deal(&data, &promises, parts, 0, seed));
        let (Ok(buckets), Ok(four)) = (one, four) else {
            assert!(!fits);
            refused += 1;
            continue;
        };
        assert!(fits && buckets == four);
        assert!(has_every_row_once(&data, &buckets) && buckets.left_out.is_empty());
        for values in histograms(&data, &buckets) {
            let size = values.total();
            assert!(most(&values) == 1 && size >= parts && size < 2 * parts);
        }
        // Groups of a single block are as even as can be; of several they need not be.
        let sizes: Vec<usize> = buckets.groups().map(<[EntryId]>::len).collect();
        cut += usize::from(sizes.iter().max() > sizes.iter().min());
    }
    assert!(cut > 20 && refused > 20, "{cut} {refused}");
}

#[test]
fn as_few_rows_are_left_out_as_can_be() {
    let mut rng = ChaCha20Rng::seed_from_u64(2);
    for seed in 0..200 {
        let n_values = rng.random_range(1..5);
        let counts: Vec<u64> = (0..n_values).map(|_| rng.random_range(0..7)).collect();
        let parts = rng.random_range(2..4);
        let rows: Vec<(Vec<u32>, u32)> = (0..n_values as u32)
            .flat_map(|value| (0..counts[value as usize]).map(move |_| value))
            .map(|value| (vec![rng.random_range(0..9)], value))
            .collect();
        if rows.is_empty() {
            continue;
        }
        let data = table(&rows);
        let kept = most_kept(&counts, parts);
        let excess = rows.len() as u64 - kept;
        if kept == 0 {
            assert!(deal(&data, &none(), parts, excess, seed).is_err());
            continue;
        }
        let buckets = deal(&data, &none(), parts, excess, seed).unwrap();
        assert!(has_every_row_once(&data, &buckets));
        assert_eq!(buckets.left_out.len() as u64, excess);
        assert_eq!(excess == 0, deal(&data, &none(), parts, 0, seed).is_ok());
        for values in histograms(&data, &buckets) {
            assert!(most(&values) * parts <= values.total());
        }
    }
}

#[test]
fn a_value_too_common_is_an_error_that_helps() {
    let rows: Vec<(Vec<u32>, u32)> =
        (0..100).map(|at| (vec![at], if at < 60 { 0 } else { at })).collect();
    let data = table(&rows);
    let error = deal(&data, &distinct(2), 2, 19, 0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "distinct 2-diversity cannot be met: the commonest value has 60.0 % of the rows, \
         and no value may have more than 1/2 = 50.0 %"
    );
    assert_eq!(
        error.hints(),
        [
            "ask for less, or leave rows of this value out: `suppression = 0.2` (who is missing \
          from the release is then known to have it)"
        ]
    );
    assert_eq!(deal(&data, &distinct(2), 2, 20, 0).unwrap().left_out.len(), 20);
    let error = deal(&table(&[(vec![1], 1), (vec![2], 1)]), &none(), 2, 2, 0);
    assert_eq!(
        error.unwrap_err().hints(),
        ["ask for less: there are too few different values"]
    );
}

#[test]
fn other_promises_are_kept_too() {
    let close = |t| TCloseness::new(decimal(t), Distance::Equal).unwrap();
    let entropy = LDiversity::new(Diversity::Entropy(decimal(3.5))).unwrap();
    let recursive =
        LDiversity::new(Diversity::Recursive { l: 3, c: decimal(0.5) }).unwrap();
    let all: [Vec<Box<dyn GroupPromise>>; 4] = [
        vec![Box::new(close(0.3))],
        vec![Box::new(entropy)],
        vec![Box::new(recursive)],
        vec![Box::new(recursive), Box::new(close(0.2))],
    ];
    let mut rng = ChaCha20Rng::seed_from_u64(3);
    for promises in all.map(Promises::new) {
        for parts in [1, 3] {
            let data = table(&random_rows(&mut rng, 500, 50, 12));
            let buckets = deal(&data, &promises, parts, 0, 5).unwrap();
            assert!(has_every_row_once(&data, &buckets));
            assert!(buckets.n_groups() > 10, "{}", buckets.n_groups());
            let mut whole = data.census.histograms();
            data.census.tuples().for_each(|at| data.census.add_to(at, &mut whole));
            let whole = Group { rows: 500, people: 500, values: &whole };
            for values in histograms(&data, &buckets) {
                let rows = values.total();
                assert!(most(&values) * parts <= rows);
                let values = [values];
                let group = Group { rows, people: rows, values: &values };
                assert!(promises.hold(group, whole));
            }
        }
    }
}

/// As few rows are held back as can be, but for whole groups, and both conditions hold.
#[test]
fn holding_back_is_as_little_as_any_way_to_do_it() {
    let mut rng = ChaCha20Rng::seed_from_u64(4);
    let mut found = 0;
    for _ in 0..3000 {
        let parts = rng.random_range(1..4);
        let counts: Vec<u64> =
            (0..rng.random_range(1..6)).map(|_| rng.random_range(1..5)).collect();
        let n_rows: u64 = counts.iter().sum();
        if counts.iter().any(|count| count * parts > n_rows) {
            continue;
        }
        let small = rng.random_range(1..=(n_rows / 2).max(1));
        let good = |held: &[u64]| {
            let total: u64 = held.iter().sum();
            let left = counts.iter().zip(held).map(|(count, held)| count - held);
            held.iter().all(|held| held * parts <= total)
                && total < n_rows
                && left.max().unwrap() * parts * n_rows <= (n_rows - total) * small
        };
        let mut least = None;
        let mut held = vec![0; counts.len()];
        loop {
            if good(&held) {
                let total: u64 = held.iter().sum();
                least = Some(least.map_or(total, |least: u64| least.min(total)));
            }
            let Some(next) = (0..counts.len()).find(|at| held[*at] < counts[*at])
            else {
                break;
            };
            held[..next].fill(0);
            held[next] += 1;
        }
        let ours = hold(&counts, small, parts);
        assert_eq!(ours.is_some(), least.is_some(), "{counts:?} {small} {parts}");
        if let (Some(ours), Some(least)) = (ours, least) {
            assert!(good(&ours.rows), "{counts:?} {small} {parts} {ours:?}");
            assert_eq!(ours.total, ours.rows.iter().sum::<u64>());
            assert!(ours.total >= least && ours.total < least + parts);
            found += usize::from(least > 0);
        }
    }
    assert!(found > 100, "{found}");
}

/// A release: of each group the rows and the values, all sorted.
type ReleasedGroups = Vec<(Vec<u32>, Vec<u32>)>;

/// How often each release is seen in which two rows share a group.
fn tally(
    n: u64,
    pair: (u32, u32),
    release: impl Fn(u64) -> ReleasedGroups,
) -> BTreeMap<ReleasedGroups, f64> {
    let mut seen = BTreeMap::new();
    for mut release in (0..n).map(release) {
        for (rows, values) in &mut release {
            rows.sort_unstable();
            values.sort_unstable();
        }
        release.sort_unstable();
        let together = |rows: &[u32]| rows.contains(&pair.0) && rows.contains(&pair.1);
        if release.iter().any(|(rows, _)| together(rows)) {
            *seen.entry(release).or_default() += 1.0;
        }
    }
    seen
}

/// Whether two tallies may come from the same distribution: chi-square of two samples, rare
/// releases together, with one false alarm in a million.
fn alike(a: &BTreeMap<ReleasedGroups, f64>, b: &BTreeMap<ReleasedGroups, f64>) -> bool {
    let of = |tally: &BTreeMap<ReleasedGroups, f64>, key| {
        tally.get(key).copied().unwrap_or(0.0)
    };
    let keys: std::collections::BTreeSet<&ReleasedGroups> =
        a.keys().chain(b.keys()).collect();
    let (mut statistic, mut degrees, mut rare) = (0.0, 0.0, (0.0, 0.0));
    let mut add = |(a, b): (f64, f64)| {
        if a + b > 0.0 {
            statistic += (a - b) * (a - b) / (a + b);
            degrees += 1.0;
        }
    };
    for key in keys {
        let pair = (of(a, key), of(b, key));
        if pair.0 + pair.1 < 20.0 {
            rare = (rare.0 + pair.0, rare.1 + pair.1);
        } else {
            add(pair);
        }
    }
    add(rare);
    // Wilson and Hilferty's cube; 4.753 is exceeded once in a million.
    let spread = 2.0 / (9.0 * degrees);
    let limit = degrees * (1.0 - spread + 4.753 * f64::sqrt(spread)).powi(3);
    statistic <= limit
}

/// The values of rows and of their twin, in which two rows exchanged theirs.
fn twins(values: &[u32], pair: (u32, u32)) -> [Vec<u32>; 2] {
    let values = values.to_vec();
    let mut twin = values.clone();
    twin.swap(pair.0 as usize - 1, pair.1 as usize - 1);
    [values, twin]
}

#[test]
fn exchanging_two_values_of_a_group_changes_no_probability() {
    // With one value three times, rows are held back; with two, the rows are cut.
    let tables = [
        (vec![0, 0, 0, 1, 1, 2, 3, 4], (1, 5), 2),
        (vec![0, 0, 0, 1, 1, 2, 3, 4], (1, 4), 2),
        (vec![0, 0, 1, 2, 3, 4, 1, 5], (2, 3), 1),
        (vec![0, 0, 1, 2, 3, 0, 1, 5, 4, 0], (2, 3), 6),
    ];
    for (values, pair, least) in tables {
        let [one, other] = twins(&values, pair).map(|values| {
            let rows: Vec<(Vec<u32>, u32)> =
                (1..).zip(values).map(|(at, value)| (vec![at], value)).collect();
            let data = table(&rows);
            tally(20_000, pair, |seed| {
                let buckets = deal(&data, &none(), 2, 0, seed).unwrap();
                let census = &data.census;
                // Each row has a tuple, and an entry, of its own.
                let tuple_of = census.tuple_of();
                let seen = |group: &[EntryId]| {
                    let row =
                        |entry: &EntryId| census.quasi[0][tuple_of[*entry]].get() + 1;
                    let rows = group.iter().map(row).collect();
                    let value = |entry: &EntryId| census.sensitive[0][*entry].get();
                    (rows, group.iter().map(value).collect())
                };
                buckets.groups().map(seen).collect()
            })
        });
        assert!(alike(&one, &other), "{values:?}");
        assert!(one.len() >= least, "{values:?} {}", one.len());
    }
}

/// Cuts in the middle whenever both halves happen to be fit, or deals rows of a value in
/// the order of their quasi column: both tell who has which value, and both are caught.
#[test]
fn looking_at_who_has_which_value_is_caught() {
    #[derive(Clone, Copy)]
    enum Twin {
        CutIfFit,
        DealInOrder,
    }
    fn release(values: &[u32], twin: Twin, seed: u64) -> ReleasedGroups {
        let mut rng = Randomness::of_seed(seed).stream("twin", 0);
        let fit = |rows: &[usize]| {
            let same = |row: usize| {
                rows.iter().filter(|at| values[**at] == values[row]).count()
            };
            rows.iter().all(|row| 2 * same(*row) <= rows.len())
        };
        let all: Vec<usize> = (0..8).collect();
        let halves = [all[..4].to_vec(), all[4..].to_vec()];
        let cuts =
            matches!(twin, Twin::CutIfFit) && halves.iter().all(|half| fit(half));
        let blocks = if cuts { halves.to_vec() } else { vec![all] };
        let mut seen = ReleasedGroups::new();
        for block in blocks {
            let order: Vec<u32> = (0..6).map(|_| rng.random()).collect();
            let mut list = block.clone();
            match twin {
                Twin::CutIfFit => {
                    let keys: Vec<u32> = (0..8).map(|_| rng.random()).collect();
                    list.sort_by_key(|row| (order[values[*row] as usize], keys[*row]));
                }
                Twin::DealInOrder => {
                    list.sort_by_key(|row| (order[values[*row] as usize], *row))
                }
            }
            let n_groups = block.len() / 2;
            for group in 0..n_groups {
                let rows: Vec<usize> =
                    list[group..].iter().step_by(n_groups).copied().collect();
                let values = rows.iter().map(|row| values[*row]).collect();
                seen.push((rows.iter().map(|row| *row as u32 + 1).collect(), values));
            }
        }
        seen
    }
    let caught = [
        (Twin::CutIfFit, [0, 0, 0, 1, 1, 2, 3, 4]),
        (Twin::DealInOrder, [0, 0, 0, 0, 1, 1, 1, 1]),
    ];
    for (twin, values) in caught {
        let [one, other] = twins(&values, (1, 5))
            .map(|values| tally(5_000, (1, 5), |seed| release(&values, twin, seed)));
        assert!(!alike(&one, &other));
    }
}

#[test]
fn rows_of_a_group_are_near_each_other() {
    // 50 values, evenly spread: with parts = 3 most cuts are sure.
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let rows: Vec<(Vec<u32>, u32)> = (0..4000)
        .map(|_| (vec![rng.random_range(0..1000)], rng.random_range(0..50)))
        .collect();
    let data = table(&rows);
    let buckets = deal(&data, &distinct(3), 3, 0, 1).unwrap();
    let census = &data.census;
    let tuple_of = census.tuple_of();
    let mut spread = 0;
    for group in buckets.groups() {
        let codes = group.iter().map(|entry| census.quasi[0][tuple_of[*entry]].get());
        spread += codes.clone().max().unwrap() - codes.min().unwrap();
    }
    // Rows drawn anyhow are 500 apart and more.
    let mean = f64::from(spread) / buckets.n_groups() as f64;
    assert!(mean < 30.0, "{mean}");
}
