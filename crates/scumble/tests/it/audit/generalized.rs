//! Releases planted to be weak, safe or tampered with, judged from their files.

use std::path::{Path, PathBuf};

use scumble::audit::{AtRisk, Given, Original, audit};
use scumble::loss;
use scumble::recipe::{Published, Request, Spec, publish};
use scumble::release::Release;
use scumble::table::{ReadOptions, Source};
use scumble::watch::Unwatched;
use serde_json::{Value, json};

use crate::builder::{ByHand, attack, column, promise, quasi, with};

/// A release of quasi columns of plain words, and sensitive columns.
fn by_hand(columns: &[(&str, &str, &str)], rows: &[&str], promises: Value) -> ByHand {
    let columns = columns.iter().map(|(name, role, kind)| match *role {
        "quasi" => with(quasi(name, "taxonomy"), "type", json!(kind)),
        _ => column(name, role, kind),
    });
    ByHand::new(columns.collect::<Vec<Value>>())
        .with_all(&json!({
            "software": "by <hand>", "method": { "name": "full-domain" },
            "promises": promises, "not_promised": ["a & b"],
        }))
        .plain_rows(rows)
}

/// What is said where an audit is refused.
fn refused(hand: &ByHand, original: Option<&str>) -> String {
    hand.audit(original, None).expect_err("refused").to_string()
}

fn promised(name: &str, asked: Value) -> Value {
    json!([promise(name, asked)])
}

const TWO: [(&str, &str, &str); 2] =
    [("town", "quasi", "category"), ("illness", "sensitive", "category")];

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

#[test]
fn a_person_who_is_alone_is_found() {
    let rows = ["Oslo,flu", "Oslo,cough", "Rome,ulcer"];
    let hand = by_hand(&TWO, &rows, promised("k-anonymity", json!({ "k": 2 })));
    let people = "town,illness\nRome,ulcer\nOslo,cough\nOslo,flu\n";
    let report = hand.audit(people, None).unwrap();
    assert!(!report.holds());
    assert_eq!(report.promises[0].rows_at_risk, 1);
    assert_eq!(report.promises[0].measured, json!({ "k": 1 }));
    assert_eq!(report.group_sizes, [(1, 1), (2, 1)]);
    let linkage = attack(&report, "linkage");
    assert!(near(linkage.success, 2.0 / 3.0) && near(linkage.chance, 1.0 / 3.0));
    assert_eq!(linkage.worst, 1.0);
    assert!(near(linkage.detail["alone"].as_f64().unwrap(), 1.0 / 3.0));
    assert!(near(linkage.detail["below_k"].as_f64().unwrap(), 1.0 / 3.0));
    let homogeneity = attack(&report, "homogeneity");
    assert_eq!(homogeneity.worst, 1.0);
    assert!(
        near(homogeneity.success, 2.0 / 3.0) && near(homogeneity.chance, 1.0 / 3.0)
    );
    assert!(near(homogeneity.detail["certain"].as_f64().unwrap(), 1.0 / 3.0));
}

#[test]
fn a_release_that_hides_everybody_gives_no_more_than_chance() {
    let rows = ["*,flu", "*,cough", "*,flu", "*,ulcer"];
    let hand = by_hand(&TWO, &rows, promised("k-anonymity", json!({ "k": 4 })));
    let people = "town,illness\nRome,ulcer\nOslo,cough\nOslo,flu\nLima,flu\n";
    let report = hand.audit(people, None).unwrap();
    assert!(report.holds());
    for attack in &report.attacks {
        assert!(near(attack.success, attack.chance), "{attack:?}");
        assert!(attack.worst < 1.0);
    }
    assert_eq!(attack(&report, "linkage").detail["alone"], json!(0.0));
    assert_eq!(attack(&report, "homogeneity").detail["certain"], json!(0.0));
    assert_eq!(report.loss["precision"], 1.0);
    assert_eq!(report.loss["discernibility"], 16.0);
    assert_eq!(report.loss.len(), loss::ALL.len());
}

/// Table 3 of `li2007tcloseness`: the groups are 0.375, 0.1667 and 0.2361 away.
#[test]
fn the_salaries_of_the_paper_are_measured_from_the_file() {
    let columns = [("zip", "quasi", "category"), ("salary", "sensitive", "number")];
    let rows = [
        "476**,3000",
        "476**,4000",
        "476**,5000",
        "4790*,6000",
        "4790*,11000",
        "4790*,8000",
        "4760*,7000",
        "4760*,9000",
        "4760*,10000",
    ];
    let asked = |t: f64, distance: &str| {
        promised("t-closeness", json!({ "t": t, "distance": distance }))
    };
    let hand = by_hand(&columns, &rows, asked(0.375, "ordered"));
    let report = hand.audit(None, None).unwrap();
    assert!(report.holds(), "0.375 is at most 0.375");
    assert!(near(report.promises[0].measured["t"].as_f64().unwrap(), 0.375));
    assert!(report.attacks.is_empty() && report.loss.is_empty());

    let hand = by_hand(&columns, &rows, asked(0.2, "ordered"));
    let report = hand.audit(None, None).unwrap();
    assert_eq!(report.promises[0].rows_at_risk, 6, "0.167 holds, the others do not");
    let hand = by_hand(&columns, &rows, asked(0.7, "equal"));
    let measured = &hand.audit(None, None).unwrap().promises[0].measured;
    assert!(near(measured["t"].as_f64().unwrap(), 2.0 / 3.0));
}

/// A value that half of all rows have and a whole group; another that the group lacks.
#[test]
fn gains_and_losses_of_values_are_measured_from_the_file() {
    let rows = ["a,flu", "a,flu", "b,flu", "b,cough", "b,cough", "b,cough"];
    let found = |name: &str, asked: Value| {
        let hand = by_hand(&TWO, &rows, promised(name, asked));
        hand.audit(None, None).unwrap().promises[0].clone()
    };
    let basic =
        |beta: f64| found("beta-likeness", json!({ "beta": beta, "form": "basic" }));
    assert!(basic(1.0).holds, "from a half to all is a gain of 1");
    assert_eq!(basic(1.0).measured, json!({ "beta": 1.0 }));
    assert_eq!((basic(0.9).holds, basic(0.9).rows_at_risk), (false, 2));
    assert_eq!((basic(0.4).holds, basic(0.4).rows_at_risk), (false, 6));
    let enhanced = found("beta-likeness", json!({ "beta": 9.0, "form": "enhanced" }));
    assert_eq!((enhanced.holds, enhanced.rows_at_risk), (false, 2));
    assert_eq!(enhanced.measured, json!({ "beta": null }), "no beta would do");
    let disclosed = found("delta-disclosure", json!({ "delta": 50.0 }));
    assert_eq!((disclosed.holds, disclosed.rows_at_risk), (false, 2));
    assert_eq!(disclosed.measured, json!({ "delta": null }), "a has no cough");
}

#[test]
fn a_tree_of_illnesses_is_measured_by_its_levels() {
    let rows = ["a,flu", "a,cough", "b,ulcer", "b,colic"];
    let asked =
        promised("t-closeness", json!({ "t": 0.4, "distance": "hierarchical" }));
    let mut hand = by_hand(&TWO, &rows, asked);
    hand.manifest["columns"][1]["hierarchy"] = json!({ "rule": "tree", "lines": [
        ["flu", "lung", "*"], ["cough", "lung", "*"],
        ["ulcer", "belly", "*"], ["colic", "belly", "*"],
    ] });
    let report = hand.audit(None, None).unwrap();
    assert_eq!(report.promises[0].measured, json!({ "t": 0.5 }));
    assert_eq!((report.holds(), report.promises[0].rows_at_risk), (false, 4));
}

#[test]
fn diversity_is_measured_three_ways() {
    let rows = ["a,x", "a,x", "a,y", "b,x", "b,y", "b,z", "b,"];
    let measured = |asked: Value| {
        let hand = by_hand(&TWO, &rows, promised("l-diversity", asked));
        let report = hand.audit(None, None).unwrap();
        let checked = report.promises[0].clone();
        (checked.measured, checked.rows_at_risk)
    };
    let (found, at_risk) = measured(json!({ "l": 3, "kind": "distinct" }));
    assert_eq!((found, at_risk), (json!({ "l": 2 }), 3));
    let (found, at_risk) = measured(json!({ "l": 1.9, "kind": "entropy" }));
    // exp(H(2/3, 1/3)) = 3 / 2^(2/3).
    assert!(near(found["l"].as_f64().unwrap(), 3.0 / 4f64.cbrt()));
    assert_eq!(at_risk, 3, "a missing value is a value: b has four");
    let (found, at_risk) = measured(json!({ "l": 2, "kind": "recursive", "c": 2.0 }));
    assert_eq!((found, at_risk), (json!({ "c": 2.0 }), 3), "2 < 2 * 1 is false");
    let (found, _) = measured(json!({ "l": 3, "kind": "recursive", "c": 2.0 }));
    assert_eq!(found, json!({ "c": null }), "no third value, no bound");
}

#[test]
fn one_changed_byte_is_noticed() {
    let rows = ["Oslo,flu", "Oslo,cough"];
    let hand = by_hand(&TWO, &rows, promised("k-anonymity", json!({ "k": 2 })));
    assert!(hand.audit(None, None).unwrap().holds());
    let path = hand.path().join("data.csv");
    let text = std::fs::read_to_string(&path).unwrap().replace("flu", "fly");
    std::fs::write(&path, text).unwrap();
    assert!(
        refused(&hand, None).ends_with("the file is not the one that was published")
    );
}

#[test]
fn a_manifest_that_claims_too_much_is_refuted() {
    let rows = ["Oslo,flu", "Oslo,cough", "Rome,flu", "Rome,flu", "Rome,flu"];
    let mut hand = by_hand(&TWO, &rows, promised("k-anonymity", json!({ "k": 2 })));
    assert!(hand.audit(None, None).unwrap().holds());
    hand.manifest["promises"][0]["asked"] = json!({ "k": 3 });
    hand.manifest["promises"][0]["measured"] = json!({ "k": 3 });
    let report = hand.audit(None, None).unwrap();
    assert_eq!((report.holds(), report.promises[0].rows_at_risk), (false, 2));
}

#[test]
fn rows_edited_together_with_their_checksum_are_rechecked() {
    let rows = ["Oslo,flu", "Oslo,cough", "Rome,flu", "Rome,ulcer"];
    let hand = by_hand(&TWO, &rows, promised("k-anonymity", json!({ "k": 2 })));
    let rows = ["Oslo,flu", "Oslo,cough", "Rome,flu", "Lima,ulcer"];
    let hand = hand.plain_rows(&rows);
    let report = hand.audit(None, None).unwrap();
    assert_eq!(report.promises[0].rows_at_risk, 2);
    let people = "town,illness\nOslo,flu\nOslo,cough\nRome,flu\nRome,ulcer\n";
    assert_eq!(refused(&hand, Some(people)), "a cell of column `town` cannot be read");
}

#[test]
fn the_release_of_another_table_is_told_apart() {
    let rows = ["Oslo,flu", "Oslo,cough", "Rome,flu"];
    let hand = by_hand(&TWO, &rows, json!([]));
    let people = "town,illness\nOslo,flu\nRome,flu\nRome,flu\n";
    assert_eq!(refused(&hand, Some(people)), "the release is not of this table");
    let fewer = "town,illness\nOslo,flu\nRome,flu\n";
    assert_eq!(refused(&hand, Some(fewer)), "the release is not of this table");
}

#[test]
fn what_the_manifest_gets_wrong_is_an_error() {
    let rows = ["Oslo,flu", "Oslo,cough"];
    let k = || promised("k-anonymity", json!({ "k": 2 }));
    let wrong = |change: &dyn Fn(&mut Value)| {
        let mut hand = by_hand(&TWO, &rows, k());
        change(&mut hand.manifest);
        refused(&hand, None)
    };
    let error = wrong(&|m| m["rows"] = json!(3));
    assert!(error.ends_with("the manifest says 3 rows, but there are 2"), "{error}");
    let error = wrong(&|m| m["columns"][0]["name"] = json!("city"));
    assert!(error.ends_with("the columns are not those of the manifest"), "{error}");
    let error = wrong(&|m| m["columns"][0]["role"] = json!("other"));
    assert_eq!(error, "the manifest promises k-anonymity without a quasi column");
    let error = wrong(&|m| m["promises"][0]["name"] = json!("safety"));
    assert_eq!(error, "the manifest has a promise this program does not know");
    let error = wrong(&|m| m["checksums"] = json!({}));
    assert_eq!(error, "the manifest has no checksum of data.csv");
    let error = wrong(&|m| m["columns"][1]["type"] = json!("number"));
    assert!(
        error.ends_with("`illness` has values that are not of its type"),
        "{error}"
    );
    let diverse = promised("l-diversity", json!({ "l": 2, "kind": "distinct" }));
    let hand = by_hand(&[("town", "quasi", "category")], &["Oslo"], diverse);
    let error = refused(&hand, None);
    assert_eq!(error, "the manifest promises l-diversity without a sensitive column");
    let hand = by_hand(&TWO, &[], k());
    assert!(refused(&hand, None).ends_with("the table has a header but no rows"));
}

#[test]
fn the_page_escapes_what_it_shows() {
    let columns =
        [("<town>", "quasi", "category"), ("illness", "sensitive", "category")];
    let hand = by_hand(&columns, &["Oslo,flu", "Oslo,flu"], json!([]));
    let page = hand.page(None);
    assert!(page.contains("&lt;town&gt;") && page.contains("by &lt;hand&gt;"));
    assert!(page.contains("a &amp; b") && !page.contains("<town>"));
    assert!(!page.contains("http") && !page.contains("<script"));
    assert!(!page.contains("Oslo"), "no cell of the table");
}

/// Groups of 1, 2 and 5 rows, worked by hand. The towns are five: a name is exact, `*` is
/// all of them.
#[test]
fn risks_and_widths_are_counted_row_by_row() {
    let rows = [
        "Oslo,flu",
        "Rome,flu",
        "Rome,cough",
        "*,flu",
        "*,flu",
        "*,flu",
        "*,ulcer",
        "*,cough",
    ];
    let hand = by_hand(&TWO, &rows, json!([]));
    let people = "town,illness\nOslo,flu\nRome,flu\nRome,cough\nLima,flu\nBern,flu\n\
                  Kyiv,flu\nLima,ulcer\nBern,cough\n";
    let report = hand.audit(people, None).unwrap();
    let [row, value] = &*report.risks else { panic!("{:?}", report.risks) };
    assert_eq!((&row.what, row.people), (&AtRisk::Row, [0, 0, 0, 0, 0, 5, 2, 0, 1]));
    assert_eq!(value.what, AtRisk::Value("illness".into()));
    // One is certain, two have one of two, and three of five is 60 %.
    assert_eq!(value.people, [0, 0, 0, 0, 0, 0, 2, 5, 1]);
    let [town] = &*report.widths else { panic!("{:?}", report.widths) };
    assert_eq!((&*town.column, town.rows), ("town", [3, 0, 0, 0, 0, 0, 5]));
    let page = hand.page(Some(people));
    for text in [
        "62.5% (5)",
        "Of 1 person (12.5% of all) it is certain.",
        "town: exact 37.5%, all 62.5%",
        "Number of groups by size. 1 rows: 1; 2 rows: 1; 5 rows: 1",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // Whoever has no original learns the same.
    let alone = hand.audit(None, None).unwrap();
    assert_eq!((alone.risks, &alone.widths), (report.risks, &report.widths));
}

/// A table of 400 people with numbers, words and a missing value here and there.
fn people(folder: &Path) -> PathBuf {
    let mut text = String::from("age,town,sex,illness\n");
    for person in 0..400u32 {
        let mixed = person.wrapping_mul(2_654_435_761) >> 7;
        let age =
            if mixed % 31 == 0 { String::new() } else { (20 + mixed % 50).to_string() };
        let town = ["Oslo", "Rome", "Lima", "Bern", "Kyiv"][(mixed / 50 % 5) as usize];
        let illness = ["flu", "cough", "ulcer", "colic"][(mixed / 1000 % 4) as usize];
        text += &format!(
            "{age},{town},{},{illness}\n",
            ["f", "m"][(mixed / 7 % 2) as usize]
        );
    }
    let tree = "ulcer,belly,*\nflu,lung,*\ncough,lung,*\ncolic,belly,*\n";
    std::fs::write(folder.join("illness.csv"), tree).unwrap();
    let path = folder.join("people.csv");
    std::fs::write(&path, text).unwrap();
    path
}

fn published(folder: &Path, promise: &str, method: &str) -> Published {
    let recipe = format!(
        "[input]\ntable = \"people.csv\"\n[columns]\n\
         age = {{ role = \"quasi\", type = \"number\", hierarchy = {{ widths = [5, 10, 20] }} }}\n\
         town = \"quasi\"\nsex = \"quasi\"\n\
         illness = {{ role = \"sensitive\", hierarchy = {{ csv = \"illness.csv\" }} }}\n\
         [promise]\n{promise}\n[method]\n{method}\n[release]\ndirectory = \"out\"\n"
    );
    let spec = Spec::parse(&recipe, "recipe.toml").unwrap();
    let request = Request { replace: true, ..Request::new(&spec, folder) };
    publish(request, &Unwatched).unwrap()
}

#[test]
fn what_is_published_is_audited_the_same_from_its_files_alone() {
    let home = tempfile::tempdir().unwrap();
    let table = people(home.path());
    let promises = [
        "k-anonymity = { k = 5 }",
        "l-diversity = { l = 3, kind = \"entropy\" }",
        "l-diversity = { l = 2, kind = \"recursive\", c = 3 }",
        "t-closeness = { t = 0.3, distance = \"ordered\" }",
        "t-closeness = { t = 0.3, distance = \"hierarchical\" }",
        "beta-likeness = 1.5",
        "delta-disclosure = 1.2",
    ];
    let methods = [
        "name = \"full-domain\"\nsuppression = 0.05",
        "name = \"full-domain\"\nsuppression = 0.05\ncells = \"set\"",
        "name = \"mondrian\"",
        "name = \"mondrian\"\ncells = \"taxonomy\"",
        "name = \"mondrian\"\ncells = \"set\"",
    ];
    for promise in promises {
        for method in methods {
            let made = published(home.path(), promise, method);
            assert!(made.audit.holds(), "{promise} {method}");
            let release = Release::open(&made.directory).unwrap();
            let source = Source::open(&table, &ReadOptions::default()).unwrap();
            let original =
                Original::read(&source, &release.manifest, &Unwatched).unwrap();
            let given = Given { original: Some(&original), ..Given::default() };
            let again = audit(&release, &given, &Unwatched).unwrap().private;
            assert_eq!(again.loss, made.audit.loss, "{promise} {method}");
            assert_eq!(again.group_sizes, made.audit.group_sizes);
            for (a, b) in again.attacks.iter().zip(&made.audit.attacks) {
                assert_eq!((a.success, a.worst), (b.success, b.worst));
                assert_eq!(a.detail, b.detail);
            }
            let left_out = release.manifest.left_out;
            let linkage = attack(&again, "linkage");
            let n_groups: u64 = again.group_sizes.iter().map(|(_, n)| n).sum();
            if method.contains("full-domain") && !method.contains("set") {
                assert!(near(linkage.success, n_groups as f64 / 400.0));
                let nowhere = linkage.detail["no_candidates"].as_f64().unwrap();
                assert!(near(nowhere, left_out as f64 / 400.0));
            } else {
                assert!(linkage.success <= n_groups as f64 / 400.0 + 1e-12);
            }
        }
    }
}

/// Two wards of four in one cell: in each, three of four have what one of four has in the
/// other.
#[test]
fn robustness_of_values_in_rows_is_rechecked_over_all_arrangements() {
    let people = "ward,illness\n1,flu\n1,ulcer\n1,ulcer\n1,ulcer\n2,flu\n2,flu\n2,flu\n\
                  2,ulcer\n";
    let rows = ["\"[1, 2]\",flu"; 4].into_iter().chain(["\"[1, 2]\",ulcer"; 4]);
    let rows: Vec<&str> = rows.collect();
    let hand = |r: f64| {
        let ward = with(quasi("ward", "interval"), "type", json!("number"));
        let asked = json!({
            "r": r, "knowledge": "table", "signatures": [["ward"]], "support": 2,
        });
        ByHand::new(vec![ward, column("illness", "sensitive", "category")])
            .with(
                "promises",
                json!([with(
                    promise("r-robustness", asked),
                    "columns",
                    json!(["illness"])
                )]),
            )
            .plain_rows(&rows)
    };
    // Of j people in the second ward with the flu: C(4, j)^2 9^j.
    let ways = [1.0, 16.0 * 9.0, 36.0 * 81.0, 16.0 * 729.0, 6561.0];
    let of_one = (0..5).map(|j| ways[j] * j as f64 / 4.0).sum::<f64>();
    let wanted = of_one / ways.iter().sum::<f64>();
    for (r, at_risk) in [(1.2, 0), (1.3, 8)] {
        let report = hand(r).audit(people, None).unwrap();
        let checked = &report.promises[0];
        assert_eq!((checked.holds, checked.rows_at_risk), (at_risk == 0, at_risk));
        assert!(near(checked.measured["posterior"].as_f64().unwrap(), wanted));
        assert_eq!(checked.measured["exact"], 1);
    }
    assert_eq!(
        refused(&hand(1.2), None),
        "r-robustness cannot be rechecked without the original"
    );
}
