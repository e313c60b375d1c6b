//! Questions to releases with randomized columns: exact where nothing was lost, unbiased
//! elsewhere, and as wrong as they say.

use std::fs;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::estimate::{Basis, Estimate, Evidence, Query, Unknown, Way};
use scumble::release::Release;
use scumble::watch::Unwatched;
use serde_json::{Value, json};

use crate::builder::{ByHand, ask, column, with};

/// How often a right estimator fails a test below.
const FALSE_ALARM: f64 = 1e-6;

/// A release of these columns, `(name, role, type)`, and rows.
fn written(
    columns: &[(&str, &str, &str)],
    rows: &[Vec<String>],
    perturbation: &Value,
) -> ByHand {
    let columns = columns.iter().map(|(name, role, kind)| {
        with(column(name, role, kind), "missing", json!(["?"]))
    });
    let rows: Vec<String> = rows.iter().map(|row| row.join(",")).collect();
    ByHand::new(columns.collect::<Vec<Value>>())
        .with("perturbation", perturbation.clone())
        .plain_rows(&rows)
}

fn refused(made: &ByHand) -> String {
    made.evidence().unwrap_err().to_string()
}

fn subtable(domain: &Value, operator: &Value) -> Value {
    let size = domain.as_array().unwrap().len();
    let mut note =
        json!({ "rows": 0, "domain": domain, "bounds": vec![Value::Null; size] });
    for (key, value) in operator.as_object().unwrap() {
        note[key] = value.clone();
    }
    note
}

fn noise(
    columns: &[&str],
    subtable_column: Option<&str>,
    subtables: &[Value],
) -> Value {
    let mut note = json!({
        "columns": columns, "breaches": "upward", "noise": "fresh", "subtables": subtables,
    });
    if let Some(name) = subtable_column {
        note["subtable_column"] = json!(name);
    }
    note
}

/// The probability of each published value.
type Column = Vec<f64>;

fn mixture(keep: &[f64]) -> Vec<Column> {
    let size = keep.len();
    let column = |k: usize| {
        let other = (1.0 - keep[k]) / size as f64;
        (0..size).map(|j| if j == k { keep[k] + other } else { other }).collect()
    };
    (0..size).map(column).collect()
}

fn draw(column: &[f64], random: &mut ChaCha20Rng) -> usize {
    let mut point = random.random::<f64>();
    for (value, share) in column.iter().enumerate() {
        if point < *share {
            return value;
        }
        point -= share;
    }
    column.len() - 1
}

/// A person of the true table.
#[derive(Clone, Copy)]
struct Person {
    age: usize,
    city: usize,
    part: usize,
    disease: usize,
    work: usize,
    smokes: usize,
}

const CITIES: [&str; 3] = ["Bern", "Rome", "?"];
/// Sub-tables have domains of their own, with one value in common.
const DISEASES: [&[&str]; 2] =
    [&["flu", "cold", "?"], &["cold", "asthma", "gout", "mumps"]];
const WORK: [(&str, &str); 3] = [("nurse", "10"), ("nurse", "20"), ("cook", "10")];
const SMOKES: [&str; 2] = ["no", "yes"];

fn people() -> Vec<Person> {
    let mut random = ChaCha20Rng::seed_from_u64(11);
    (0..500)
        .map(|_| {
            let mut pick =
                |n: usize| (random.random::<f64>().powi(2) * n as f64) as usize;
            let part = pick(2);
            Person {
                age: 20 + pick(40),
                city: pick(3),
                part,
                disease: pick(DISEASES[part].len()),
                work: pick(3),
                smokes: pick(2),
            }
        })
        .collect()
}

const KEEP: [&[f64]; 2] = [&[0.5, 0.5, 0.5], &[0.6, 0.3, 0.4, 0.7]];
const GENERAL: [[f64; 3]; 3] = [[0.7, 0.1, 0.2], [0.2, 0.6, 0.2], [0.1, 0.3, 0.6]];
const SMOKES_KEEP: [f64; 2] = [0.6, 0.6];

/// A release of these people.
fn release(people: &[Person], random: &mut ChaCha20Rng) -> Evidence {
    let rows: Vec<Vec<String>> = people
        .iter()
        .map(|person| {
            let disease = draw(&mixture(KEEP[person.part])[person.disease], random);
            let work: Vec<f64> = GENERAL.iter().map(|row| row[person.work]).collect();
            let work = WORK[draw(&work, random)];
            let smokes = draw(&mixture(&SMOKES_KEEP)[person.smokes], random);
            vec![
                person.age.to_string(),
                CITIES[person.city].to_owned(),
                DISEASES[person.part][disease].to_owned(),
                (person.part + 1).to_string(),
                work.0.to_owned(),
                work.1.to_owned(),
                SMOKES[smokes].to_owned(),
            ]
        })
        .collect();
    let columns = [
        ("age", "quasi", "number"),
        ("city", "quasi", "category"),
        ("disease", "sensitive", "category"),
        ("part", "other", "category"),
        ("job", "sensitive", "category"),
        ("pay", "sensitive", "number"),
        ("smokes", "sensitive", "category"),
    ];
    let texts = |values: &[&str]| json!(values.iter().map(|v| [v]).collect::<Vec<_>>());
    let diseases = [
        subtable(&texts(DISEASES[0]), &json!({ "operator": "uniform", "keep": 0.5 })),
        subtable(
            &texts(DISEASES[1]),
            &json!({ "operator": "fine-grain", "keep": KEEP[1] }),
        ),
    ];
    let work: Vec<[&str; 2]> = WORK.iter().map(|(job, pay)| [*job, *pay]).collect();
    let work =
        subtable(&json!(work), &json!({ "operator": "general", "matrix": GENERAL }));
    let smokes =
        subtable(&texts(&SMOKES), &json!({ "operator": "uniform", "keep": 0.6 }));
    let notes = json!([
        noise(&["disease"], Some("part"), &diseases),
        noise(&["job", "pay"], None, &[work]),
        noise(&["smokes"], None, &[smokes]),
    ]);
    written(&columns, &rows, &notes).evidence().unwrap()
}

/// A condition, as SQL and as it is.
type Question = (&'static str, fn(&Person) -> bool);

fn disease(person: &Person) -> &'static str {
    DISEASES[person.part][person.disease]
}

const QUESTIONS: [Question; 11] = [
    ("disease = 'cold'", |p| disease(p) == "cold"),
    ("disease <> 'cold'", |p| !["cold", "?"].contains(&disease(p))),
    ("disease IN ('flu', 'gout') AND age > 30", |p| {
        ["flu", "gout"].contains(&disease(p)) && p.age > 30
    }),
    ("disease IS NULL OR age < 25", |p| disease(p) == "?" || p.age < 25),
    ("part = 2 AND disease NOT IN ('mumps', 'cold') AND city = 'Bern'", |p| {
        p.part == 1 && !["mumps", "cold"].contains(&disease(p)) && p.city == 0
    }),
    ("job = 'nurse'", |p| WORK[p.work].0 == "nurse"),
    ("pay >= 15 AND age BETWEEN 22 AND 40", |p| {
        WORK[p.work].1 == "20" && (22..=40).contains(&p.age)
    }),
    ("job = 'nurse' AND pay = 10 AND smokes = 'yes'", |p| p.work == 0 && p.smokes == 1),
    ("smokes = 'yes' AND disease = 'cold'", |p| p.smokes == 1 && disease(p) == "cold"),
    ("smokes = 'yes' OR disease = 'cold' AND age > 30", |p| {
        p.smokes == 1 || disease(p) == "cold" && p.age > 30
    }),
    ("NOT (smokes = 'no' AND (disease = 'cold' OR city <> 'Rome'))", |p| {
        // A test of a missing value is neither true nor false.
        let cold = match disease(p) {
            "?" => None,
            other => Some(other == "cold"),
        };
        let other = match p.city {
            2 => None,
            city => Some(city != 1),
        };
        p.smokes == 1 || (cold == Some(false) && other == Some(false))
    }),
];

/// How many standard deviations a normal number exceeds with the probability
/// `FALSE_ALARM / tests`, on either side: from the bound `exp(-z²/2)` of the tail.
fn reach(tests: usize) -> f64 {
    (2.0 * (2.0 * tests as f64 / FALSE_ALARM).ln()).sqrt()
}

/// Whether as many of `n_runs` intervals cover the truth as 95 % would.
fn covers(n_covered: usize, n_runs: usize, tests: usize) -> bool {
    let deviation = (0.95 * 0.05 * n_runs as f64).sqrt();
    (n_covered as f64 - 0.95 * n_runs as f64).abs() < reach(tests) * deviation
}

/// Whether estimates are right on average, as often as they say, and a spread of half the
/// size is noticed.
fn assert_honest(truth: f64, estimates: &[Estimate], tests: usize, what: &str) {
    let n_runs = estimates.len();
    let n = n_runs as f64;
    let mean = estimates.iter().map(|e| e.count).sum::<f64>() / n;
    let variance = estimates.iter().map(|e| (e.count - truth).powi(2)).sum::<f64>() / n;
    let off = (mean - truth).abs();
    assert!(off < reach(tests) * (variance / n).sqrt(), "{what}: {mean}, not {truth}");
    let covered = |scale: f64| {
        let within = |e: &&Estimate| {
            (e.count - truth).abs() <= scale * (e.interval().unwrap().1 - e.count)
        };
        estimates.iter().filter(within).count()
    };
    assert!(covers(covered(1.0), n_runs, tests), "{what}: {} covered", covered(1.0));
    assert!(!covers(covered(0.5), n_runs, tests), "{what}: the twin is not noticed");
    assert!(
        !covers(covered(2.0), n_runs, tests),
        "{what}: the other twin is not noticed"
    );
}

#[test]
fn answers_are_unbiased_and_as_wrong_as_they_say() {
    let people = people();
    let mut random = ChaCha20Rng::seed_from_u64(12);
    let n_runs = 1000;
    let mut answers = vec![Vec::new(); QUESTIONS.len()];
    let mut values = vec![Vec::new(); 6];
    for _ in 0..n_runs {
        let evidence = release(&people, &mut random);
        for (answers, (condition, _)) in answers.iter_mut().zip(QUESTIONS) {
            let question = format!("SELECT COUNT(*) FROM release WHERE {condition}");
            answers.extend(ask(&evidence, &question));
        }
        let question =
            "SELECT disease, COUNT(*) FROM r WHERE age < 50 GROUP BY disease";
        for (values, answer) in values.iter_mut().zip(ask(&evidence, question)) {
            values.push(answer);
        }
    }
    let tests = 4 * (QUESTIONS.len() + values.len());
    for (answers, (condition, holds)) in answers.iter().zip(QUESTIONS) {
        let truth = people.iter().filter(|person| holds(person)).count();
        assert_honest(truth as f64, answers, tests, condition);
    }
    let sorted = ["asthma", "cold", "flu", "gout", "mumps", "?"];
    for (answers, value) in values.iter().zip(sorted) {
        assert!(answers.iter().all(|answer| answer.values == [value]));
        let holds = |person: &&Person| disease(person) == value && person.age < 50;
        let truth = people.iter().filter(holds).count();
        assert_honest(truth as f64, answers, tests, value);
    }
}

#[test]
fn what_lost_nothing_is_exact() {
    let people = people();
    let evidence = release(&people, &mut ChaCha20Rng::seed_from_u64(13));
    let exact = |condition: &str, holds: &dyn Fn(&Person) -> bool| {
        let answers = ask(&evidence, &format!("SELECT COUNT(*) WHERE {condition}"));
        let truth = people.iter().filter(|person| holds(person)).count() as f64;
        assert_eq!(answers.len(), 1);
        assert_eq!(answers[0].count, truth, "{condition}");
        assert_eq!(answers[0].standard_error, Some(0.0), "{condition}");
        assert_eq!(answers[0].possible_interval(), Some((truth, truth)));
    };
    exact("age >= 30 AND city IS NOT NULL", &|p| p.age >= 30 && p.city != 2);
    exact("city = 'Rome' OR part = 2", &|p| p.city == 1 || p.part == 1);
    exact("city <> 'Rome'", &|p| p.city == 0);
    // Every value of a domain, whatever it is.
    exact("smokes IN ('yes', 'no') AND age > 40", &|p| p.age > 40);
    exact("job = 'cook' OR pay <= 20", &|_| true);
    // No value of any domain.
    exact("smokes = 'maybe'", &|_| false);
    exact("age > 1000 AND disease = 'flu'", &|_| false);
    assert_eq!(evidence.n_rows(), 500.0);

    let by_city = ask(&evidence, "SELECT City, COUNT(*) GROUP BY City");
    let found: Vec<(&str, f64)> =
        by_city.iter().map(|e| (e.values[0].as_str(), e.count)).collect();
    let count = |city| people.iter().filter(|p| p.city == city).count() as f64;
    assert_eq!(found, [("Bern", count(0)), ("Rome", count(1)), ("?", count(2))]);
}

#[test]
fn parts_add_up_to_the_whole() {
    let evidence = release(&people(), &mut ChaCha20Rng::seed_from_u64(14));
    let whole = ask(&evidence, "SELECT COUNT(*) WHERE smokes = 'yes' AND age > 30");
    let question = "SELECT city, job, disease, COUNT(*) WHERE smokes = 'yes' AND age > 30 \
                    GROUP BY city, job, disease";
    let parts = ask(&evidence, question);
    assert_eq!(parts.len(), 3 * 2 * 6);
    let sum: f64 = parts.iter().map(|part| part.count).sum();
    assert!((sum - whole[0].count).abs() < 1e-6);
    for way in [Way::Iterative, Way::Simplex] {
        let query = Query::parse("SELECT disease, COUNT(*) GROUP BY disease").unwrap();
        let parts = evidence.answer_by_law(&query, way).unwrap();
        assert!(parts.iter().all(|part| part.count >= 0.0));
        let sum: f64 = parts.iter().map(|part| part.count).sum();
        assert!((sum - 500.0).abs() < 1e-6);
    }
}

#[test]
fn a_release_that_keeps_everything_answers_exactly() {
    let rows: Vec<Vec<String>> =
        ["b", "a", "b", "c"].map(|v| vec![v.to_owned()]).to_vec();
    let domain = json!([["a"], ["b"], ["c"], ["d"]]);
    for operator in [
        json!({ "operator": "uniform", "keep": 1.0 }),
        json!({ "operator": "fine-grain", "keep": [1.0, 1.0, 1.0, 1.0] }),
        json!({ "operator": "general", "matrix":
            [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]] }),
    ] {
        let notes = json!([noise(&["x"], None, &[subtable(&domain, &operator)])]);
        let columns = [("x", "sensitive", "category")];
        let evidence = written(&columns, &rows, &notes).evidence().unwrap();
        let found = ask(&evidence, "SELECT x, COUNT(*) GROUP BY x");
        let counts: Vec<f64> = found.iter().map(|e| e.count).collect();
        assert_eq!(counts, [1.0, 2.0, 1.0, 0.0]);
        assert!(found.iter().all(|e| e.standard_error == Some(0.0)));
        let found = ask(&evidence, "SELECT COUNT(*) WHERE x > 'a'");
        assert_eq!((found[0].count, found[0].standard_error), (3.0, Some(0.0)));
    }
}

#[test]
fn a_row_of_each_group_stands_for_the_group() {
    let mut random = ChaCha20Rng::seed_from_u64(15);
    // Groups of 1 to 4 rows, each row with a value and an untouched cell.
    let groups: Vec<Vec<(usize, usize)>> = (0..300)
        .map(|_| {
            let size = 1 + (random.random::<f64>() * 4.0) as usize;
            let mut pick = |n: f64| (random.random::<f64>().powi(2) * n) as usize;
            (0..size).map(|_| (pick(3.0), pick(2.0))).collect()
        })
        .collect();
    let keep = [0.5, 0.6, 0.7];
    let domain = json!([["a"], ["b"], ["c"]]);
    let operator = json!({ "operator": "fine-grain", "keep": keep });
    let notes = json!([noise(&["x"], None, &[subtable(&domain, &operator)])]);
    let columns = [
        ("x", "sensitive", "category"),
        ("y", "other", "category"),
        ("n", "other", "category"),
    ];
    type Holds = fn(&(usize, usize)) -> bool;
    let questions: [(&str, Holds); 3] = [
        ("x = 'b'", |row| row.0 == 1),
        ("y = 1", |row| row.1 == 1),
        ("y = 1 AND x <> 'a'", |row| row.1 == 1 && row.0 != 0),
    ];
    let n_runs = 1000;
    let mut answers = vec![Vec::new(); 3];
    for _ in 0..n_runs {
        let rows: Vec<Vec<String>> = groups
            .iter()
            .map(|group| {
                let place = (random.random::<f64>() * group.len() as f64) as usize;
                let (x, y) = group[place];
                let x = ["a", "b", "c"][draw(&mixture(&keep)[x], &mut random)];
                vec![x.to_owned(), y.to_string(), group.len().to_string()]
            })
            .collect();
        let made = written(&columns, &rows, &notes).with("sampled", json!("n"));
        let evidence = made.evidence().unwrap();
        for (answers, (condition, _)) in answers.iter_mut().zip(questions) {
            answers
                .extend(ask(&evidence, &format!("SELECT COUNT(*) WHERE {condition}")));
        }
        let all = ask(&evidence, "SELECT COUNT(*)");
        let size: usize = groups.iter().map(Vec::len).sum();
        assert_eq!((all[0].count, all[0].standard_error), (size as f64, Some(0.0)));
    }
    for (answers, (condition, holds)) in answers.iter().zip(questions) {
        let truth = groups.iter().flatten().filter(|row| holds(row)).count() as f64;
        let n = n_runs as f64;
        let mean = answers.iter().map(|e| e.count).sum::<f64>() / n;
        let variance =
            answers.iter().map(|e| (e.count - truth).powi(2)).sum::<f64>() / n;
        assert!((mean - truth).abs() < reach(9) * (variance / n).sqrt(), "{condition}");
        let covered = |scale: f64| {
            let within = |e: &&Estimate| {
                (e.count - truth).abs() <= scale * (e.interval().unwrap().1 - e.count)
            };
            answers.iter().filter(within).count() as f64
        };
        // Never too small; too large where groups differ.
        let least = 0.95 * n - reach(9) * (0.95 * 0.05 * n).sqrt();
        assert!(covered(1.0) > least, "{condition}: {}", covered(1.0));
        assert!(covered(0.5) < least, "{condition}: the twin is not noticed");
    }
}

/// The counts that are nearest to these in a straight line, all alike.
fn straight(counts: &[f64]) -> Vec<f64> {
    let total: f64 = counts.iter().sum();
    let (mut low, mut high) = (0.0, 1e6);
    let left = |each: f64| counts.iter().map(move |c| (c - each).max(0.0));
    for _ in 0..100 {
        let each = f64::midpoint(low, high);
        if left(each).sum::<f64>() > total { low = each } else { high = each }
    }
    left(high).collect()
}

#[test]
fn intervals_of_all_ways_cover_the_truth_where_errors_differ_widely() {
    let mut random = ChaCha20Rng::seed_from_u64(16);
    let truth = [600, 300, 60, 40];
    let keep = [0.9, 0.7, 0.05, 0.03];
    let names = ["a", "b", "c", "d"];
    let domain = json!(names.iter().map(|name| [name]).collect::<Vec<_>>());
    let operator = json!({ "operator": "fine-grain", "keep": keep });
    let notes = json!([noise(&["x"], None, &[subtable(&domain, &operator)])]);
    let query = Query::parse("SELECT x, COUNT(*) GROUP BY x").unwrap();
    let n_runs = 600;
    let ways = [Way::Inverse, Way::Iterative, Way::Simplex];
    let (mut covered, mut twin) = ([[0; 4]; 3], [0; 4]);
    let mut errors = [0.0; 2];
    for _ in 0..n_runs {
        let mut rows = Vec::new();
        for (value, n) in truth.into_iter().enumerate() {
            for _ in 0..n {
                let published = draw(&mixture(&keep)[value], &mut random);
                rows.push(vec![names[published].to_owned()]);
            }
        }
        let columns = [("x", "sensitive", "category")];
        let evidence = written(&columns, &rows, &notes).evidence().unwrap();
        let inverse = evidence.answer_by_law(&query, Way::Inverse).unwrap();
        let counts: Vec<f64> = inverse.iter().map(|e| e.count).collect();
        let straight = straight(&counts);
        for (covered, way) in covered.iter_mut().zip(ways) {
            for (place, estimate) in
                evidence.answer_by_law(&query, way).unwrap().iter().enumerate()
            {
                let n = f64::from(truth[place]);
                let (low, high) = estimate.possible_interval().unwrap();
                covered[place] += usize::from((low..=high).contains(&n));
                assert!(0.0 <= low && low < high && high <= 1000.0);
                assert_eq!(estimate.unbiased, Some(counts[place]));
                assert_eq!(estimate.standard_error, inverse[place].standard_error);
                assert_eq!(estimate.interval(), inverse[place].interval());
                if way != Way::Inverse {
                    assert!((low..=high).contains(&estimate.count));
                }
                if way == Way::Simplex && place < 2 {
                    errors[0] += (estimate.count - n).abs();
                    errors[1] += (straight[place] - n).abs();
                }
            }
        }
        for (place, estimate) in inverse.iter().enumerate() {
            let reach = estimate.interval().unwrap().1 - estimate.count;
            let off = (straight[place] - f64::from(truth[place])).abs();
            twin[place] += usize::from(off <= reach);
        }
    }
    let n = n_runs as f64;
    let least = 0.95 * n - reach(12) * (0.95 * 0.05 * n).sqrt();
    for covered in covered.iter().flatten() {
        assert!(*covered as f64 > least, "{covered} of {n_runs}");
    }
    // The broken twin: errors of the inverse around the nearest counts in a straight line.
    assert!(twin.iter().any(|covered| (*covered as f64) < least), "{twin:?}");
    // Common values are not given up for rare ones.
    assert!(errors[0] < errors[1] / 2.0, "{errors:?}");
}

#[test]
fn an_interval_of_what_is_possible_never_looks_certain() {
    let estimate = |count: f64, unbiased: f64| Estimate {
        values: Vec::new(),
        count,
        unbiased: Some(unbiased),
        standard_error: Some(25.0),
        at_least: 0.0,
        at_most: 500.0,
        rows: 500.0,
        basis: Basis::Law,
    };
    let near = |found: Option<(f64, f64)>, wanted: (f64, f64)| {
        let (low, high) = found.unwrap();
        assert!((low - wanted.0).abs() < 0.01 && (high - wanted.1).abs() < 0.01);
    };
    near(estimate(100.0, 100.0).possible_interval(), (51.0, 149.0));
    near(estimate(-60.0, -60.0).interval(), (-109.0, -11.0));
    near(estimate(-60.0, -60.0).possible_interval(), (0.0, 49.0));
    near(estimate(500.0, 600.0).possible_interval(), (451.0, 500.0));
    near(estimate(80.0, 10.0).possible_interval(), (0.0, 80.0));
    assert!(!estimate(80.0, 10.0).tells_nothing());
    assert!(Estimate { at_most: 90.0, ..estimate(80.0, 10.0) }.tells_nothing());
}

#[test]
fn values_that_nothing_has_are_named() {
    let evidence = release(&people(), &mut ChaCha20Rng::seed_from_u64(17));
    let unknown = |condition: &str| {
        let question = format!("SELECT COUNT(*) WHERE {condition}");
        evidence.unknown(&Query::parse(&question).unwrap()).unwrap()
    };
    let one = |column: &str, value: &str, nearest: Option<&str>| Unknown {
        column: column.into(),
        value: value.into(),
        nearest: nearest.map(str::to_owned),
    };
    assert_eq!(unknown("Disease = 'asthm'"), [one("disease", "asthm", Some("asthma"))]);
    assert_eq!(
        unknown("NOT (smokes <> 'Yes' OR disease IN ('plague', 'flu', 'plague'))"),
        [one("smokes", "Yes", Some("yes")), one("disease", "plague", None)]
    );
    assert_eq!(unknown("age = 7 OR pay IN (10, 20.0)"), [one("age", "7", None)]);
    // Limits, and what is asked for as missing.
    assert_eq!(unknown("age > 1000 AND city = '?' AND disease < 'b'"), []);
    assert_eq!(unknown("smokes = '?' OR disease IS NULL"), []);
}

#[test]
fn a_matrix_that_cannot_be_inverted_is_named() {
    let rows =
        [["a", "1"], ["b", "2"], ["a", "2"]].map(|row| row.map(str::to_owned).to_vec());
    let part = |keep: f64| {
        let operator = json!({ "operator": "uniform", "keep": keep });
        subtable(&json!([["a"], ["b"]]), &operator)
    };
    let columns = [("x", "sensitive", "category"), ("part", "other", "category")];
    let notes = json!([noise(&["x"], Some("part"), &[part(0.5), part(0.0)])]);
    let evidence = written(&columns, &rows, &notes).evidence().unwrap();
    let query = Query::parse("SELECT COUNT(*) WHERE x = 'a'").unwrap();
    let error = evidence.answer_by_law(&query, Way::Simplex).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the matrix of sub-table 2 of `x` cannot be inverted: it publishes different \
         values alike"
    );
    assert!(error.hints()[0].contains("--way iterative"));
    let found = evidence.answer_by_law(&query, Way::Iterative).unwrap();
    assert!((found[0].count - 2.0).abs() < 1e-6);
    assert_eq!(found[0].standard_error, None);
    // The other sub-table can be asked alone.
    let query = Query::parse("SELECT COUNT(*) WHERE x = 'a' AND part = 1").unwrap();
    assert!(
        evidence.answer_by_law(&query, Way::Inverse).unwrap()[0]
            .standard_error
            .is_some()
    );
}

#[test]
fn malformed_releases_are_refused() {
    let columns = [("x", "sensitive", "category"), ("part", "other", "category")];
    let rows = [["a", "1"], ["b", "2"]].map(|row| row.map(str::to_owned).to_vec());
    let part = |domain: Value, keep: f64| {
        subtable(&domain, &json!({ "operator": "uniform", "keep": keep }))
    };
    let good = || part(json!([["a"], ["b"]]), 0.5);
    let message = |columns_of: &[&str], by: Option<&str>, parts: &[Value]| {
        let notes = json!([noise(columns_of, by, parts)]);
        let message = refused(&written(&columns, &rows, &notes));
        let told = ["data.csv: ", "manifest.json: "];
        let told = told.iter().find_map(|file| message.rsplit_once(file));
        told.unwrap().1.to_owned()
    };
    assert_eq!(
        message(&["x"], None, &[part(json!([["a"], ["b"]]), 2.0)]),
        "sub-table 1 of `x`: `probability` is 2, but must be from 0 to 1"
    );
    assert_eq!(
        message(&["x"], None, &[part(json!([["a"], ["c"]]), 0.5)]),
        "`x` has a value that sub-table 1 cannot have been published with"
    );
    assert_eq!(
        message(&["x"], None, &[part(json!([["a"], ["a"]]), 0.5)]),
        "sub-table 1 of `x`: a value is listed twice"
    );
    assert_eq!(
        message(&["x"], None, &[part(json!([["a", "b"], ["b"]]), 0.5)]),
        "sub-table 1 of `x`: a value must have one text a column"
    );
    assert_eq!(
        message(&["x"], None, &[part(json!([]), 0.5)]),
        "sub-table 1 of `x`: the domain has no values"
    );
    assert_eq!(
        message(&["x"], None, &[good(), good()]),
        "`x` has 2 sub-tables, but no column tells them apart"
    );
    assert_eq!(
        message(&["x"], Some("part"), &[good()]),
        "column `part` must have numbers from 1 to 1"
    );
    assert_eq!(
        message(&["x"], Some("p"), &[good()]),
        "the columns are not those of the manifest"
    );
    assert_eq!(
        message(&["y"], None, &[good()]),
        "the manifest is malformed: a class is of `y`, which is not a published column"
    );
    assert_eq!(message(&[], None, &[good()]), "the manifest randomizes nothing");
    assert_eq!(
        message(&["x"], None, &[]),
        "`x` has 0 sub-tables, but no column tells them apart"
    );

    let note = noise(&["x"], Some("part"), &[good(), good()]);
    let twice = written(&columns, &rows, &json!([note, note]));
    assert!(refused(&twice).ends_with("`x` has 2 classes, but needs 1"));
    let sampled = written(&columns, &rows, &json!([])).with("sampled", json!("x"));
    let wanted = "column `x` must tell how many rows each row stands for";
    assert!(refused(&sampled).ends_with(wanted));

    // A file that was changed.
    let made = written(&columns, &rows, &json!([note]));
    made.evidence().unwrap();
    let release = Release::open(&made.path()).unwrap();
    fs::write(made.path().join("data.csv"), "x,part\na,1\n").unwrap();
    let error = Evidence::read(&release, &Unwatched).unwrap_err().to_string();
    assert!(error.ends_with("the file is not the one that was published"));
}

#[test]
fn generalized_columns_count_where_they_may_lie() {
    let rows = [["[20, 30]", "flu"], ["[30, 40]", "cold"]];
    let rows = rows.map(|row| vec![format!("\"{}\"", row[0]), row[1].to_owned()]);
    let columns = [("age", "quasi", "number"), ("disease", "sensitive", "category")];
    let mut made = written(&columns, &rows, &json!([]));
    made.manifest["columns"][0]["cells"] = json!("interval");
    let evidence = made.evidence().unwrap();
    let found = ask(&evidence, "SELECT COUNT(*) WHERE disease = 'flu'");
    assert_eq!((found[0].count, found[0].standard_error), (1.0, Some(0.0)));
    let asked = |question: &str| {
        let query = Query::parse(question).unwrap();
        evidence.answer_by_law(&query, Way::Inverse).unwrap_err()
    };
    // The first cell has eleven numbers, none of them above 30, the second ten of eleven.
    let found = ask(&evidence, "SELECT COUNT(*) WHERE age > 30");
    assert!((found[0].count - 10.0 / 11.0).abs() < 1e-12);
    let error = asked("SELECT desease, COUNT(*) GROUP BY desease");
    assert_eq!(error.to_string(), "no column is called `desease`");
    assert_eq!(error.hints(), ["the release has `disease`"]);
}
