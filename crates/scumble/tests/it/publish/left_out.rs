//! Rows that one of several methods leaves out are left out of the whole release, counted once,
//! and what is left keeps every promise: judged here from the files and the table.

use std::collections::{BTreeMap, BTreeSet};

use scumble::estimate::{Evidence, Query, Way};
use scumble::watch::Unwatched;

use crate::builder::{Record, audited, folder, records, run, run_whole};

/// Visits of people: most live in a few towns, some alone; some are far from all others by
/// age and weight.
fn visits(n: usize, several: bool) -> String {
    let mut text = String::from("visit,id,town,job,age,weight,illness,hiv\n");
    let mut visit = 0;
    for person in 0..n {
        let town = match person % 23 {
            22 => format!("hamlet {}", person / 23),
            other => format!("town {}", other % 3),
        };
        let job = ["cook", "smith"][person * 7 % 5 % 2];
        let far = if person % 31 == 30 { 400 + 61 * person } else { 0 };
        let times = if several { 1 + person * 5 % 3 } else { 1 };
        for again in 0..times {
            let (age, weight) =
                (20 + person * 13 % 20 + far + again / 2, 50 + person * 29 % 20);
            let illness =
                ["flu", "cough", "ulcer", "gout"][(person * 7 + again) % 11 % 4];
            let hiv = if person % 9 == 0 { "yes" } else { "no" };
            text.push_str(&format!(
                "v{visit},p{person},{town},{job},{age},{weight},{illness},{hiv}\n"
            ));
            visit += 1;
        }
    }
    text
}

const COLUMNS: &str = "[columns]\nid = \"identifier\"\nvisit = \"other\"\ntown = \"quasi\"\n\
     job = \"quasi\"\nage = { role = \"quasi\", type = \"number\" }\n\
     weight = { role = \"quasi\", type = \"number\" }\nillness = \"sensitive\"\n\
     hiv = \"sensitive\"\n";
const CELLS: &str = "k-anonymity = { k = 5, columns = [\"town\", \"job\"] }\n";
const COMPANY: &str =
    "expected-anonymity = { k = 4, columns = [\"age\", \"weight\"] }\n";
const DIVERSE: &str = "l-diversity = { l = 2, columns = [\"illness\"] }\n";
const BREACH: &str = "breach = { prior = 0.1, posterior = 0.4, columns = [\"hiv\"] }\n";

fn by_visit(table: &str) -> BTreeMap<String, Record> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let rows = reader.deserialize().map(|row: csv::Result<Record>| row.unwrap());
    rows.map(|row| (row["visit"].clone(), row)).collect()
}

fn number(row: &Record, name: &str) -> f64 {
    row[name].parse().unwrap()
}

/// How many people a row is hidden among by uniform noise, of those who are published in its
/// class: everybody counts with the row that fits best.
fn company(row: &Record, alike: &[&Record], truth: &BTreeMap<String, Record>) -> f64 {
    let own = &truth[&row["visit"]];
    let mut best: BTreeMap<&str, f64> = BTreeMap::new();
    for other in alike {
        let other = &truth[&other["visit"]];
        let overlap = ["age", "weight"].map(|name| {
            let side = number(row, &format!("{name}.spread"));
            let off = (number(own, name) - number(other, name)).abs();
            if off == 0.0 { 1.0 } else { (1.0 - off / side).max(0.0) }
        });
        let known = best.entry(&other["id"]).or_default();
        *known = known.max(overlap[0] * overlap[1]);
    }
    best.values().sum()
}

/// Judges the rows of cells and noise; returns them.
fn judge(home: &std::path::Path, table: &str) -> Vec<Record> {
    let truth = by_visit(table);
    let rows = records(&home.join("release/data.csv"));
    let visits: BTreeSet<&String> = rows.iter().map(|row| &row["visit"]).collect();
    assert_eq!(visits.len(), rows.len(), "every row once");
    let mut classes: BTreeMap<[&str; 2], Vec<&Record>> = BTreeMap::new();
    let mut levels: BTreeMap<[&str; 4], Vec<&Record>> = BTreeMap::new();
    for row in &rows {
        let [town, job] = ["town", "job"].map(|name| &*row[name]);
        classes.entry([town, job]).or_default().push(row);
        let frame = row.get("frame").map_or("", |frame| &**frame);
        levels.entry([town, job, frame, &row["level"]]).or_default().push(row);
    }
    for rows in classes.values() {
        let people: BTreeSet<&str> =
            rows.iter().map(|row| &*truth[&row["visit"]]["id"]).collect();
        assert!(people.len() >= 5, "{people:?}");
    }
    for alike in levels.values() {
        for row in alike {
            assert!(company(row, alike, &truth) >= 4.0 - 1e-9, "{row:?}");
        }
    }
    rows
}

const METHODS: &str = "[[method]]\nname = \"full-domain\"\nsuppression = 0.1\n\
     [[method]]\nname = \"blur\"\nshape = \"uniform\"\nsuppression = 0.08\n";

#[test]
fn what_is_left_out_is_left_out_of_every_part() {
    let table = visits(300, false);
    let truth = by_visit(&table);
    let home = folder(&[("table.csv", &table)]);
    let apart = "[[method]]\nname = \"anatomy\"\n";
    let mut answered = 0;
    for (cells, noise) in [(0.1, 0.0), (0.0, 0.08), (0.1, 0.08)] {
        let methods = METHODS
            .replace("suppression = 0.1\n", &format!("suppression = {cells}\n"))
            .replace("suppression = 0.08", &format!("suppression = {noise}"));
        let text = format!(
            "{COLUMNS}[promise]\n{CELLS}{COMPANY}{DIVERSE}{BREACH}{methods}{apart}"
        );
        let published = run(home.path(), &text, 5).unwrap();
        assert!(published.audit.holds(), "{:?}", published.audit.promises);
        let manifest = &published.manifest;
        let rows = judge(home.path(), &table);
        assert_eq!(manifest.rows as usize, rows.len());
        assert_eq!(manifest.rows + manifest.left_out, 300);
        // Each share is of the rows that its method sees.
        let of_cells = (cells * 300.0) as u64;
        let most = of_cells + (noise * 300.0) as u64;
        assert!(manifest.left_out > 0 && manifest.left_out <= most, "{most}");
        let shares: Vec<f64> = manifest.method.methods[..2]
            .iter()
            .map(|method| method.parameters["suppression"].as_f64().unwrap())
            .collect();
        assert_eq!(shares, [cells, noise]);
        // Values by group are those of the published rows, and so are drawn ones.
        let mut listed: BTreeMap<(String, String), usize> = BTreeMap::new();
        for value in records(&home.path().join("release/sensitive.csv")) {
            let key = (value["group"].clone(), value["value"].clone());
            *listed.entry(key).or_default() += value["count"].parse::<usize>().unwrap();
        }
        let mut held: BTreeMap<(String, String), usize> = BTreeMap::new();
        let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &rows {
            let illness = truth[&row["visit"]]["illness"].clone();
            *held.entry((row["group"].clone(), illness)).or_default() += 1;
            *sizes.entry(&row["group"]).or_default() += 1;
        }
        assert_eq!(held, listed);
        assert!(listed.iter().all(|((group, _), n)| 2 * n <= sizes[&**group]));
        let drawn = &manifest.perturbation()[0].subtables;
        assert_eq!(drawn.iter().map(|table| table.rows).sum::<u64>(), manifest.rows);
        // An audit from files and table finds the same, and so does one from files alone.
        let again = audited(&published.release, Some(&table), None).unwrap().private;
        assert!(again.holds());
        assert_eq!(again.promises.len(), published.audit.promises.len());
        assert!(audited(&published.release, None, None).unwrap().private.holds());
        // Limits hold, with the rows that were left out.
        let evidence = Evidence::read(&published.release, &Unwatched).unwrap();
        for (name, value) in [("town", "town 1"), ("town", "hamlet 0"), ("job", "cook")]
        {
            let asked = format!("SELECT COUNT(*) WHERE {name} = '{value}'");
            let query = Query::parse(&asked).unwrap();
            // Cells that are `*` have no distribution without a domain.
            let Ok(found) = evidence.answer(&query, Way::Inverse) else { continue };
            let true_rows =
                truth.values().filter(|row| row[name] == value).count() as f64;
            assert!(found[0].at_least <= true_rows, "{asked}");
            let most = found[0].at_most + manifest.left_out as f64;
            assert!(true_rows <= most, "{asked}");
            answered += 1;
        }
        let page = std::fs::read_to_string(home.path().join("release/report.html"));
        let said = format!("{} rows of the table were left out", manifest.left_out);
        assert!(page.unwrap().contains(&said), "{said}");
    }
    assert!(answered > 3, "{answered}");
}

#[test]
fn leaving_rows_out_makes_noise_narrower() {
    let table = visits(300, false);
    let home = folder(&[("table.csv", &table)]);
    let mut widths = Vec::new();
    for methods in
        [METHODS.to_owned(), METHODS.replace("0.08", "0").replace("0.1", "0")]
    {
        let text = format!("{COLUMNS}[promise]\n{CELLS}{COMPANY}{methods}");
        run(home.path(), &text, 5).unwrap();
        let rows = judge(home.path(), &table);
        let sum: f64 = rows.iter().map(|row| number(row, "age.spread")).sum();
        widths.push(sum / rows.len() as f64);
    }
    assert!(5.0 * widths[0] < widths[1], "{widths:?}");
}

#[test]
fn people_are_counted_among_rows_that_are_left() {
    let table = visits(240, true);
    let truth = by_visit(&table);
    let home = folder(&[("table.csv", &table)]);
    for methods in [METHODS.to_owned(), METHODS.replace("suppression = 0.1\n", "")] {
        let text = format!(
            "input.table = \"table.csv\"\ninput.person = \"id\"\n{COLUMNS}[promise]\n\
             {CELLS}{COMPANY}{BREACH}{methods}"
        );
        let published = run_whole(home.path(), &text, 2).unwrap();
        assert!(published.audit.holds());
        let rows = judge(home.path(), &table);
        assert!(published.manifest.left_out > 0);
        assert_eq!(rows.len() as u64 + published.manifest.left_out, truth.len() as u64);
        // Equal numbers of a person in a class are one fact: published alike, or not at all.
        let cells: BTreeMap<[&str; 2], [&str; 2]> = rows
            .iter()
            .map(|row| {
                let own = &truth[&row["visit"]];
                ([&*own["town"], &*own["job"]], [&*row["town"], &*row["job"]])
            })
            .collect();
        let mut facts: BTreeMap<_, BTreeSet<Option<[&str; 2]>>> = BTreeMap::new();
        let by_visit: BTreeMap<&str, &Record> =
            rows.iter().map(|row| (&*row["visit"], row)).collect();
        for own in truth.values() {
            let class = cells.get(&[&*own["town"], &*own["job"]]);
            let fact = (&own["id"], class, &own["age"], &own["weight"]);
            let published = by_visit.get(&*own["visit"]);
            let numbers = published.map(|row| [&*row["age"], &*row["weight"]]);
            facts.entry(fact).or_default().insert(numbers);
        }
        assert!(facts.values().all(|numbers| numbers.len() == 1), "{facts:?}");
        // What the audit says of k is at most what is there.
        let said = published.audit.promises.iter().find(|p| p.name == "k-anonymity");
        let said = said.unwrap().measured["k"].as_u64().unwrap();
        let mut classes: BTreeMap<[&str; 2], BTreeSet<&str>> = BTreeMap::new();
        for row in &rows {
            let class = [&*row["town"], &*row["job"]];
            classes.entry(class).or_default().insert(&truth[&row["visit"]]["id"]);
        }
        let smallest =
            classes.values().map(|people| people.len() as u64).min().unwrap();
        assert!((5..=smallest).contains(&said), "{said} of {smallest}");
    }
}

/// What an error advises must not be refused.
#[test]
fn hints_do_not_lead_in_a_circle() {
    // Nobody else lacks a weight, so nobody is company to who does.
    let mut table = String::from("visit,id,town,job,age,weight,illness,hiv\n");
    for row in 0..60 {
        let (town, age) = (row % 2, 20 + row);
        let weight = if row == 59 { "" } else { "60" };
        let illness = if row % 3 == 0 { "gout" } else { "flu" };
        let hiv = if row % 9 == 0 { "yes" } else { "no" };
        table.push_str(&format!(
            "v{row},p{row},t{town},cook,{age},{weight},{illness},{hiv}\n"
        ));
    }
    let home = folder(&[("table.csv", &table)]);
    let text = |promises: &str, methods: &str| {
        format!("{COLUMNS}[promise]\n{promises}{BREACH}{methods}")
    };
    let promises = format!("{CELLS}{COMPANY}");
    let blur = "[[method]]\nname = \"blur\"\nmissing = \"keep\"\n";
    let error = run(home.path(), &text(&promises, blur), 1).unwrap_err();
    let hints = error.hints().join(" / ");
    assert!(hints.contains("`suppression` of `blur`"), "{error} / {hints}");
    let allowed = format!("{blur}suppression = 0.1\n");
    let published = run(home.path(), &text(&promises, &allowed), 1).unwrap();
    assert!(published.manifest.left_out > 0 && published.audit.holds());

    // Values by group leave nobody out beside others, and are not told to.
    let apart = "[[method]]\nname = \"anatomy\"\n";
    let promises = format!("{CELLS}{DIVERSE}");
    let text_of = |methods: &str| {
        text(&promises, methods)
            .replace("[\"town\", \"job\"]", "[\"town\", \"job\", \"age\", \"weight\"]")
    };
    let error = run(home.path(), &text_of(apart), 1).unwrap_err();
    let hints = error.hints().join(" / ");
    assert!(!hints.contains("suppression"), "{hints}");
    assert!(
        hints.contains("`anatomy` leaves no rows out beside other methods"),
        "{hints}"
    );
    let error = run(home.path(), &text_of(&format!("{apart}suppression = 0.6\n")), 1);
    let error = error.unwrap_err();
    assert!(error.to_string().contains("`anatomy` leaves no rows out"), "{error}");
    assert!(error.place().is_some() && error.exit_code() == 2);
    assert!(
        error.hints()[0].contains("methods that generalize or blur may leave rows out")
    );
}

/// A breaker's case: the randomized column has a value that only rows have which are left out.
#[test]
fn a_value_that_is_left_out_need_not_be_in_the_domain_of_noise() {
    let mut table = String::from("town,ill\n");
    for row in 0..40 {
        table.push_str(&format!("t{},i{}\n", row % 2, row % 3));
    }
    table.push_str("far,rare\n");
    let home = folder(&[("table.csv", &table)]);
    let recipe = "promise.k-anonymity = 5\n\
         promise.breach = { prior = 0.3, posterior = 0.7, columns = [\"ill\"] }\n\
         method = [{ name = \"full-domain\", suppression = 0.1 }, \
         { name = \"uniform-perturbation\" }]\n\
         [columns]\ntown = \"quasi\"\nill = \"sensitive\"\n";
    let published = run(home.path(), recipe, 1).unwrap();
    assert_eq!((published.manifest.rows, published.manifest.left_out), (40, 1));
    assert!(published.audit.holds());
}
