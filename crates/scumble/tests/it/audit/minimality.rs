//! What the search tells of small tables, by attack and by going through all tables that give
//! the same release.

use std::collections::BTreeMap;

use scumble::recipe::{Published, Request, Spec, publish};
use scumble::table::Input;
use scumble::watch::Unwatched;
use serde_json::{Value, json};

use crate::builder::attack;

/// Publishes tables that are in memory.
fn published(recipe: &str, inputs: &[(&str, String)]) -> Published {
    let spec = Spec::parse(recipe, "recipe.toml").unwrap();
    let inputs = inputs.iter().map(|(name, text)| {
        ((*name).to_owned(), Input::Bytes(text.clone().into_bytes()))
    });
    publish(Request::in_memory(&spec, inputs), &Unwatched).unwrap()
}

fn rows(made: &Published) -> String {
    String::from_utf8(made.release.store().read("data.csv").unwrap()).unwrap()
}

/// All ways to give so many people the value 1.
fn ways(people: usize, ones: u32) -> impl Iterator<Item = u32> {
    (0..1u32 << people).filter(move |way| way.count_ones() == ones)
}

const EIGHT: [(u32, &str); 8] =
    [(1, "f"), (2, "f"), (3, "m"), (4, "f"), (5, "m"), (6, "m"), (7, "f"), (9, "m")];

fn of_values(way: u32, promise: &str, method: &str) -> Published {
    let people = EIGHT.iter().enumerate();
    let lines = people.map(|(place, (age, sex))| {
        format!("{age},{sex},{}\n", ["flu", "ulcer"][(way >> place & 1) as usize])
    });
    let table = format!("age,sex,ill\n{}", lines.collect::<String>());
    let recipe = format!(
        "[input]\ntable = \"table\"\n[columns]\n\
         age = {{ role = \"quasi\", type = \"number\", hierarchy = {{ widths = [2, 4] }} }}\n\
         sex = \"quasi\"\nill = \"sensitive\"\n\
         [promise]\n{promise}\n[method]\n{method}\n"
    );
    published(&recipe, &[("table", table)])
}

/// Two values, and groups of two at least.
const PAIRS: &str = "k-anonymity = 2\nl-diversity = { l = 2, kind = \"distinct\" }";

fn count(detail: &serde_json::Map<String, Value>, key: &str) -> u64 {
    detail[key].as_u64().unwrap()
}

/// What the attack says, if it is tried: how many people it is certain of, of how many
/// something is believed that breaks a promise, and whether that is a lower bound.
type Told = (u64, u64, bool);

/// For each table the release, and what the attack says; and how many people's value is the
/// same in all tables that give the release.
fn compared(ones: u32, promise: &str, method: &str) -> Vec<(u64, Option<Told>)> {
    let mut by_release: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    let mut found = Vec::new();
    for way in ways(8, ones) {
        let made = of_values(way, promise, method);
        let release = rows(&made);
        by_release.entry(release.clone()).or_default().push(way);
        let tried = made.audit.attacks.iter().find(|a| a.name == "minimality");
        let told = tried.map(|attack| {
            let detail = &attack.detail;
            assert_eq!(count(detail, "certain"), count(detail, "certain_right"));
            let at_least = detail["at_least"] == json!(true);
            (count(detail, "certain"), count(detail, "outside"), at_least)
        });
        found.push((release, told));
    }
    let certain = |release: &String| {
        let worlds = &by_release[release];
        let all = worlds.iter().fold(u32::MAX, |all, way| all & way);
        let none = worlds.iter().fold(u32::MAX, |none, way| none & !way);
        u64::from(((all | none) & 0xff).count_ones())
    };
    found.iter().map(|(release, told)| (certain(release), *told)).collect()
}

#[test]
fn cuts_tell_what_all_tables_of_the_same_release_have_in_common() {
    let method = "name = \"mondrian\"\nlooks = \"free\"\ncells = \"set\"";
    let alone = "l-diversity = { l = 2, kind = \"distinct\" }";
    let mut exposed = 0;
    for (ones, promise, choice) in [
        (4, PAIRS, ""),
        (3, alone, ""),
        (2, alone, ""),
        (3, alone, "column = \"next\"\nvalue = \"first\""),
    ] {
        for (certain, told) in compared(ones, promise, &format!("{method}\n{choice}")) {
            // Nothing was refused for its values, or the attack knows all.
            let told = told.unwrap_or((0, 0, false));
            assert_eq!(told, (certain, certain, false), "{ones} {promise} {choice}");
            exposed += u64::from(certain > 0);
        }
    }
    assert!(exposed > 20, "{exposed}");
}

#[test]
fn levels_tell_no_more_than_tables_have_in_common() {
    for (ones, promise) in [
        (3, "l-diversity = { l = 2, kind = \"distinct\" }"),
        (3, "l-diversity = { l = 1.7, kind = \"entropy\" }"),
        (4, "t-closeness = { t = 0.2, distance = \"equal\" }"),
    ] {
        for (certain, told) in compared(ones, promise, "name = \"full-domain\"") {
            let (told, _, at_least) = told.unwrap_or((0, 0, true));
            assert!(told <= certain && at_least);
        }
    }
}

/// Two women and three men, and one value that two people have: both are women, or women and
/// men would have been told apart.
#[test]
fn what_was_put_together_gives_women_away() {
    let table = |ills: [&str; 5]| {
        let people = ["f", "f", "m", "m", "m"].iter().zip(ills);
        let lines = people.map(|(sex, ill)| format!("{sex},{ill}\n"));
        format!("sex,ill\n{}", lines.collect::<String>())
    };
    let made = |ills, name: &str| {
        let recipe = format!(
            "[input]\ntable = \"table\"\n[columns]\nsex = \"quasi\"\nill = \"sensitive\"\n\
             [promise]\nl-diversity = {{ l = 2, kind = \"distinct\" }}\n\
             [method]\nname = \"{name}\"\nlooks = \"free\"\n"
        );
        published(&recipe, &[("table", table(ills))])
    };
    for name in ["full-domain", "mondrian"] {
        let together = made(["flu", "flu", "ulcer", "cough", "colic"], name);
        let attack = attack(&together.audit, "minimality");
        for key in ["certain", "certain_right", "outside"] {
            assert_eq!(count(&attack.detail, key), 2, "{name} {key}");
        }
        assert_eq!((attack.worst, attack.detail["people"].clone()), (1.0, json!(5)));
        let apart = made(["flu", "ulcer", "flu", "cough", "colic"], name);
        let tried = apart.audit.attacks.iter().find(|a| a.name == "minimality");
        let certain = tried.map_or(0, |attack| count(&attack.detail, "certain"));
        assert_eq!(certain, 0, "{name}");
    }
}

#[test]
fn coins_are_the_default_of_cuts_under_promises_about_values() {
    let made = of_values(0b0110_0101, PAIRS, "");
    assert_eq!(made.manifest.method.name, "mondrian");
    assert_eq!(made.manifest.method.parameters["looks"], json!("coins"));
    assert!(made.search.tried.is_empty(), "nothing was compared");
    let told = |made: &Published, words: &str| {
        made.manifest.not_promised.iter().any(|line| line.contains(words))
    };
    assert!(!told(&made, "minimality"));
    let tried =
        |made: &Published| made.audit.attacks.iter().any(|a| a.name == "minimality");
    assert!(!tried(&made));
    // A choice of cuts is one of free looks, and so are levels.
    for method in ["name = \"mondrian\"\ncolumn = \"next\"", "name = \"full-domain\""] {
        let made = of_values(0b0110_0101, PAIRS, method);
        assert_eq!(made.manifest.method.parameters["looks"], json!("free"));
        assert!(told(&made, "minimality"), "{method}");
    }
}

#[test]
fn where_sizes_refuse_nothing_is_told() {
    // Neighbours differ, so that every cut that leaves two on both sides is allowed.
    let choice = "name = \"mondrian\"\ncolumn = \"priority\"";
    let made = of_values(0b1010_1010, PAIRS, choice);
    let attack = made.audit.attacks.iter().find(|a| a.name == "minimality");
    assert!(attack.is_none(), "{attack:?}");
}

const TWELVE: [(u32, &str); 12] = [
    (1, "f"),
    (2, "f"),
    (3, "f"),
    (4, "m"),
    (5, "f"),
    (6, "m"),
    (7, "m"),
    (8, "f"),
    (9, "m"),
    (10, "f"),
    (11, "m"),
    (12, "m"),
];

fn town(inside: impl Fn(usize) -> bool) -> String {
    let people = TWELVE.iter().enumerate().filter(|(place, _)| inside(*place));
    let lines = people.map(|(_, (age, sex))| format!("{age},{sex}\n"));
    format!("age,sex\n{}", lines.collect::<String>())
}

fn of_presence(way: u32, max: f64, method: &str) -> Published {
    let recipe = format!(
        "[input]\ntable = \"table\"\npopulation = \"town\"\n[columns]\n\
         age = {{ role = \"quasi\", type = \"number\", hierarchy = {{ widths = [2, 4] }} }}\n\
         sex = \"quasi\"\n[promise]\ndelta-presence = {{ min = 0.0, max = {max} }}\n\
         [method]\nlooks = \"free\"\n{method}\n"
    );
    let inputs =
        [("table", town(|place| way >> place & 1 == 1)), ("town", town(|_| true))];
    published(&recipe, &inputs)
}

/// Everybody's presence over all tables that give the same release is what the attack says.
#[test]
fn all_refused_cuts_together_tell_what_tables_of_the_same_release_tell() {
    let mut exposed = 0;
    for (max, choice) in [(0.5, ""), (0.34, "column = \"next\"\nvalue = \"first\"")] {
        let mut by_release: BTreeMap<String, Vec<u32>> = BTreeMap::new();
        let mut found = Vec::new();
        for way in ways(12, 3) {
            let made = of_presence(way, max, &format!("name = \"mondrian\"\n{choice}"));
            let release = rows(&made);
            by_release.entry(release.clone()).or_default().push(way);
            found.push((release, attack(&made.audit, "reversal").detail.clone()));
        }
        for (release, detail) in found {
            let worlds = &by_release[&release];
            let share = |place: usize| {
                let inside = worlds.iter().filter(|way| **way >> place & 1 == 1);
                inside.count() as f64 / worlds.len() as f64
            };
            let beliefs: Vec<f64> = (0..12).map(share).collect();
            let outside = beliefs.iter().filter(|p| **p > max + 1e-9).count() as u64;
            assert_eq!(count(&detail, "outside"), outside, "{choice} {release}");
            let near = |key: &str, wanted: f64| {
                (detail[key].as_f64().unwrap() - wanted).abs() < 1e-9
            };
            let largest = beliefs.iter().copied().fold(0.0, f64::max);
            // The share of the group is among what the attack looks at.
            assert!(outside == 0 || near("largest", largest), "{choice} {detail:?}");
            assert_eq!(detail["at_least"], json!(false));
            assert_eq!(detail["certain"], detail["certain_right"]);
            exposed += u64::from(outside > 0);
        }
    }
    assert!(exposed > 20, "{exposed}");
}

#[test]
fn all_finer_levels_together_are_told_and_marked_as_a_lower_bound() {
    let mut tried = 0;
    for (max, way) in [0.3, 0.34, 0.4]
        .into_iter()
        .flat_map(|max| ways(12, 3).step_by(11).map(move |way| (max, way)))
    {
        let made = of_presence(way, max, "name = \"full-domain\"");
        let Some(attack) = made.audit.attacks.iter().find(|a| a.name == "reversal")
        else {
            continue;
        };
        let detail = &attack.detail;
        assert_eq!(detail["at_least"], json!(true));
        assert_eq!(detail["certain"], detail["certain_right"]);
        tried += 1;
    }
    assert!(tried > 20, "{tried}");
}
