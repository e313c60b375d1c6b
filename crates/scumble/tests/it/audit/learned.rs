//! What all groups together teach about each of them: found where it was planted, in the size
//! that Bayes' rule gives, and nowhere else.

use scumble::audit::{Attacked, Report};
use serde_json::json;

use crate::builder::{ByHand, attack, audited, column, folder, run};

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

/// People of whom `share` of a hundred live in the town of their illness. Nobody else has
/// their number.
fn people(n: usize, share: u64, seed: u64) -> String {
    let mut dice = Dice(seed);
    let mut text = String::from("number,town,illness\n");
    for row in 0..n {
        let illness = dice.roll(6);
        let town = if dice.roll(100) < share { illness } else { dice.roll(6) };
        text += &format!("{row},t{town},{}\n", ILLNESSES[illness as usize]);
    }
    text
}

const ANATOMY: &str = "[columns]\n\
     number = { role = \"quasi\", type = \"number\" }\ntown = \"quasi\"\n\
     illness = \"sensitive\"\n[promise]\nl-diversity = 3\n[method]\nname = \"anatomy\"";

const MONDRIAN: &str = "[columns]\n\
     number = { role = \"quasi\", type = \"number\" }\ntown = \"quasi\"\n\
     illness = \"sensitive\"\n[promise]\nk-anonymity = 6\nl-diversity = 2\n\
     [method]\nname = \"mondrian\"\ncells = \"interval\"\ncolumn = \"priority\"";

fn found(table: &str, recipe: &str) -> Attacked {
    let home = folder(&[("table.csv", table)]);
    let published = run(home.path(), recipe, 3).unwrap();
    assert!(published.audit.holds());
    attack(&published.audit, "learned").clone()
}

fn number(attack: &Attacked, key: &str) -> f64 {
    attack.detail[key].as_f64().unwrap()
}

/// Groups of three with illnesses that are any, and how sure somebody is on average who knows
/// how towns come about and goes through all arrangements.
fn in_groups(share: u64, seed: u64) -> (Attacked, Attacked, f64) {
    const GROUPS: u64 = 2_000;
    let mut dice = Dice(seed);
    let (mut rows, mut values) = (Vec::new(), String::from("group,value,count\n"));
    let (mut table, mut best) = (String::from("number,town,illness\n"), 0.0);
    let told = share as f64 / 100.0 + (1.0 - share as f64 / 100.0) / 6.0;
    for group in 1..=GROUPS {
        let mut members: Vec<(u64, u64)> = Vec::new();
        let mut left: Vec<u64> = (0..6).collect();
        for _ in 0..3 {
            let illness = left.swap_remove(dice.roll(left.len() as u64) as usize);
            values += &format!("{group},{},1\n", ILLNESSES[illness as usize]);
            let town = if dice.roll(100) < share { illness } else { dice.roll(6) };
            let number = rows.len();
            table += &format!("{number},t{town},{}\n", ILLNESSES[illness as usize]);
            rows.push(format!("{group},{number},t{town}"));
            members.push((illness, town));
        }
        let fit = |(illness, town): (u64, u64)| match illness == town {
            true => told,
            false => (1.0 - told) / 5.0,
        };
        let orders = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
        let weight = |order: &[usize; 3]| -> f64 {
            let given = order.iter().zip(&members);
            given.map(|(other, (_, town))| fit((members[*other].0, *town))).product()
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
    let columns = [("number", "quasi"), ("town", "quasi"), ("illness", "sensitive")];
    let columns = columns.map(|(name, role)| column(name, role, "category"));
    let buckets =
        json!({ "file": "sensitive.csv", "column": "illness", "groups": GROUPS });
    let made = ByHand::new(columns.to_vec())
        .with("buckets", buckets)
        .rows("group,number,town", &rows)
        .file("sensitive.csv", &values);
    let audit = |table: Option<&str>| {
        attack(&made.audit(table, None).unwrap(), "learned").clone()
    };
    (audit(None), audit(Some(&table)), best)
}

#[test]
fn values_apart_are_told_as_well_as_bayes_says() {
    for (share, seed) in [(60, 5), (30, 6), (85, 7), (100, 8)] {
        let (attack, scored, best) = in_groups(share, seed);
        assert!((attack.success - best).abs() < 0.03, "{best} {attack:?}");
        assert!((attack.chance - 1.0 / 3.0).abs() < 1e-9, "{attack:?}");
        assert_eq!(attack.detail["expected"], true);
        // It is right as often as it thinks: of 6,000 guesses 4.9 standard errors are .032.
        assert_eq!(scored.detail["expected"], false);
        assert!((scored.success - best).abs() < 0.04, "{best} {scored:?}");
        assert!((scored.chance - 1.0 / 3.0).abs() < 0.032, "{scored:?}");
        assert_eq!(scored.detail["believed"], attack.detail["believed"]);
        assert_eq!(scored.detail["learned_from"], 6_000);
        if share >= 85 {
            assert!(number(&scored, "sure") > 0.5, "{scored:?}");
            assert!(number(&scored, "sure_right") > 0.88, "{scored:?}");
        }
    }
}

#[test]
fn groups_of_anatomy_teach_where_there_is_something_to_learn() {
    let told = found(&people(6_000, 90, 1), ANATOMY);
    assert!(told.success > told.chance + 0.3, "{told:?}");
    assert!((number(&told, "believed") - told.success).abs() < 0.05, "{told:?}");
    assert_eq!(told.detail["bound"], json!(1.0 / 3.0));
    assert!(number(&told, "above") > 0.9, "{told:?}");
    assert_eq!(number(&told, "above_alone"), 0.0);

    for seed in 0..3 {
        let free = found(&people(3_000, 0, 40 + seed), ANATOMY);
        assert_eq!(free.success, free.chance, "{free:?}");
        assert_eq!((number(&free, "gain"), number(&free, "sure")), (0.0, 0.0));
        assert_eq!(free.detail["learned_from"], 0);
    }
}

/// In rows of coarse cells who fits which group is known from the table.
#[test]
fn rows_of_coarse_cells_teach_too() {
    let table = people(6_000, 90, 1);
    let told = found(&table, MONDRIAN);
    assert_eq!(told.detail["expected"], false);
    // Small groups tell most of it alone.
    assert!(told.success > told.chance + 0.02, "{told:?}");
    assert!((number(&told, "believed") - told.success).abs() < 0.05, "{told:?}");

    let free = found(&people(3_000, 0, 9), MONDRIAN);
    assert_eq!(free.success, free.chance, "{free:?}");

    let home = folder(&[("table.csv", &table)]);
    let published = run(home.path(), MONDRIAN, 3).unwrap();
    let alone = audited(&published.release, None, None).unwrap();
    let mut reasons = alone.private.not_applicable.iter();
    let reason = reasons.find(|attack| attack.name == "learned").unwrap();
    assert_eq!(reason.reason, "needs the original");
}

#[test]
fn everybody_is_shown_what_readers_can_learn() {
    let table = people(3_000, 90, 1);
    let home = folder(&[("table.csv", &table)]);
    let published = run(home.path(), ANATOMY, 3).unwrap();
    let alone = audited(&published.release, None, None).unwrap();
    let with = audited(&published.release, Some(&table), None).unwrap();
    let shown = |report: &Report| format!("{:?}", attack(report, "learned"));
    assert_eq!(shown(&alone.public), shown(&with.public));
    assert_eq!(shown(&alone.public), shown(&alone.private));
    assert_eq!(
        format!("{:?}", attack(&published.audit, "learned")),
        shown(&with.private)
    );
    let page =
        std::fs::read_to_string(home.path().join("release/report.html")).unwrap();
    assert!(page.contains("Learns from the groups themselves how “illness”"), "{page}");
}

/// Beside coarse cells the rows still say who is in which group, and cells are what is seen.
#[test]
fn coarse_cells_beside_values_apart_are_learned_from() {
    let recipe = "[columns]\n\
        number = { role = \"quasi\", type = \"number\" }\ntown = \"quasi\"\n\
        illness = \"sensitive\"\n[promise]\n\
        k-anonymity = { k = 5, columns = [\"number\", \"town\"] }\n\
        l-diversity = { l = 3, columns = [\"illness\"] }\n\
        [[method]]\nname = \"mondrian\"\ncells = \"interval\"\n[[method]]\nname = \"anatomy\"";
    let told = found(&people(4_000, 95, 2), recipe);
    assert_eq!(told.detail["expected"], true);
    assert!(told.success > told.chance + 0.1, "{told:?}");
}
