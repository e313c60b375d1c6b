//! Questions to releases that have sensitive values by group: the mean over all tables that
//! fit, exact where nothing was lost, and as wrong as they say.

use std::collections::BTreeMap;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::estimate::{
    Check, Comparison, Condition, Estimate, Evidence, Literal, Measure, Query, Test,
    Way,
};
use serde_json::json;

use crate::builder::{ByHand, ask, column, with};

/// A row of the table.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    age: &'static str,
    city: &'static str,
    disease: &'static str,
}

/// A release of these groups.
fn made(groups: &[Vec<Row>]) -> ByHand {
    let mut lines = Vec::new();
    let mut values = "group,value,count\n".to_owned();
    for (group, rows) in (1..).zip(groups) {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        for row in rows {
            lines.push(format!("{group},{},{}", row.age, row.city));
            *counts.entry(row.disease).or_default() += 1;
        }
        for (value, count) in counts {
            values += &format!("{group},{value},{count}\n");
        }
    }
    let columns = [
        column("age", "quasi", "number"),
        column("city", "other", "category"),
        column("disease", "sensitive", "category"),
    ];
    let columns = columns.map(|column| with(column, "missing", json!(["?"]))).to_vec();
    let (file, n) = ("sensitive.csv", groups.len());
    ByHand::new(columns)
        .with("buckets", json!({ "file": file, "column": "disease", "groups": n }))
        .rows("group,age,city", &lines)
        .file(file, &values)
}

fn evidence(groups: &[Vec<Row>]) -> Evidence {
    made(groups).evidence().unwrap()
}

const AGES: [&str; 5] = ["20", "30", "40", "50", "?"];
const CITIES: [&str; 3] = ["Bern", "Rome", "?"];
const DISEASES: [&str; 5] = ["asthma", "cold", "flu", "gout", "?"];

fn pick(n: usize, random: &mut ChaCha20Rng) -> usize {
    random.random_range(0..n)
}

fn drawn_row(random: &mut ChaCha20Rng) -> Row {
    Row {
        age: AGES[pick(5, random)],
        city: CITIES[pick(3, random)],
        disease: DISEASES[pick(5, random)],
    }
}

/// A condition of up to this depth, over all columns.
fn drawn_condition(depth: usize, random: &mut ChaCha20Rng) -> Condition {
    let parts = |random: &mut ChaCha20Rng| {
        (0..1 + pick(3, random)).map(|_| drawn_condition(depth - 1, random)).collect()
    };
    match if depth == 0 { 3 } else { pick(5, random) } {
        0 => Condition::And(parts(random)),
        1 => Condition::Or(parts(random)),
        2 => Condition::Not(Box::new(drawn_condition(depth - 1, random))),
        _ => {
            let (column, values) =
                [("age", &AGES[..]), ("city", &CITIES), ("disease", &DISEASES)]
                    [pick(4, random).min(2)];
            let mut literal =
                || Literal::Text(values[pick(values.len() - 1, random)].into());
            let first = literal();
            let second = literal();
            let comparison = [
                Comparison::Equal,
                Comparison::NotEqual,
                Comparison::Less,
                Comparison::AtLeast,
            ][pick(4, random)];
            let check = match pick(4, random) {
                0 => Check::Missing,
                1 => Check::Among(vec![first, second]),
                _ => Check::Compare(comparison, first),
            };
            Condition::Test(Test { column: column.to_owned(), check })
        }
    }
}

/// Whether a row satisfies a condition, as SQL has it. Ages here are in the order of their
/// texts, too.
fn truth(condition: &Condition, row: &Row) -> Option<bool> {
    match condition {
        Condition::Not(part) => truth(part, row).map(|truth| !truth),
        Condition::NotTrue(part) => Some(truth(part, row) != Some(true)),
        Condition::And(parts) => kleene(parts, row, false),
        Condition::Or(parts) => kleene(parts, row, true),
        Condition::Test(test) => {
            let own = value(row, &test.column);
            let text = |literal: &Literal| match literal {
                Literal::Text(text) => text.clone(),
                Literal::Number(number) => number.to_string(),
            };
            match &test.check {
                Check::Missing => Some(own == "?"),
                _ if own == "?" => None,
                Check::Like(pattern) => Some(pattern.matches(own)),
                Check::Among(literals) => Some(literals.iter().any(|l| text(l) == own)),
                Check::Compare(comparison, literal) => {
                    let order = own.cmp(text(literal).as_str());
                    Some(match comparison {
                        Comparison::Equal => order.is_eq(),
                        Comparison::NotEqual => order.is_ne(),
                        Comparison::Less => order.is_lt(),
                        Comparison::AtMost => order.is_le(),
                        Comparison::Greater => order.is_gt(),
                        Comparison::AtLeast => order.is_ge(),
                    })
                }
            }
        }
    }
}

/// One part with this truth decides; else one that is open leaves the whole open.
fn kleene(parts: &[Condition], row: &Row, decides: bool) -> Option<bool> {
    let truths: Vec<Option<bool>> = parts.iter().map(|part| truth(part, row)).collect();
    if truths.contains(&Some(decides)) {
        return Some(decides);
    }
    (!truths.contains(&None)).then_some(!decides)
}

fn value(row: &Row, column: &str) -> &'static str {
    match column {
        "age" => row.age,
        "city" => row.city,
        _ => row.disease,
    }
}

/// The table itself, counted.
fn counted(query: &Query, rows: &[Row]) -> BTreeMap<Vec<String>, f64> {
    let mut counts = BTreeMap::new();
    for row in rows.iter().filter(|row| truth(&query.condition, row) == Some(true)) {
        let key = query.group_by.iter().map(|name| value(row, name).to_owned());
        *counts.entry(key.collect()).or_default() += 1.0;
    }
    counts
}

/// All tables that a group may have been.
fn arrangements(rows: &mut Vec<Row>, done: usize, found: &mut Vec<Vec<Row>>) {
    if done == rows.len() {
        found.push(rows.clone());
        return;
    }
    for next in done..rows.len() {
        let swap = |rows: &mut Vec<Row>| {
            let own = rows[done].disease;
            rows[done].disease = rows[next].disease;
            rows[next].disease = own;
        };
        swap(rows);
        arrangements(rows, done + 1, found);
        swap(rows);
    }
}

/// Mean, variance, least and most.
type Moments = (f64, f64, f64, f64);

/// What all arrangements of all groups give.
fn oracle(query: &Query, groups: &[Vec<Row>]) -> BTreeMap<Vec<String>, Moments> {
    let mut sums: BTreeMap<Vec<String>, Moments> = BTreeMap::new();
    if query.group_by.is_empty() {
        sums.insert(Vec::new(), (0.0, 0.0, 0.0, 0.0));
    }
    for group in groups {
        let mut worlds = Vec::new();
        arrangements(&mut group.clone(), 0, &mut worlds);
        let counts: Vec<_> = worlds.iter().map(|rows| counted(query, rows)).collect();
        let mut keys: Vec<&Vec<String>> =
            counts.iter().flat_map(BTreeMap::keys).collect();
        keys.sort();
        keys.dedup();
        for key in keys {
            let each = || counts.iter().map(|c| c.get(key).copied().unwrap_or(0.0));
            let n = counts.len() as f64;
            let mean = each().sum::<f64>() / n;
            let sum = sums.entry(key.clone()).or_default();
            sum.0 += mean;
            sum.1 += each().map(|count| (count - mean).powi(2)).sum::<f64>() / n;
            sum.2 += each().fold(f64::MAX, f64::min);
            sum.3 += each().fold(0.0, f64::max);
        }
    }
    sums
}

#[test]
fn answers_are_the_mean_and_spread_of_all_tables_that_fit() {
    let mut random = ChaCha20Rng::seed_from_u64(31);
    let (mut open, mut certain) = (0, 0);
    for round in 0..60 {
        let groups: Vec<Vec<Row>> = (0..4)
            .map(|_| {
                (0..1 + pick(5, &mut random)).map(|_| drawn_row(&mut random)).collect()
            })
            .collect();
        let evidence = evidence(&groups);
        for _ in 0..8 {
            let names = ["age", "city", "disease"];
            let chosen = names.iter().filter(|_| pick(3, &mut random) == 0);
            let query = Query {
                measure: Measure::Count,
                group_by: chosen.map(|name| (*name).to_owned()).collect(),
                condition: drawn_condition(3, &mut random),
            };
            let answers = evidence.answer_by_law(&query, Way::Inverse).unwrap();
            let expected = oracle(&query, &groups);
            let what = format!("{round}: {query:?}");
            let keys: Vec<&Vec<String>> = expected.keys().collect();
            let mut found: Vec<&Vec<String>> =
                answers.iter().map(|e| &e.values).collect();
            found.sort();
            assert_eq!(found, keys, "{what}");
            for answer in &answers {
                let (mean, variance, least, most) = expected[&answer.values];
                assert!((answer.count - mean).abs() < 1e-9, "{what}");
                let error = answer.standard_error.unwrap();
                assert!((error.powi(2) - variance).abs() < 1e-9, "{what}");
                // Groups are small, so that the bounds are exact.
                assert_eq!((answer.at_least, answer.at_most), (least, most), "{what}");
                let (low, high) = answer.possible_interval().unwrap();
                assert!(least <= low && low <= high && high <= most, "{what}");
                if variance < 1e-12 {
                    certain += 1;
                    assert_eq!((answer.count, error), (mean.round(), 0.0), "{what}");
                    assert_eq!((low, high), (answer.count, answer.count), "{what}");
                } else {
                    open += 1;
                }
            }
            let whole = Query { group_by: Vec::new(), ..query };
            let whole = evidence.answer_by_law(&whole, Way::Inverse).unwrap();
            let sum: f64 = answers.iter().map(|answer| answer.count).sum();
            assert!((sum - whole[0].count).abs() < 1e-9, "{what}");
        }
    }
    assert!(open > 300 && certain > 300, "{open} open, {certain} certain");
}

fn row(age: &'static str, city: &'static str, disease: &'static str) -> Row {
    Row { age, city, disease }
}

#[test]
fn what_lost_nothing_is_exact() {
    let groups = vec![
        vec![
            row("20", "Bern", "flu"),
            row("30", "Bern", "cold"),
            row("40", "Bern", "flu"),
        ],
        vec![row("20", "Rome", "gout"), row("20", "Rome", "?")],
    ];
    let evidence = evidence(&groups);
    let exact = |condition: &str, count: f64| {
        let found = ask(&evidence, &format!("SELECT COUNT(*) WHERE {condition}"));
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].count, found[0].standard_error, found[0].possible_interval()),
            (count, Some(0.0), Some((count, count))),
            "{condition}"
        );
    };
    exact("age >= 30 OR city = 'Rome'", 4.0);
    exact("disease = 'flu'", 2.0);
    exact("disease <> 'flu'", 2.0);
    exact("disease IS NULL", 1.0);
    // All rows of a group, or none.
    exact("disease = 'flu' AND city = 'Bern'", 2.0);
    exact("disease = 'flu' AND city = 'Rome'", 0.0);
    exact("\"group\" = '2' AND disease = 'gout'", 1.0);
    exact("disease = 'mumps' AND age > 25", 0.0);
    exact("age > 1000", 0.0);
    assert_eq!(evidence.n_rows(), 5.0);

    let found = ask(&evidence, "SELECT Disease, COUNT(*) FROM r GROUP BY Disease");
    let found: Vec<_> = found
        .iter()
        .map(|e| (e.values[0].as_str(), e.count, e.standard_error))
        .collect();
    let zero = Some(0.0);
    let expected = [
        ("cold", 1.0, zero),
        ("flu", 2.0, zero),
        ("gout", 1.0, zero),
        ("?", 1.0, zero),
    ];
    assert_eq!(found, expected);

    // One of three has it, and two of three have flu.
    let found =
        &ask(&evidence, "SELECT COUNT(*) WHERE disease = 'flu' AND age = 30")[0];
    assert!((found.count - 2.0 / 3.0).abs() < 1e-12);
    assert!((found.standard_error.unwrap() - (2.0f64 / 9.0).sqrt()).abs() < 1e-12);
    assert_eq!((found.at_least, found.at_most), (0.0, 1.0));
    let found =
        &ask(&evidence, "SELECT COUNT(*) WHERE disease = 'flu' AND age < 40")[0];
    assert_eq!((found.at_least, found.at_most), (1.0, 2.0));
    let found =
        ask(&evidence, "SELECT COUNT(disease) FROM r WHERE age = 20 GROUP BY city");
    let counts: Vec<_> =
        found.iter().map(|e| (e.values[0].as_str(), e.count)).collect();
    assert_eq!(counts, [("Bern", 1.0), ("Rome", 1.0)]);
}

/// Whether of so many intervals as many cover as 95 % would, nearly.
fn is_honest(covered: usize, runs: usize) -> bool {
    (0.93..0.97).contains(&(covered as f64 / runs as f64))
}

#[test]
fn intervals_cover_where_values_do_not_depend_on_the_rest() {
    let mut random = ChaCha20Rng::seed_from_u64(32);
    // Groups differ in size, and both sides of a question are commoner in some.
    let groups: Vec<Vec<Row>> = (0..400)
        .map(|_| {
            let (n, young, ill) =
                (3 + pick(6, &mut random), random.random(), random.random());
            let one = |random: &mut ChaCha20Rng| {
                let mut coin = |p: f64| random.random::<f64>() < p;
                let ages = if coin(young) { ["20", "30"] } else { ["40", "50"] };
                let cities = if coin(0.3) { ["Rome", "?"] } else { ["Bern", "Bern"] };
                let diseases = if coin(ill) { ["flu", "cold"] } else { ["gout", "?"] };
                let second = usize::from(coin(0.4));
                row(ages[second], cities[second], diseases[usize::from(coin(0.5))])
            };
            (0..n).map(|_| one(&mut random)).collect()
        })
        .collect();
    let evidence = evidence(&groups);
    let questions = [
        "SELECT COUNT(*) WHERE disease = 'flu' AND age < 40",
        "SELECT COUNT(*) WHERE disease IN ('flu', 'gout') AND age = 20 AND city = 'Bern'",
        "SELECT COUNT(*) WHERE disease = 'flu' AND age < 40 OR disease = 'gout' AND age = 50",
        "SELECT COUNT(*) WHERE NOT (disease = 'flu' OR age = 30) OR city IS NULL",
        "SELECT disease, COUNT(*) WHERE age > 20 GROUP BY disease",
        "SELECT city, COUNT(*) WHERE disease = 'cold' OR age = 40 GROUP BY city",
    ];
    let asked: Vec<(Query, Vec<Estimate>)> = questions
        .iter()
        .map(|question| (Query::parse(question).unwrap(), ask(&evidence, question)))
        .collect();
    let n_runs = 1000;
    // The release is the same for all arrangements: what varies is the truth.
    let mut truths: Vec<Vec<Vec<f64>>> = asked
        .iter()
        .map(|(_, answers)| vec![Vec::with_capacity(n_runs); answers.len()])
        .collect();
    let mut table = groups;
    for _ in 0..n_runs {
        for group in &mut table {
            let mut values: Vec<&str> = group.iter().map(|row| row.disease).collect();
            values.shuffle(&mut random);
            group.iter_mut().zip(values).for_each(|(row, value)| row.disease = value);
        }
        let rows: Vec<Row> = table.iter().flatten().cloned().collect();
        for ((query, answers), truths) in asked.iter().zip(&mut truths) {
            let counts = counted(query, &rows);
            for (answer, truths) in answers.iter().zip(truths) {
                truths.push(counts.get(&answer.values).copied().unwrap_or(0.0));
            }
        }
    }
    for ((query, answers), truths) in asked.iter().zip(&truths) {
        for (answer, truths) in answers.iter().zip(truths) {
            let what = format!("{query:?}: {answer:?}");
            let n = n_runs as f64;
            let mean = truths.iter().sum::<f64>() / n;
            let error = answer.standard_error.unwrap();
            // With a false alarm of one in a million, and so for twenty answers.
            assert!(
                (mean - answer.count).abs() < 5.7 * error / n.sqrt(),
                "{what}: {mean}"
            );
            let covered = |scale: f64| {
                let within = |truth: &&f64| {
                    let (low, high) = answer.possible_interval().unwrap();
                    let (below, above) = (answer.count - low, high - answer.count);
                    **truth >= answer.count - scale * below
                        && **truth <= answer.count + scale * above
                };
                truths.iter().filter(within).count()
            };
            assert!(
                is_honest(covered(1.0), n_runs),
                "{what}: {} covered",
                covered(1.0)
            );
            assert!(
                !is_honest(covered(0.5), n_runs),
                "{what}: the twin is not noticed"
            );
            assert!(!is_honest(covered(2.0), n_runs), "{what}: the other twin is not");
        }
    }
}

#[test]
fn what_depends_on_the_rest_is_estimated_as_if_it_did_not() {
    // Everybody young has flu, nobody else.
    let group = vec![
        row("20", "Bern", "flu"),
        row("20", "Bern", "flu"),
        row("50", "Bern", "cold"),
        row("50", "Bern", "gout"),
    ];
    let evidence = evidence(&vec![group; 100]);
    let found =
        &ask(&evidence, "SELECT COUNT(*) WHERE age = 20 AND disease = 'flu'")[0];
    assert_eq!((found.count, found.at_most), (100.0, 200.0));
    assert!(found.interval().unwrap().1 < 200.0);
}

#[test]
fn numbers_and_dates_are_what_they_mean() {
    let mut made = made(&[vec![
        row("20", "Bern", "7"),
        row("30", "Bern", "12"),
        row("40", "Bern", "7.0"),
    ]]);
    made.write("sensitive.csv", "group,value,count\n1,7,1\n1,12,1\n1,7.0,1\n");
    made.manifest["columns"][2]["type"] = json!("number");
    let open = |made: &ByHand| made.evidence().unwrap();
    let found = ask(&open(&made), "SELECT disease, COUNT(*) GROUP BY disease");
    let found: Vec<_> = found.iter().map(|e| (e.values[0].as_str(), e.count)).collect();
    assert_eq!(found, [("7", 2.0), ("12", 1.0)]);
    let found = ask(&open(&made), "SELECT COUNT(*) WHERE disease < 8.5 AND age < 35");
    assert!((found[0].count - 4.0 / 3.0).abs() < 1e-12);

    made.write("sensitive.csv", "group,value,count\n1,2024-02-29,2\n1,?,1\n");
    made.manifest["columns"][2]["type"] = json!("date");
    made.manifest["columns"][2]["date_format"] = json!("%d.%m.%Y");
    let found =
        ask(&open(&made), "SELECT COUNT(*) WHERE disease > '2024-01-01' OR age = 20");
    assert!((found[0].count - (1.0 + 2.0 * 2.0 / 3.0)).abs() < 1e-12);
    let found = ask(
        &open(&made),
        "SELECT disease, COUNT(*) WHERE disease IS NULL GROUP BY disease",
    );
    assert_eq!((found[0].values[0].as_str(), found[0].count), ("?", 1.0));
}

#[test]
fn releases_that_do_not_fit_are_refused() {
    let groups = [vec![row("20", "Bern", "flu"), row("30", "Rome", "cold")]];
    let refused = |change: &dyn Fn(&mut ByHand)| {
        let mut made = made(&groups);
        change(&mut made);
        let error = made.evidence().unwrap_err().to_string();
        error.replace(&format!("{}/", made.path().display()), "")
    };
    let replaced = |file: &str, from: &str, to: &str| {
        refused(&|made| made.replace(file, from, to))
    };
    assert_eq!(
        replaced("sensitive.csv", "count\n", "count\n2,flu,1\n"),
        "sensitive.csv: a group has values, but no rows"
    );
    assert_eq!(
        refused(&|made| {
            made.replace("data.csv", "city\n", "city\n2,20,Bern\n");
            made.manifest["rows"] = json!(3);
        }),
        "sensitive.csv: a group has rows, but no values"
    );
    let unequal = "sensitive.csv: a group has not as many values as rows";
    assert_eq!(replaced("sensitive.csv", "flu,1", "flu,2"), unequal);
    let most = format!("flu,{}", u64::MAX);
    assert_eq!(replaced("sensitive.csv", "flu,1", &most), unequal);
    assert_eq!(
        refused(&|made| {
            made.manifest["checksums"].as_object_mut().unwrap().remove("sensitive.csv");
        }),
        "the manifest has no checksum of sensitive.csv"
    );
    assert_eq!(
        refused(&|made| made.manifest["buckets"]["column"] = json!("illness")),
        "manifest.json: the manifest is malformed: a class is of `illness`, which is not a \
         published column"
    );
    assert_eq!(
        refused(&|made| made.manifest["buckets"]["column"] = json!("age")),
        "data.csv: the columns are not those of the manifest"
    );
    assert_eq!(
        replaced("data.csv", "group,", "part,"),
        "data.csv: the columns are not those of the manifest"
    );
    assert_eq!(
        refused(&|made| made.manifest["sampled"] = json!("age")),
        "a release with values that stand apart cannot be a sample of one row of each group"
    );
}

#[test]
fn there_is_no_way_to_choose() {
    let evidence =
        evidence(&[vec![row("20", "Bern", "flu"), row("30", "Rome", "cold")]]);
    let query = Query::parse("SELECT COUNT(*)").unwrap();
    for way in [Way::Iterative, Way::Simplex] {
        let error = evidence.answer_by_law(&query, way).unwrap_err();
        let words = "nothing is randomized, so there is no way to choose";
        assert_eq!(error.to_string(), words);
    }
    let query = Query::parse("SELECT COUNT(*) WHERE illness = 'flu'").unwrap();
    let error = evidence.answer_by_law(&query, Way::Inverse).unwrap_err();
    assert_eq!(error.to_string(), "no column is called `illness`");
    let query = Query::parse("SELECT COUNT(*) WHERE disease = 'fluu'").unwrap();
    let unknown = evidence.unknown(&query).unwrap();
    assert_eq!(unknown[0].nearest.as_deref(), Some("flu"));
}

/// Numbers as sensitive values.
const COSTS: [&str; 4] = ["1", "2", "7", "?"];

/// What all arrangements give for two sums over rows: means, variances and covariance.
fn two_sums(
    groups: &[Vec<Row>],
    adds: &dyn Fn(&Row) -> (f64, f64),
) -> (f64, f64, f64, f64, f64) {
    let mut all = (0.0, 0.0, 0.0, 0.0, 0.0);
    for group in groups {
        let mut worlds = Vec::new();
        arrangements(&mut group.clone(), 0, &mut worlds);
        let sums: Vec<(f64, f64)> = worlds
            .iter()
            .map(|rows| {
                let each = rows.iter().map(adds);
                each.fold((0.0, 0.0), |sum, add| (sum.0 + add.0, sum.1 + add.1))
            })
            .collect();
        let n = sums.len() as f64;
        let mean = |f: &dyn Fn(&(f64, f64)) -> f64| sums.iter().map(f).sum::<f64>() / n;
        let (a, b) = (mean(&|s| s.0), mean(&|s| s.1));
        all.0 += a;
        all.1 += b;
        all.2 += mean(&|s| (s.0 - a) * (s.0 - a));
        all.3 += mean(&|s| (s.1 - b) * (s.1 - b));
        all.4 += mean(&|s| (s.0 - a) * (s.1 - b));
    }
    all
}

#[test]
fn sums_means_and_shares_are_those_of_all_tables_that_fit() {
    let mut random = ChaCha20Rng::seed_from_u64(77);
    let (mut exact, mut open) = (0, 0);
    for _ in 0..50 {
        let groups: Vec<Vec<Row>> = (0..3)
            .map(|_| {
                let row = |random: &mut ChaCha20Rng| Row {
                    disease: COSTS[pick(4, random)],
                    ..drawn_row(random)
                };
                (0..1 + pick(5, &mut random)).map(|_| row(&mut random)).collect()
            })
            .collect();
        let evidence = evidence(&groups);
        let (condition, part) =
            (drawn_condition(2, &mut random), drawn_condition(1, &mut random));
        let number = |holds: bool| f64::from(u8::from(holds));
        let holds = |row: &Row| truth(&condition, row) == Some(true);
        let answer = |measure: Measure, condition: Condition| {
            let query = Query { measure, group_by: Vec::new(), condition };
            evidence
                .answer_by_law(&query, Way::Inverse)
                .map(|mut found| found.remove(0))
        };
        let mut compare = |found: &Estimate, value: f64, error: f64| {
            let own = found.standard_error.unwrap();
            assert!((found.count - value).abs() < 1e-9, "{found:?} for {value}");
            assert!((own * own - error * error).abs() < 1e-8, "{found:?} for {error}");
            if error == 0.0 { exact += 1 } else { open += 1 }
        };
        for column in ["age", "disease"] {
            let known = Test { column: column.to_owned(), check: Check::Missing };
            let known = Condition::Not(Box::new(Condition::Test(known)));
            let asked = condition.and(&known);
            let adds = |row: &Row| match value(row, column).parse::<f64>() {
                Ok(value) if holds(row) => (value, 1.0),
                _ => (0.0, 0.0),
            };
            let (a, b, aa, bb, ab) = two_sums(&groups, &adds);
            let found = answer(Measure::Sum(column.to_owned()), asked.clone()).unwrap();
            compare(&found, a, aa.sqrt());
            let found = answer(Measure::Mean(column.to_owned()), asked);
            assert_eq!(found.is_err(), b == 0.0);
            if let Ok(found) = found {
                let m = a / b;
                let variance = (aa - 2.0 * m * ab + m * m * bb).max(0.0);
                compare(&found, m, variance.sqrt() / b);
            }
        }
        let both = |row: &Row| holds(row) && truth(&part, row) == Some(true);
        let (a, b, aa, bb, ab) =
            two_sums(&groups, &|row| (number(both(row)), number(holds(row))));
        let found = answer(Measure::Share(Some(part.clone())), condition.clone());
        assert_eq!(found.is_err(), b == 0.0);
        if let Ok(found) = found {
            let m = a / b;
            let variance = (aa - 2.0 * m * ab + m * m * bb).max(0.0);
            compare(&found, m, variance.sqrt() / b);
        }
    }
    assert!(exact > 20 && open > 50, "{exact} exact, {open} open");

    // The parts add up to the whole.
    let rows = (0..6).map(|n| Row { disease: COSTS[n % 3], ..drawn_row(&mut random) });
    let evidence = evidence(&[rows.collect()]);
    let total = ask(&evidence, "SELECT SUM(disease)").remove(0);
    assert_eq!((total.count, total.standard_error), (20.0, Some(0.0)));
    let parts = ask(&evidence, "SELECT city, SUM(disease) GROUP BY city");
    assert!((parts.iter().map(|part| part.count).sum::<f64>() - 20.0).abs() < 1e-9);
    let shares = ask(&evidence, "SELECT disease, SHARE(*) GROUP BY disease");
    let shares: Vec<_> = shares.iter().map(|s| (s.count, s.standard_error)).collect();
    assert_eq!(shares, vec![(1.0 / 3.0, Some(0.0)); 3]);
}
