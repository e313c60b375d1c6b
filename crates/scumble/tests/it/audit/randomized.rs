//! Releases with randomized columns, written by hand: rechecked, attacked, tampered with.

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::audit::{self, Audit, Given, Original, Report, write_page};
use scumble::error::Result;
use scumble::release::Release;
use scumble::table::Source;
use scumble::watch::Unwatched;
use serde_json::{Value, json};

use crate::builder::{ByHand, attack, column, source};

/// A release of people with a number and a disease.
struct Hand {
    made: ByHand,
    /// The true diseases.
    truth: Vec<String>,
}

const NAMES: [&str; 5] = ["flu", "cold", "asthma", "angina", "plague"];

fn gamma(prior: f64, posterior: f64) -> f64 {
    posterior * (1.0 - prior) / (prior * (1.0 - posterior)) * (1.0 - 1e-15)
}

fn bound(prior: f64, posterior: f64) -> Value {
    json!({ "prior": prior, "posterior": posterior, "gamma": gamma(prior, posterior) })
}

/// So many people of each disease.
fn people(counts: &[usize]) -> Vec<String> {
    let each = NAMES.iter().zip(counts);
    each.flat_map(|(name, count)| vec![(*name).to_owned(); *count]).collect()
}

/// Each value kept with its probability, otherwise drawn from the first `keep.len()`.
fn drawn(truth: &[String], keep: &[f64], seed: u64) -> Vec<String> {
    let mut rng = ChaCha20Rng::seed_from_u64(seed);
    let mut draw = |value: &String| {
        let place = NAMES.iter().position(|name| name == value).unwrap();
        let kept = rng.random::<f64>() < keep[place];
        let place = if kept { place } else { rng.random_range(0..keep.len()) };
        NAMES[place].to_owned()
    };
    truth.iter().map(&mut draw).collect()
}

fn subtable(rows: usize, names: &[&str], bounds: &[Value], keep: &[f64]) -> Value {
    let domain: Vec<[&str; 1]> = names.iter().map(|name| [*name]).collect();
    json!({
        "rows": rows, "domain": domain, "bounds": bounds,
        "operator": "fine-grain", "keep": keep,
    })
}

impl Hand {
    /// A release without sub-tables.
    fn new(truth: Vec<String>, bounds: &[Value], keep: &[f64], seed: u64) -> Self {
        let published = drawn(&truth, keep, seed);
        let names = &NAMES[..keep.len()];
        let table = subtable(truth.len(), names, bounds, keep);
        let note = json!({
            "columns": ["disease"], "breaches": "upward", "noise": "fresh",
            "subtables": [table],
        });
        Self::written(truth, &published, None, note)
    }

    /// `tables` tells the sub-table of each row.
    fn written(
        truth: Vec<String>,
        published: &[String],
        tables: Option<&[usize]>,
        note: Value,
    ) -> Self {
        let mut columns = vec![
            column("number", "quasi", "category"),
            column("disease", "sensitive", "category"),
        ];
        if tables.is_some() {
            columns.push(column("part", "other", "category"));
        }
        let row = |(number, value): (usize, &String)| match tables {
            Some(tables) => format!("{number},{value},{}", tables[number]),
            None => format!("{number},{value}"),
        };
        let rows: Vec<String> = published.iter().enumerate().map(row).collect();
        let made = ByHand::new(columns)
            .with("perturbation", json!([note]))
            .with("method", json!({ "name": "by-hand" }))
            .with("not_promised", json!(["linkage"]))
            .plain_rows(&rows);
        Self { made, truth }
    }

    fn promise(mut self, name: &str, asked: Value) -> Self {
        self.made = self.made.promise(name, asked);
        self
    }

    /// The first sub-table.
    fn table(&mut self) -> &mut Value {
        &mut self.made.manifest["perturbation"][0]["subtables"][0]
    }

    fn original(&self) -> Source {
        let mut text = String::from("number,disease\n");
        for (number, value) in self.truth.iter().enumerate() {
            let _ = writeln!(text, "{number},{value}");
        }
        source(&text)
    }

    fn blind(&self) -> Result<Report> {
        self.made.audit(None, None)
    }

    /// The page of an audit without the original.
    fn page(&self) -> String {
        self.made.page(None)
    }

    fn audit(&self) -> Result<Report> {
        let release = self.made.open()?;
        let original = Original::read(&self.original(), &release.manifest, &Unwatched)?;
        let given = Given { original: Some(&original), ..Given::default() };
        let Audit { private, public } = audit::audit(&release, &given, &Unwatched)?;
        write_page(&self.made.path(), &release.manifest, &public)?;
        Ok(private)
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// Every value from at most 20 % to at most 50 %: gamma 4, best keep 3/7 of four values.
const KEEP: f64 = 3.0 / 7.0 - 1e-9;

fn breach() -> Hand {
    let truth = people(&[900, 600, 300, 200]);
    Hand::new(truth, &vec![bound(0.2, 0.5); 4], &[KEEP; 4], 1)
        .promise("breach", json!({ "prior": 0.2, "posterior": 0.5, "kind": "upward" }))
}

#[test]
fn an_honest_release_is_found_honest() {
    let hand = breach();
    for report in [hand.blind().unwrap(), hand.audit().unwrap()] {
        assert!(report.holds(), "{:?}", report.promises);
        let measured = &report.promises[0].measured;
        let amplification = number(&measured["amplification"]);
        assert!(amplification <= 1.0 && amplification > 1.0 - 1e-7);
        assert!((number(&measured["posterior"]) - 0.5).abs() < 1e-7);
        assert_eq!(measured["values_at_risk"], json!(0));
        assert_eq!((report.rows, report.group_sizes.len()), (2000, 0));
        let corruption = attack(&report, "corruption");
        assert_eq!(corruption.detail["shift"], json!(0.0));
        assert_eq!(corruption.detail["subtraction"], json!(false));
        assert!((corruption.success - corruption.chance).abs() < 1e-12);
        assert!(
            (report.loss["record-utility"] - (KEEP + (1.0 - KEEP) / 4.0)).abs() < 1e-9
        );
    }
    assert!(!hand.blind().unwrap().loss.contains_key("reconstruction-error"));
    let error = hand.audit().unwrap().loss["reconstruction-error"];
    assert!(error > 0.0 && error < 0.5, "{error}");
    let page = std::fs::read_to_string(hand.made.path().join("report.html")).unwrap();
    // The page, both pictures, and each square of the matrix.
    assert_eq!(page.matches("<title>").count(), 1 + 2 + 16);
    assert!(page.contains("does not rise above 50.0%"));
}

#[test]
fn a_matrix_that_keeps_too_much_is_noticed() {
    let mut hand = breach();
    hand.table()["keep"] = json!([KEEP + 0.01, KEEP, KEEP, KEEP]);
    let report = hand.blind().unwrap();
    let found = &report.promises[0];
    assert!(!found.holds && number(&found.measured["amplification"]) > 1.0);
    // The first value stands out where it is published, and from it the others do.
    assert_eq!(found.measured["values_at_risk"], json!(4));
    assert_eq!(found.rows_at_risk, 2000);
    // A general matrix is judged alike.
    let row = |j: usize| -> Vec<f64> {
        let keep = [KEEP + 0.01, KEEP, KEEP, KEEP];
        let entry =
            |i: usize| (1.0 - keep[i]) / 4.0 + if i == j { keep[i] } else { 0.0 };
        (0..4).map(entry).collect()
    };
    let table = hand.table();
    table["operator"] = json!("general");
    table["matrix"] = (0..4).map(row).collect::<Vec<_>>().into();
    let general = hand.blind().unwrap();
    assert_eq!(general.promises[0].rows_at_risk, 2000);
    assert!(
        (number(&general.promises[0].measured["amplification"])
            - number(&found.measured["amplification"]))
        .abs()
            < 1e-9
    );
}

#[test]
fn bounds_that_are_not_those_asked_are_noticed() {
    let fails = |change: &dyn Fn(&mut Value)| {
        let mut hand = breach();
        change(hand.table());
        let report = hand.blind().unwrap();
        assert_eq!(report.promises[0].rows_at_risk, 2000);
        !report.holds()
    };
    assert!(fails(&|table| table["bounds"][1]["gamma"] = json!(9.0)));
    assert!(fails(&|table| table["bounds"][1]["gamma"] = json!(4.00001)));
    assert!(fails(&|table| table["bounds"][2] = Value::Null));
    assert!(fails(&|table| table["bounds"][0] = bound(0.1, 0.5)));
    assert!(fails(&|table| table["bounds"][0] = bound(0.2, 0.6)));
    // Stricter bounds are no lie, but this matrix does not keep them.
    let mut hand = breach();
    hand.table()["bounds"][0] = bound(0.25, 0.5);
    let report = hand.blind().unwrap();
    assert_eq!(report.promises[0].measured["values_at_risk"], json!(1));
    // A sensitive column that is not randomized at all.
    let mut hand = breach();
    hand.made.manifest["columns"][0]["role"] = json!("sensitive");
    let report = hand.blind().unwrap();
    assert_eq!((report.holds(), report.promises[0].rows_at_risk), (false, 2000));
}

#[test]
fn what_cannot_be_is_refused() {
    let refused = |change: &dyn Fn(&mut Hand)| {
        let mut hand = breach();
        change(&mut hand);
        hand.blind().unwrap_err().to_string()
    };
    let malformed = |change: &dyn Fn(&mut Value)| {
        let error = refused(&|hand| change(&mut hand.made.manifest["perturbation"][0]));
        let refused =
            error.contains("malformed") || error.contains("treated otherwise");
        assert!(refused, "{error}");
    };
    malformed(&|note| note["breaches"] = json!("none"));
    malformed(&|note| note["noise"] = json!("loud"));
    malformed(&|note| note["columns"] = json!([]));
    malformed(&|note| note["columns"] = json!(["number"]));
    malformed(&|note| note["columns"] = json!(["elsewhere"]));
    malformed(&|note| note["subtables"] = json!([]));
    let error = refused(&|hand| {
        hand.made.manifest["perturbation"][0]["subtable_column"] = json!("elsewhere");
    });
    assert!(error.ends_with("the columns are not those of the manifest"), "{error}");
    malformed(&|note| {
        let table = note["subtables"][0].clone();
        note["subtables"] = json!([table, table]);
    });
    let in_table = |change: &dyn Fn(&mut Value)| {
        malformed(&|note| change(&mut note["subtables"][0]));
    };
    in_table(&|table| table["domain"] = json!([]));
    in_table(&|table| table["domain"][0] = json!(["flu", "cold"]));
    in_table(&|table| table["domain"][0] = json!(["cold"]));
    in_table(&|table| table["bounds"] = json!([null]));
    in_table(&|table| table["bounds"][0]["prior"] = json!(-0.1));
    in_table(&|table| table["bounds"][0]["prior"] = json!(0.7));
    in_table(&|table| table["keep"] = json!([0.1, 0.1, 0.1]));
    in_table(&|table| table["keep"][0] = json!(1e300));
    in_table(&|table| {
        table["operator"] = json!("general");
        table["matrix"] = json!([[1.0]]);
    });
    let error = refused(&|hand| hand.table()["rows"] = json!(1999));
    assert!(error.ends_with("does not have as many rows as the manifest says"));
    let error = refused(&|hand| hand.table()["domain"][3] = json!(["plague"]));
    assert!(error.contains("not in the domain of its sub-table"), "{error}");
    let error = refused(&|hand| hand.table()["keep"][0] = Value::Null);
    assert!(error.contains("this is not a manifest"), "{error}");
    let error = refused(&|hand| hand.made.manifest["rows"] = json!(7));
    assert!(error.contains("the manifest says 7 rows, but there are 2000"));
    let error = refused(&|hand| hand.made.manifest["checksums"] = json!({}));
    assert!(error.contains("no checksum"));
    let error = refused(&|hand| hand.made.manifest["promises"][0]["asked"] = json!({}));
    assert!(error.contains("promise `breach` is malformed"));
    let error = refused(&|hand| {
        hand.made.manifest["promises"][0]["name"] = json!("t-closeness")
    });
    assert!(error.contains("cannot be rechecked"));
    let mut hand = breach();
    hand.truth.pop();
    assert!(hand.audit().unwrap_err().to_string().contains("not of this table"));
    let mut hand = breach();
    hand.truth = people(&[200, 300, 600, 900]);
    assert!(hand.audit().unwrap_err().to_string().contains("not of this table"));
}

/// The worked example of the thesis: 4, 4, 3, 2, 1 of 14, three times the share.
fn fine_grain(last: f64, kind: &str) -> Hand {
    let counts = [4.0, 4.0, 3.0, 2.0, 1.0];
    let bounds = counts.map(|count| bound(count / 14.0, 3.0 * count / 14.0));
    let keep = [0.5283, 0.5283, 0.5283, 0.2807, last].map(|keep: f64| keep * 0.999);
    Hand::new(people(&[4, 4, 3, 2, 1]), &bounds, &keep, 2)
        .promise("fine-grain", json!({ "factor": 3, "kind": kind }))
}

#[test]
fn the_theorem_that_fails_downward() {
    let holds = |last: f64, kind: &str| fine_grain(last, kind).audit().unwrap();
    assert!(holds(0.1681, "upward").holds());
    let report = holds(0.1681, "both");
    assert!(!report.holds());
    let found = number(&report.promises[0].measured["amplification"]);
    assert!((found - 1.055).abs() < 0.002, "{found}");
    assert!(holds(0.1219, "both").holds());
    // What the manifest says of itself is judged, too.
    let mut hand = fine_grain(0.1681, "upward");
    hand.made.manifest["perturbation"][0]["breaches"] = json!("both");
    assert!(!hand.audit().unwrap().holds());
    // Without the original fourteen rows tell nothing against it.
    assert!(fine_grain(0.1681, "upward").blind().unwrap().holds());
    let utility = holds(0.1681, "upward").loss["record-utility"];
    assert!((utility - 0.574).abs() < 0.001, "{utility}");
}

#[test]
fn shares_that_are_not_the_tables_are_noticed() {
    let fails = |change: &dyn Fn(&mut Value)| {
        let mut hand = fine_grain(0.1681, "upward");
        change(hand.table());
        !hand.audit().unwrap().holds()
    };
    // Values swapped: the rare one gets the bound of a common one.
    assert!(fails(&|table| {
        table["domain"][0] = json!(["plague"]);
        table["domain"][4] = json!(["flu"]);
    }));
    assert!(fails(&|table| table["bounds"][4] = bound(2.0 / 14.0, 6.0 / 14.0)));
    assert!(fails(&|table| table["bounds"][4] = bound(1.0 / 14.0, 4.0 / 14.0)));
    assert!(fails(&|table| table["bounds"][4] = Value::Null));
    // From a share of a third on, three times as much is no bound.
    let mut hand = Hand::new(
        people(&[8, 4]),
        &[Value::Null, bound(1.0 / 3.0, 0.99)],
        &[0.2, 0.2],
        3,
    )
    .promise("fine-grain", json!({ "factor": 3, "kind": "upward" }));
    assert!(hand.audit().unwrap().holds());
    // Listed bounds are what was promised, whatever the shares.
    hand.table()["bounds"] = json!([null, bound(0.5, 0.75)]);
    hand.made.manifest["promises"][0]["asked"] =
        json!({ "values": "listed", "kind": "upward" });
    assert!(hand.audit().unwrap().holds());
    hand.table()["keep"] = json!([0.6, 0.6]);
    assert!(!hand.blind().unwrap().holds());
}

/// Many rows tell without the original that a share is not so.
#[test]
fn estimates_convict_only_lies_that_are_large() {
    let hand = |prior: f64| {
        let shares = [0.6, 0.36, 0.04];
        let mut bounds = shares.map(|share: f64| bound(share, (1.5 * share).min(0.95)));
        bounds[2] = bound(prior, 1.5 * prior);
        let truth = people(&[12000, 7200, 800]);
        let keep = [0.1, 0.1, 0.1];
        Hand::new(truth, &bounds, &keep, 5)
            .promise("fine-grain", json!({ "factor": 1.5, "kind": "upward" }))
    };
    assert!(hand(0.04).blind().unwrap().holds());
    assert!(hand(0.0401).blind().unwrap().holds());
    assert!(!hand(0.0401).audit().unwrap().holds());
    assert!(!hand(0.5).blind().unwrap().holds());
}

/// Two sub-tables: flu is commoner than the prior, the others are protected.
fn partitioned() -> Hand {
    let truth = people(&[4000, 2000, 2000, 2000]);
    // Both have flu; the first has colds and asthma, the second angina.
    let mut tables = Vec::new();
    let mut seen = [0; 4];
    for value in &truth {
        let place = NAMES.iter().position(|name| name == value).unwrap();
        seen[place] += 1;
        tables.push(match place {
            0 => 1 + usize::from(seen[0] > 2000),
            3 => 2,
            _ => 1,
        });
    }
    // 6,000 rows with shares of a third, 4,000 with a half.
    let keep = [0.35, 0.1];
    let domains: [&[&str]; 2] = [&["flu", "cold", "asthma"], &["flu", "angina"]];
    let mut rng = ChaCha20Rng::seed_from_u64(6);
    let publish = |(value, table): (&String, &usize)| {
        let domain = domains[table - 1];
        if rng.random::<f64>() < keep[table - 1] {
            return value.clone();
        }
        domain[rng.random_range(0..domain.len())].to_owned()
    };
    let published: Vec<String> = truth.iter().zip(&tables).map(publish).collect();
    let third = bound(1.0 / 3.0, 0.6);
    let note = json!({
        "columns": ["disease"], "breaches": "upward", "noise": "keyed",
        "subtable_column": "part",
        "subtables": [
            subtable(6000, domains[0], &[Value::Null, third.clone(), third], &[0.35; 3]),
            subtable(4000, domains[1], &[Value::Null, bound(0.5, 0.6)], &[0.1; 2]),
        ],
    });
    Hand::written(truth, &published, Some(&tables), note)
        .promise("breach", json!({ "prior": 0.3, "posterior": 0.6, "kind": "upward" }))
}

#[test]
fn sub_tables_are_judged_by_their_own_shares() {
    let hand = partitioned();
    for report in [hand.blind().unwrap(), hand.audit().unwrap()] {
        assert!(report.holds(), "{:?}", report.promises);
        // Equal priors tell the count of the commonest protected value of a sub-table; with
        // one such value, and one other, everything.
        let corruption = attack(&report, "corruption");
        assert_eq!(corruption.detail["subtraction"], json!(true));
        assert!((number(&corruption.detail["exposed"]) - 0.6).abs() < 1e-9);
        let averaging = attack(&report, "averaging");
        assert_eq!(averaging.detail["noise"], json!("keyed"));
        assert_eq!(averaging.detail["after"]["1"], averaging.detail["after"]["10"]);
    }
    let fails = |change: &dyn Fn(&mut Value)| {
        let mut hand = partitioned();
        change(&mut hand.made.manifest["perturbation"][0]["subtables"]);
        (!hand.blind().unwrap().holds(), !hand.audit().unwrap().holds())
    };
    // A rare value without a bound.
    assert_eq!(fails(&|t| t[0]["bounds"][1] = Value::Null), (true, true));
    // A prior that is too small: a little only the original tells, much anybody.
    assert_eq!(fails(&|t| t[0]["bounds"][1] = bound(0.33, 0.6)), (false, true));
    assert_eq!(fails(&|t| t[0]["bounds"][1] = bound(0.01, 0.6)), (true, true));
    // More than was asked, in one sub-table.
    assert_eq!(fails(&|t| t[1]["bounds"][1] = bound(0.5, 0.7)), (true, true));
    assert_eq!(fails(&|t| t[1]["keep"] = json!([0.3, 0.3])), (true, true));
    let mut hand = partitioned();
    hand.made.manifest["perturbation"][0]["subtables"][0]["rows"] = json!(5999);
    hand.made.manifest["perturbation"][0]["subtables"][1]["rows"] = json!(4001);
    assert!(hand.blind().unwrap_err().to_string().contains("as many rows"));
    let path = hand.made.path().join("data.csv");
    let data = std::fs::read_to_string(path).unwrap();
    hand.made.write("data.csv", &data.replacen(",1\n", ",3\n", 1));
    assert!(
        hand.blind().unwrap_err().to_string().contains("sub-table that is not there")
    );
}

#[test]
fn inference_wins_where_values_are_kept_and_is_blind_where_they_are_drawn() {
    let truth = || people(&[500, 300, 200]);
    let none = [Value::Null, Value::Null, Value::Null];
    let open = Hand::new(truth(), &none, &[1.0; 3], 7).audit().unwrap();
    let found = attack(&open, "inference");
    assert_eq!((found.success, found.chance), (1.0, 0.5));
    assert_eq!(found.detail["largest"], json!(1.0));
    assert_eq!(found.worst, 0.0, "no value is protected");
    let closed = Hand::new(truth(), &none, &[0.0; 3], 8);
    for report in [closed.audit().unwrap(), closed.blind().unwrap()] {
        let found = attack(&report, "inference");
        assert!(found.success <= found.chance + 1e-12);
        let averaging = attack(&report, "averaging");
        assert!(averaging.success <= averaging.chance + 0.05);
    }
    // By hand: 60 % kept of two values, shares 3 to 1.
    let half = vec![bound(0.5, 0.9); 2];
    let hand = Hand::new(people(&[7500, 2500]), &half, &[0.6; 2], 9);
    let found = hand.audit().unwrap();
    let found = attack(&found, "inference");
    // Published flu: flu; published cold: 0.2 * 0.75 against 0.8 * 0.25.
    assert!((found.success - (0.8 * 0.75 + 0.8 * 0.25)).abs() < 1e-9);
    let largest = number(&found.detail["largest"]);
    assert!((largest - 0.6 / 0.65).abs() < 0.01, "{largest}");
    // Flu is commoner than its bound: the promise speaks of colds only.
    assert!((found.worst - 0.2 / 0.35).abs() < 0.02, "{}", found.worst);
    // Of neither value: what follows a belief at its bound.
    let few = vec![bound(0.1, 0.9); 2];
    let found = Hand::new(people(&[7500, 2500]), &few, &[0.6; 2], 9)
        .promise("breach", json!({ "prior": 0.1, "posterior": 0.9, "kind": "upward" }))
        .audit()
        .unwrap();
    let measured = number(&found.promises[0].measured["posterior"]);
    for name in ["inference", "corruption"] {
        assert!((attack(&found, name).worst - measured).abs() < 1e-12);
    }
    assert!((measured - 0.4 / 1.3).abs() < 1e-9, "{measured}");
}

/// What the promise speaks of never looks as if it were broken.
#[test]
fn the_surest_guess_of_an_honest_release_is_within_the_bound() {
    let hand = breach();
    for report in [hand.blind().unwrap(), hand.audit().unwrap()] {
        for name in ["inference", "corruption"] {
            let found = attack(&report, name).worst;
            assert!(found > 0.0 && found <= 0.5, "{found}");
        }
        assert!(number(&attack(&report, "inference").detail["largest"]) > 0.5);
    }
}

/// The loss is that of the inverse, entry by entry.
#[test]
fn the_reconstruction_error_is_that_of_the_inverse() {
    let counts = [400, 300, 200, 100];
    let none = vec![Value::Null; 4];
    let error = |keep: &[f64], seed: u64| {
        let hand = Hand::new(people(&counts), &none, keep, seed);
        let report = hand.audit().unwrap();
        let data = std::fs::read_to_string(hand.made.path().join("data.csv")).unwrap();
        let published = NAMES.map(|name| data.matches(name).count() as f64);
        (report.loss.get("reconstruction-error").copied(), published)
    };
    for (seed, keep) in
        [[0.3, 0.2, 0.5, 0.4], [0.3, 0.0, 0.5, 0.4], [1e-4, 0.2, 0.0, 0.1]]
            .into_iter()
            .enumerate()
    {
        let (found, published) = error(&keep, 50 + seed as u64);
        let entry = |j: usize, i: usize| {
            (1.0 - keep[i]) / 4.0 + if i == j { keep[i] } else { 0.0 }
        };
        let inverse = nalgebra::DMatrix::from_fn(4, 4, entry).try_inverse().unwrap();
        let off = (0..4).map(|i| {
            let estimated: f64 = (0..4).map(|j| inverse[(i, j)] * published[j]).sum();
            (estimated - counts[i] as f64).abs() / counts[i] as f64
        });
        let wanted = off.sum::<f64>() / 4.0;
        let found = found.unwrap();
        assert!((found - wanted).abs() < 1e-6 * wanted, "{found} {wanted}");
    }
    // Two values that are never kept cannot be told apart: there is no inverse, no loss.
    assert_eq!(error(&[0.3, 0.0, 0.5, 0.0], 53).0, None);
}

/// With another matrix a key draws by the same clock: what is published with more noise tells
/// nothing beyond what is published with less.
#[test]
fn a_key_helps_under_another_matrix_too() {
    let truth = people(&[500, 500, 500, 500]);
    let draw = |keep: f64, key: u64| {
        let publish = |(person, value): (usize, &String)| {
            let mut rng = ChaCha20Rng::seed_from_u64(key << 32 | person as u64);
            let (mut value, mut clock) = (value.clone(), rng.random::<f64>());
            while clock >= keep {
                value = NAMES[rng.random_range(0..4)].to_owned();
                clock *= rng.random::<f64>();
            }
            value
        };
        let published: Vec<String> = truth.iter().enumerate().map(publish).collect();
        let table = subtable(2000, &NAMES[..4], &vec![Value::Null; 4], &[keep; 4]);
        let note = json!({
            "columns": ["disease"], "breaches": "upward", "noise": "keyed",
            "subtables": [table],
        });
        Hand::written(truth.clone(), &published, None, note)
    };
    let tried = |hands: &[&Hand]| {
        let opened: Vec<Release> =
            hands.iter().map(|hand| hand.made.open().unwrap()).collect();
        let opened: Vec<&Release> = opened.iter().collect();
        audit::averaging(&opened, &hands[0].original(), &Unwatched).unwrap().remove(0)
    };
    let noisier: Vec<Hand> = [0.4, 0.3, 0.1].map(|keep| draw(keep, 1)).into();
    let high = draw(0.5, 1);
    let one = tried(&[&high]);
    let all = tried(&[&high, &noisier[0], &noisier[1], &noisier[2]]);
    assert_eq!(all.detail["same_matrix"], json!(false));
    assert_eq!(all.detail["noise"], json!("keyed"));
    assert_eq!(all.success, one.success);
    assert!((all.worst - one.worst).abs() < 1e-9, "{} {}", all.worst, one.worst);
    // A manifest that says `keyed` where draws are not shared: the reader sees it.
    let others: Vec<Hand> = (2..8).map(|key| draw(0.5, key)).collect();
    let fresh = tried(&others.iter().collect::<Vec<&Hand>>());
    assert_eq!(fresh.detail["same_matrix"], json!(true));
    assert!(fresh.success > one.success + 0.2, "{}", fresh.success);
}

/// Two equally common values, kept by 0.2 or drawn: what is published is right six times in
/// ten.
#[test]
fn the_risk_is_the_belief_in_the_likeliest_value() {
    let hand =
        Hand::new(people(&[5000, 5000]), &[Value::Null, Value::Null], &[0.2, 0.2], 3)
            .promise("fine-grain", json!({ "values": "listed", "kind": "upward" }));
    let report = hand.audit().unwrap();
    let [risk] = &*report.risks else { panic!("{:?}", report.risks) };
    assert_eq!(risk.what.name(), "value");
    assert_eq!(risk.people, [0, 0, 0, 0, 0, 0, 0, 10_000, 0]);
}

#[test]
fn the_page_says_what_is_not_protected_and_when_a_key_helps() {
    let mut hand =
        Hand::new(people(&[8, 4]), &[Value::Null, bound(0.5, 0.75)], &[0.2, 0.2], 3)
            .promise("fine-grain", json!({ "values": "listed", "kind": "upward" }));
    assert!(hand.page().contains("One value has no bound and is not protected."));
    assert!(hand.page().contains("The stronger the colour of a square"));
    assert!(hand.page().contains("Every release draws afresh."));
    assert!(hand.page().contains("A key keeps it at the first."));
    hand.made.manifest["perturbation"][0]["noise"] = json!("keyed");
    let page = hand.page();
    assert!(
        page.contains(
            "as long as their value, the domain and the matrix stay the same."
        )
    );
    assert!(page.contains("then nothing is added."));
    // Commoner than the bound of any belief: that is why there is none.
    hand.made.manifest["promises"][0]["asked"] =
        json!({ "factor": 3, "kind": "upward" });
    assert!(hand.page().contains("One value is too common to be protected."));
    // What is too large for a picture is not explained as one.
    let many: Vec<[String; 1]> = (0..61)
        .map(|n| [NAMES.get(n).map_or(n.to_string(), |name| (*name).to_owned())])
        .collect();
    let table = hand.table();
    (table["domain"], table["bounds"]) = (json!(many), json!(vec![Value::Null; 61]));
    table["keep"] = json!(vec![0.2; 61]);
    let page = hand.page();
    assert!(page.contains("too large for a picture") && !page.contains("stronger"));
}

/// Two columns, each randomized on its own.
#[test]
fn each_column_is_attacked_and_has_its_own_losses() {
    let mut hand = Hand::new(people(&[60, 40]), &vec![Value::Null; 2], &[0.5; 2], 60);
    hand.made.manifest["columns"][0]["role"] = json!("sensitive");
    let numbers: Vec<[String; 1]> = (0..100).map(|n| [n.to_string()]).collect();
    let note = json!({
        "columns": ["number"], "breaches": "upward", "noise": "fresh",
        "subtables": [{
            "rows": 100, "domain": numbers, "bounds": vec![Value::Null; 100],
            "operator": "uniform", "keep": 0.9,
        }],
    });
    hand.made.manifest["perturbation"].as_array_mut().unwrap().push(note);
    let report = hand.audit().unwrap();
    let found: Vec<(&str, &str)> = report
        .attacks
        .iter()
        .map(|attack| (&*attack.name, attack.detail["column"].as_str().unwrap()))
        .collect();
    let names = ["inference", "corruption", "averaging", "dependence"];
    let wanted = names.map(|name| [(name, "disease"), (name, "number")]);
    assert_eq!(found, wanted.concat());
    let loss = |name: &str| report.loss[name];
    assert!((loss("record-utility.disease") - 0.75).abs() < 1e-12);
    assert!((loss("record-utility.number") - 0.901).abs() < 1e-12);
    assert_eq!(loss("record-utility"), loss("record-utility.disease"));
    let errors = ["reconstruction-error.disease", "reconstruction-error.number"];
    let worst = errors.map(loss).into_iter().fold(0.0, f64::max);
    assert_eq!(loss("reconstruction-error"), worst);
    let page = std::fs::read_to_string(hand.made.path().join("report.html")).unwrap();
    assert!(page.contains("<th>inference (disease)</th>"));
    assert!(page.contains("<th>record-utility.number</th>"));
}

#[test]
fn subtraction_is_told_where_bounds_are_counts() {
    let report = fine_grain(0.1681, "upward").audit().unwrap();
    let corruption = attack(&report, "corruption");
    assert_eq!(corruption.detail["exposed"], json!(1.0));
    assert!((corruption.success - corruption.chance).abs() < 1e-12);
    let page = {
        let hand = fine_grain(0.1681, "upward");
        hand.audit().unwrap();
        std::fs::read_to_string(hand.made.path().join("report.html")).unwrap()
    };
    assert!(page.contains("subtracts, and is certain about up to 100%"));
}

#[test]
fn fresh_noise_is_averaged_away_and_keyed_noise_is_not() {
    let truth = || people(&[250, 250, 250, 250]);
    let none = vec![Value::Null; 4];
    let release = |seed: u64, noise: &str| {
        let mut hand = Hand::new(truth(), &none, &[0.4; 4], seed);
        hand.made.manifest["perturbation"][0]["noise"] = json!(noise);
        hand
    };
    let tried = |hands: &[Hand]| {
        let opened: Vec<Release> =
            hands.iter().map(|hand| hand.made.open().unwrap()).collect();
        let opened: Vec<&Release> = opened.iter().collect();
        audit::averaging(&opened, &hands[0].original(), &Unwatched).unwrap().remove(0)
    };
    let fresh: Vec<Hand> = (0..10).map(|seed| release(20 + seed, "fresh")).collect();
    let keyed: Vec<Hand> = (0..10).map(|_| release(20, "keyed")).collect();
    let one = tried(&fresh[..1]);
    let ten = tried(&fresh);
    let same = tried(&keyed);
    assert!((one.success - 0.55).abs() < 0.08, "{}", one.success);
    assert!(ten.success > 0.85, "{}", ten.success);
    assert_eq!(same.success, one.success);
    assert_eq!(same.detail["same_matrix"], json!(true));
    assert_eq!(ten.detail["linked"], json!(1.0));
    assert_eq!((ten.chance, ten.detail["people"].clone()), (0.25, json!(1000)));
    // What is foretold from one release is what happens.
    let report = fresh[0].audit().unwrap();
    let after = &attack(&report, "averaging").detail["after"];
    assert!((number(&after["1"]) - one.success).abs() < 0.08);
    assert!((number(&after["10"]) - ten.success).abs() < 0.08);
}

#[test]
fn people_who_are_not_alone_are_not_linked() {
    let none = vec![Value::Null; 2];
    let mut hand = Hand::new(people(&[3, 3]), &none, &[1.0; 2], 30);
    let data = "number,disease\n0,flu\n1,flu\n2,flu\n3,cold\n4,cold\n4,cold\n";
    hand.made.write("data.csv", data);
    let release = hand.made.open().unwrap();
    let found = audit::averaging(&[&release], &hand.original(), &Unwatched).unwrap();
    let found = &found[0];
    assert_eq!(found.detail["people"], json!(4));
    assert_eq!(found.success, 1.0);
}

#[test]
fn a_sample_of_groups_is_checked_by_its_numbers() {
    let mut hand = breach().promise("k-anonymity", json!({ "k": 5 }));
    let path = hand.made.path().join("data.csv");
    let data = std::fs::read_to_string(path).unwrap();
    let mut lines = data.lines();
    let mut numbered = format!("{},rows\n", lines.next().unwrap());
    for (place, line) in lines.enumerate() {
        let _ = writeln!(numbered, "{line},{}", if place == 7 { 5 } else { 6 });
    }
    hand.made.write("data.csv", &numbered);
    hand.made.manifest["sampled"] = json!("rows");
    hand.made.manifest["left_out"] = json!(12_000 - 1 - 2000);
    hand.made.manifest["method"]["name"] = json!("perturbed-generalization");
    let report = hand.blind().unwrap();
    assert!(report.holds());
    assert_eq!(report.promises[1].measured, json!({ "k": 5 }));
    assert_eq!(report.group_sizes, [(5, 1), (6, 1999)]);
    // Rows of a group that were not drawn are not left out, and there is no key.
    let page = hand.page();
    assert!(
        page.contains("stands for its group: 11,999 rows of the table in all. It was")
    );
    assert!(!page.contains("left out") && !page.contains("A key"));
    assert!(page.contains("drawn from their groups again"));
    hand.made.manifest["promises"][1]["asked"]["k"] = json!(6);
    let report = hand.blind().unwrap();
    assert_eq!((report.holds(), report.promises[1].rows_at_risk), (false, 1));
    hand.made.manifest["left_out"] = json!(9000);
    assert!(hand.blind().unwrap_err().to_string().contains("more rows than the table"));
}

#[test]
fn several_columns_can_be_one() {
    let mut hand = Hand::new(people(&[2, 2]), &vec![Value::Null; 2], &[0.5; 2], 40);
    hand.made.manifest["columns"][0]["role"] = json!("sensitive");
    let note = &mut hand.made.manifest["perturbation"][0];
    note["columns"] = json!(["disease", "number"]);
    note["subtables"][0] = json!({
        "rows": 4,
        "domain": [["flu", "0"], ["flu", "1"], ["cold", "2"], ["cold", "3"]],
        "bounds": [null, null, null, null], "operator": "uniform", "keep": 0.5,
    });
    hand.made.write("data.csv", "number,disease\n0,flu\n0,flu\n3,cold\n2,cold\n");
    let report = hand.audit().unwrap();
    assert_eq!(
        attack(&report, "inference").detail["column"],
        json!("disease + number")
    );
    assert_eq!(attack(&report, "inference").chance, 0.25);
    hand.made.write("data.csv", "number,disease\n0,flu\n0,cold\n3,cold\n2,cold\n");
    assert!(hand.blind().unwrap_err().to_string().contains("not in the domain"));
}
