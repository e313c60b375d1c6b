//! Releases under a population, planted to be weak, safe or tampered with.

use scumble::audit::{Given, audit, write_page};
use scumble::watch::Unwatched;
use serde_json::{Value, json};

use crate::builder::{ByHand, attack, promise, quasi};

fn presence(min: f64, max: f64) -> Value {
    json!([promise("delta-presence", json!({ "min": min, "max": max }))])
}

fn by_hand(columns: Vec<Value>, rows: &[&str], promises: Value) -> ByHand {
    ByHand::new(columns).with("promises", promises).plain_rows(rows)
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

/// Table 1 of `nergiz2007presence`, zip codes and nations already words.
const NINE: &str = "zip,age,nation\n47906,35,USA\n47903,59,Canada\n47906,42,USA\n\
    47630,18,Brazil\n47630,22,Brazil\n47633,63,Peru\n48973,33,Spain\n\
    48972,47,Bulgaria\n48970,52,France\n";
const FIVE: &str = "zip,age,nation\n47903,59,Canada\n47906,42,USA\n47633,63,Peru\n\
    48972,47,Bulgaria\n48970,52,France\n";

fn nine_people(rows: &[&str], age: Value, promises: Value) -> ByHand {
    let mut zip = quasi("zip", "taxonomy");
    zip["hierarchy"] = json!({ "rule": "mask", "side": "right" });
    let mut nation = quasi("nation", "taxonomy");
    let line = |leaf: &str, above: &str| json!([leaf, above, "*"]);
    nation["hierarchy"] = json!({ "rule": "tree", "lines": [
        line("USA", "America"), line("Canada", "America"), line("Brazil", "America"),
        line("Peru", "America"), line("Spain", "Europe"), line("Bulgaria", "Europe"),
        line("France", "Europe"),
    ] });
    by_hand(vec![zip, age, nation], rows, promises)
}

#[test]
fn the_nine_people_of_the_paper() {
    let age = quasi("age", "taxonomy");
    let rows = ["47***,*,America"; 3].into_iter().chain(["48***,*,Europe"; 2]);
    let rows: Vec<&str> = rows.collect();
    let hand = nine_people(&rows, age.clone(), presence(0.5, 0.667));
    let report = hand.audit(None, NINE).unwrap();
    let measured = &report.promises[0].measured;
    assert_eq!(measured["min"], json!(0.5));
    assert_eq!(measured["max"], json!(2.0 / 3.0));
    assert!(measured.get("unpublished").is_none());
    assert!(report.holds());
    let tighter =
        nine_people(&rows, age, presence(0.5, 0.666)).audit(None, NINE).unwrap();
    assert_eq!((tighter.holds(), tighter.promises[0].rows_at_risk), (false, 3));

    // The 5-anonymous table of the paper: everybody above 40 is in it, for certain.
    let mut age = quasi("age", "taxonomy");
    age["type"] = json!("number");
    age["hierarchy"] = json!({ "rule": "cuts", "cuts": [[40.0]] });
    let hand = nine_people(&["4****,\"[40, inf)\",*"; 5], age, presence(0.0, 0.667));
    let report = hand.audit(FIVE, NINE).unwrap();
    assert_eq!((report.holds(), report.promises[0].rows_at_risk), (false, 5));
    let presence = attack(&report, "presence");
    assert_eq!((presence.success, presence.worst), (1.0, 1.0));
    assert!(near(presence.chance, 5.0 / 9.0));
    assert_eq!(presence.detail["certain"], json!(9));
    assert_eq!(attack(&report, "linkage").detail["people"], json!(5));
}

#[test]
fn without_the_population_presence_cannot_be_rechecked() {
    let hand = by_hand(vec![quasi("x", "set")], &["a"], presence(0.0, 0.5));
    let error =
        audit(&hand.open().unwrap(), &Given::default(), &Unwatched).unwrap_err();
    let message = "delta-presence cannot be rechecked without the population";
    assert_eq!(error.to_string(), message);
    assert_eq!(error.hints(), ["give it with `--population FILE`"]);
}

#[test]
fn a_population_that_is_too_small_is_told_apart() {
    let hand = by_hand(vec![quasi("x", "set")], &["a", "a"], presence(0.0, 1.0));
    let error = hand.audit(None, "x\na\nb\n").unwrap_err();
    assert_eq!(error.to_string(), "the release is not of this population");
    let hand = hand.with("left_out", json!(2));
    assert!(
        hand.audit(None, "x\na\na\nb\n").is_err(),
        "two left out, but one person to be"
    );
    assert!(hand.audit(None, "x\na\na\nb\nb\n").is_ok());
}

/// The boxes of the source are drawn around the rows of the table alone.
#[test]
fn boxes_around_the_table_alone_break_presence() {
    let population = "x\na\nb\nc\nd\ne\nf\n";
    let table = "x\nb\nc\nd\n";
    let wide = ["\"{a, b, c, d, e, f}\""; 3];
    let hand = by_hand(vec![quasi("x", "set")], &wide, presence(0.4, 0.6));
    assert!(hand.audit(None, population).unwrap().holds());
    let tight = ["\"{b, c, d}\""; 3];
    let hand = by_hand(vec![quasi("x", "set")], &tight, presence(0.4, 0.6));
    let report = hand.audit(table, population).unwrap();
    assert_eq!((report.holds(), report.promises[0].rows_at_risk), (false, 6));
    let measured = json!({ "min": 0.0, "max": 1.0, "unpublished": 0.0 });
    assert_eq!(report.promises[0].measured, measured);
    assert_eq!(attack(&report, "presence").success, 1.0);
}

#[test]
fn cells_that_overlap_certify_nothing() {
    let rows = ["\"{a, b}\"", "\"{b, c}\""];
    let hand = by_hand(vec![quasi("x", "set")], &rows, presence(0.0, 1.0));
    let report = hand.audit(None, "x\na\nb\nb\nc\n").unwrap();
    assert!(!report.holds());
    assert_eq!(report.promises[0].rows_at_risk, 2);
    assert_eq!(report.promises[0].measured["overlapping"], json!(2));
}

/// Boxes are disjoint as products although no column is: nobody fits two.
#[test]
fn boxes_may_overlap_column_by_column() {
    let columns = || vec![quasi("x", "set"), quasi("y", "set")];
    let rows = ["\"{a, b}\",p", "\"{a, b}\",p", "a,\"{q, r}\"", "b,\"{q, r}\""];
    let hand = by_hand(columns(), &rows, presence(0.5, 1.0));
    let people = "x,y\na,p\nb,p\na,q\na,r\nb,q\n";
    let report = hand.audit(None, people).unwrap();
    assert!(report.holds(), "{:?}", report.promises);
    let measured = json!({ "min": 0.5, "max": 1.0 });
    assert_eq!(report.promises[0].measured, measured);
}

#[test]
fn people_who_are_not_published_share_what_was_left_out() {
    let hand = by_hand(vec![quasi("x", "set")], &["a", "a"], presence(0.0, 0.5));
    let population = "x\na\na\na\na\nb\nb\nc\nc\nc\n";
    let left_out = |n: u64| {
        let hand = by_hand(vec![quasi("x", "set")], &["a", "a"], presence(0.0, 0.5));
        let report = hand.with("left_out", json!(n)).audit(None, population).unwrap();
        (report.promises[0].measured["unpublished"].clone(), report.holds())
    };
    assert_eq!(left_out(0), (json!(0.0), true));
    assert_eq!(left_out(2), (json!(0.4), true));
    assert_eq!(left_out(3), (json!(0.6), false));
    // A manifest that hides how many were left out is refuted by the table.
    let table = "x\na\na\nb\nc\nc\n";
    let error = hand.audit(table, population).unwrap_err();
    assert_eq!(error.to_string(), "the release is not of this table");
}

#[test]
fn a_release_that_hides_everybody_tells_nothing_about_presence() {
    let hand = by_hand(vec![quasi("x", "set")], &["*"; 3], presence(0.3, 0.3));
    let population = "x\na\na\na\na\nb\nb\nc\nc\nc\nc\n";
    let report = hand.audit("x\na\nb\nb\n", population).unwrap();
    assert!(report.holds());
    let presence = attack(&report, "presence");
    assert!(near(presence.success, presence.chance) && near(presence.worst, 0.7));
    assert_eq!(presence.detail["certain"], json!(0));
}

/// Two people in one town and eight in the other, two of the ten in the table, and at most
/// 3 in 10 of a town may be: if towns could not be published, somebody from the small one
/// is in the table.
#[test]
fn where_the_search_ended_gives_somebody_away() {
    let population = "x\na\na\nb\nb\nb\nb\nb\nb\nb\nb\n";
    let full_domain = json!({ "name": "full-domain", "levels": { "x": 1 } });
    let mut column = quasi("x", "taxonomy");
    column["level"] = json!(1);
    let nodes = by_hand(vec![column], &["*"; 2], presence(0.0, 0.3))
        .with("method", full_domain.clone());
    let boxes = by_hand(vec![quasi("x", "set")], &["*"; 2], presence(0.0, 0.3))
        .with("method", json!({ "name": "mondrian" }));
    for hand in [nodes, boxes] {
        let report = hand.audit(None, population).unwrap();
        assert!(report.holds(), "the promise is about readers who do not know");
        let reversal = attack(&report, "reversal");
        assert!(near(reversal.detail["largest"].as_f64().unwrap(), 9.0 / 17.0));
        assert!(near(reversal.detail["smallest"].as_f64().unwrap(), 2.0 / 17.0));
        assert_eq!(reversal.detail["outside"], json!(2));
        assert_eq!(reversal.detail["events"], json!(1));
        assert!(reversal.success > reversal.chance);
    }
    // Two towns of the same size: which of them is to blame, nobody can say.
    let population = "x\na\na\nb\nb\n";
    for method in [full_domain, json!({ "name": "mondrian" })] {
        let hand = by_hand(vec![quasi("x", "set")], &["*"; 2], presence(0.5, 0.5))
            .with("method", method);
        let report = hand.audit(None, population).unwrap();
        let reversal = attack(&report, "reversal");
        assert!(near(reversal.success, reversal.chance) && near(reversal.worst, 0.5));
        assert_eq!(reversal.detail["outside"], json!(0));
    }
}

/// One row, eleven people, at most one in ten: parting any single person from the others
/// would have been allowed, had that person not been the one.
#[test]
fn a_cut_that_was_refused_gives_somebody_away_for_certain() {
    let population = format!("x\na\n{}", "b\n".repeat(10));
    let hand = by_hand(vec![quasi("x", "set")], &["*"], presence(0.0, 0.1))
        .with("method", json!({ "name": "mondrian" }));
    let audit = hand.audited("x\na\n", &*population).unwrap();
    let reversal = attack(&audit.private, "reversal");
    assert_eq!((reversal.success, reversal.worst), (1.0, 1.0));
    assert_eq!(reversal.detail["certain"], json!(11));
    assert_eq!(reversal.detail["certain_right"], json!(11));

    write_page(&hand.path(), &hand.open().unwrap().manifest, &audit.public).unwrap();
    let page = std::fs::read_to_string(hand.path().join("report.html")).unwrap();
    for words in [
        "believes of everybody in the population",
        "in the table with a probability from 0% to 10.0%.",
        "The attacker is certain about nobody.",
        "For at least 1 person that is outside of the promised range, which does not cover",
        "The attacker is certain about at least 11 people.",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

/// The same release, cut by coins: the refusal is a tenth likely for everybody.
#[test]
fn a_cut_that_coins_refused_gives_nobody_away() {
    let population = format!("x\na\n{}", "b\n".repeat(10));
    let method = json!({ "name": "mondrian", "looks": "coins", "suppression": 0.9 });
    let hand = by_hand(vec![quasi("x", "set")], &["*"], presence(0.0, 0.1))
        .with("method", method);
    let audit = hand.audited("x\na\n", &*population).unwrap();
    let reversal = attack(&audit.private, "reversal");
    assert!(near(reversal.detail["largest"].as_f64().unwrap(), 0.1));
    assert!(near(reversal.detail["smallest"].as_f64().unwrap(), 0.09));
    for (name, wanted) in [("events", 1), ("outside", 0), ("certain", 0)] {
        assert_eq!(reversal.detail[name], json!(wanted), "{name}");
    }
    write_page(&hand.path(), &hand.open().unwrap().manifest, &audit.public).unwrap();
    let page = std::fs::read_to_string(hand.path().join("report.html")).unwrap();
    for words in [
        "That is so, too, for somebody who knows how the groups were found",
        "For nobody that is outside of the promised range. The attacker",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
}

/// The same of levels: the manifest names those that were refused.
#[test]
fn levels_that_coins_refused_give_nobody_away() {
    let population = format!("x\na\n{}", "b\n".repeat(10));
    let told = |method: Value| {
        let hand = by_hand(vec![quasi("x", "set")], &["*"], presence(0.0, 0.1))
            .with("method", method);
        attack(&hand.audit(None, population.as_str()).unwrap(), "reversal")
            .detail
            .clone()
    };
    let levels = json!({ "x": 1 });
    let coins = told(json!({
        "name": "full-domain", "levels": levels, "looks": "coins", "refused": { "x": 0 },
    }));
    assert!(near(coins["largest"].as_f64().unwrap(), 0.1), "{coins:?}");
    assert!(near(coins["smallest"].as_f64().unwrap(), 0.09), "{coins:?}");
    assert_eq!((&coins["events"], &coins["outside"]), (&json!(1), &json!(0)));
    // Nothing was refused: nothing follows.
    let sure =
        told(json!({ "name": "full-domain", "levels": levels, "looks": "coins" }));
    assert!(near(sure["largest"].as_f64().unwrap(), 1.0 / 11.0), "{sure:?}");
    assert_eq!(sure["events"], json!(0));
    // Freely, the one who stands alone is the one.
    let free = told(json!({ "name": "full-domain", "levels": levels }));
    assert!(near(free["largest"].as_f64().unwrap(), 1.0), "{free:?}");
}

/// k-map refuses cuts, too: two people are too few for a row, though not for the range.
#[test]
fn cuts_that_k_map_refuses_are_reversed() {
    let population = "x\na\na\nb\nb\nb\nb\nb\nb\n";
    let k_map = promise("k-map", json!({ "k": 3 }));
    let range = promise("delta-presence", json!({ "min": 0.0, "max": 0.5 }));
    let told = |looks: &str| {
        let hand = by_hand(vec![quasi("x", "set")], &["*"; 2], json!([range, k_map]))
            .with("method", json!({ "name": "mondrian", "looks": looks }));
        let report = hand.audit(None, population).unwrap();
        attack(&report, "reversal").detail["largest"].as_f64().unwrap()
    };
    // Twelve pairs have one of the two in them, and one has both.
    assert!(near(told("free"), 7.0 / 13.0));
    assert!(near(told("coins"), 0.5));
}

#[test]
fn a_search_that_could_leave_rows_out_is_not_reversed() {
    let population = "x\na\na\nb\nb\nb\nb\nb\nb\nb\nb\n";
    let method = json!({ "name": "mondrian", "suppression": 0.5 });
    let hand = by_hand(vec![quasi("x", "set")], &["*"; 2], presence(0.0, 0.3))
        .with("method", method);
    let report = hand.audit(None, population).unwrap();
    assert!(report.attacks.iter().all(|attack| attack.name != "reversal"));
}
