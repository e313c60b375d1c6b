//! Questions to releases whose numbers were randomized as ranges, against all that the noise
//! could have published.

use scumble::estimate::{Estimate, Evidence};
use serde_json::json;

use crate::builder::{ByHand, ask, column, with};

/// The ranges of `cuts = [[10, 30]]` between 0 and 39, with the numbers in them.
const RANGES: [(&str, [u32; 2]); 3] =
    [("(-inf, 10)", [0, 9]), ("[10, 30)", [10, 29]), ("[30, inf)", [30, 39])];

const KEEP: f64 = 0.4;

/// The range of each row of the table.
const TRUTH: [usize; 3] = [0, 1, 1];

/// A release with these published cells, beside a kept column that tells rows apart.
fn evidence(cells: &[String], published: &str) -> Evidence {
    let cost = with(column("cost", "sensitive", "number"), "domain", json!([0, 39]));
    let cost = with(cost, "decimals", json!(0));
    let rule = json!({ "rule": "cuts", "cuts": [[10, 30]] });
    let cost = with(cost, "hierarchy", rule);
    let domain: Vec<_> = RANGES.iter().map(|(label, _)| json!([label])).collect();
    let noise = json!([{
        "columns": ["cost"],
        "ranges": { "level": 1, "published": published },
        "subtables": [{
            "rows": cells.len(), "domain": domain, "bounds": [null, null, null],
            "operator": "uniform", "keep": KEEP,
        }],
    }]);
    let rows = cells.iter().zip(["a", "b", "a"]);
    let rows: Vec<String> =
        rows.map(|(cell, sex)| format!("{sex},\"{cell}\"")).collect();
    let made = ByHand::new(vec![column("sex", "quasi", "category"), cost])
        .with("perturbation", noise)
        .plain_rows(&rows);
    made.evidence().unwrap()
}

/// All that could have been published of the table, with its probability, as places of ranges.
fn outcomes() -> Vec<([usize; 3], f64)> {
    let chance = |from: usize, to: usize| {
        (1.0 - KEEP) / 3.0 + if from == to { KEEP } else { 0.0 }
    };
    let all = (0..27).map(|number| [number / 9, number / 3 % 3, number % 3]);
    all.map(|drawn| {
        let chances = TRUTH.iter().zip(drawn).map(|(from, to)| chance(*from, to));
        (drawn, chances.product())
    })
    .collect()
}

/// Mean and variance of the numbers of a range that satisfy a test, others being 0.
fn moments(range: usize, worth: &dyn Fn(f64) -> f64) -> (f64, f64) {
    let [low, high] = RANGES[range].1;
    let n = f64::from(high - low + 1);
    let each = || (low..=high).map(|number| worth(f64::from(number)));
    let mean = each().sum::<f64>() / n;
    (mean, each().map(|x| x * x).sum::<f64>() / n - mean * mean)
}

/// The mean of an answer over all noise, its variance, and the mean of its squared error.
fn over_noise(answer: &dyn Fn(&Evidence) -> Estimate) -> (f64, f64, f64) {
    let (mut mean, mut square, mut error) = (0.0, 0.0, 0.0);
    for (drawn, chance) in outcomes() {
        let cells = drawn.map(|range| RANGES[range].0.to_owned());
        let found = answer(&evidence(&cells, "range"));
        mean += chance * found.count;
        square += chance * found.count * found.count;
        error += chance * found.standard_error.unwrap().powi(2);
    }
    (mean, square - mean * mean, error)
}

#[test]
fn counts_and_sums_are_right_on_average_and_as_wrong_as_they_say() {
    type Worth = fn(f64) -> f64;
    let questions: [(&str, Worth); 5] = [
        ("SELECT COUNT(*) WHERE cost < 10", |x| f64::from(x < 10.0)),
        ("SELECT COUNT(*) WHERE cost >= 20", |x| f64::from(x >= 20.0)),
        ("SELECT COUNT(*) WHERE cost BETWEEN 5 AND 34", |x| {
            f64::from((5.0..=34.0).contains(&x))
        }),
        ("SELECT SUM(cost)", |x| x),
        ("SELECT SUM(cost) WHERE cost > 14", |x| if x > 14.0 { x } else { 0.0 }),
    ];
    for (question, worth) in questions {
        let each = TRUTH.map(|range| moments(range, &worth));
        let truth: f64 = each.iter().map(|(mean, _)| mean).sum();
        let within: f64 = each.iter().map(|(_, variance)| variance).sum();
        let (mean, variance, error) =
            over_noise(&|evidence| ask(evidence, question).remove(0));
        assert!((mean - truth).abs() < 1e-9, "{question}: {mean}, truly {truth}");
        let wanted = variance + within;
        // Counts of whole ranges: where nothing is seen, no error can be, and one is added.
        assert!(error > wanted - 1e-9, "{question}: {error}, truly {wanted}");
        if question != questions[0].0 {
            assert!((error - wanted).abs() < 1e-9, "{question}: {error}, {wanted}");
        }
    }
}

#[test]
fn ranges_are_counted_apart_and_beside_kept_columns() {
    for (range, (label, _)) in RANGES.iter().enumerate() {
        let truth = TRUTH.iter().filter(|own| **own == range).count() as f64;
        let (mean, ..) = over_noise(&|evidence| {
            let found = ask(evidence, "SELECT cost, COUNT(*) GROUP BY cost");
            found.into_iter().find(|e| e.values == [*label]).unwrap()
        });
        assert!((mean - truth).abs() < 1e-9, "{label}: {mean}");
    }
    // Rows a: ranges 0 and 1, of which a quarter and all numbers are at least 7 and below 30.
    let (mean, ..) = over_noise(&|evidence| {
        let found = ask(evidence, "SELECT sex, COUNT(*) WHERE cost >= 7 GROUP BY sex");
        found.into_iter().find(|e| e.values == ["a"]).unwrap()
    });
    assert!((mean - 1.3).abs() < 1e-9, "{mean}");
}

#[test]
fn a_number_that_was_drawn_says_what_its_range_does() {
    let cells = |cells: [&str; 3]| cells.map(str::to_owned);
    let ranges = evidence(&cells(["(-inf, 10)", "[10, 30)", "[30, inf)"]), "range");
    let numbers = evidence(&cells(["3", "29", "39"]), "number");
    for question in [
        "SELECT COUNT(*) WHERE cost = '[10, 30)'",
        "SELECT COUNT(*) WHERE cost <= 17",
        "SELECT AVG(cost)",
        "SELECT cost, COUNT(*) GROUP BY cost",
        "SELECT SHARE(cost > 12) WHERE sex = 'a'",
    ] {
        assert_eq!(ask(&ranges, question), ask(&numbers, question), "{question}");
    }
    let groups = ask(&ranges, "SELECT cost, COUNT(*) GROUP BY cost");
    let groups: Vec<&str> = groups.iter().map(|e| &*e.values[0]).collect();
    assert_eq!(groups, ["(-inf, 10)", "[10, 30)", "[30, inf)"]);
    // Drawn tables have numbers, all within the domain.
    let drawn = ranges.draw(7).unwrap();
    let cost = drawn.columns.iter().find(|column| column.name == "cost").unwrap();
    let known = cost.codes.iter().map(|code| &cost.texts[*code as usize]);
    let known: Vec<f64> = known.map(|text| text.parse().unwrap()).collect();
    assert!(known.iter().all(|number| (0.0..=39.0).contains(number)), "{known:?}");
}

#[test]
fn a_cell_beyond_all_ranges_is_refused() {
    let cells = ["3", "29", "40"].map(str::to_owned);
    let made = std::panic::catch_unwind(|| evidence(&cells, "number"));
    assert!(made.is_err());
}
