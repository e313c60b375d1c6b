//! Bounds of randomized values that depend on another column.

use std::collections::BTreeMap;

use scumble::estimate::Evidence;
use scumble::release::Release;
use scumble::watch::Unwatched;
use serde_json::Value;

use crate::builder::{ask, attack, audited, folder, records, run};

const DISEASES: [&str; 3] = ["asthma", "breast cancer", "lung cancer"];

/// Breast cancer is rare among men; the third sex has no lines of its own.
fn people(n: usize) -> String {
    let mut text = String::from("id,sex,town,disease\n");
    for row in 0..n {
        let sex = ["F", "M", "F", "M", "X"][row % 5];
        let common = if sex == "M" { [6, 1, 5] } else { [4, 5, 3] };
        let place = row * 7919 % 101 * 12 / 101;
        let disease = usize::from(place >= common[0])
            + usize::from(place >= common[0] + common[1]);
        let town = ["Ghent", "Aalst"][row % 3 % 2];
        text += &format!("p{row},{sex},{town},{}\n", DISEASES[disease]);
    }
    text
}

const BOUNDS: &str = "sex,value,prior,posterior\n\
     F,breast cancer,0.4,0.75\nM,breast cancer,0.05,0.1\n\
     ,breast cancer,0.2,0.4\n,lung cancer,0.3,0.7\n,*,0.5,0.85\n";

/// The bounds that rows of a sex have, by disease.
fn bounds(sex: &str) -> [(f64, f64); 3] {
    let breast = match sex {
        "F" => (0.4, 0.75),
        "M" => (0.05, 0.1),
        _ => (0.2, 0.4),
    };
    [(0.5, 0.85), breast, (0.3, 0.7)]
}

fn recipe(method: &str) -> String {
    format!(
        "[columns]\nid = \"identifier\"\nsex = \"quasi\"\ntown = \"other\"\n\
         disease = \"sensitive\"\n[promise]\n\
         fine-grain = {{ csv = \"bounds.csv\", kind = \"both\" }}\n[method]\n{method}\n"
    )
}

/// By which chance a value (second) is published as another (first).
fn matrix(table: &Value) -> Vec<Vec<f64>> {
    let number = |value: &Value| value.as_f64().unwrap();
    let entry = |j: usize, i: usize| match table["operator"].as_str().unwrap() {
        "general" => number(&table["matrix"][j][i]),
        of => {
            let keep = match of {
                "uniform" => number(&table["keep"]),
                _ => number(&table["keep"][i]),
            };
            (1.0 - keep) / 3.0 + if i == j { keep } else { 0.0 }
        }
    };
    (0..3).map(|j| (0..3).map(|i| entry(j, i)).collect()).collect()
}

#[test]
fn every_condition_has_a_matrix_of_its_own() {
    let table = people(3_000);
    let home = folder(&[("table.csv", &table), ("bounds.csv", BOUNDS)]);
    for method in ["uniform", "fine-grain", "general"] {
        let name = format!("name = \"{method}-perturbation\"");
        let published = run(home.path(), &recipe(&name), 5).unwrap();
        assert!(published.audit.holds());
        let release = home.path().join("release");
        let manifest = std::fs::read_to_string(release.join("manifest.json")).unwrap();
        let manifest: Value = serde_json::from_str(&manifest).unwrap();
        assert_eq!(manifest["promises"][0]["asked"]["by"], "sex");
        let tables = &manifest["classes"][0]["parameters"]["subtables"];
        let tables = tables.as_array().unwrap();
        let of = |sex: &str| tables.iter().position(|t| t["condition"]["value"] == sex);
        let others =
            tables.iter().position(|table| table["condition"].get("value").is_none());
        let place =
            |sex: &str| if sex == "X" { others.unwrap() } else { of(sex).unwrap() };
        assert_eq!(tables.len(), 3);
        for sex in ["F", "M", "X"] {
            let table = &tables[place(sex)];
            assert_eq!(table["condition"]["column"], "sex");
            let matrix = matrix(table);
            for (value, (prior, posterior)) in bounds(sex).into_iter().enumerate() {
                for drawn in &matrix {
                    for other in (0..3).filter(|other| *other != value) {
                        let after = prior * drawn[value]
                            / (prior * drawn[value] + (1.0 - prior) * drawn[other]);
                        assert!(after <= posterior + 1e-9, "{method} {sex} {value}");
                        let down = posterior * drawn[value]
                            / (posterior * drawn[value]
                                + (1.0 - posterior) * drawn[other]);
                        assert!(down >= prior - 1e-9, "{method} {sex} {value}");
                    }
                }
            }
        }
        // Among women less must be hidden, so more is kept; noise that is the same for all
        // values shows it.
        let kept = |sex: &str| matrix(&tables[place(sex)])[1][1];
        let ordered = kept("F") > kept("X") && kept("X") > kept("M");
        assert!(ordered || method != "uniform", "{tables:?}");
        for row in records(&release.join("data.csv")) {
            let told: usize = row["disease.subtable"].parse().unwrap();
            assert_eq!(told - 1, place(&row["sex"]));
        }
        for name in ["averaging", "corruption", "inference", "dependence"] {
            let attack = attack(&published.audit, name);
            assert!((0.0..=1.0).contains(&attack.success), "{attack:?}");
        }
        assert_eq!(attack(&published.audit, "corruption").detail["exposed"], 0.0);
    }
}

#[test]
fn estimates_undo_the_noise_of_each_condition() {
    let table = people(30_000);
    let home = folder(&[("table.csv", &table), ("bounds.csv", BOUNDS)]);
    let published = run(home.path(), &recipe(""), 7).unwrap();
    let evidence = Evidence::read(&published.release, &Unwatched).unwrap();
    let count = |sex: &str, disease: &str| {
        let has = |line: &&str| {
            let cells: Vec<&str> = line.split(',').collect();
            (sex.is_empty() || cells[1] == sex) && cells[3] == disease
        };
        table.lines().filter(has).count() as f64
    };
    for sex in ["F", "M", "X", ""] {
        for disease in DISEASES {
            let of_sex = if sex.is_empty() {
                String::new()
            } else {
                format!(" AND sex = '{sex}'")
            };
            let question =
                format!("SELECT COUNT(*) WHERE disease = '{disease}'{of_sex}");
            let found = &ask(&evidence, &question)[0];
            let error = found.standard_error.unwrap();
            let truth = count(sex, disease);
            // Twelve questions, 4.5 standard errors: a false alarm in ten thousand runs,
            // and the seed is fixed.
            assert!(
                (found.count - truth).abs() < 4.5 * error,
                "{sex} {disease}: {found:?} {truth}"
            );
        }
    }
    // A drawn table has about as many of each.
    let drawn = evidence.draw(3).unwrap();
    assert_eq!(drawn.columns.len(), 3);
}

/// A person's noise under a key follows from person and value, whatever the matrix.
#[test]
fn keyed_noise_is_nested_within_a_condition() {
    let table = people(2_000).replace("town", "row");
    // The row tells which person it is.
    let table: Vec<String> = table
        .lines()
        .enumerate()
        .map(|(row, line)| match row {
            0 => line.to_owned(),
            _ => {
                let cells: Vec<&str> = line.split(',').collect();
                format!("{},{},{row},{}", cells[0], cells[1], cells[3])
            }
        })
        .collect();
    let table = table.join("\n");
    let drawn = |bounds: &str| -> BTreeMap<String, (String, String)> {
        let files = [
            ("table.csv", &*table),
            ("bounds.csv", bounds),
            ("secret.key", "a key that is long enough"),
        ];
        let home = folder(&files);
        let text = recipe("name = \"uniform-perturbation\"\nkey-file = \"secret.key\"")
            .replace("town", "row");
        run(home.path(), &text, 1).unwrap();
        let rows = records(&home.path().join("release/data.csv"));
        let rows = rows.into_iter();
        rows.map(|row| {
            (row["row"].clone(), (row["sex"].clone(), row["disease"].clone()))
        })
        .collect()
    };
    let (strict, mild) =
        (drawn(BOUNDS), drawn(&BOUNDS.replace("0.05,0.1", "0.05,0.3")));
    let truth: BTreeMap<String, String> = table
        .lines()
        .skip(1)
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            (cells[2].to_owned(), cells[3].to_owned())
        })
        .collect();
    let (mut kept, mut lost) = (0, 0);
    for (row, (sex, disease)) in &strict {
        match sex.as_str() {
            "M" => {
                // More noise begins where less noise ended.
                let (own, weak) = (&truth[row], &mild[row].1);
                lost += usize::from(own == disease && own != weak);
                kept += usize::from(own == weak && own != disease);
            }
            // Bounds of other rows have not changed.
            _ => assert_eq!(*disease, mild[row].1),
        }
    }
    // Whoever lost their value to a little noise finds it again by chance only, a third.
    assert!(kept > 3 * lost && kept > 50, "{kept} {lost}");
}

#[test]
fn a_row_under_the_matrix_of_others_is_found() {
    let home = folder(&[("table.csv", &people(400)), ("bounds.csv", BOUNDS)]);
    run(home.path(), &recipe(""), 5).unwrap();
    let release = home.path().join("release");
    let text = std::fs::read_to_string(release.join("manifest.json")).unwrap();
    let changed = |from: &str, to: &str| {
        assert!(text.contains(from), "{text}");
        std::fs::write(release.join("manifest.json"), text.replacen(from, to, 1))
            .unwrap();
        let release = Release::open(&release).unwrap();
        audited(&release, None, None).unwrap_err().to_string()
    };
    let compact: String = text.split_whitespace().collect();
    assert!(compact.contains("\"value\":\"F\"") && compact.contains("\"value\":\"M\""));
    let found = changed("\"value\": \"F\"", "\"value\": \"f\"");
    assert!(found.contains("another sub-table than the one it must be of"), "{found}");
    let found = changed("\"value\": \"F\"", "\"value\": \"M\"");
    assert!(found.contains("two sub-tables are for the same rows"), "{found}");
}

/// In a mixture the condition must be kept, too.
#[test]
fn a_condition_in_a_mixture_must_be_kept() {
    let home = folder(&[("table.csv", &people(300)), ("bounds.csv", BOUNDS)]);
    let columns = "[columns]\nid = \"identifier\"\nsex = \"quasi\"\ntown = \"other\"\n\
                   disease = \"sensitive\"\n[promise]\n";
    let grain = "fine-grain = { csv = \"bounds.csv\" }\n";
    let text = format!("{columns}k-anonymity = 3\n{grain}");
    let error = run(home.path(), &text, 1).unwrap_err();
    let wanted = "bounds cannot depend on `sex`: it is generalized or blurred";
    assert!(error.to_string().contains(wanted), "{error}");
    assert!(!home.path().join("release").exists());
    let other = columns.replace("sex = \"quasi\"", "sex = \"other\"");
    let text = format!("{other}k-anonymity = 3\n{grain}")
        .replace("town = \"other\"", "town = \"quasi\"");
    let published = run(home.path(), &text, 1).unwrap();
    assert!(published.audit.holds());
    assert_eq!(published.manifest.perturbation()[0].subtables.len(), 3);
}
