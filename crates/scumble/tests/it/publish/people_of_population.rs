//! Promises with a population where people have several rows: everybody counts once, in the
//! table and in the population. Judged here from files and tables alone, and against the same
//! table with one row of each person.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use scumble::recipe::Published;

use crate::builder::{Record, attack, audited, folder, records, run_whole};

/// Everybody who may be in a table, and their visits if they are.
struct Town {
    /// Name, street and age.
    everyone: Vec<(String, String, u32)>,
    /// Visits, by the place of who made them.
    visits: Vec<usize>,
}

impl Town {
    fn random(seed: u64) -> Self {
        let random = &mut ChaCha8Rng::seed_from_u64(seed);
        let n = random.random_range(6..=16);
        let everyone: Vec<_> = (0..n)
            .map(|id| {
                let street = ["a", "b", "c"][random.random_range(0..3)];
                (format!("p{id}"), street.to_owned(), random.random_range(20..26))
            })
            .collect();
        let mut visits = Vec::new();
        for person in 0..n {
            // Somebody has several.
            let times = random.random_range(if person == 0 { 2..=4 } else { 1..=4 });
            if person == 0 || random.random_bool(0.4) {
                visits.extend(vec![person; times]);
            }
        }
        Self { everyone, visits }
    }

    fn population(&self) -> String {
        let lines =
            self.everyone.iter().map(|(id, town, age)| format!("{id},{town},{age}\n"));
        format!("id,town,age\n{}", lines.collect::<String>())
    }

    /// The visits, or one of each person.
    fn table(&self, once: bool) -> String {
        let mut text = String::from("visit,id,town,age,illness\n");
        let mut seen = BTreeSet::new();
        for (visit, person) in self.visits.iter().enumerate() {
            if seen.insert(person) || !once {
                let (id, town, age) = &self.everyone[*person];
                let illness = ["flu", "gout"][visit * 5 % 3 % 2];
                text.push_str(&format!("v{visit},{id},{town},{age},{illness}\n"));
            }
        }
        text
    }
}

const COLUMNS: &str = "[columns]\nid = \"identifier\"\nvisit = \"other\"\n\
     town = \"quasi\"\nage = { role = \"quasi\", type = \"number\" }\n\
     illness = \"sensitive\"\n";

fn published(home: &Path, rules: &str, seed: u64) -> scumble::error::Result<Published> {
    let input = "[input]\ntable = \"table.csv\"\npopulation = \"everyone.csv\"\n\
                 person = \"id\"\n";
    run_whole(home, &format!("{input}{COLUMNS}{rules}\n"), seed)
}

/// Whether a cell stands for a value: `*`, a range, a set, or the value itself.
fn covers(cell: &str, value: &str) -> bool {
    let inner = |open, close| cell.strip_prefix(open)?.strip_suffix(close);
    if let Some((low, high)) = inner('[', ')').and_then(|range| range.split_once(", "))
    {
        let value: f64 = value.parse().unwrap();
        return low.parse::<f64>().unwrap() <= value && value < high.parse().unwrap();
    }
    if let Some(range) = inner('[', ']') {
        let (low, high) = range.split_once(", ").unwrap();
        return match value.parse::<f64>() {
            Ok(value) => {
                low.parse::<f64>().unwrap() <= value && value <= high.parse().unwrap()
            }
            Err(_) => low <= value && value <= high,
        };
    }
    match inner('{', '}') {
        Some(set) => set.split(", ").any(|known| known == value),
        None => cell == "*" || cell == value,
    }
}

/// A published group: who of the population fits it, and who of them is in the table with a
/// published row.
struct Group {
    fitting: BTreeSet<usize>,
    inside: BTreeSet<usize>,
}

/// The groups, and those who fit none: all, and who of them is in the table.
fn judged(town: &Town, rows: &[Record]) -> (BTreeMap<[String; 2], Group>, Group) {
    let mut groups: BTreeMap<[String; 2], Group> = BTreeMap::new();
    let empty = || Group { fitting: BTreeSet::new(), inside: BTreeSet::new() };
    for row in rows {
        let cells = ["town", "age"].map(|name| row[name].clone());
        let visit: usize = row["visit"][1..].parse().unwrap();
        groups.entry(cells).or_insert_with(empty).inside.insert(town.visits[visit]);
    }
    let mut others = empty();
    for (person, (_, street, age)) in town.everyone.iter().enumerate() {
        let fits = |cells: &[String; 2]| {
            covers(&cells[0], street) && covers(&cells[1], &age.to_string())
        };
        let mut fitting = groups.iter_mut().filter(|(cells, _)| fits(cells));
        match fitting.next() {
            Some((_, group)) => _ = group.fitting.insert(person),
            None => {
                others.fitting.insert(person);
                others.inside.extend(town.visits.iter().filter(|who| **who == person));
            }
        }
        assert!(fitting.next().is_none(), "somebody fits two groups");
    }
    (groups, others)
}

#[test]
fn everybody_counts_once_in_table_and_population() {
    let (min, max) = (0.1, 0.7);
    let presence = "[promise]\ndelta-presence = { min = 0.1, max = 0.7 }\n";
    let mut met = BTreeMap::new();
    for seed in 0..40 {
        let town = Town::random(seed);
        let everyone = town.population();
        let (visits, once) = (town.table(false), town.table(true));
        let n_inside = town.visits.iter().collect::<BTreeSet<_>>().len();
        let home = folder(&[("table.csv", &visits), ("everyone.csv", &everyone)]);
        let reduced = folder(&[("table.csv", &once), ("everyone.csv", &everyone)]);
        for (promise, method) in [
            (presence, ""),
            (presence, "name = \"full-domain\""),
            (presence, "name = \"mondrian\"\nlooks = \"free\""),
            (presence, "name = \"full-domain\"\nlooks = \"free\""),
            (presence, "name = \"full-domain\"\nlooks = \"free\"\nsuppression = 0.5"),
            (&format!("{presence}k-anonymity = 2\n"), ""),
            (&format!("{presence}k-map = 4\n"), "name = \"mondrian\""),
            ("[promise]\nk-map = 4\n", "name = \"mondrian\""),
            ("[promise]\nk-map = 4\nk-anonymity = 2\n", "name = \"full-domain\""),
        ] {
            let case = format!("seed {seed}: {promise}{method}");
            let rules = format!("{promise}[method]\n{method}\n");
            let (of_visits, of_people) = (
                published(home.path(), &rules, seed),
                published(reduced.path(), &rules, seed),
            );
            let free = method.contains("suppression");
            if of_visits.is_err() || of_people.is_err() {
                let both = of_visits.is_err() && of_people.is_err();
                // A share of rows is not one of people.
                assert!(both || free, "{case}");
                continue;
            }
            let (made, once) = (of_visits.unwrap(), of_people.unwrap());
            let rows = records(&home.path().join("release/data.csv"));
            let (groups, others) = judged(&town, &rows);
            let coins = made.manifest.method.parameters.get("looks");
            let coins = coins.is_some_and(|looks| looks == "coins");
            if coins {
                // How many rows somebody has decides nothing.
                let rows = records(&reduced.path().join("release/data.csv"));
                let (same, _) = judged(&town, &rows);
                assert!(groups.keys().eq(same.keys()), "{case}");
            }
            *met.entry(method).or_insert(0) += 1;
            let share = |group: &Group| {
                group.inside.len() as f64 / group.fitting.len().max(1) as f64
            };
            let shares = groups.values().map(share);
            let told = |name: &str| {
                let checked = made.audit.promises.iter().find(|p| p.name == name);
                checked.map(|checked| &checked.measured)
            };
            if let Some(measured) = told("delta-presence") {
                let unpublished = (!others.fitting.is_empty()).then(|| share(&others));
                let shares: Vec<f64> = shares.chain(unpublished).collect();
                let low = shares.iter().copied().fold(1.0, f64::min);
                let high = shares.iter().copied().fold(0.0, f64::max);
                assert!(low >= min && high <= max, "{case}: {low} {high}");
                let found = [&measured["min"], &measured["max"]];
                let found = found.map(|number| number.as_f64().unwrap());
                assert_eq!(found, [low, high], "{case}");
                assert_eq!(measured["counted"], "people");
                let guess = attack(&made.audit, "presence");
                assert_eq!(guess.detail["largest"].as_f64(), Some(high), "{case}");
                assert_eq!(guess.detail["people"], town.everyone.len());
                if coins {
                    let reversed = attack(&made.audit, "reversal");
                    assert_eq!(reversed.detail["outside"], 0, "{case}");
                    let of_once = attack(&once.audit, "reversal");
                    assert_eq!(reversed.success, of_once.success, "{case}");
                }
            }
            if let Some(measured) = told("k-map") {
                let smallest = groups.values().map(|group| group.fitting.len()).min();
                assert_eq!(
                    measured["k"].as_u64(),
                    smallest.map(|n| n as u64),
                    "{case}"
                );
                assert!(smallest >= Some(4), "{case}");
            }
            if let Some(measured) = told("k-anonymity") {
                let smallest = groups.values().map(|group| group.inside.len()).min();
                assert_eq!(
                    measured["k"].as_u64(),
                    smallest.map(|n| n as u64),
                    "{case}"
                );
                assert!(smallest >= Some(2), "{case}");
            }
            let linkage = attack(&made.audit, "linkage");
            let people: usize = groups.values().map(|group| group.inside.len()).sum();
            if town.visits.len() > n_inside {
                assert_eq!(linkage.detail["people"], people, "{case}");
            }
            let again = audited(&made.release, Some(&visits), Some(&everyone)).unwrap();
            for (one, other) in again.private.promises.iter().zip(&made.audit.promises)
            {
                assert_eq!(one.measured, other.measured, "{case}");
            }
            let alone = audited(&made.release, None, Some(&everyone));
            match told("delta-presence") {
                Some(_) => {
                    let error = alone.unwrap_err().to_string();
                    assert!(error.contains("of people cannot be rechecked"), "{error}");
                }
                // The population is all that it counts.
                None => assert!(alone.unwrap().private.holds(), "{case}"),
            }
        }
    }
    assert!(met.values().all(|n| *n > 8) && met.len() == 6, "{met:?}");
}

#[test]
fn rows_that_name_nobody_are_people_of_the_population() {
    // Two rows without a name need two people of these values who are not named in the table.
    let everyone = "id,town,age\np1,a,20\np2,a,20\n,a,20\np4,a,20\n";
    let table = "visit,id,town,age,illness\nv0,p1,a,20,flu\nv1,p1,a,20,flu\nv2,,a,20,flu\n\
                 v3,,a,20,gout\n";
    let rules = "[promise]\nk-map = 2\n";
    let home = folder(&[("table.csv", table), ("everyone.csv", everyone)]);
    let made = published(home.path(), rules, 1).unwrap();
    assert_eq!(made.audit.promises[0].measured["k"], 4);
    let more = format!("{table}v4,,a,20,flu\nv5,,a,20,flu\n");
    let home = folder(&[("table.csv", &more), ("everyone.csv", everyone)]);
    let error = published(home.path(), rules, 1).unwrap_err().to_string();
    let wanted = "1 person of the table is not in the population";
    assert!(error.contains(wanted), "{error}");
}

#[test]
fn tables_that_do_not_agree_with_the_population_are_refused() {
    let everyone = "id,card,town,age\nwillem,card-one,a,20\nevarist,card-two,a,21\njoanna,card-three,b,22\nrianne,card-four,b,23\n";
    let table = "visit,id,card,town,age,illness\nv0,willem,card-one,a,20,flu\nv1,willem,card-one,a,20,gout\n\
                 v2,joanna,card-three,b,22,flu\n";
    let fails = |table: &str, everyone: &str, key: &str, rules: &str, wanted: &str| {
        let home = folder(&[("table.csv", table), ("everyone.csv", everyone)]);
        let text = format!(
            "input.table = \"table.csv\"\ninput.population = \"everyone.csv\"\n\
             input.person = \"id\"\n{}{}{}",
            if key.is_empty() {
                String::new()
            } else {
                format!("input.key = \"{key}\"\n")
            },
            COLUMNS.replace("id =", "card = \"identifier\"\nid ="),
            rules,
        );
        let result = run_whole(home.path(), &text, 1);
        if wanted.is_empty() {
            assert!(result.is_ok(), "{:?}", result.err());
            return;
        }
        let error = result.unwrap_err();
        let found = format!("{error} / {}", error.hints().join(" / "));
        assert!(found.contains(wanted), "{found}");
        assert!(error.place().is_some() && !error.hints().is_empty(), "{found}");
        assert_eq!(error.exit_code(), 2, "{found}");
        assert!(!found.contains("willem") && !found.contains("card-"), "{found}");
        assert!(!home.path().join("release").exists());
    };
    let k = "[promise]\nk-map = 2\n";
    for key in ["", "id", "card"] {
        fails(table, everyone, key, k, "");
        fails(
            &table.replace("v1,willem,card-one,a,20", "v1,willem,card-one,a,21"),
            everyone,
            key,
            k,
            "1 person has rows with different quasi values, but is one person of the population",
        );
        fails(
            &table.replace("joanna,card-three,b,22", "joanna,card-three,b,23"),
            everyone,
            key,
            k,
            "1 person has other quasi values than the person with the same key in",
        );
    }
    fails(
        &table.replace("v1,willem,card-one", "v1,willem,card-two"),
        everyone,
        "card",
        k,
        "1 person has rows under several keys, but is one person of the population",
    );
    // Two people of these values may be there, but not with one key.
    let twins = everyone.replace("evarist,card-two,a,21", "evarist,card-two,a,20");
    for name in ["joanna", ""] {
        fails(
            &table.replace("joanna,card-three,b,22", &format!("{name},card-one,a,20")),
            &twins,
            "card",
            k,
            "1 key is of several people, but each is one person of the population",
        );
    }
    fails(
        table,
        &everyone.replace("rianne,card-four", "joanna,card-four"),
        "card",
        k,
        "1 person has rows under several keys, but is one person of the population",
    );
    fails(
        table,
        &everyone.replace("rianne,card-four", "joanna,card-four"),
        "",
        k,
        "`id` does not tell people apart: 1 row has one that another row has already",
    );
    fails(
        &table.replace("joanna,", "nobody9,"),
        everyone,
        "",
        k,
        "1 person of the table is not in the population",
    );
    let weights =
        "[promise]\ndelta-presence = { max = 0.9 }\n[method]\ncells = \"pdf\"\n";
    fails(
        table,
        everyone,
        "",
        weights,
        "pdf cells beside a population do not serve people with several rows",
    );
}
