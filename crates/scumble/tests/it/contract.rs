//! What everything of a kind owes.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use scumble::decimal::Decimal;
use scumble::hierarchy::{Cells, Column, Cover, Hierarchy};
use scumble::loss::{self, Loss, Shape};
use scumble::promise::{
    About, BetaLikeness, Breaches, DeltaDisclosure, DeltaPresence, Distance, Diversity,
    DrawPromise, Group, GroupPromise, KAnonymity, KMap, LDiversity, Law, Likeness,
    RRobustness, Scratch, TCloseness,
};
use scumble::recipe::{PROMISES, Request, Spec, publish};
use scumble::space::Shape as NoiseShape;
use scumble::table::{Code, Domain, Histogram, Reading};
use scumble::watch::Unwatched;

fn decimal(value: f64) -> Decimal {
    Decimal::from_f64("parameter", value).unwrap()
}

/// Four sensitive values in two families.
fn families() -> Hierarchy {
    let labels =
        |texts: [&str; 4]| texts.iter().map(|text| ((*text).into(), None)).collect();
    Hierarchy::from_labels(vec![
        labels(["a", "b", "c", "d"]),
        labels(["x", "x", "y", "y"]),
    ])
}

/// Every promise that a recipe can make: a new one adds a line.
const PROMISED: [&str; 16] = [
    "k-anonymity = 3",
    "k-map = 9",
    "l-diversity = 2",
    "l-diversity = { l = 1.8, kind = \"entropy\" }",
    "t-closeness = { t = 0.2, distance = \"ordered\" }",
    "beta-likeness = 2.0",
    "beta-likeness = { beta = 0.5, form = \"basic\" }",
    "delta-disclosure = { delta = 1.5 }",
    "delta-presence = { min = 0.27, max = 0.31 }",
    "breach = { prior = 0.2, posterior = 0.4 }",
    "breach = { prior = 0.1, posterior = 0.5, kind = \"both\" }",
    "fine-grain = { factor = 2 }",
    "fine-grain = { factor = 1.5, kind = \"both\" }",
    "r-robustness = { r = 2 }",
    "r-robustness = { r = 1.5 }",
    "expected-anonymity = { k = 4, best-guess = 0.5 }",
];

/// A recipe with a promise.
fn promising(promise: &str) -> Spec {
    let text = format!(
        "input.table = \"table.csv\"\ncolumns.age = \"quasi\"\npromise.{promise}\n"
    );
    Spec::parse(&text, "recipe.toml").unwrap()
}

/// Every promise about groups, with several parameters: a new one adds a line.
fn promises() -> Vec<Box<dyn GroupPromise>> {
    vec![
        Box::new(KAnonymity::new(3).unwrap()),
        Box::new(KMap::new(9).unwrap()),
        Box::new(LDiversity::new(Diversity::Distinct(2)).unwrap()),
        Box::new(LDiversity::new(Diversity::Distinct(3)).unwrap()),
        Box::new(LDiversity::new(Diversity::Entropy(decimal(1.8))).unwrap()),
        Box::new(LDiversity::new(Diversity::Entropy(decimal(3.0))).unwrap()),
        Box::new(
            LDiversity::new(Diversity::Recursive { l: 2, c: decimal(1.5) }).unwrap(),
        ),
        Box::new(
            LDiversity::new(Diversity::Recursive { l: 3, c: decimal(4.0) }).unwrap(),
        ),
        Box::new(DeltaPresence::new(decimal(0.0), decimal(0.3)).unwrap()),
        Box::new(DeltaPresence::new(decimal(0.27), decimal(0.31)).unwrap()),
        Box::new(TCloseness::new(decimal(0.25), Distance::Equal).unwrap()),
        Box::new(TCloseness::new(decimal(0.2), Distance::Ordered).unwrap()),
        Box::new(BetaLikeness::new(decimal(0.5), Likeness::Basic).unwrap()),
        Box::new(BetaLikeness::new(decimal(1.0), Likeness::Basic).unwrap()),
        Box::new(BetaLikeness::new(decimal(2.0), Likeness::Enhanced).unwrap()),
        Box::new(DeltaDisclosure::new(decimal(0.4)).unwrap()),
        Box::new(DeltaDisclosure::new(decimal(1.5)).unwrap()),
        TCloseness::new(decimal(0.2), Distance::Hierarchical)
            .unwrap()
            .along(&families())
            .unwrap(),
    ]
}

/// A group among people of whom a fourth to a third are in the table.
fn counted(group: [u64; 4], values: &[Histogram]) -> Group<'_> {
    let rows = group.iter().sum();
    Group { rows, people: 3 * rows + group[0] + group[3], values }
}

fn holds(promise: &dyn GroupPromise, group: [u64; 4], whole: [u64; 4]) -> bool {
    let (inside, all) = ([Histogram::of(&group)], [Histogram::of(&whole)]);
    promise.holds(counted(group, &inside), counted(whole, &all))
}

fn sum(a: [u64; 4], b: [u64; 4]) -> [u64; 4] {
    std::array::from_fn(|value| a[value] + b[value])
}

#[test]
fn a_promise_says_what_it_is_and_is_judged_by_what_it_is_about() {
    let of_groups: Vec<&str> =
        promises().iter().map(|promise| promise.name()).collect();
    for name in PROMISES {
        assert!(
            PROMISED.iter().any(|promise| promise.starts_with(name)),
            "{name} is not in the list"
        );
    }
    for typed in PROMISED {
        let spec = promising(typed);
        let promise = spec.promises[0].kind.promise();
        assert!(typed.starts_with(promise.name()), "{typed}");
        assert!(promise.asked().is_object() && !promise.title().is_empty(), "{typed}");
        match promise.about() {
            About::Groups(_) => {
                assert!(of_groups.contains(&promise.name()), "{typed}");
            }
            About::Draws(promise) => no_belief_passes_its_bound(promise),
            About::Posteriors(promise) => no_posterior_passes_one_in_r(promise),
            About::Company(_) => nearer_rows_are_better_company(),
        }
    }
}

/// Random numbers that add up to one, some of them small.
fn shares(seed: u64, n: usize) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ((state >> 11) as f64 / (1u64 << 53) as f64).powi(3) + 1e-6
    };
    let all: Vec<f64> = (0..n).map(|_| next()).collect();
    let sum: f64 = all.iter().sum();
    all.into_iter().map(|share| share / sum).collect()
}

/// The best matrix of the kind that the promise asks for, against any prior.
fn no_belief_passes_its_bound(promise: &dyn DrawPromise) {
    let counts = [40, 30, 15, 10, 5];
    let bounds = promise.bounds(&counts);
    let gamma = |bound: &Option<scumble::promise::Bound>| {
        bound.map_or(f64::INFINITY, |b| b.gamma())
    };
    let gammas: Vec<f64> = bounds.iter().map(gamma).collect();
    let breaches = promise.breaches();
    let limits = scumble::method::perturb::Limits { gammas: &gammas, breaches };
    let keep = match scumble::method::perturb::uniform(limits) {
        scumble::method::perturb::Operator::Uniform { keep, .. } => keep,
        other => panic!("{other:?}"),
    };
    let m = counts.len();
    let chance = |seen: usize, value: usize| {
        (1.0 - keep) / m as f64 + if seen == value { keep } else { 0.0 }
    };
    let mut tight = 0.0f64;
    for seed in 0..3000 {
        let prior = shares(seed, m);
        for seen in 0..m {
            let all: f64 = (0..m).map(|value| prior[value] * chance(seen, value)).sum();
            for (value, bound) in bounds.iter().enumerate() {
                let Some(bound) = bound else { continue };
                let posterior = prior[value] * chance(seen, value) / all;
                if prior[value] <= bound.prior {
                    assert!(posterior <= bound.posterior + 1e-12, "{promise:?}");
                    tight = tight.max(posterior / bound.posterior);
                }
                if breaches == Breaches::Both && prior[value] >= bound.posterior {
                    assert!(posterior >= bound.prior - 1e-12, "{promise:?}");
                }
            }
        }
    }
    // The bound is nearly reached, so a looser one would be noticed.
    assert!(tight > 0.8, "{promise:?}: {tight}");
}

/// All ways to give three values to three rows, weighed one by one.
fn no_posterior_passes_one_in_r(promise: &RRobustness) {
    let worlds = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let (mut held, mut failed) = (0, 0);
    for seed in 0..400 {
        let even = |row: u64| shares(seed * 3 + row, 3).into_iter().map(|p| p + 0.15);
        let priors: Vec<f64> = (0..3).flat_map(even).collect();
        let weight = |world: &[usize; 3]| -> f64 {
            (0..3).map(|row| priors[row * 3 + world[row]]).product()
        };
        let all: f64 = worlds.iter().map(weight).sum();
        let mut largest = 0.0f64;
        for row in 0..3 {
            for value in 0..3 {
                let here = worlds.iter().filter(|world| world[row] == value);
                largest = largest.max(here.map(weight).sum::<f64>() / all);
            }
        }
        let verdict = promise.judge(&priors, 3, &mut Scratch::default());
        assert!((verdict.posterior - largest).abs() < 1e-9 && verdict.exact);
        assert_eq!(verdict.holds, largest * promise.r().to_f64() < 1.0, "{largest}");
        // Rows and values have no order.
        let turned: Vec<f64> = priors.iter().rev().copied().collect();
        let again = promise.judge(&turned, 3, &mut Scratch::default());
        assert!((again.posterior - largest).abs() < 1e-9);
        if verdict.holds { held += 1 } else { failed += 1 }
    }
    assert!(held > 0 && failed > 0, "{held} groups hold and {failed} fail");
}

/// A row counts fully if it is equal, less the further it is, and for as much as the other
/// counts for it.
fn nearer_rows_are_better_company() {
    for shape in [NoiseShape::Gaussian, NoiseShape::Uniform] {
        let law = Law { shape, spreads: vec![1.5, 0.5], cuts: vec![0.0; 2] };
        assert_eq!(law.count(&[0.0, 0.0]), 1.0);
        for step in 1..40 {
            let w = 0.1 * f64::from(step);
            let here = law.count(&[w, 0.1]);
            assert!((0.0..1.0).contains(&here));
            assert!(law.count(&[w + 0.1, 0.1]) <= here);
            assert_eq!(law.count(&[-w, -0.1]), here);
        }
        let wider = Law { spreads: vec![3.0, 1.0], ..law.clone() };
        assert!(wider.count(&[0.7, 0.2]) > law.count(&[0.7, 0.2]));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn a_promise_survives_merging(
        a in any::<[u8; 4]>(), b in any::<[u8; 4]>(), rest in any::<[u8; 4]>(),
    ) {
        let small = |counts: [u8; 4]| counts.map(|n| u64::from(n % 6));
        let (a, b, rest) = (small(a), small(b), small(rest));
        let whole = sum(sum(a, b), rest);
        if a.iter().sum::<u64>() > 0 && b.iter().sum::<u64>() > 0 {
            for promise in promises() {
                let parts = holds(&*promise, a, whole) && holds(&*promise, b, whole);
                prop_assert!(!parts || holds(&*promise, sum(a, b), whole), "{promise:?}");
            }
        }
    }

    #[test]
    fn what_a_promise_implies_is_implied_and_its_toll_never_shrinks(
        a in any::<[u8; 4]>(), more in any::<[u8; 4]>(),
    ) {
        let small = |counts: [u8; 4]| counts.map(|n| u64::from(n % 6));
        let (a, more) = (small(a), small(more));
        let whole = sum(a, more);
        if a.iter().sum::<u64>() > 0 && more.iter().sum::<u64>() > 0 {
            for promise in promises() {
                let Some(weaker) = promise.absorbing() else { continue };
                let toll = |group: [u64; 4]| {
                    let values = [Histogram::of(&group)];
                    let group = counted(group, &values);
                    if weaker.holds(group, group) { 0 } else { weaker.toll(group) }
                };
                let implied = !holds(&*promise, a, whole) || holds(&*weaker, a, whole);
                prop_assert!(implied, "{promise:?}");
                let (divided, undivided) = (toll(a) + toll(more), toll(whole));
                prop_assert!(divided >= undivided, "{weaker:?}");
            }
        }
    }

    #[test]
    fn renaming_values_changes_nothing(a in any::<[u8; 4]>(), rest in any::<[u8; 4]>()) {
        let small = |counts: [u8; 4]| counts.map(|n| u64::from(n % 6));
        let (a, whole) = (small(a), sum(small(a), small(rest)));
        // Swapping both families, each turned around, keeps order and hierarchy.
        let renamed = |counts: [u64; 4]| [counts[3], counts[2], counts[1], counts[0]];
        if a.iter().sum::<u64>() > 0 {
            for promise in promises() {
                let same = holds(&*promise, a, whole)
                    == holds(&*promise, renamed(a), renamed(whole));
                prop_assert!(same, "{promise:?}");
            }
        }
    }

    #[test]
    fn merging_groups_never_makes_a_release_cheaper(
        a in prop::collection::btree_set(0u32..8, 1..5),
        b in prop::collection::btree_set(0u32..8, 1..5),
        rows in (1u64..9, 1u64..9),
        left_out in 0u64..5,
    ) {
        for cells in [Cells::Taxonomy, Cells::Interval, Cells::Set] {
            let column = number_column(cells);
            let cover = |codes: &std::collections::BTreeSet<u32>| {
                let codes: Vec<Code> = codes.iter().copied().map(Code::new).collect();
                scumble::method::cover(&column, &codes, None)
            };
            let both = a.union(&b).copied().collect();
            let covers = [vec![cover(&a)], vec![cover(&b)], vec![cover(&both)]];
            let columns = std::slice::from_ref(&column);
            for loss in loss::ALL {
                let apart = Shape {
                    groups: vec![(rows.0, &covers[0]), (rows.1, &covers[1])],
                    left_out,
                };
                let merged =
                    Shape { groups: vec![(rows.0 + rows.1, &covers[2])], left_out };
                let out =
                    Shape { groups: vec![(rows.0, &covers[0])], left_out: left_out + rows.1 };
                let cost = |shape: &Shape<'_>| loss.of(columns, shape);
                prop_assert!(cost(&merged) >= cost(&apart) - 1e-9, "{loss:?} {cells:?}");
                prop_assert!(cost(&out) >= cost(&apart) - 1e-9, "{loss:?} {cells:?}");
            }
        }
    }
}

/// Eight numbers, halved twice.
fn number_column(cells: Cells) -> Column {
    let texts: Vec<Box<str>> = (0..8).map(|n| n.to_string().into()).collect();
    let (domain, _) = Domain::of(&texts, &Reading::number()).unwrap();
    let rule = scumble::hierarchy::Rule::widths(vec![2.0, 4.0], 0.0).unwrap();
    let hierarchy = rule.bind(&domain, &Reading::number());
    Column {
        name: "number".into(),
        rows: vec![3; 8].into(),
        lowest: 0,
        highest: hierarchy.height(),
        domain,
        hierarchy,
        weight: 1.0,
        cells,
        grid: None,
    }
}

#[test]
fn a_loss_is_zero_where_nothing_is_lost() {
    let column = number_column(Cells::Set);
    let covers: Vec<Vec<Cover>> =
        (0..8).map(|code| vec![Cover::Set(Code::of([code]))]).collect();
    let groups = covers.iter().map(|covers| (3, covers.as_slice())).collect();
    for loss in loss::ALL {
        if let Loss::Cells(_) = loss {
            let cost = loss.of(
                std::slice::from_ref(&column),
                &Shape { groups: Vec::clone(&groups), left_out: 0 },
            );
            assert!(cost.abs() < 1e-9, "{}: {cost}", loss.name());
        }
    }
}

/// A table of 600 rows with everything in it: missing values, quotes, rare values.
fn write_table(home: &Path) {
    let mut text = String::from("id,age,town,seen,note,illness,income\n");
    for row in 0..600usize {
        let age = if row.is_multiple_of(41) {
            String::new()
        } else {
            (row * row % 83).to_string()
        };
        let town =
            ["Ghent", "Bruges", "\"Aalst, old\"", "\u{feff}Liège"][row * 7 % 11 % 4];
        let month = 1 + row % 12;
        let illness = ["flu", "cough", "ulcer", "asthma"][row * 13 % 17 % 4];
        text.push_str(&format!(
            "{row},{age},{town},2024-{month:02}-05,n{},{illness},{}\n",
            row % 5,
            row * 31 % 7
        ));
    }
    fs::write(home.join("table.csv"), text).unwrap();
}

/// Every method with the promises it keeps: a new one adds a line.
const RECIPES: [&str; 6] = [
    "promise.k-anonymity = 5\nmethod.name = \"full-domain\"",
    "promise = { k-anonymity = 4, l-diversity = 2 }\n\
     method = { name = \"full-domain\", suppression = 0.1, cells = \"set\" }",
    "promise.t-closeness = { t = 0.3, distance = \"ordered\" }\n\
     method = { name = \"full-domain\", loss = \"entropy\", suppression = 0.05 }",
    "promise.k-anonymity = 5\nmethod = { name = \"mondrian\", column = \"best\" }",
    "promise = { k-anonymity = 3, l-diversity = { l = 1.5, kind = \"entropy\" } }\n\
     method = { name = \"mondrian\", cells = \"interval\", value = \"balanced-values\" }",
    "promise = { k-anonymity = 3, l-diversity = { l = 2, c = 3, kind = \"recursive\" } }",
];

fn recipe(more: &str, other: bool) -> Spec {
    let note = if other { "columns.note = \"other\"\n" } else { "" };
    let text = format!(
        "input.table = \"table.csv\"\ncolumns.id = \"identifier\"\n\
         columns.age = {{ role = \"quasi\", hierarchy = {{ widths = [10, 30] }} }}\n\
         columns.town = \"quasi\"\n\
         columns.seen = {{ role = \"quasi\", hierarchy = {{ dates = [\"quarter\"] }} }}\n\
         {note}columns.illness = \"sensitive\"\ncolumns.income = {{ role = \"sensitive\", \
         type = \"number\" }}\n{more}\n"
    );
    Spec::parse(&text, "recipe.toml").unwrap()
}

fn publish_in(home: &Path, spec: &Spec, directory: &str) -> scumble::recipe::Published {
    let directory = Some(home.join(directory));
    // Cuts under promises about values are decided by coins.
    let request = Request { directory, seed: Some(7), ..Request::new(spec, home) };
    publish(request, &Unwatched).unwrap()
}

#[test]
fn every_method_keeps_its_promises_and_every_row_once() {
    let home = tempfile::tempdir().unwrap();
    write_table(home.path());
    for (place, more) in RECIPES.iter().enumerate() {
        for other in [false, true] {
            let name = format!("release-{place}-{other}");
            let published = publish_in(home.path(), &recipe(more, other), &name);
            assert!(published.audit.holds(), "{more}");
            assert_eq!(published.manifest.rows + published.manifest.left_out, 600);
            let rows =
                fs::read_to_string(home.path().join(&name).join("data.csv")).unwrap();
            assert_eq!(rows.lines().count() as u64, published.manifest.rows + 1);
            // Identifiers are in no file.
            assert!(!rows.lines().next().unwrap().contains("id"));
        }
    }
}

#[test]
fn the_number_of_threads_and_the_order_of_rows_change_no_byte() {
    let home = tempfile::tempdir().unwrap();
    write_table(home.path());
    let shuffled = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(home.path().join("table.csv")).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    lines[1..].rotate_left(123);
    fs::write(shuffled.path().join("table.csv"), lines.join("\n")).unwrap();
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    for (place, more) in RECIPES.iter().enumerate() {
        for other in [false, true] {
            let spec = recipe(more, other);
            let mut all = Vec::new();
            for (threads, folder) in [(1, &home), (3, &home), (2, &shuffled)] {
                let name = format!("release-{place}-{other}-{threads}");
                pool(threads).install(|| publish_in(folder.path(), &spec, &name));
                let files = ["data.csv", "manifest.json", "report.html"];
                let bytes = files.map(|file| {
                    fs::read(folder.path().join(&name).join(file)).unwrap()
                });
                all.push(bytes);
            }
            assert!(all.windows(2).all(|pair| pair[0] == pair[1]), "{more}");
        }
    }
}

#[test]
fn parquet_holds_the_same_rows() {
    let home = tempfile::tempdir().unwrap();
    write_table(home.path());
    let csv = recipe(RECIPES[1], true);
    let mut parquet = csv.clone();
    parquet.release.format = scumble::release::DataFormat::Parquet;
    publish_in(home.path(), &csv, "csv");
    let published = publish_in(home.path(), &parquet, "parquet");
    assert!(published.audit.holds());
    let rows = |name: &str| {
        let path = home.path().join(name);
        let source = scumble::table::Source::open(&path, &Default::default()).unwrap();
        let columns: Vec<_> = source.columns().collect();
        let scan = scumble::table::scan(&source, &columns, &Unwatched).unwrap();
        (source.header().to_vec(), scan.dictionaries, scan.counts)
    };
    let (header, dictionaries, counts) = rows("csv/data.csv");
    let (parquet_header, parquet_dictionaries, parquet_counts) =
        rows("parquet/data.parquet");
    assert_eq!(header, parquet_header);
    assert_eq!(counts, parquet_counts);
    for (csv, parquet) in dictionaries.iter().zip(&parquet_dictionaries) {
        assert_eq!(csv.texts, parquet.texts);
    }
}
