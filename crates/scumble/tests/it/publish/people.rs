//! Several rows of one person: promises count people, judged here from the files and the table.
//! Visits are published as they are, so that rows can be found in the table.

use std::collections::{BTreeMap, BTreeSet};

use scumble::error::Error;
use scumble::estimate::Evidence;
use scumble::watch::Unwatched;

use crate::builder::{Record, ask, audited, folder, records, run_whole};

/// Visits: everybody has one to four, and their age grows.
fn visits(n: usize) -> String {
    let mut text = String::from("visit,patient,age,town,ward,illness,hiv\n");
    let mut visit = 0;
    for patient in 0..n {
        for again in 0..=(patient * 7 % 11 % 4) {
            let age = 20 + patient * 13 % 40 + again * 3;
            let town = ["Ghent", "Bruges", "Aalst"][(patient + again) % 3];
            let illness =
                ["flu", "cough", "ulcer", "asthma"][(patient * 5 + again / 2) % 7 % 4];
            let hiv = if patient % 9 == 0 { "yes" } else { "no" };
            text.push_str(&format!(
                "v{visit},p{patient},{age},{town},w{},{illness},{hiv}\n",
                visit % 5
            ));
            visit += 1;
        }
    }
    text
}

const COLUMNS: &str = "[columns]\npatient = \"identifier\"\nvisit = \"other\"\n\
     age = { role = \"quasi\", type = \"number\", hierarchy = { widths = [5, 10, 20] } }\n\
     town = \"quasi\"\nward = \"drop\"\nillness = \"sensitive\"\nhiv = \"sensitive\"\n";

fn recipe(person: bool, promises: &str, method: &str) -> String {
    let person = if person { "input.person = \"patient\"\n" } else { "" };
    format!(
        "input.table = \"table.csv\"\n{person}{COLUMNS}[promise]\n{promises}\n{method}\n"
    )
}

/// Whose the visits are, and their values.
fn by_visit(table: &str) -> BTreeMap<String, Record> {
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let rows = reader.deserialize().map(|row: csv::Result<Record>| row.unwrap());
    rows.map(|row| (row["visit"].clone(), row)).collect()
}

/// People, and who has which value.
type GroupPeople = (BTreeSet<String>, BTreeSet<(String, String)>);

/// The people of each group of published cells, and who has which value of a column.
fn groups(
    rows: &[Record],
    truth: &BTreeMap<String, Record>,
    column: &str,
) -> BTreeMap<[String; 2], GroupPeople> {
    let mut groups: BTreeMap<_, GroupPeople> = BTreeMap::new();
    for row in rows {
        let key = ["age", "town"].map(|name| row[name].clone());
        let true_row = &truth[&row["visit"]];
        let (people, facts) = groups.entry(key).or_default();
        people.insert(true_row["patient"].clone());
        facts.insert((true_row["patient"].clone(), true_row[column].clone()));
    }
    groups
}

#[test]
fn groups_have_k_people_and_a_value_of_a_person_counts_once() {
    let table = visits(150);
    let truth = by_visit(&table);
    let home = folder(&[("table.csv", &table)]);
    let release = home.path().join("release");
    let columns = "columns = [\"illness\"]";
    for method in ["full-domain", "mondrian"] {
        for (promise, k, share) in [
            ("k-anonymity = 6".to_owned(), 6, 1.0),
            (
                format!(
                    "k-anonymity = 4\nl-diversity = {{ l = 2, c = 2.0, kind = \
                     \"recursive\", {columns} }}"
                ),
                4,
                2.0 / 3.0,
            ),
            (
                format!("k-anonymity = 4\nt-closeness = {{ t = 0.45, {columns} }}"),
                4,
                0.999,
            ),
            (
                format!("k-anonymity = 4\nbeta-likeness = {{ beta = 2, {columns} }}"),
                4,
                0.999,
            ),
            (
                format!(
                    "k-anonymity = 4\nl-diversity = {{ l = 2, kind = \"entropy\", {columns} }}"
                ),
                4,
                0.999,
            ),
        ] {
            let typed = format!("[method]\nname = \"{method}\"");
            let text = recipe(true, &promise, &typed);
            let published = run_whole(home.path(), &text, 3).unwrap();
            assert!(published.audit.holds());
            let found = groups(&records(&release.join("data.csv")), &truth, "illness");
            assert!(found.len() > 2, "{method} {promise}");
            for (people, facts) in found.values() {
                assert!(people.len() >= k);
                let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
                for (_, value) in facts {
                    *counts.entry(value).or_default() += 1;
                }
                let most = *counts.values().max().unwrap();
                assert!(most as f64 <= share * facts.len() as f64, "{counts:?}");
            }
            let smallest = found.values().map(|(people, _)| people.len()).min();
            let measured = &published.audit.promises[0].measured;
            assert_eq!(measured["k"].as_u64(), smallest.map(|n| n as u64));
            assert_eq!(measured["counted"], "people");
            // Rows are all that anybody else can count, and shares of people not even that.
            assert_eq!(published.manifest.promises[0].measured["counted"], "people");
            match audited(&published.release, None, None) {
                Ok(alone) if share == 1.0 => {
                    let alone = alone.private;
                    assert!(alone.holds());
                    assert_eq!(alone.promises[0].measured["counted"], "rows");
                }
                other => {
                    let said = other.unwrap_err().to_string();
                    assert!(said.contains("of people cannot be rechecked without"));
                }
            }
            let page = std::fs::read_to_string(release.join("report.html")).unwrap();
            assert!(page.contains("is right with every row of theirs"));
            let again = audited(&published.release, Some(&table), None).unwrap();
            assert_eq!(again.private.promises[0].measured, *measured);
        }
    }
}

#[test]
fn without_a_person_the_steward_is_told_what_that_does_to_k() {
    // Somebody is alone in a town, with six visits.
    let mut table = visits(150);
    for visit in 0..6 {
        table.push_str(&format!("x{visit},solo,25,Ostend,w,flu,no\n"));
    }
    let truth = by_visit(&table);
    let home = folder(&[("table.csv", &table)]);
    let method = "[method]\nname = \"full-domain\"";
    let text = recipe(false, "k-anonymity = 6", method);
    let published = run_whole(home.path(), &text, 3).unwrap();
    let rows = records(&home.path().join("release/data.csv"));
    let found = groups(&rows, &truth, "illness");
    let small = found.values().filter(|(people, _)| people.len() < 6).count();
    assert!(small > 0);
    let wanted = format!("{small} of {} groups have fewer than 6 people", found.len());
    let notes = published.notes.join("\n");
    assert!(notes.contains(&wanted), "{notes}");
    assert!(notes.contains(&format!("{} rows are of 151", truth.len())), "{notes}");
    let said = run_whole(home.path(), &recipe(true, "k-anonymity = 6", method), 3);
    assert!(!said.unwrap().notes.join("\n").contains("ROWS"));
}

#[test]
fn a_value_of_a_person_is_drawn_once() {
    let mut table = String::from("visit,patient,age,town,ward,illness,hiv\n");
    for visit in 0..6000 {
        // Everybody has ten visits, the last two with another value.
        let (patient, again) = (visit / 10, visit % 10);
        let hiv = if (patient % 2 == 0) == (again < 8) { "yes" } else { "no" };
        table.push_str(&format!("v{visit},p{patient},30,Ghent,w,flu,{hiv}\n"));
    }
    let truth = by_visit(&table);
    let home = folder(&[("table.csv", &table)]);
    let promise = "breach = { prior = 0.2, posterior = 0.5, columns = [\"hiv\"] }";
    let published = run_whole(home.path(), &recipe(true, promise, ""), 8).unwrap();
    assert!(published.audit.holds());
    let mut drawn: BTreeMap<(String, String), BTreeSet<String>> = BTreeMap::new();
    for row in records(&home.path().join("release/data.csv")) {
        let own = &truth[&row["visit"]];
        let key = (own["patient"].clone(), own["hiv"].clone());
        drawn.entry(key).or_default().insert(row["hiv"].clone());
    }
    // Each of 1,200 facts once, so that ten rows tell what one tells.
    assert_eq!(drawn.len(), 1200);
    assert!(drawn.values().all(|values| values.len() == 1));
    // As often kept as the matrix says: 4.5 standard deviations, 1 in 150,000.
    let matrix = &published.manifest.perturbation()[0].subtables[0];
    let scumble::release::OperatorNote::Uniform { keep } = &matrix.operator else {
        panic!("{matrix:?}")
    };
    let kept = drawn.iter().filter(|((_, own), to)| to.contains(own)).count();
    let p = keep + (1.0 - keep) / 2.0;
    let deviation = (1200.0 * p * (1.0 - p)).sqrt();
    assert!((kept as f64 - 1200.0 * p).abs() < 4.5 * deviation, "{kept} {p}");
    // Two facts of a person are drawn apart.
    let both = |patient: usize| {
        let of = |hiv: &str| drawn[&(format!("p{patient}"), hiv.to_owned())].clone();
        of("yes") == of("no")
    };
    let same = (0..600).filter(|patient| both(*patient)).count();
    assert!(same > 0 && same < 600);
}

/// 200 people with one to ten visits, 100 releases: a 95 % interval covers the truth 95 times,
/// and 86 times or more but for one case in 10,000. Errors as if visits were people cover fewer than 75.
#[test]
fn errors_of_estimates_know_that_rows_of_a_person_share_their_noise() {
    let mut table = String::from("visit,patient,age,town,ward,illness,hiv\n");
    let (mut visit, mut truth, mut squares) = (0, 0, 0);
    for patient in 0..200 {
        let (n, hiv) = (1 + patient % 10, if patient % 3 == 0 { "yes" } else { "no" });
        squares += n * n;
        truth += if hiv == "yes" { n } else { 0 };
        for _ in 0..n {
            table.push_str(&format!("v{visit},p{patient},30,Ghent,w,flu,{hiv}\n"));
            visit += 1;
        }
    }
    let home = folder(&[("table.csv", &table)]);
    let promise = "breach = { prior = 0.2, posterior = 0.5, columns = [\"hiv\"] }";
    let (mut covered, mut narrow) = (0, 0);
    for seed in 0..100 {
        let published =
            run_whole(home.path(), &recipe(true, promise, ""), seed).unwrap();
        let person = published.manifest.person.as_ref().unwrap();
        // 385 squares for 55 rows.
        assert_eq!((squares / visit, person.shared["hiv"]), (7, 7.0));
        let evidence = Evidence::read(&published.release, &Unwatched).unwrap();
        let asked = "SELECT COUNT(*) WHERE hiv = 'yes'";
        let [answer] = &ask(&evidence, asked)[..] else { panic!("one number") };
        let (off, error) =
            ((answer.count - f64::from(truth)).abs(), answer.standard_error.unwrap());
        covered += u32::from(off <= 1.96 * error);
        narrow += u32::from(off <= 1.96 * error / 7f64.sqrt());
    }
    assert!(covered >= 86, "{covered}");
    assert!(narrow < 75, "{narrow}");
}

#[test]
fn rows_that_name_nobody_are_people_of_their_own() {
    let table = visits(60).replace(",p7,", ",,").replace(",p9,", ",,");
    let home = folder(&[("table.csv", &table)]);
    let text = recipe(true, "k-anonymity = 3", "");
    let published = run_whole(home.path(), &text, 1).unwrap();
    let nobody = table.lines().filter(|line| line.contains(",,")).count();
    let notes = published.notes.join("\n");
    assert!(notes.contains(&format!("{nobody} rows name nobody")), "{notes}");
    let promise = "breach = { prior = 0.2, posterior = 0.5, columns = [\"hiv\"] }";
    assert!(run_whole(home.path(), &recipe(true, promise, ""), 1).is_ok());
}

#[test]
fn who_knows_several_rows_sees_what_their_groups_have_in_common() {
    // Everybody is seen at 20 and at 60. The values of both groups have one in common.
    let mut table = String::from("visit,patient,age,town,ward,illness,hiv\n");
    for patient in 0..4 {
        let (visit, more) = (2 * patient, 100 + patient);
        table.push_str(&format!("a{visit},p{patient},20,Ghent,w,flu,no\n"));
        table.push_str(&format!("b{visit},p{patient},60,Ghent,w,flu,no\n"));
        table.push_str(&format!("c{visit},q{more},20,Ghent,w,ulcer,no\n"));
        table.push_str(&format!("d{visit},r{more},60,Ghent,w,cough,no\n"));
    }
    let home = folder(&[("table.csv", &table)]);
    let promise = "k-anonymity = 4\nl-diversity = { l = 2, columns = [\"illness\"] }";
    let method = "[method]\nname = \"mondrian\"\n";
    let published = run_whole(home.path(), &recipe(true, promise, method), 1).unwrap();
    let attacks = &published.audit.attacks;
    let found = attacks.iter().find(|attack| {
        attack.name == "own-rows" && attack.detail["column"] == "illness"
    });
    let found = found.unwrap();
    assert_eq!((found.success, found.worst), (1.0, 1.0));
    assert_eq!(
        (&found.detail["people"], &found.detail["certain"]),
        (&4.into(), &1.0.into())
    );
    assert!(!published.manifest.not_promised.is_empty());
}

#[test]
fn noise_hides_people_among_people() {
    let table = visits(200);
    let truth = by_visit(&table);
    let home = folder(&[("table.csv", &table)]);
    let blurs = "expected-anonymity = { k = 6, columns = [\"age\"] }";
    let both = format!("{blurs}\nk-anonymity = {{ k = 5, columns = [\"town\"] }}");
    let alone = "[method]\nshape = \"uniform\"\n";
    let methods = "[[method]]\nname = \"mondrian\"\n[[method]]\nname = \"blur\"\n\
                   shape = \"uniform\"\n";
    for (promises, methods) in [(blurs, alone), (&*both, methods)] {
        let text = recipe(true, promises, methods)
            .replace(", hierarchy = { widths = [5, 10, 20] }", "");
        let published = run_whole(home.path(), &text, 3).unwrap();
        let audit = &published.audit;
        assert!(audit.holds(), "{:?}", audit.promises);
        // Equal ages of a person within a class are published as one.
        let mut facts: BTreeMap<[String; 4], BTreeSet<String>> = BTreeMap::new();
        let mut classes: BTreeMap<[String; 2], BTreeSet<String>> = BTreeMap::new();
        for row in records(&home.path().join("release/data.csv")) {
            let own = &truth[&row["visit"]];
            let class = [row["town"].clone(), row["level"].clone()];
            let [town, level] = class.clone();
            let fact = [own["patient"].clone(), own["age"].clone(), town, level];
            facts.entry(fact).or_default().insert(row["age"].clone());
            classes.entry(class).or_default().insert(own["patient"].clone());
        }
        assert!(facts.values().all(|ages| ages.len() == 1));
        assert!(classes.values().all(|people| people.len() >= 6), "{classes:?}");
        let said = published.manifest.not_promised.join("\n");
        assert!(said.contains("several rows of a person together"), "{said}");
        // Another audit, from the files and the table, counts people, too.
        let again = audited(&published.release, Some(&table), None).unwrap();
        assert!(again.private.holds());
        let rank = again.private.attacks.iter().find(|attack| attack.name == "rank");
        assert_eq!(rank.unwrap().success, 0.0);
        // Without the table, what the files suffice for is judged; alone, nothing can be.
        let blind = audited(&published.release, None, None);
        if methods == alone {
            let error = blind.unwrap_err().to_string();
            assert!(
                error.contains("cannot be rechecked without the original"),
                "{error}"
            );
        } else {
            let blind = blind.unwrap().private;
            let names: Vec<&str> = blind.promises.iter().map(|p| &*p.name).collect();
            assert_eq!(names, ["k-anonymity"]);
            assert!(blind.holds());
            assert_eq!(blind.undecided.len(), 1);
            assert_eq!(blind.undecided[0].name, "expected-anonymity");
        }
    }
}

#[test]
fn what_does_not_serve_people_says_why() {
    let table = visits(40);
    let home = folder(&[
        ("table.csv", &table),
        ("everyone.csv", &table),
        ("noise.key", "0123456789abcdefghij"),
    ]);
    let fails = |text: &str, wanted: &str| {
        let error: Error = run_whole(home.path(), text, 1).unwrap_err();
        let found = format!("{error} / {}", error.hints().join(" / "));
        assert_eq!(error.exit_code(), 2, "{found}");
        assert!(found.contains(wanted), "{found}");
        assert!(error.place().is_some(), "{found}");
        assert!(!home.path().join("release").exists());
    };
    let k = "k-anonymity = 3";
    let text = recipe(true, k, "");
    fails(
        &text.replace("patient = \"identifier\"", "patient = \"other\""),
        "`patient` is the `person`, so it tells people apart and must not be published",
    );
    fails(&text.replace("person = \"patient\"", "person = \"patients\""), "patients");
    fails(
        &recipe(
            true,
            "l-diversity = 2",
            "[method]\nname = \"anatomy\"\nsensitive = \"illness\"",
        )
        .replace("hiv = \"sensitive\"", "hiv = \"drop\"")
        .replace("sensitive = \"illness\"", ""),
        "`anatomy` does not serve people with several rows",
    );
    let blurs = |keys: &str| {
        let promise =
            format!("expected-anonymity = {{ k = 3, columns = [\"age\"]{keys} }}");
        recipe(true, &promise, "").replace(", hierarchy = { widths = [5, 10, 20] }", "")
    };
    fails(
        &blurs(", best-guess = 0.5"),
        "`best-guess` does not serve people with several rows: somebody with several rows is \
         found by any of them",
    );
    fails(
        &blurs(""),
        "`shape = \"gaussian\"` does not serve people with several rows: another row of the \
         right person may fit better",
    );
    fails(
        &recipe(
            true,
            "breach = { prior = 0.2, posterior = 0.5, columns = [\"hiv\"] }",
            "[method]\nkey-file = \"noise.key\"\nid = \"visit\"",
        )
        .replace("visit = \"other\"", "visit = \"identifier\""),
        "`id` tells people apart, and so does the `person`, `patient`",
    );
    fails(
        &blurs(", strict = false"),
        "`strict = false` does not serve people with several rows: the scheme of the paper \
         counts rows",
    );
    fails(
        &blurs("")
            .replace("columns = [\"age\"]", "strict = true")
            .replace("hiv = \"sensitive\"", "hiv = \"drop\"")
            .replace("illness = \"sensitive\"", "illness = \"drop\"")
            .replace("[promise]", "[method]\nname = \"condensation\"\n[promise]"),
        "`condensation` does not serve people with several rows: its groups count rows",
    );
    fails(
        &recipe(
            true,
            "fine-grain = { factor = 2 }",
            "[method]\nname = \"partitioned-perturbation\"",
        ),
        "`partitioned-perturbation` does not go with `person`",
    );
    fails(
        &recipe(
            true,
            "breach = { prior = 0.2, posterior = 0.5 }",
            "[method]\nname = \"uniform-perturbation\"\nsensitive = \"compound\"",
        ),
        "`sensitive = \"compound\"` does not go with `person`",
    );
    fails(
        &format!(
            "input.population = \"everyone.csv\"\n{}",
            recipe(true, "k-map = 3", "")
        ),
        "30 people have rows with different quasi values, but each is one person of the \
         population",
    );
}
