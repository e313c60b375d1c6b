//! What other published columns tell about a protected one: it is found where it was planted,
//! in the size that Bayes' rule gives, and nowhere else.

use scumble::audit::{Attacked, Report};
use serde_json::json;

use crate::builder::{ByHand, attack, audited, column, folder, quasi, run};

const ILLNESSES: [&str; 6] = ["flu", "cough", "ulcer", "asthma", "gout", "measles"];

/// Numbers that depend on nothing but the last.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (word ^ (word >> 31)) % sides
    }
}

/// How wards come about.
#[derive(Clone, Copy)]
enum Ward {
    /// From nothing.
    Free,
    /// From the illness, for as many of a hundred.
    Illness(u64),
    /// From the town, as the illness does.
    Town,
}

fn people(n: usize, ward: Ward, seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut text = String::from("age,town,ward,note,illness\n");
    for row in 0..n {
        let (age, town) = (20 + dice.roll(50), dice.roll(6));
        let illness = match ward {
            Ward::Town if dice.roll(10) < 8 => town,
            _ => dice.roll(6),
        };
        let from = match ward {
            Ward::Illness(share) if dice.roll(100) < share => illness,
            Ward::Town if dice.roll(10) < 8 => town,
            _ => dice.roll(6),
        };
        let illness = ILLNESSES[illness as usize];
        text += &format!("{age},t{town},w{from},note {row},{illness}\n");
    }
    text
}

const COLUMNS: &str = "[columns]\n\
     age = { role = \"quasi\", type = \"number\", hierarchy = { widths = [10, 20] } }\n\
     town = \"quasi\"\nward = \"other\"\nnote = \"other\"\nillness = \"sensitive\"\n[promise]\n";

/// Ways to protect the illness.
const WAYS: [(&str, &str); 3] = [
    (
        "drawn",
        "breach = { prior = 0.2, posterior = 0.6 }\n[method]\nname = \"uniform-perturbation\"",
    ),
    ("apart", "l-diversity = 3\n[method]\nname = \"anatomy\""),
    ("coarse", "k-anonymity = 5\nl-diversity = 2\n[method]\nname = \"mondrian\""),
];

/// What the attack finds in a release that is made this way.
fn found(table: &str, way: &str, seed: u64) -> Attacked {
    let home = folder(&[("table.csv", table)]);
    let published = run(home.path(), &format!("{COLUMNS}{way}"), seed).unwrap();
    assert!(published.audit.holds());
    attack(&published.audit, "dependence").clone()
}

/// The same where illnesses stand apart, by groups of three that are any: in groups that are
/// always of the same, nothing could be learned. With the table, and how sure somebody is on
/// average who knows how wards come about and goes through all arrangements of each group.
fn in_groups(share: u64, seed: u64) -> (Attacked, Attacked, f64) {
    const GROUPS: u64 = 2_000;
    let mut dice = Dice(seed);
    let (mut rows, mut values) = (Vec::new(), String::from("group,value,count\n"));
    let (mut table, mut best) = (String::from("age,ward,illness\n"), 0.0);
    for group in 1..=GROUPS {
        let mut members: Vec<(u64, u64)> = Vec::new();
        let mut left: Vec<u64> = (0..6).collect();
        for _ in 0..3 {
            let illness = left.swap_remove(dice.roll(left.len() as u64) as usize);
            values += &format!("{group},{},1\n", ILLNESSES[illness as usize]);
            let is_told = dice.roll(100) < share;
            let ward = if is_told { illness } else { dice.roll(6) };
            // Ages tell who is who, and nothing else.
            let age = rows.len();
            table += &format!("{age},w{ward},{}\n", ILLNESSES[illness as usize]);
            rows.push(format!("{group},{age},w{ward}"));
            members.push((illness, ward));
        }
        let told = share as f64 / 100.0 + (1.0 - share as f64 / 100.0) / 6.0;
        let fit = |(illness, ward): (u64, u64)| match illness == ward {
            true => told,
            false => (1.0 - told) / 5.0,
        };
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let weight = |order: &[usize; 3]| -> f64 {
            let given = order.iter().zip(&members);
            given.map(|(other, (_, ward))| fit((members[*other].0, *ward))).product()
        };
        let total: f64 = orders.iter().map(weight).sum();
        for row in 0..3 {
            let sure = (0..3).map(|value| {
                let has = orders.iter().filter(|order| order[row] == value);
                has.map(weight).sum::<f64>() / total
            });
            best += sure.fold(0.0, f64::max) / (3 * GROUPS) as f64;
        }
    }
    let columns = [("age", "quasi"), ("ward", "other"), ("illness", "sensitive")];
    let columns = columns.map(|(name, role)| column(name, role, "category"));
    let buckets =
        json!({ "file": "sensitive.csv", "column": "illness", "groups": GROUPS });
    let made = ByHand::new(columns.to_vec())
        .with("buckets", buckets)
        .rows("group,age,ward", &rows)
        .file("sensitive.csv", &values);
    let audit = |table: Option<&str>| {
        attack(&made.audit(table, None).unwrap(), "dependence").clone()
    };
    (audit(None), audit(Some(&table)), best)
}

fn gain(attack: &Attacked) -> f64 {
    attack.detail["gain"].as_f64().unwrap()
}

#[test]
fn a_ward_that_follows_from_the_illness_tells_it() {
    let table = people(4_000, Ward::Illness(100), 1);
    let ways = [WAYS[0], WAYS[2]].map(|(name, way)| (name, found(&table, way, 3)));
    for (name, attack) in ways.into_iter().chain([("apart", in_groups(100, 1).0)]) {
        assert!(attack.success > 0.95, "{name}: {attack:?}");
        assert!(attack.chance < 0.7, "{name}: {attack:?}");
        assert!(attack.worst > 0.99, "{name}: {attack:?}");
        assert_eq!(attack.detail["by"], "ward", "{name}");
        assert_eq!(attack.detail["columns"], json!(["ward"]), "{name}");
        assert!(attack.detail["sure"].as_f64().unwrap() > 0.7, "{name}: {attack:?}");
        // Notes tell rows apart, so what was drawn is held against the table.
        assert_eq!(attack.detail["expected"], name == "apart", "{name}");
    }
}

#[test]
fn columns_that_tell_nothing_gain_nothing() {
    for seed in 0..4 {
        let table = people(3_000, Ward::Free, 100 + seed);
        for (name, way) in WAYS {
            let attack = found(&table, way, seed);
            assert!(gain(&attack).abs() < 0.01, "{name}: {attack:?}");
        }
    }
}

#[test]
fn what_quasi_cells_tell_is_not_counted_again() {
    let table = people(6_000, Ward::Town, 7);
    for (name, way) in WAYS {
        // Groups that are dealt at random mix towns, and what a town tells there is told by
        // `background-knowledge`.
        let attack = found(&table, way, 3);
        assert!(gain(&attack) < 0.02, "{name}: {attack:?}");
    }
}

#[test]
fn the_expected_success_is_that_of_bayes() {
    // Of 100 wards 60 follow from the illness, and a sixth of the others by chance.
    let told = 0.6 + 0.4 / 6.0;
    let table = people(12_000, Ward::Illness(60), 5);
    let drawn = found(&table, WAYS[0].1, 3);
    // A value is kept, or drawn evenly: the likeliest is that which ward and draw agree on,
    // else whichever tells more.
    let home = folder(&[("table.csv", &table)]);
    let text = format!("{COLUMNS}{}", WAYS[0].1);
    let published = run(home.path(), &text, 3).unwrap();
    let note = &published.manifest.perturbation()[0];
    let note = serde_json::to_value(&note.subtables[0].operator).unwrap();
    let keep = note["keep"].as_f64().unwrap();
    let (own, other) = (keep + (1.0 - keep) / 6.0, (1.0 - keep) / 6.0);
    let off = (1.0 - told) / 5.0;
    let mut best = 0.0;
    for ward in 0..6 {
        for drawn in 0..6 {
            let joint = |value: usize| {
                let ward = if value == ward { told } else { off };
                ward * if value == drawn { own } else { other } / 6.0
            };
            best += (0..6).map(joint).fold(0.0, f64::max);
        }
    }
    assert!((drawn.success - best).abs() < 0.02, "{best} {drawn:?}");
    assert!((drawn.chance - own).abs() < 0.02, "{own} {drawn:?}");
}

#[test]
fn values_apart_are_told_as_well_as_bayes_says() {
    for (share, seed) in [(60, 5), (30, 6), (85, 7)] {
        let (attack, scored, best) = in_groups(share, seed);
        assert!((attack.success - best).abs() < 0.03, "{best} {attack:?}");
        assert!((attack.chance - 1.0 / 3.0).abs() < 1e-9, "{attack:?}");
        // It is right as often as it thinks: of 6,000 guesses 4.9 standard errors are .032.
        assert_eq!(scored.detail["scored"], 6_000);
        assert_eq!(scored.detail["expected"], false);
        assert!(
            (scored.success - attack.success).abs() < 0.04,
            "{scored:?} {attack:?}"
        );
        assert!((scored.chance - 1.0 / 3.0).abs() < 0.032, "{scored:?}");
    }
}

/// Groups that `anatomy` dealt, of a ward that follows from the illness: what is learned is
/// held against the table.
#[test]
fn groups_of_anatomy_are_learned_from() {
    let table = people(6_000, Ward::Illness(80), 3);
    let attack = found(&table, WAYS[1].1, 3);
    assert_eq!(attack.detail["expected"], false);
    assert!(attack.success > attack.chance + 0.2, "{attack:?}");
    let believed = attack.detail["believed"]["success"].as_f64().unwrap();
    assert!((attack.success - believed).abs() < 0.04, "{attack:?}");
}

#[test]
fn noise_on_both_sides_is_undone() {
    let table = people(12_000, Ward::Illness(100), 9);
    let columns = COLUMNS.replace("ward = \"other\"", "ward = \"sensitive\"");
    let way = "breach = { prior = 0.2, posterior = 0.6 }\n\
               [method]\nname = \"uniform-perturbation\"\n";
    let home = folder(&[("table.csv", &table)]);
    let published = run(home.path(), &format!("{columns}{way}"), 3).unwrap();
    let tried: Vec<&Attacked> =
        published.audit.attacks.iter().filter(|a| a.name == "dependence").collect();
    let names: Vec<&str> =
        tried.iter().map(|a| a.detail["column"].as_str().unwrap()).collect();
    assert_eq!(names, ["ward", "illness"]);
    for attack in tried {
        // Of two even draws either is as good a guess where they differ, so no more guesses
        // are right; but where they agree the guess is surer, by Bayes' rule this sure.
        let (own, other) = (attack.chance, (1.0 - attack.chance) / 5.0);
        let agreed = own * own / (own * own + 5.0 * other * other);
        assert_eq!(attack.detail["expected"], false);
        assert!(gain(attack).abs() < 0.03, "{attack:?}");
        assert!((attack.worst - agreed).abs() < 0.05, "{agreed} {attack:?}");
    }
}

#[test]
fn nothing_beside_is_said_so() {
    let text = |columns: &[serde_json::Value], rows: &[&str]| {
        let release = ByHand::new(columns.to_vec()).plain_rows(rows);
        let report = release.audit(None, None).unwrap();
        let reason = report.not_applicable.iter().find(|a| a.name == "dependence");
        reason.map(|attack| attack.reason.clone())
    };
    let illness = column("illness", "sensitive", "category");
    let alone =
        text(&[quasi("town", "taxonomy"), illness.clone()], &["*,flu", "*,gout"]);
    let wanted = "no other column is published beside the protected one";
    assert_eq!(alone.as_deref(), Some(wanted));
    let ward = column("ward", "other", "category");
    let open = text(
        &[column("town", "quasi", "category"), illness.clone(), ward.clone()],
        &["a,flu,w1", "b,gout,w2"],
    );
    let wanted =
        "no sensitive column is randomized, stands apart or is in rows of coarse cells";
    assert_eq!(open.as_deref(), Some(wanted));
    let both =
        text(&[quasi("town", "taxonomy"), illness, ward], &["*,flu,w1", "*,gout,w2"]);
    assert_eq!(both, None);
}

#[test]
fn the_table_scores_it_and_everybody_is_shown_the_same() {
    let table = people(2_000, Ward::Illness(100), 1);
    let home = folder(&[("table.csv", &table)]);
    let published = run(home.path(), &format!("{COLUMNS}{}", WAYS[0].1), 3).unwrap();
    let alone = audited(&published.release, None, None).unwrap();
    let with = audited(&published.release, Some(&table), None).unwrap();
    let shown = |report: &Report| format!("{:?}", attack(report, "dependence"));
    assert_eq!(shown(&alone.public), shown(&with.public));
    assert_eq!(shown(&alone.public), shown(&alone.private));
    let (alone, with) =
        (attack(&alone.private, "dependence"), attack(&with.private, "dependence"));
    assert_eq!(format!("{with:?}"), shown(&published.audit));
    assert_eq!(
        (&alone.detail["expected"], &with.detail["expected"]),
        (&json!(true), &json!(false))
    );
    assert_eq!(with.detail["believed"]["success"], alone.success);
    // Every row has a note of its own; a ward that tells all is nearly always right.
    assert_eq!(with.detail["scored"], 2_000);
    assert!(
        with.success > 0.95 && (with.success - alone.success).abs() < 0.06,
        "{with:?}"
    );
    let page =
        std::fs::read_to_string(home.path().join("release/report.html")).unwrap();
    assert!(page.contains("Guesses “illness” from “ward”"), "{page}");
}
