//! delta-presence: the optimum equals brute force, and what is published keeps the promise
//! against somebody who holds the population.
//!
//! The oracle shares nothing with the search but hierarchies, covers and losses: it tries
//! every node and groups people by their labels in a map.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use scumble::decimal::Decimal;
use scumble::hierarchy::{
    Cells, Column, ColumnSpec, Cover, Microdata, Population, Rule, Tree,
};
use scumble::loss::{self, Loss, Shape};
use scumble::method::{
    ColumnChoice, FullDomain, Grouping, GroupingTask, Mondrian, ValueChoice, cover,
};
use scumble::promise::{DeltaPresence, GroupPromise, KAnonymity, Promises};
use scumble::recipe::{Request, Spec, publish};
use scumble::table::{
    Census, Code, NodeId, Of, ReadOptions, Reading, Role, Source, TupleId,
};
use scumble::watch::Unwatched;

struct Case {
    data: Microdata,
    min: f64,
    max: f64,
    k: Option<u64>,
    promises: Promises,
    loss: Loss,
    limit: u64,
}

impl Case {
    fn task(&self) -> GroupingTask<'_> {
        GroupingTask {
            columns: &self.data.quasi,
            census: &self.data.census,
            promises: &self.promises,
            loss: self.loss,
            limit: self.limit,
        }
    }

    /// Whether a group of the population may be published or be without rows.
    fn allows(&self, rows: u64, people: u64) -> bool {
        let share = rows as f64 / people as f64;
        let close = share >= self.min - 1e-12 && share <= self.max + 1e-12;
        close && (rows == 0 || self.k.is_none_or(|k| rows >= k))
    }
}

fn decimal(value: f64) -> Decimal {
    Decimal::from_f64("parameter", value).unwrap()
}

fn pick<T: Copy>(random: &mut ChaCha8Rng, from: &[T]) -> T {
    from[random.random_range(0..from.len())]
}

fn column(name: &str, reading: Reading, rule: Rule, cells: Cells) -> ColumnSpec {
    ColumnSpec { cells, ..ColumnSpec::new(name, Role::Quasi, reading, rule) }
}

fn source(name: &str, lines: &[String]) -> Source {
    let text = format!("town,age,sex\n{}", lines.concat());
    Source::from_bytes(name, text.into_bytes(), &ReadOptions::default()).unwrap()
}

fn random_case(seed: u64, cells: &[Cells]) -> Case {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let n_people = random.random_range(2..=12);
    let cells = pick(random, cells);
    let tree = "a;x;u;*\nb;x;u;*\nc;y;u;*\nd;z;w;*\n";
    let tree = Rule::Tree(Tree::parse(tree, "tree.csv").unwrap());
    let widths = Rule::widths(vec![2.0, 4.0], 0.0).unwrap();
    let mut people: Vec<String> = (0..n_people)
        .map(|_| {
            let age = match random.random_range(0..8) {
                7 => String::new(),
                age => age.to_string(),
            };
            let town = pick(random, &["a", "b", "c", "d"]);
            format!("{town},{age},{}\n", pick(random, &["f", "m"]))
        })
        .collect();
    let everyone = source("everyone.csv", &people);
    people.shuffle(random);
    people.truncate(random.random_range(1..=n_people));
    let table = source("table.csv", &people);
    let specs = [
        column("town", Reading::category(), tree, cells),
        column("age", Reading::number(), widths, cells),
        column("sex", Reading::category(), Rule::Plain, cells),
    ];
    let population = Population { source: &everyone, key: &[] };
    let data =
        Microdata::read_within(&table, Some(population), &specs, &Unwatched).unwrap();

    let min = pick(random, &[0.0, 0.0, 0.1, 0.25, 0.4]);
    let max = pick(random, &[0.4, 0.5, 0.6, 0.75, 0.9, 1.0]);
    let presence = DeltaPresence::new(decimal(min), decimal(max)).unwrap();
    let mut promises: Vec<Box<dyn GroupPromise>> = vec![Box::new(presence)];
    let k = random.random_bool(0.3).then_some(2);
    promises.extend(
        k.map(|k| Box::new(KAnonymity::new(k).unwrap()) as Box<dyn GroupPromise>),
    );
    let limit = pick(random, &[0.0, 0.0, 0.2, 0.4]);
    Case {
        min,
        max,
        k,
        promises: Promises::new(promises),
        loss: pick(random, &loss::ALL),
        limit: decimal(limit).share_of(data.n_rows()),
        data,
    }
}

/// The tuples of each group at a node.
fn groups_at(case: &Case, node: &[usize]) -> Vec<Vec<TupleId>> {
    let census = &case.data.census;
    let mut groups: BTreeMap<Vec<NodeId>, Vec<TupleId>> = BTreeMap::new();
    for tuple in census.tuples() {
        let columns = case.data.quasi.iter().zip(&census.quasi).zip(node);
        let key = columns
            .map(|((column, codes), level)| column.hierarchy.node(*level, codes[tuple]))
            .collect();
        groups.entry(key).or_default().push(tuple);
    }
    groups.into_values().collect()
}

fn rows_and_people(census: &Census, tuples: &[TupleId]) -> (u64, u64) {
    let sum =
        |counts: &Of<TupleId, u64>| tuples.iter().map(|tuple| counts[*tuple]).sum();
    (sum(&census.rows), sum(census.people()))
}

fn covers(case: &Case, tuples: &[TupleId], node: &[usize]) -> Vec<Cover> {
    let columns = case.data.quasi.iter().zip(&case.data.census.quasi).zip(node);
    columns
        .map(|((column, codes), level)| {
            let mut present: Vec<Code> =
                tuples.iter().map(|tuple| codes[*tuple]).collect();
            present.sort_unstable();
            present.dedup();
            match column.cells {
                Cells::Taxonomy => Cover::Node {
                    level: *level,
                    node: column.hierarchy.node(*level, present[0]),
                },
                Cells::Interval => Cover::range_over(&column.domain, &present),
                _ => Cover::Set(present),
            }
        })
        .collect()
}

/// The loss at a node, if it is allowed.
fn judged(case: &Case, node: &[usize]) -> Option<f64> {
    let census = &case.data.census;
    let (mut left_out, mut hidden) = (0, 0);
    let mut kept: Vec<(u64, Vec<Cover>)> = Vec::new();
    for tuples in groups_at(case, node) {
        let (rows, people) = rows_and_people(census, &tuples);
        let allowed = case.allows(rows, people);
        if rows == 0 && !allowed {
            return None;
        }
        if allowed && rows > 0 {
            kept.push((rows, covers(case, &tuples, node)));
        } else {
            left_out += rows;
            hidden += people;
        }
    }
    let share = left_out as f64 / hidden.max(1) as f64;
    let pooled =
        left_out == 0 || (share >= case.min - 1e-12 && share <= case.max + 1e-12);
    if left_out > case.limit || kept.is_empty() || !pooled {
        return None;
    }
    let groups = kept.iter().map(|(rows, covers)| (*rows, &covers[..])).collect();
    Some(case.loss.of(&case.data.quasi, &Shape { groups, left_out }))
}

fn best(case: &Case) -> Option<f64> {
    let mut best: Option<f64> = None;
    let heights: Vec<usize> =
        case.data.quasi.iter().map(|column| column.hierarchy.height()).collect();
    for a in 0..=heights[0] {
        for b in 0..=heights[1] {
            for c in 0..=heights[2] {
                if let Some(loss) = judged(case, &[a, b, c]) {
                    best = Some(best.map_or(loss, |held| held.min(loss)));
                }
            }
        }
    }
    best
}

#[test]
fn the_optimum_equals_exhaustive_search() {
    let (mut met, mut with_left_out) = (0, 0);
    let cells = [Cells::Taxonomy, Cells::Taxonomy, Cells::Interval, Cells::Set];
    for seed in 0..4_000 {
        let case = random_case(seed, &cells);
        let (found, wanted) = (FullDomain::default().find(&case.task()), best(&case));
        match (found, wanted) {
            (Ok(found), Some(wanted)) => {
                met += 1;
                let same = (found.loss - wanted).abs() <= 1e-9 * wanted.abs().max(1.0);
                assert!(same, "seed {seed}: found {}, best {wanted}", found.loss);
                let shape = found.grouping.shape(&case.data.census);
                with_left_out += u64::from(shape.left_out > 0);
            }
            (Err(_), None) => {}
            (found, wanted) => panic!("seed {seed}: {found:?} but {wanted:?}"),
        }
    }
    assert!(met > 1_000, "only {met} cases could be met");
    assert!(with_left_out > 30, "only {with_left_out} cases left rows out");
}

/// Presence as an adversary computes it from published cells and the population alone:
/// smallest and largest, and how many people fit two groups.
fn seen(columns: &[Column], census: &Census, grouping: &Grouping) -> (f64, f64, u64) {
    let shape = grouping.shape(census);
    let contains = |covers: &[Cover], tuple: TupleId| {
        columns.iter().zip(covers).zip(&census.quasi).all(|((column, cover), codes)| {
            cover.contains(&column.domain, &column.hierarchy, codes[tuple])
        })
    };
    let mut people = vec![0; shape.groups.len()];
    let mut group_of = Of::repeat(None, census.n_tuples());
    let (mut hidden, mut doubled) = (0, 0);
    for (tuple, n) in census.people().pairs() {
        let fits: Vec<usize> = (0..shape.groups.len())
            .filter(|group| contains(shape.groups[*group].1, tuple))
            .collect();
        match fits[..] {
            [] => hidden += n,
            [group] => {
                people[group] += n;
                group_of[tuple] = Some(group);
            }
            _ => doubled += n,
        }
    }
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for group in group_of {
        let share = match group {
            Some(group) => shape.groups[group].0 as f64 / people[group] as f64,
            None => shape.left_out as f64 / hidden.max(1) as f64,
        };
        low = low.min(share);
        high = high.max(share);
    }
    (low, high, doubled)
}

/// The broken twin: boxes around the rows of the table alone, as the paper has them.
fn shrink(columns: &[Column], census: &Census, grouping: &mut Grouping) {
    for (group, covers) in grouping.covers.ids().zip(&mut grouping.covers) {
        let inside: Vec<TupleId> = census
            .tuples()
            .filter(|tuple| grouping.group_of[*tuple] == Some(group))
            .filter(|tuple| census.rows[*tuple] > 0)
            .collect();
        for ((column, codes), cell) in columns.iter().zip(&census.quasi).zip(covers) {
            let present: BTreeSet<Code> =
                inside.iter().map(|tuple| codes[*tuple]).collect();
            if !present.is_empty() {
                *cell = cover(column, &Vec::from_iter(present), None);
            }
        }
    }
}

#[test]
fn mondrian_keeps_presence_and_the_boxes_of_the_paper_do_not() {
    let (mut runs, mut broken) = (0, 0);
    for seed in 0..1_500 {
        let mut case = random_case(seed, &[Cells::Interval, Cells::Set]);
        case.limit = 0;
        let census = &case.data.census;
        for column in ColumnChoice::ALL {
            for value in ValueChoice::ALL {
                let method = Mondrian { column, value };
                let Ok(mut grouping) = method.find(&case.task()) else { continue };
                runs += 1;
                let (low, high, doubled) = seen(&case.data.quasi, census, &grouping);
                assert_eq!(doubled, 0, "seed {seed}: cells overlap");
                assert!(
                    low >= case.min - 1e-12 && high <= case.max + 1e-12,
                    "seed {seed}: presence from {low} to {high}"
                );
                shrink(&case.data.quasi, census, &mut grouping);
                let (low, high, _) = seen(&case.data.quasi, census, &grouping);
                broken += u64::from(low < case.min - 1e-12 || high > case.max + 1e-12);
            }
        }
    }
    assert!(runs > 4_000, "only {runs} runs");
    assert!(broken > 500, "the paper's boxes broke only {broken} times");
}

#[test]
fn search_never_loses_to_a_strategy() {
    for seed in 0..300 {
        let case =
            Case { limit: 0, ..random_case(seed, &[Cells::Interval, Cells::Set]) };
        let task = case.task();
        let loss = |grouping: &Grouping| {
            case.loss.of(&case.data.quasi, &grouping.shape(&case.data.census))
        };
        let Ok((_, found)) = Mondrian::search(&task, &[]) else { continue };
        for column in ColumnChoice::ALL {
            for value in ValueChoice::ALL {
                let method = Mondrian { column, value };
                let one = method.find(&task).unwrap();
                assert!(loss(&found) <= loss(&one), "seed {seed}, {method:?}");
            }
        }
    }
}

/// Publishes a table of a population of four; every file of the release but the checksums.
fn published(table: &str, method: &str) -> BTreeMap<String, String> {
    let home = tempfile::tempdir().unwrap();
    let write =
        |name: &str, text: &str| fs::write(home.path().join(name), text).unwrap();
    write("people.csv", "id,q\n1,a\n2,a\n3,a\n4,b\n");
    write("table.csv", table);
    let recipe = format!(
        "[input]\ntable = \"table.csv\"\npopulation = \"people.csv\"\nkey = \"id\"\n\
         [columns]\nid = \"identifier\"\nq = \"quasi\"\n\
         [promise]\ndelta-presence = {{ min = 0.4, max = 0.6 }}\n[method]\n{method}\n"
    );
    let spec = Spec::parse(&recipe, "recipe.toml").unwrap();
    publish(Request::new(&spec, home.path()), &Unwatched).unwrap();
    let files = fs::read_dir(home.path().join("release")).unwrap();
    files
        .map(|entry| {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

#[test]
fn tables_that_look_alike_give_the_same_files() {
    // Two of four people, whoever they are, in one group: nothing in any file may tell
    // the two tables apart.
    for method in [
        "name = \"full-domain\"",
        "name = \"full-domain\"\ncells = \"set\"",
        "name = \"full-domain\"\nloss = \"entropy\"",
        "name = \"mondrian\"",
        "name = \"full-domain\"\ncells = \"pdf\"",
        "name = \"full-domain\"\ncells = { kind = \"pdf\", weights = \"population\" }",
    ] {
        let (one, other) = (
            published("id,q\n1,a\n2,a\n", method),
            published("id,q\n1,a\n4,b\n", method),
        );
        assert!(one.len() >= 3);
        assert_eq!(one, other, "{method}");
    }
}
