//! Exact methods equal brute force, heuristics never beat it.
//!
//! The oracle below shares nothing with the library but the bound hierarchies: it tries
//! every node, groups rows by their labels in a map, and computes promises and losses from
//! their definitions, in floats.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use scumble::decimal::Decimal;
use scumble::hierarchy::{Cells, Column, ColumnSpec, Microdata, Rule, Tree};
use scumble::loss::{self, Loss};
use scumble::method::{ColumnChoice, FullDomain, GroupingTask, Mondrian, ValueChoice};
use scumble::promise::{
    BetaLikeness, DeltaDisclosure, Distance, Diversity, GroupPromise, KAnonymity,
    LDiversity, Likeness, OfColumns, OfPeople, Promises, TCloseness,
};
use scumble::table::{Code, GroupId, Ids, Of, ReadOptions, Reading, Role, Source};
use scumble::watch::Unwatched;

/// What a case promises, as the oracle reads it.
#[derive(Debug, Clone, Copy)]
enum Asked {
    K(u64),
    Distinct(u64),
    Entropy(f64),
    Recursive(u64, f64),
    Equal(f64),
    Ordered(f64),
    Hierarchical(f64),
    Basic(f64),
    Enhanced(f64),
    Disclosure(f64),
}

/// One code for each quasi column, one for each sensitive column, and whose it is.
type Row = (Vec<Code>, Vec<Code>, u64);

struct Case {
    data: Microdata,
    rows: Vec<Row>,
    /// What is asked, and of which sensitive columns.
    asked: Vec<(Asked, Vec<usize>)>,
    promises: Promises,
    loss: Loss,
    limit: u64,
}

fn decimal(value: f64) -> Decimal {
    Decimal::from_f64("parameter", value).expect("a decimal")
}

fn pick<T: Copy>(random: &mut ChaCha8Rng, from: &[T]) -> T {
    from[random.random_range(0..from.len())]
}

fn spec(
    name: &str,
    role: Role,
    reading: Reading,
    rule: Rule,
    cells: Cells,
) -> ColumnSpec {
    ColumnSpec { cells, ..ColumnSpec::new(name, role, reading, rule) }
}

fn random_case(seed: u64) -> Case {
    let random = &mut ChaCha8Rng::seed_from_u64(seed);
    let n_rows = random.random_range(1..=8);
    let cells =
        pick(random, &[Cells::Taxonomy, Cells::Taxonomy, Cells::Interval, Cells::Set]);
    let tree = "a;x;u;*\nb;x;u;*\nc;y;u;*\nd;z;w;*\n";
    let tree = Rule::Tree(Tree::parse(tree, "tree.csv").expect("a tree"));
    let widths = Rule::widths(vec![2.0, 4.0], 0.0).expect("widths");
    let illness = "flu;lung;*\ncough;lung;*\nulcer;belly;*\n";
    let illness = Rule::Tree(Tree::parse(illness, "illness.csv").expect("a tree"));

    let cost = "low;*\nhigh;*\n";
    let cost = Rule::Tree(Tree::parse(cost, "cost.csv").expect("a tree"));

    // In some tables several rows are the same person's.
    let people = random.random_bool(0.4);
    let mut text = String::from("town,age,sex,illness,cost,who\n");
    for _ in 0..n_rows {
        let age = match random.random_range(0..8) {
            7 => String::new(),
            age => age.to_string(),
        };
        let town = pick(random, &["a", "b", "c", "d"]);
        let sex = pick(random, &["f", "m", "?"]);
        let illness = pick(random, &["flu", "flu", "cough", "ulcer"]);
        let cost = pick(random, &["low", "high", "low"]);
        let who = pick(random, &["p", "q", "r", "s", ""]);
        text.push_str(&format!("{town},{age},{sex},{illness},{cost},{who}\n"));
    }
    let mut specs = vec![
        spec("town", Role::Quasi, Reading::category(), tree, cells),
        spec("age", Role::Quasi, Reading::number(), widths, cells),
        spec("sex", Role::Quasi, Reading::category(), Rule::Plain, cells),
        spec("illness", Role::Sensitive, Reading::category(), illness, Cells::Taxonomy),
        spec("cost", Role::Sensitive, Reading::category(), cost, Cells::Taxonomy),
    ];
    if people {
        let reading = Reading { missing: vec![String::new()], ..Reading::category() };
        specs.push(ColumnSpec::new("who", Role::Identifier, reading, Rule::Plain));
    }
    if cells == Cells::Taxonomy {
        specs[0].lowest = random.random_range(0..2);
        specs[0].highest = Some(random.random_range(2..=3));
        specs[1].weight = pick(random, &[1.0, 0.25, 3.0]);
    }
    let source = Source::from_bytes(
        "case.csv",
        text.clone().into_bytes(),
        &ReadOptions::default(),
    )
    .unwrap();
    let data = Microdata::read(&source, &specs, &Unwatched).unwrap();

    let mut asked = Vec::new();
    if random.random_bool(0.7) {
        asked.push((Asked::K(random.random_range(2..=4)), Vec::new()));
    }
    // Of the first sensitive column most often, of the second, or of each.
    while asked.is_empty() || random.random_bool(0.3) {
        let columns = pick(random, &[&[0][..], &[0], &[0], &[1], &[0, 1]]);
        asked.push((random_values(random), columns.to_vec()));
    }
    let promises = asked.iter().map(|(asked, of)| {
        let promise = promise(*asked, of, &data);
        match &data.census.persons {
            Some(persons) => Arc::new(OfPeople::new(promise, persons)),
            None => promise,
        }
    });
    let promises = promises.collect();
    let limit = pick(random, &[0.0, 0.0, 0.15, 0.3, 0.6]);
    let rows = rows_of(&text, &data, people);
    Case {
        rows,
        asked,
        promises,
        loss: pick(random, &loss::ALL),
        limit: decimal(limit).share_of(data.n_rows()),
        data,
    }
}

/// Something about values.
fn random_values(random: &mut ChaCha8Rng) -> Asked {
    match random.random_range(0..9) {
        0 => Asked::Distinct(random.random_range(2..=3)),
        6 => Asked::Basic(pick(random, &[0.2, 0.5, 1.0, 3.0])),
        7 => Asked::Enhanced(pick(random, &[0.2, 0.5, 1.0, 3.0])),
        8 => Asked::Disclosure(pick(random, &[0.3, 0.7, 1.2, 2.5])),
        1 => Asked::Entropy(pick(random, &[1.3, 1.75, 2.0, 2.4])),
        2 => Asked::Recursive(2, pick(random, &[1.0, 2.0, 0.5])),
        3 => Asked::Equal(pick(random, &[0.1, 0.25, 0.3, 0.5])),
        4 => Asked::Ordered(pick(random, &[0.1, 0.25, 0.4])),
        _ => Asked::Hierarchical(pick(random, &[0.1, 0.25, 0.4])),
    }
}

/// The rows as they are typed. Those of nobody known, or of nobody said, are of people of
/// their own.
fn rows_of(text: &str, data: &Microdata, people: bool) -> Vec<Row> {
    let row = |(place, line): (usize, &str)| {
        let cells: Vec<&str> = line.split(',').collect();
        let code = |column: usize| data.codes[column][cells[column]];
        let who = match cells[5].as_bytes() {
            [who] if people => u64::from(*who),
            _ => 1000 + place as u64,
        };
        ((0..3).map(code).collect(), (3..5).map(code).collect(), who)
    };
    text.lines().skip(1).enumerate().map(row).collect()
}

fn promise(asked: Asked, of: &[usize], data: &Microdata) -> Arc<dyn GroupPromise> {
    let close = |t, distance| Arc::new(TCloseness::new(decimal(t), distance).unwrap());
    let diverse = |diversity| Arc::new(LDiversity::new(diversity).unwrap());
    let alike = |beta, form| Arc::new(BetaLikeness::new(decimal(beta), form).unwrap());
    let promise: Arc<dyn GroupPromise> = match asked {
        Asked::K(k) => return Arc::new(KAnonymity::new(k).unwrap()),
        Asked::Distinct(l) => diverse(Diversity::Distinct(l)),
        Asked::Entropy(l) => diverse(Diversity::Entropy(decimal(l))),
        Asked::Recursive(l, c) => diverse(Diversity::Recursive { l, c: decimal(c) }),
        Asked::Equal(t) => close(t, Distance::Equal),
        Asked::Ordered(t) => close(t, Distance::Ordered),
        Asked::Hierarchical(t) => close(t, Distance::Hierarchical),
        Asked::Basic(beta) => alike(beta, Likeness::Basic),
        Asked::Enhanced(beta) => alike(beta, Likeness::Enhanced),
        Asked::Disclosure(delta) => {
            Arc::new(DeltaDisclosure::new(decimal(delta)).unwrap())
        }
    };
    let hierarchy = |place: &usize| (*place, &data.sensitive[*place].hierarchy);
    Arc::new(OfColumns::new(promise, of.iter().map(hierarchy)))
}

// ---- the oracle ----

/// The shares of values, each of which a person has once.
fn shares(rows: &[&Row], place: usize, n_values: usize) -> Vec<f64> {
    let facts: BTreeSet<(Code, u64)> =
        rows.iter().map(|row| (row.1[place], row.2)).collect();
    let mut shares = vec![0.0; n_values];
    for (value, _) in &facts {
        shares[value.index()] += 1.0 / facts.len() as f64;
    }
    shares
}

fn holds(case: &Case, group: &[&Row], whole: &[&Row]) -> bool {
    case.asked.iter().all(|(asked, columns)| match *asked {
        Asked::K(k) => {
            let people: BTreeSet<u64> = group.iter().map(|row| row.2).collect();
            people.len() as u64 >= k
        }
        asked => columns.iter().all(|place| {
            let column = &case.data.sensitive[*place];
            let n_values = column.domain.len();
            let group = shares(group, *place, n_values);
            holds_of(asked, column, &group, &shares(whole, *place, n_values))
        }),
    })
}

/// Whether something holds of the shares of values in a group and in the whole table.
fn holds_of(asked: Asked, column: &Column, p: &[f64], q: &[f64]) -> bool {
    let n_values = p.len();
    let mut ranked: Vec<f64> = p.iter().copied().filter(|share| *share > 0.0).collect();
    ranked.sort_by(|a, b| b.total_cmp(a));
    match asked {
        Asked::K(_) => panic!("not about values"),
        Asked::Distinct(l) => ranked.len() as u64 >= l,
        Asked::Entropy(l) => {
            let entropy: f64 = ranked.iter().map(|share| -share * share.ln()).sum();
            entropy >= l.ln() - 1e-12
        }
        Asked::Recursive(l, c) => {
            let rare: f64 = ranked.iter().skip(l as usize - 1).sum();
            ranked[0] < c * rare - 1e-12
        }
        Asked::Basic(beta) | Asked::Enhanced(beta) => p.iter().zip(q).all(|(p, q)| {
            let most = match asked {
                Asked::Enhanced(_) => beta.min(-q.ln()),
                _ => beta,
            };
            p <= q || p - q <= most * q + 1e-12
        }),
        Asked::Disclosure(delta) => {
            let mut occurring = p.iter().zip(q).filter(|(_, q)| **q > 0.0);
            occurring.all(|(p, q)| (p / q).ln().abs() < delta)
        }
        Asked::Equal(t) => {
            let distance: f64 = p.iter().zip(q).map(|(p, q)| (p - q).abs() / 2.0).sum();
            distance <= t + 1e-12
        }
        Asked::Ordered(t) => {
            let occurring: Vec<usize> = (0..n_values).filter(|v| q[*v] > 0.0).collect();
            let mut carried = 0.0;
            let mut distance = 0.0;
            for value in &occurring {
                carried += p[*value] - q[*value];
                distance += f64::abs(carried);
            }
            distance <= t * (occurring.len() as f64 - 1.0).max(1.0) + 1e-12
        }
        Asked::Hierarchical(t) => {
            // On a tree, earth crosses each edge as often as its subtree has too much.
            let hierarchy = &column.hierarchy;
            let height = hierarchy.height();
            let mut distance = 0.0;
            for level in &hierarchy.levels()[..height] {
                let mut over = Of::repeat(0.0, level.nodes.len());
                for (value, node) in level.node_of.iter().enumerate() {
                    over[*node] += p[value] - q[value];
                }
                distance += over.iter().map(|over| f64::abs(*over)).sum::<f64>();
            }
            distance / (2.0 * height as f64) <= t + 1e-12
        }
    }
}

type Groups<'a> = Vec<Vec<&'a Row>>;

/// The groups that stay and the rows that go, or nothing if too many go.
fn judged<'a>(case: &Case, mut kept: Groups<'a>) -> Option<(Groups<'a>, u64)> {
    let mut left_out = 0;
    loop {
        let whole: Vec<_> = kept.iter().flatten().copied().collect();
        let before = kept.len();
        let (good, bad): (Groups, Groups) =
            kept.into_iter().partition(|group| holds(case, group, &whole));
        left_out += bad.iter().map(Vec::len).sum::<usize>() as u64;
        kept = good;
        if kept.len() == before {
            break;
        }
    }
    (left_out <= case.limit && !kept.is_empty()).then_some((kept, left_out))
}

/// What a cell costs, from the values it covers.
fn cell_cost(name: &str, column: &Column, codes: &[Code], level: Option<usize>) -> f64 {
    let domain = &column.domain;
    let n = domain.len() as f64;
    let hierarchy = &column.hierarchy;
    let missing = domain.missing();
    let (covered, span): (Vec<Code>, Option<(f64, f64)>) = match (column.cells, level) {
        (Cells::Taxonomy, Some(level)) => {
            let label = hierarchy.label(level, codes[0]);
            let all = domain.codes();
            let node = hierarchy.node(level, codes[0]);
            let span = hierarchy.levels()[level].nodes[node].span;
            (all.filter(|code| hierarchy.label(level, *code) == label).collect(), span)
        }
        (Cells::Interval, _) => {
            let known: Vec<Code> =
                codes.iter().copied().filter(|code| Some(*code) != missing).collect();
            let ends = known.first().zip(known.last());
            let mut covered: Vec<Code> = ends.map_or(Vec::new(), |(low, high)| {
                Ids::between(*low, high.next()).collect()
            });
            covered.extend(codes.iter().copied().filter(|code| Some(*code) == missing));
            let span = ends
                .and_then(|(low, high)| domain.number(*low).zip(domain.number(*high)));
            (covered, span)
        }
        _ => (codes.to_vec(), None),
    };
    match name {
        "loss" if domain.len() < 2 => 0.0,
        "loss" => {
            let by_width = span.zip(domain.range()).and_then(|(span, range)| {
                let more =
                    covered.len() > 1 && covered.iter().any(|c| Some(*c) == missing);
                let more = if more { 1.0 / (n - 1.0) } else { 0.0 };
                let width = (span.1 - span.0) / (range.1 - range.0);
                (range.1 > range.0).then_some((width.min(1.0) + more).min(1.0))
            });
            by_width.unwrap_or((covered.len() as f64 - 1.0) / (n - 1.0))
        }
        "kl" => (covered.len() as f64).ln(),
        "entropy" => {
            let rows: u64 = covered.iter().map(|code| column.rows[*code]).sum();
            (rows as f64).log2()
        }
        "precision" => {
            let level = level.filter(|_| column.cells == Cells::Taxonomy);
            let level = level.unwrap_or_else(|| {
                (0..=hierarchy.height())
                    .find(|level| {
                        let first = hierarchy.label(*level, covered[0]);
                        covered.iter().all(|c| hierarchy.label(*level, *c) == first)
                    })
                    .unwrap()
            });
            level as f64 / hierarchy.height() as f64
        }
        other => panic!("{other}"),
    }
}

fn left_out_cost(name: &str, column: &Column) -> f64 {
    match name {
        "loss" | "precision" => 1.0,
        "kl" => (column.domain.len() as f64).ln(),
        "entropy" => (column.rows.iter().sum::<u64>() as f64).log2(),
        other => panic!("{other}"),
    }
}

fn total(
    case: &Case,
    groups: &Groups<'_>,
    left_out: u64,
    node: Option<&[usize]>,
) -> f64 {
    let n = case.rows.len() as f64;
    match case.loss.name() {
        "discernibility" => {
            let squares: f64 =
                groups.iter().map(|group| (group.len() as f64).powi(2)).sum();
            squares + left_out as f64 * n
        }
        "average-group" => n / (groups.len() as f64 + f64::from(left_out > 0)),
        name => {
            let mut sum = 0.0;
            let mut weights = 0.0;
            for (place, column) in case.data.quasi.iter().enumerate() {
                weights += column.weight;
                let mut cost = left_out as f64 * left_out_cost(name, column);
                for group in groups {
                    let mut codes: Vec<Code> =
                        group.iter().map(|row| row.0[place]).collect();
                    codes.sort_unstable();
                    codes.dedup();
                    let level = node.map(|node| node[place]);
                    cost += group.len() as f64 * cell_cost(name, column, &codes, level);
                }
                if name == "entropy" {
                    let own = column.rows.iter().filter(|rows| **rows > 0);
                    cost -= own
                        .map(|rows| *rows as f64 * (*rows as f64).log2())
                        .sum::<f64>();
                }
                sum += column.weight * cost;
            }
            if name == "loss" || name == "precision" {
                sum / (weights * n)
            } else {
                sum
            }
        }
    }
}

/// The least loss over all nodes, and how many nodes are allowed.
fn exhaustive(case: &Case) -> Option<f64> {
    let mut nodes: Vec<Vec<usize>> = vec![Vec::new()];
    for column in &case.data.quasi {
        let longer = nodes.iter().flat_map(|node| {
            (column.lowest..=column.highest)
                .map(|level| [node.as_slice(), &[level]].concat())
        });
        nodes = longer.collect();
    }
    let mut best: Option<f64> = None;
    for node in nodes {
        let mut groups: BTreeMap<Vec<&str>, Vec<&Row>> = BTreeMap::new();
        for row in &case.rows {
            let labels = case.data.quasi.iter().zip(&node).zip(&row.0);
            let labels = labels
                .map(|((column, level), code)| column.hierarchy.label(*level, *code))
                .collect();
            groups.entry(labels).or_default().push(row);
        }
        if let Some((kept, left_out)) = judged(case, groups.into_values().collect()) {
            let loss = total(case, &kept, left_out, Some(&node));
            best = Some(best.map_or(loss, |best: f64| best.min(loss)));
        }
    }
    best
}

fn task(case: &Case) -> GroupingTask<'_> {
    GroupingTask {
        columns: &case.data.quasi,
        census: &case.data.census,
        promises: &case.promises,
        loss: case.loss,
        limit: case.limit,
    }
}

fn about(case: &Case, seed: u64) -> String {
    let cells = case.data.quasi[0].cells;
    format!(
        "seed {seed}: {:?}, {}, limit {}, {cells:?}\n{:?}",
        case.asked,
        case.loss.name(),
        case.limit,
        case.rows
    )
}

#[test]
fn the_full_domain_optimum_equals_exhaustive_search() {
    let (mut met, mut unmet, mut with_left_out) = (0, 0, 0);
    for seed in 0..6_000 {
        let case = random_case(seed);
        let expected = exhaustive(&case);
        let found = FullDomain::default().find(&task(&case));
        match (expected, found) {
            (None, Err(error)) => {
                unmet += 1;
                assert_eq!(error.exit_code(), 1, "{}", about(&case, seed));
            }
            (Some(expected), Ok(found)) => {
                met += 1;
                let shape = found.grouping.shape(&case.data.census);
                with_left_out += usize::from(shape.left_out > 0);
                let published = case.loss.of(&case.data.quasi, &shape);
                let scale = expected.abs().max(1.0);
                let near = |loss: f64| (loss - expected).abs() <= 1e-9 * scale;
                assert!(
                    near(found.loss),
                    "{expected} {} {}",
                    found.loss,
                    about(&case, seed)
                );
                assert!(
                    near(published),
                    "{expected} {published} {}",
                    about(&case, seed)
                );
                assert!(shape.left_out <= case.limit);
            }
            (expected, found) => {
                panic!(
                    "{expected:?}, {:?} {}",
                    found.map(|f| f.levels),
                    about(&case, seed)
                )
            }
        }
    }
    // The cases are worth something: all three outcomes are common.
    assert!(
        met > 1_000 && unmet > 300 && with_left_out > 300,
        "{met} {unmet} {with_left_out}"
    );
}

/// Stopped anywhere, a search has a plan that keeps the promises, and a bound below the
/// optimum.
#[test]
fn a_search_that_is_stopped_has_a_plan_and_a_bound() {
    let (mut stopped, mut apart) = (0, 0);
    for seed in 0..2_500 {
        let case = random_case(seed);
        let Some(expected) = exhaustive(&case) else { continue };
        let scale = 1e-9 * expected.abs().max(1.0);
        let whole = FullDomain::default().find(&task(&case)).unwrap();
        assert!(whole.optimal && whole.bound == whole.loss, "{}", about(&case, seed));
        for effort in 1..=whole.checked {
            let found = FullDomain { effort }.find(&task(&case)).unwrap();
            let shape = found.grouping.shape(&case.data.census);
            let published = case.loss.of(&case.data.quasi, &shape);
            let about = || format!("effort {effort}, {}", about(&case, seed));
            assert!(shape.left_out <= case.limit, "{}", about());
            assert!((published - found.loss).abs() <= scale, "{}", about());
            assert!(found.bound <= expected + scale, "{}", about());
            assert!(found.loss >= expected - scale, "{}", about());
            if found.optimal {
                assert!(found.loss <= expected + scale, "{}", about());
            } else {
                stopped += 1;
                apart += usize::from(found.loss > expected + scale);
            }
        }
    }
    // Stopping early costs something, often enough to notice.
    assert!(stopped > 1_000 && apart > 300, "{stopped} {apart}");
}

/// The same course whatever the number of threads.
#[test]
fn threads_do_not_change_a_search() {
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    let (one, three) = (pool(1), pool(3));
    for seed in 0..300 {
        let case = random_case(seed);
        for effort in [1, 5, 20, 1_000] {
            let found = |pool: &rayon::ThreadPool| {
                let found = pool.install(|| FullDomain { effort }.find(&task(&case)));
                found.ok().map(|found| {
                    (
                        found.levels,
                        found.loss,
                        found.bound,
                        found.optimal,
                        found.checked,
                    )
                })
            };
            assert_eq!(found(&one), found(&three), "{}", about(&case, seed));
        }
    }
}

/// The least loss over all ways to cut again and again, each cut keeping the promises.
fn best_cuts(case: &Case, part: Vec<&Row>) -> f64 {
    let whole: Vec<_> = case.rows.iter().collect();
    let mut best = total(case, &vec![part.clone()], 0, None);
    for place in 0..case.data.quasi.len() {
        for row in &part {
            let cut = row.0[place];
            let (below, rest): (Vec<_>, Vec<_>) =
                part.iter().partition(|row| row.0[place] < cut);
            if !below.is_empty()
                && holds(case, &below, &whole)
                && holds(case, &rest, &whole)
            {
                best = best.min(best_cuts(case, below) + best_cuts(case, rest));
            }
        }
    }
    best
}

#[test]
fn mondrian_keeps_its_promises_and_never_beats_the_best_cuts() {
    let (mut met, mut equal) = (0, 0);
    for seed in 0..3_000 {
        let mut case = random_case(seed);
        case.limit = 0;
        case.loss = Loss::by_name("discernibility").unwrap();
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let column = pick(
            random,
            &[
                ColumnChoice::Widest,
                ColumnChoice::Next,
                ColumnChoice::Priority,
                ColumnChoice::Best,
            ],
        );
        let value = pick(
            random,
            &[ValueChoice::Balanced, ValueChoice::First, ValueChoice::BalancedValues],
        );
        let whole: Vec<_> = case.rows.iter().collect();
        let found = Mondrian { column, value }.find(&task(&case));
        if !holds(&case, &whole, &whole) {
            assert!(found.is_err());
            continue;
        }
        met += 1;
        let grouping = found.unwrap();
        let mut groups: BTreeMap<GroupId, Vec<&Row>> = BTreeMap::new();
        let census = &case.data.census;
        for row in &case.rows {
            let tuple = census
                .tuples()
                .find(|t| {
                    census.quasi.iter().zip(&row.0).all(|(codes, c)| codes[*t] == *c)
                })
                .unwrap();
            let group = grouping.group_of[tuple].unwrap();
            groups.entry(group).or_default().push(row);
            for ((column, cover), code) in
                case.data.quasi.iter().zip(&grouping.covers[group]).zip(&row.0)
            {
                assert!(cover.contains(&column.domain, &column.hierarchy, *code));
            }
        }
        for group in groups.values() {
            assert!(holds(&case, group, &whole), "{}", about(&case, seed));
        }
        let reached = total(&case, &groups.into_values().collect(), 0, None);
        let best = best_cuts(&case, whole);
        assert!(reached >= best - 1e-9, "{reached} {best} {}", about(&case, seed));
        equal += usize::from((reached - best).abs() < 1e-9);
    }
    assert!(met > 500 && equal > met / 2, "{met} {equal}");
}
