//! Whole tables drawn from releases: right on average, as different from each other as the
//! estimates say they may be off, and the same for the same seed.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rand_distr::{Distribution, StandardNormal};
use scumble::estimate::{DrawnTable, Evidence, Query, Way};
use serde_json::{Value, json};

use crate::builder::{self, ByHand, with};

/// How many standard errors a mean over draws may be off: a right sampler is further off in
/// less than one of a million tests.
const FURTHEST: f64 = 5.0;

/// A column of a manifest.
fn column(name: &str, role: &str, kind: &str) -> Value {
    with(builder::column(name, role, kind), "missing", json!(["?"]))
}

/// Reads a release of these files.
fn evidence(columns: &[Value], files: &[(&str, String)], more: &Value) -> Evidence {
    let rows = files[0].1.lines().count() - 1;
    let mut made = ByHand::new(columns.to_vec()).with("rows", json!(rows));
    for (name, text) in files {
        made.write(name, text);
    }
    made.with_all(more).evidence().unwrap()
}

fn table(header: &str, rows: &[String]) -> (&'static str, String) {
    let lines = std::iter::once(header).chain(rows.iter().map(String::as_str));
    ("data.csv", lines.flat_map(|line| [line, "\n"]).collect())
}

/// A test of a column's value.
type Check<'a> = (&'a str, &'a dyn Fn(&str) -> bool);

/// How many rows satisfy all checks.
fn hits(drawn: &DrawnTable, checks: &[Check<'_>]) -> f64 {
    let tables: Vec<(&[u32], Vec<bool>)> = checks
        .iter()
        .map(|(name, check)| {
            let column = drawn.columns.iter().find(|c| c.name == *name).unwrap();
            (&*column.codes, column.texts.iter().map(|text| check(text)).collect())
        })
        .collect();
    let all = |row: &usize| tables.iter().all(|(codes, hit)| hit[codes[*row] as usize]);
    (0..drawn.n_rows()).filter(all).count() as f64
}

fn is(text: &'static str) -> impl Fn(&str) -> bool {
    move |other| other == text
}

fn below(limit: f64) -> impl Fn(&str) -> bool {
    move |text| text.parse::<f64>().is_ok_and(|number| number < limit)
}

/// What draws have, and what `estimate` says of it.
struct Compared {
    mean: f64,
    /// Variance between draws, with the error of the mean: `(1 + 1/m) B`.
    variance: f64,
    /// The error of the mean over draws alone.
    error: f64,
    estimate: f64,
    standard_error: f64,
}

fn compared(
    evidence: &Evidence,
    question: &str,
    checks: &[Check<'_>],
    n_draws: u64,
) -> Compared {
    let query = Query::parse(&format!("SELECT COUNT(*) WHERE {question}")).unwrap();
    let answer = &evidence.answer_by_law(&query, Way::Inverse).unwrap()[0];
    let counts: Vec<f64> =
        (0..n_draws).map(|seed| hits(&evidence.draw(seed).unwrap(), checks)).collect();
    let m = n_draws as f64;
    let mean = counts.iter().sum::<f64>() / m;
    let between = counts.iter().map(|c| (c - mean).powi(2)).sum::<f64>() / (m - 1.0);
    Compared {
        mean,
        variance: (1.0 + 1.0 / m) * between,
        error: (between / m).sqrt(),
        estimate: answer.count,
        standard_error: answer.standard_error.unwrap(),
    }
}

impl Compared {
    fn off(&self) -> f64 {
        (self.mean - self.estimate).abs() / self.error.max(1e-9)
    }

    fn ratio(&self) -> f64 {
        self.variance / self.standard_error.powi(2)
    }

    fn assert(&self, what: &str, ratios: std::ops::Range<f64>) {
        let Self { mean, estimate, .. } = self;
        assert!(
            self.off() < FURTHEST,
            "{what}: {mean} is not {estimate}, {}",
            self.off()
        );
        let ratio = self.ratio();
        assert!(ratios.contains(&ratio), "{what}: {ratio} of the variance");
    }
}

fn generalized(third: &str) -> Evidence {
    let mut random = ChaCha20Rng::seed_from_u64(1);
    let cells =
        ["\"[20, 39]\"", "\"[30, 59]\"", "45", third, "\"[40, 49] or missing\""];
    let rows: Vec<String> = (0..400)
        .map(|row| {
            let cell = cells[random.random_range(0..5)];
            let sex = ["f", "m"][random.random_range(0..2)];
            format!("{cell},*,{sex},{row}")
        })
        .collect();
    let mut age = column("age", "quasi", "number");
    age["cells"] = json!("interval");
    let mut height = column("height", "quasi", "number");
    height["cells"] = json!("interval");
    let columns = [
        age,
        height,
        column("sex", "other", "category"),
        column("row", "other", "number"),
    ];
    evidence(&columns, &[table("age,height,sex,row", &rows)], &json!({}))
}

#[test]
fn cells_are_drawn_from_what_they_stand_for() {
    let evidence = generalized("33");
    let checks: [Check<'_>; 2] = [("age", &below(35.0)), ("sex", &is("f"))];
    let found = compared(&evidence, "age < 35 AND sex = 'f'", &checks, 200);
    found.assert("cells", 0.5..2.0);
    let checks: [Check<'_>; 1] = [("age", &is("?"))];
    compared(&evidence, "age IS NULL", &checks, 200).assert("missing", 0.5..2.0);
    // Cells that are like others may be wrong all alike, which draws do not show.
    let evidence = generalized("*");
    let checks: [Check<'_>; 2] = [("age", &below(35.0)), ("sex", &is("f"))];
    let found = compared(&evidence, "age < 35 AND sex = 'f'", &checks, 200);
    found.assert("guesses", 0.0..2.0);
    // The broken twin: another range.
    let checks: [Check<'_>; 1] = [("age", &below(37.0))];
    assert!(compared(&evidence, "age < 35", &checks, 200).off() > FURTHEST);

    // What is certain stays, and what nobody knows is kept as it is.
    let drawn = evidence.draw(3).unwrap();
    let names: Vec<&str> = drawn.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["age", "height", "sex", "row"]);
    assert_eq!(evidence.undrawn(), ["height"]);
    assert_eq!(hits(&drawn, &[("height", &is("*"))]), 400.0);
    let mut rows = drawn.columns[3].codes.clone();
    rows.sort_unstable();
    assert_eq!(rows, (0..400).collect::<Vec<u32>>());
}

#[test]
fn pdf_cells_are_drawn_by_weight() {
    let rows: Vec<String> = (0..300)
        .map(|row| format!("{},{}", row % 2 + 1, ["x", "y"][row % 3 % 2]))
        .collect();
    let weights = "group,column,value,weight\n1,city,Bern,0.7\n1,city,Rome,0.3\n\
                   2,city,Bern,0.1\n2,city,Oslo,0.9\n1,age,20,0.5\n1,age,30,0.5\n2,age,40,1\n";
    let pdf = |name: &str, kind: &str| {
        let mut column = column(name, "quasi", kind);
        column["cells"] = json!("pdf");
        column["hierarchy"] = json!({ "rule": "plain" });
        column
    };
    let columns = [
        pdf("city", "category"),
        pdf("age", "number"),
        column("ill", "sensitive", "category"),
    ];
    let files = [table("group,ill", &rows), ("cells.csv", weights.to_owned())];
    let more = json!({ "weights": { "file": "cells.csv", "kind": "table" } });
    let evidence = evidence(&columns, &files, &more);
    let checks: [Check<'_>; 2] = [("city", &is("Bern")), ("ill", &is("x"))];
    let found = compared(&evidence, "city = 'Bern' AND ill = 'x'", &checks, 200);
    found.assert("pdf", 0.5..2.0);
    let names: Vec<String> =
        evidence.draw(1).unwrap().columns.into_iter().map(|c| c.name).collect();
    assert_eq!(names, ["city", "age", "ill"]);
}

#[test]
fn groups_keep_their_values() {
    let mut random = ChaCha20Rng::seed_from_u64(2);
    let (mut rows, mut values) = (Vec::new(), "group,value,count\n".to_owned());
    for group in 1..=60 {
        for _ in 0..5 {
            rows.push(format!("{group},{}", random.random_range(20..60)));
        }
        values +=
            &format!("{group},flu,2\n{group},cold,1\n{group},gout {},2\n", group % 3);
    }
    let columns =
        [column("age", "quasi", "number"), column("ill", "sensitive", "category")];
    let files = [table("group,age", &rows), ("sensitive.csv", values)];
    let more = json!({
        "buckets": { "file": "sensitive.csv", "column": "ill", "groups": 60 },
    });
    let evidence = evidence(&columns, &files, &more);
    let checks: [Check<'_>; 2] = [("ill", &is("flu")), ("age", &below(40.0))];
    let found = compared(&evidence, "ill = 'flu' AND age < 40", &checks, 200);
    found.assert("buckets", 0.5..2.0);
    // Whatever the arrangement, every value is there as often as it was published.
    for seed in 0..20 {
        let drawn = evidence.draw(seed).unwrap();
        assert_eq!(hits(&drawn, &[("ill", &is("flu"))]), 120.0);
        assert_eq!(hits(&drawn, &[("ill", &is("gout 1"))]), 40.0);
    }
    assert_eq!(evidence.draw(1).unwrap().columns.len(), 2);
}

fn noise(columns: &[&str], subtables: &[(Vec<Value>, f64)], by: Option<&str>) -> Value {
    let subtable = |(domain, keep): &(Vec<Value>, f64)| {
        let bounds = vec![Value::Null; domain.len()];
        json!({
            "rows": 0, "domain": domain, "bounds": bounds, "operator": "uniform",
            "keep": keep,
        })
    };
    let subtables: Vec<Value> = subtables.iter().map(subtable).collect();
    let mut note = json!({
        "columns": columns, "breaches": "upward", "noise": "fresh", "subtables": subtables,
    });
    if let Some(name) = by {
        note["subtable_column"] = json!(name);
    }
    note
}

fn blurred(
    true_value: usize,
    size: usize,
    keep: f64,
    random: &mut ChaCha20Rng,
) -> usize {
    match random.random::<f64>() < keep {
        true => true_value,
        false => random.random_range(0..size),
    }
}

const ILL: [&str; 4] = ["cold", "flu", "gout", "mumps"];

/// A row's illness depends on the sex, and whether it smokes on the illness.
fn randomized() -> Evidence {
    let mut random = ChaCha20Rng::seed_from_u64(3);
    let rows: Vec<String> = (0..4000)
        .map(|_| {
            let sex = random.random_range(0..2);
            let point = random.random::<f64>() + 0.3 * f64::from(sex);
            let ill = [0.3, 0.6, 0.9].iter().filter(|limit| point > **limit).count();
            let smokes = usize::from(random.random::<f64>() < 0.2 + 0.2 * ill as f64);
            format!(
                "{},{},{},{}",
                ["f", "m"][sex as usize],
                random.random_range(20..70),
                ILL[blurred(ill, 4, 0.5, &mut random)],
                ["no", "yes"][blurred(smokes, 2, 0.6, &mut random)],
            )
        })
        .collect();
    let columns = [
        column("sex", "quasi", "category"),
        column("age", "quasi", "number"),
        column("ill", "sensitive", "category"),
        column("smokes", "sensitive", "category"),
    ];
    let ill = ILL.iter().map(|text| json!([text])).collect();
    let smokes = vec![json!(["no"]), json!(["yes"])];
    let notes = [
        noise(&["ill"], &[(ill, 0.5)], None),
        noise(&["smokes"], &[(smokes, 0.6)], None),
    ];
    evidence(
        &columns,
        &[table("sex,age,ill,smokes", &rows)],
        &json!({ "perturbation": notes }),
    )
}

#[test]
fn randomized_values_are_drawn_as_the_inverse_has_them() {
    let evidence = randomized();
    let flu: [Check<'_>; 1] = [("ill", &is("flu"))];
    compared(&evidence, "ill = 'flu'", &flu, 200).assert("one column", 0.7..1.5);
    let checks: [Check<'_>; 2] = [("ill", &is("gout")), ("sex", &is("m"))];
    let found = compared(&evidence, "ill = 'gout' AND sex = 'm'", &checks, 200);
    found.assert("with another column", 0.7..1.5);
    // What is published of both together is far from what is true.
    let checks: [Check<'_>; 2] = [("ill", &is("mumps")), ("smokes", &is("yes"))];
    let found = compared(&evidence, "ill = 'mumps' AND smokes = 'yes'", &checks, 200);
    found.assert("two columns", 0.7..1.5);
    // The broken twin: values that were drawn stand for other values.
    let cold: [Check<'_>; 1] = [("ill", &is("cold"))];
    assert!(compared(&evidence, "ill = 'mumps'", &cold, 50).off() > FURTHEST);
}

#[test]
fn sub_tables_have_their_own_values() {
    let mut random = ChaCha20Rng::seed_from_u64(4);
    let domains: [&[&str]; 2] = [&["a", "b", "c"], &["b", "d"]];
    let rows: Vec<String> = (0..3000)
        .map(|row| {
            let part = row % 2;
            let n = domains[part].len();
            let value = (random.random::<f64>().powi(2) * n as f64) as usize;
            format!(
                "{},{}",
                domains[part][blurred(value, n, 0.5, &mut random)],
                part + 1
            )
        })
        .collect();
    let subtables: Vec<(Vec<Value>, f64)> = domains
        .iter()
        .map(|domain| (domain.iter().map(|text| json!([text])).collect(), 0.5))
        .collect();
    let columns =
        [column("ill", "sensitive", "category"), column("part", "other", "number")];
    let more = json!({ "perturbation": [noise(&["ill"], &subtables, Some("part"))] });
    let evidence = evidence(&columns, &[table("ill,part", &rows)], &more);
    let checks: [Check<'_>; 1] = [("ill", &is("b"))];
    compared(&evidence, "ill = 'b'", &checks, 200).assert("sub-tables", 0.7..1.5);
    let drawn = evidence.draw(1).unwrap();
    assert_eq!(drawn.columns.len(), 1);
    assert_eq!(drawn.n_rows(), 3000);
    // 1500 rows can have each.
    assert!(hits(&drawn, &[("ill", &is("d"))]) <= 1500.0);
}

#[test]
fn columns_with_many_combinations_are_drawn_one_after_the_other() {
    let mut random = ChaCha20Rng::seed_from_u64(5);
    let rows: Vec<String> = (0..12_000)
        .map(|_| {
            let value = random.random_range(0..40);
            let (a, b) = (
                blurred(value, 40, 0.7, &mut random),
                blurred(value, 40, 0.7, &mut random),
            );
            format!("v{a},v{b}")
        })
        .collect();
    let columns =
        [column("a", "sensitive", "category"), column("b", "sensitive", "category")];
    let domain: Vec<Value> = (0..40).map(|v| json!([format!("v{v}")])).collect();
    let notes = [
        noise(&["a"], &[(domain.clone(), 0.7)], None),
        noise(&["b"], &[(domain, 0.7)], None),
    ];
    let evidence =
        evidence(&columns, &[table("a,b", &rows)], &json!({ "perturbation": notes }));
    let drawn = evidence.draw(1).unwrap();
    let [a, b] = drawn.columns.as_slice() else { panic!("two columns") };
    let same = |a: &[u32], b: &[u32]| a.iter().zip(b).filter(|(a, b)| a == b).count();
    let published = rows.iter().filter(|row| {
        let (a, b) = row.split_once(',').unwrap();
        a == b
    });
    // In truth all are the same, published are half.
    let (same, published) = (same(&a.codes, &b.codes), published.count());
    assert!(
        same > published + 1000,
        "{same} of 12000 are the same, {published} published"
    );
}

#[test]
fn a_row_stands_for_its_group() {
    let mut random = ChaCha20Rng::seed_from_u64(6);
    let rows: Vec<String> = (0..1500)
        .map(|row| {
            let (ill, size) = (usize::from(random.random::<f64>() < 0.3), 2 + row % 4);
            let low = 20 + 10 * (row % 3);
            let ill = ["no", "yes"][blurred(ill, 2, 0.6, &mut random)];
            format!("\"[{low}, {}]\",{ill},{size}", low + 9)
        })
        .collect();
    let mut age = column("age", "quasi", "number");
    age["cells"] = json!("interval");
    let columns = [
        age,
        column("ill", "sensitive", "category"),
        column("size", "other", "number"),
    ];
    let domain = vec![json!(["no"]), json!(["yes"])];
    let more = json!({
        "perturbation": [noise(&["ill"], &[(domain, 0.6)], None)], "sampled": "size",
    });
    let evidence = evidence(&columns, &[table("age,ill,size", &rows)], &more);
    assert_eq!(evidence.draw(1).unwrap().n_rows() as f64, evidence.n_rows());
    assert_eq!(evidence.draw(1).unwrap().columns.len(), 2);
    let checks: [Check<'_>; 1] = [("ill", &is("yes"))];
    // Less than the error: the rows of a group share what was published of one.
    compared(&evidence, "ill = 'yes'", &checks, 200).assert("a sample", 0.2..1.5);
    let checks: [Check<'_>; 1] = [("age", &below(25.0))];
    compared(&evidence, "age < 25", &checks, 200).assert("cells of a sample", 0.5..2.0);
}

fn numbers(shape: &str, more: Value) -> Value {
    let mut note = json!({
        "shape": shape, "frame": "global", "strict": false,
        "columns": [
            { "name": "x", "decimals": 1, "domain": [0.0, 40.0] },
            { "name": "y", "decimals": 0, "domain": [0.0, 30.0] },
        ],
    });
    for (key, value) in more.as_object().unwrap() {
        note[key] = value.clone();
    }
    note
}

fn number_columns() -> Vec<Value> {
    vec![
        column("x", "quasi", "number"),
        column("y", "quasi", "number"),
        column("sex", "other", "category"),
    ]
}

#[test]
fn blurred_numbers_are_drawn_from_the_noise_around_them() {
    let mut random = ChaCha20Rng::seed_from_u64(7);
    for shape in ["gaussian", "uniform"] {
        let rows: Vec<String> = (0..400)
            .map(|row| {
                let (x, y) =
                    (random.random_range(0..=400), random.random_range(0..=30));
                let unit: f64 = match shape {
                    "gaussian" => StandardNormal.sample(&mut random),
                    _ => random.random_range(-0.5..0.5),
                };
                let x = f64::from(x) / 10.0 + 8.0 * unit;
                format!("{x:.1},8,{y},0,{}", ["f", "m"][row % 2])
            })
            .chain(["?,8,5,0,f".to_owned()])
            .collect();
        let files = [table("x,x.spread,y,y.spread,sex", &rows)];
        let more = json!({ "blur": numbers(shape, json!({})) });
        let evidence = evidence(&number_columns(), &files, &more);
        let checks: [Check<'_>; 2] = [("x", &below(15.0)), ("sex", &is("f"))];
        let found = compared(&evidence, "x < 15 AND sex = 'f'", &checks, 200);
        found.assert(shape, 0.5..2.0);
        let drawn = evidence.draw(1).unwrap();
        let [x, y, _] = drawn.columns.as_slice() else { panic!("three columns") };
        assert_eq!(x.texts.last().unwrap().as_ref(), "?");
        let number = |text: &str| text.parse::<f64>().unwrap();
        let known = &x.texts[..x.texts.len() - 1];
        assert!(known.iter().all(|text| (0.0..=40.0).contains(&number(text))));
        assert!(known.iter().all(|text| text.split_once('.').unwrap().1.len() == 1));
        assert!(known.is_sorted_by(|a, b| number(a) < number(b)));
        // No noise, no change.
        let published: Vec<&str> =
            rows.iter().map(|r| r.split(',').nth(2).unwrap()).collect();
        let kept = y.codes.iter().map(|code| &*y.texts[*code as usize]);
        assert_eq!(kept.collect::<Vec<&str>>(), published);
    }
}

#[test]
fn turned_numbers_are_drawn_among_those_that_are_tried() {
    let mut random = ChaCha20Rng::seed_from_u64(8);
    let (sin, cos) = 0.5f64.sin_cos();
    let rows: Vec<String> = (0..200)
        .map(|_| {
            let (x, y) = (random.random_range(0..=400), random.random_range(0..=30));
            let mut unit = || -> f64 { StandardNormal.sample(&mut random) };
            let (a, b) = (6.0 * unit(), 1.5 * unit());
            let (x, y) = (
                f64::from(x) / 10.0 + cos * a - sin * b,
                f64::from(y) + sin * a + cos * b,
            );
            format!("{x:.1},{y:.0},f,1,1")
        })
        .collect();
    let frame = json!({
        "frame": 1, "part": {}, "axes": [[cos, sin], [-sin, cos]], "levels": [[6.0, 1.5]],
    });
    let note = json!({ "frame": "rotated", "strict": true, "frames": [frame] });
    let more = json!({ "blur": numbers("gaussian", note) });
    let files = [table("x,y,sex,level,frame", &rows)];
    let evidence = evidence(&number_columns(), &files, &more);
    let checks: [Check<'_>; 2] = [("x", &below(20.0)), ("y", &below(10.0))];
    compared(&evidence, "x < 20 AND y < 10", &checks, 200).assert("turned", 0.5..2.0);
    assert_eq!(evidence.draw(1).unwrap().columns.len(), 3);
}

#[test]
fn rows_that_were_drawn_anew_are_resampled() {
    let mut random = ChaCha20Rng::seed_from_u64(9);
    let rows: Vec<String> = (0..600)
        .map(|row| {
            let (x, y) = (random.random_range(0..40), random.random_range(0..30));
            format!("{},{x},{y},{}", row / 60 + 1, ["f", "m"][row % 2])
        })
        .collect();
    let domain =
        |name: &str| json!({ "name": name, "decimals": 0, "domain": [0.0, 100.0] });
    let more =
        json!({ "condensed": { "groups": 10, "columns": [domain("x"), domain("y")] } });
    let evidence = evidence(&number_columns(), &[table("group,x,y,sex", &rows)], &more);
    let checks: [Check<'_>; 1] = [("x", &below(15.0))];
    compared(&evidence, "x < 15", &checks, 300).assert("condensed", 0.5..2.0);
    assert_eq!(hits(&evidence.draw(2).unwrap(), &[("sex", &is("f"))]), 300.0);
}

#[test]
fn a_seed_gives_the_same_table_whatever_the_threads() {
    for evidence in [generalized("*"), randomized()] {
        let first = evidence.draw(7).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(pool.install(|| evidence.draw(7)).unwrap(), first);
        assert_ne!(evidence.draw(8).unwrap(), first);
        let lengths: Vec<usize> = first.columns.iter().map(|c| c.codes.len()).collect();
        assert!(lengths.iter().all(|length| *length == first.n_rows()));
    }
}
