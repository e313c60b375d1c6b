//! Weights of pdf cells against brute force: every set of people that could be the table.

use proptest::prelude::*;

use scumble::decimal::Decimal;
use scumble::method::pdf::{
    Chance, Likelihood, Pdf, PdfGroup, Range, Shift, Whose, bounds, counted, existence,
    extremes, kl, own, population, presence, shifted,
};
use scumble::table::Code;

/// People of a group: their values, and whether they are in the table.
#[derive(Debug, Clone)]
struct People {
    tuples: Vec<Vec<u32>>,
    present: Vec<bool>,
}

impl People {
    fn part(&self) -> PdfGroup {
        let mut distinct = self.tuples.clone();
        distinct.sort();
        distinct.dedup();
        let mut part = PdfGroup {
            codes: vec![Vec::new(); self.tuples[0].len()],
            rows: vec![0; distinct.len()],
            people: vec![0; distinct.len()],
        };
        for tuple in &distinct {
            for (codes, code) in part.codes.iter_mut().zip(tuple) {
                codes.push(Code::new(*code));
            }
        }
        for (tuple, present) in self.tuples.iter().zip(&self.present) {
            let place = distinct.binary_search(tuple).unwrap();
            part.people[place] += 1;
            part.rows[place] += u64::from(*present);
        }
        part
    }

    fn n_present(&self) -> u64 {
        self.present.iter().filter(|present| **present).count() as u64
    }

    /// All sets of as many people as are present.
    fn worlds(&self) -> impl Iterator<Item = u32> {
        let n = self.n_present() as u32;
        (0..1u32 << self.tuples.len()).filter(move |world| world.count_ones() == n)
    }

    /// How many people of a world have a value.
    fn count(&self, world: u32, column: usize, code: Code) -> u64 {
        let people = self.tuples.iter().enumerate();
        let here = people.filter(|(person, _)| world >> person & 1 == 1);
        here.filter(|(_, tuple)| tuple[column] == code.get()).count() as u64
    }

    /// How many worlds fit the weights of the table's own, and how many of them contain
    /// each person.
    fn fitting(&self, pdfs: &[Pdf]) -> (u64, Vec<u64>) {
        let n = self.n_present() as f64;
        let fits = |world: &u32| {
            pdfs.iter().enumerate().all(|(column, pdf)| {
                pdf.whose != Whose::Table
                    || pdf.values.iter().all(|(code, weight)| {
                        self.count(*world, column, *code) == (weight * n).round() as u64
                    })
            })
        };
        let mut all = 0;
        let mut with = vec![0; self.tuples.len()];
        for world in self.worlds().filter(fits) {
            all += 1;
            for (person, with) in with.iter_mut().enumerate() {
                *with += u64::from(world >> person & 1);
            }
        }
        (all, with)
    }

    /// The existence probability of each person under likelihoods.
    fn existing(&self, likelihoods: &[f64]) -> Vec<f64> {
        let mut all = 0.0;
        let mut with = vec![0.0; likelihoods.len()];
        for world in self.worlds() {
            let here = |person: &usize| world >> person & 1 == 1;
            let members = (0..likelihoods.len()).filter(here);
            let product: f64 =
                members.clone().map(|person| likelihoods[person]).product();
            all += product;
            for person in members {
                with[person] += product;
            }
        }
        with.into_iter().map(|with| with / all).collect()
    }

    /// The product of the weights of each person's values.
    fn likelihoods(&self, pdfs: &[Pdf]) -> Vec<f64> {
        let weight = |(pdf, code): (&Pdf, &u32)| {
            pdf.values
                .iter()
                .find(|value| value.0.get() == *code)
                .map_or(0.0, |value| value.1)
        };
        let tuples = self.tuples.iter();
        tuples.map(|tuple| pdfs.iter().zip(tuple).map(weight).product()).collect()
    }
}

fn people() -> impl Strategy<Value = People> {
    (1..4usize, 1..12usize).prop_flat_map(|(n_columns, n_people)| {
        let tuple = prop::collection::vec(0..3u32, n_columns);
        let tuples = prop::collection::vec(tuple, n_people);
        let present = prop::collection::vec(any::<bool>(), n_people);
        (tuples, present).prop_map(|(tuples, present)| People { tuples, present })
    })
}

fn decimal(value: f64) -> Decimal {
    Decimal::from_f64("presence", value).unwrap()
}

fn range(min: f64, max: f64) -> Range {
    Range { min: decimal(min), max: decimal(max) }
}

/// A range around the share of people who are present, in twentieths.
fn around(people: &People, below: u32, above: u32) -> Range {
    let share = people.n_present() as f64 / people.tuples.len() as f64;
    let low = (share * 20.0).floor() as u32;
    let min = f64::from(low.saturating_sub(below)) / 20.0;
    let max = f64::from((low + 1 + above).min(20)) / 20.0;
    range(min, max)
}

fn in_range(range: &Range, part: u64, whole: u64) -> bool {
    let (part, whole) = (u128::from(part), u128::from(whole));
    range.max.at_least(part, whole) && !range.min.exceeds(part, whole)
}

fn sums_to_one(pdfs: &[Pdf]) -> bool {
    pdfs.iter().all(|pdf| {
        let sum: f64 = pdf.values.iter().map(|value| value.1).sum();
        let ascending = pdf.values.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let weights = pdf.values.iter().all(|value| (0.0..=1.0).contains(&value.1));
        (sum - 1.0).abs() < 1e-12 && ascending && weights
    })
}

/// The largest gain of any set of columns that keeps everybody in range.
fn best_gain(people: &People, part: &PdfGroup, range: &Range) -> f64 {
    let (table, public) = (own(part), population(part));
    let base = kl(part, &public);
    let mut best = 0.0f64;
    for set in 0..1u32 << part.codes.len() {
        let pdfs: Vec<Pdf> = (0..part.codes.len())
            .map(|column| {
                let from = if set >> column & 1 == 1 { &table } else { &public };
                from[column].clone()
            })
            .collect();
        let (all, with) = people.fitting(&pdfs);
        if with.iter().all(|with| in_range(range, *with, all)) {
            best = best.max(base - kl(part, &pdfs));
        }
    }
    best
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn who_counts_the_published_weights_stays_in_range(
        people in people(), below in 0..6u32, above in 0..6u32,
    ) {
        let part = people.part();
        let range = around(&people, below, above);
        for pdfs in [population(&part), counted(&part, &range)] {
            let (all, with) = people.fitting(&pdfs);
            prop_assert!(all > 0, "the table itself fits");
            for with in with {
                prop_assert!(in_range(&range, with, all), "{with} of {all}");
            }
            prop_assert!(sums_to_one(&pdfs));
        }
    }

    #[test]
    fn counting_costs_no_more_than_the_populations_and_no_less_than_the_best(
        people in people(), below in 0..6u32, above in 0..6u32,
    ) {
        let part = people.part();
        let range = around(&people, below, above);
        let found = kl(&part, &population(&part)) - kl(&part, &counted(&part, &range));
        let best = best_gain(&people, &part, &range);
        prop_assert!(found >= -1e-9 && found <= best + 1e-9);
        // Greedy, but at worst the best column alone.
        let columns = part.codes.len();
        prop_assert!(found >= best / columns as f64 - 1e-9, "{found} of {best}");
    }

    #[test]
    fn presence_is_the_share_of_worlds(people in people(), set in 0..8u32) {
        let part = people.part();
        let columns: Vec<usize> =
            (0..part.codes.len()).filter(|column| set >> column & 1 == 1).collect();
        let mut pdfs = population(&part);
        if people.n_present() > 0 {
            for column in &columns {
                pdfs[*column] = own(&part)[*column].clone();
            }
        }
        let (all, with) = people.fitting(&pdfs);
        let found = presence(&part, &columns, &mut 1_000_000).unwrap();
        let mut tuples = people.tuples.clone();
        tuples.sort();
        tuples.dedup();
        for (tuple, with) in people.tuples.iter().zip(with) {
            let Chance::Exact { part, whole } =
                found[tuples.binary_search(tuple).unwrap()]
            else {
                panic!("few worlds are counted exactly");
            };
            prop_assert_eq!(part * all, with * whole);
        }
    }

    #[test]
    fn existence_is_the_share_of_likelihood(
        people in people(),
        kinds in prop::collection::vec(0..5usize, 12),
    ) {
        let kinds = &kinds[..people.tuples.len()];
        let known = [0.0, 1e-7, 0.2, 0.25, 0.9];
        let likelihoods: Vec<f64> = kinds.iter().map(|kind| known[*kind]).collect();
        let given: Vec<Likelihood> = known
            .iter()
            .enumerate()
            .map(|(kind, p)| {
                let people = kinds.iter().filter(|other| **other == kind).count() as u64;
                Likelihood { ln: p.ln(), people }
            })
            .collect();
        let n = people.n_present();
        let able = likelihoods.iter().filter(|p| **p > 0.0).count() as u64;
        let Some(found) = existence(&given, n) else {
            prop_assert!(able < n);
            return Ok(());
        };
        prop_assert!(able >= n);
        let expected = people.existing(&likelihoods);
        for (kind, expected) in kinds.iter().zip(&expected) {
            prop_assert!((found[*kind].to_f64() - expected).abs() < 1e-12);
        }
        let (least, most) = extremes(&given, n).unwrap();
        let (lower, upper) = bounds(&given, n).unwrap();
        let smallest = expected.iter().copied().fold(1.0, f64::min);
        let largest = expected.iter().copied().fold(0.0, f64::max);
        prop_assert!((least.to_f64() - smallest).abs() < 1e-12);
        prop_assert!((most.to_f64() - largest).abs() < 1e-12);
        prop_assert!(lower.to_f64() <= smallest + 1e-12);
        prop_assert!(upper.to_f64() >= largest - 1e-12);
    }

    #[test]
    fn who_reads_shifted_weights_as_likelihoods_stays_in_range(
        people in people(), below in 0..6u32, above in 0..6u32, spare in 0..3u32,
    ) {
        let part = people.part();
        let range = around(&people, below, above);
        let base: Vec<Code> = (0..3 + spare).map(Code::new).collect();
        let bases = vec![base; part.codes.len()];
        let mut costs = Vec::new();
        for shift in [Shift::Steps(0), Shift::Bounds, Shift::Steps(3), Shift::Exact] {
            let pdfs = shifted(&part, &bases, &range, shift);
            prop_assert!(sums_to_one(&pdfs));
            let existing = people.existing(&people.likelihoods(&pdfs));
            for existing in existing {
                prop_assert!(existing >= range.min.to_f64() - 1e-13);
                prop_assert!(existing <= range.max.to_f64() + 1e-13);
            }
            costs.push(kl(&part, &pdfs));
        }
        // Even weights cost most; the table's own cost least.
        let least = kl(&part, &own(&part));
        for cost in &costs {
            prop_assert!(*cost <= costs[0] + 1e-9 && *cost >= least - 1e-9);
        }
    }
}

/// Two values with these weights.
fn values([first, second]: [f64; 2]) -> [(Code, f64); 2] {
    [(Code::new(0), first), (Code::new(1), second)]
}

/// The source's five men: its own weights give everybody away, and the oracle notices.
#[test]
fn the_sources_own_weights_are_a_broken_twin() {
    let men = People {
        tuples: vec![vec![1, 1], vec![1, 1], vec![1, 0], vec![0, 1], vec![0, 0]],
        present: vec![true, true, true, true, false],
    };
    let part = men.part();
    assert_eq!(men.fitting(&own(&part)), (1, vec![1, 1, 1, 1, 0]));

    // The paper's adversary sees (.47, .94) and is content to the very end.
    let bases = [[0, 1], [0, 1]].map(Code::of);
    let paper = shifted(&part, &bases, &range(0.47, 0.95), Shift::Exact);
    assert_eq!(paper[0].values, values([0.25, 0.75]));
    assert_eq!(paper[1].values, values([0.25, 0.75]));
    let existing = men.existing(&men.likelihoods(&paper));
    assert!((existing[4] - 8.0 / 17.0).abs() < 1e-12);

    // By its bounds alone (.31, .97) less is allowed.
    let bounded = shifted(&part, &bases, &range(0.47, 0.95), Shift::Bounds);
    assert!(bounded[0].values[0].1 > 0.25 && bounded[0].values[0].1 < 0.5);

    // Three of three students would be certain; so everything stays the population's.
    let safe = counted(&part, &range(0.0, 0.95));
    assert!(safe.iter().all(|pdf| pdf.whose == Whose::Population));
    assert_eq!(safe[0].values, values([0.4, 0.6]));
    // With nothing promised every column is the table's.
    let open = counted(&part, &range(0.0, 1.0));
    assert_eq!(open, own(&part));
}

/// docs/methods.md, "Cells of a group": Italy, Britain, France.
#[test]
fn a_third_of_the_way_to_the_tables_own() {
    let part = PdfGroup {
        codes: vec![Code::of([0, 1, 2]); 2],
        rows: vec![3, 1, 0],
        people: vec![6, 4, 5],
    };
    let base = vec![Code::of([0, 1, 2]); 2];
    let weights = |range: Range| {
        let pdfs = shifted(&part, &base, &range, Shift::Steps(3));
        pdfs[0].values.iter().map(|value| (value.1 * 100.0).round()).collect::<Vec<_>>()
    };
    assert_eq!(weights(range(0.1, 0.5)), [47.0, 31.0, 22.0]);
    assert_eq!(weights(range(0.02, 0.8)), [61.0, 28.0, 11.0]);
    assert_eq!(weights(range(0.0, 1.0)), [75.0, 25.0, 0.0]);
}

#[test]
fn a_value_nobody_present_has_is_below_every_smallest_presence() {
    let part = PdfGroup {
        codes: vec![Code::of([0, 1])],
        rows: vec![4, 0],
        people: vec![5, 5],
    };
    let whose = |min| counted(&part, &range(min, 0.8))[0].whose;
    assert_eq!(whose(0.0), Whose::Table);
    assert_eq!(whose(0.01), Whose::Population);
}

#[test]
fn the_tables_weights_are_the_populations_if_they_are_equal() {
    let part = PdfGroup {
        codes: vec![Code::of([0, 1]); 2],
        rows: vec![1, 2],
        people: vec![2, 4],
    };
    for pdf in counted(&part, &range(0.1, 0.9)) {
        assert_eq!(pdf.whose, Whose::Population);
    }
}

#[test]
fn a_group_out_of_range_or_without_rows_tells_nothing_of_the_table() {
    let mut part = PdfGroup {
        codes: vec![Code::of([0, 1])],
        rows: vec![1, 2],
        people: vec![4, 4],
    };
    assert_eq!(counted(&part, &range(0.4, 0.9)), population(&part));
    part.rows = vec![0, 0];
    assert_eq!(counted(&part, &range(0.0, 0.9)), population(&part));
    assert_eq!(own(&part), population(&part));
    let even =
        shifted(&part, &[Code::of([0, 1, 2, 3])], &range(0.0, 0.9), Shift::Exact);
    assert!(even[0].values.iter().all(|value| value.1 == 0.25));
    assert_eq!(kl(&part, &even), 0.0);
}

#[test]
fn what_occurs_without_weight_costs_infinitely_much() {
    let part = PdfGroup {
        codes: vec![Code::of([0, 1])],
        rows: vec![1, 3],
        people: vec![1, 3],
    };
    let pdf = Pdf { values: vec![(Code::new(1), 1.0)], whose: Whose::Table };
    assert_eq!(kl(&part, &[pdf]), f64::INFINITY);
    let cost = 4.0f64.ln() + 3.0 * (4.0f64 / 3.0).ln();
    assert!((kl(&part, &own(&part)) - cost).abs() < 1e-12);
}
