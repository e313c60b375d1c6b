//! What a steward does every day: from a table to a release, without editing what was proposed.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::builder::folder;
use crate::tables;

/// Exit code and what was printed.
fn run(home: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_scumble"))
        .args(arguments)
        .current_dir(home)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json(home: &Path, arguments: &[&str]) -> Value {
    let (code, out, err) = run(home, arguments);
    assert_eq!(code, 0, "{arguments:?}: {err}");
    serde_json::from_str(&out).unwrap()
}

/// What was found about a column.
fn of<'a>(found: &'a Value, name: &str) -> &'a Value {
    let columns = found["columns"].as_array().unwrap();
    columns.iter().find(|column| column["name"] == name).unwrap()
}

/// The columns of a role, in order.
fn with_role(found: &Value, role: &str) -> Vec<String> {
    let columns = found["columns"].as_array().unwrap().iter();
    let columns = columns.filter(|column| column["role"] == role);
    columns.map(|column| column["name"].as_str().unwrap().to_owned()).collect()
}

fn odd(found: &Value, column: &str) -> String {
    let all = found["oddities"].as_array().unwrap().iter();
    let own = all.filter(|oddity| oddity["column"] == column);
    own.map(|oddity| oddity["what"].as_str().unwrap()).collect::<Vec<_>>().join("; ")
}

/// Publishes what was proposed, as it was proposed, and audits it with the table.
fn publishes(home: &Path, table: &str) -> Value {
    let (code, _, err) = run(home, &["inspect", table, "--recipe", "r.toml", "-q"]);
    assert_eq!(code, 0, "{err}");
    let recipe = fs::read_to_string(home.join("r.toml")).unwrap();
    let (code, _, err) = run(home, &["publish", "r.toml", "-q", "--seed", "1"]);
    assert_eq!(code, 0, "{err}\n{recipe}");
    let audit = json(home, &["audit", "release", "--original", table, "--json"]);
    let holds = |promise: &Value| promise["holds"] == true;
    assert!(audit["promises"].as_array().unwrap().iter().all(holds), "{audit}");
    let risk = &audit["reidentification"];
    assert!(risk["prosecutor"]["highest"].as_f64().unwrap() <= 0.2, "{risk}");
    assert_eq!(risk["prosecutor"]["at_risk"], 0.0);
    audit
}

#[test]
fn visits_to_hospitals_are_proposed_as_an_expert_would() {
    let home = folder(&[("visits.csv", &tables::hospital(3000))]);
    let found = json(home.path(), &["inspect", "visits.csv", "--json"]);
    assert_eq!(with_role(&found, "identifier"), ["encounter_id", "patient_nbr"]);
    assert_eq!(found["person"]["column"], "patient_nbr");
    assert_eq!(found["person"]["sure"], "sure", "race and gender are one for each");
    for (column, why) in [
        ("weight", "nearly empty"),
        ("examide", "constant"),
        ("metformin-pioglitazone", "nearly constant"),
        ("tolazamide", "constant"),
    ] {
        assert_eq!(of(&found, column)["role"], "drop");
        let reason = of(&found, column)["reason"].as_str().unwrap();
        assert!(reason.starts_with(why), "{column}: {reason}");
    }
    for column in
        ["diag_1", "diag_3", "A1Cresult", "insulin", "metformin", "readmitted"]
    {
        assert_eq!(of(&found, column)["role"], "sensitive", "{column}");
    }
    assert_eq!(of(&found, "admission_type_id")["type"], "category");
    let ages = of(&found, "age")["hierarchy"]["order"].as_array().unwrap().clone();
    assert_eq!((ages.len(), &ages[0]), (10, &Value::from("[0-10)")));
    assert!(with_role(&found, "quasi").len() <= 12);
    // What the columns contribute adds up to what all of them single out, the rest included.
    let columns = found["columns"].as_array().unwrap().iter();
    let shares: Vec<f64> =
        columns.filter_map(|column| column["contribution"].as_f64()).collect();
    let total: f64 = shares.iter().sum();
    assert!(shares.len() >= 12 && total > 0.5 && total <= 1.0 + 1e-9, "{shares:?}");
    publishes(home.path(), "visits.csv");
}

#[test]
fn a_survey_is_cleaned_and_weighed() {
    let home = folder(&[("survey.csv", &tables::survey(2000))]);
    let found = json(home.path(), &["inspect", "survey.csv", "--json"]);
    assert!(odd(&found, "age").contains("-1"), "{found}");
    assert!(odd(&found, "age").contains("999"), "{found}");
    assert!(odd(&found, "net_income").contains("-9"), "{found}");
    assert!(odd(&found, "interview_date").contains("1900-01-01"), "{found}");
    let recipe = found["recipe"].as_str().unwrap();
    let missing = recipe.lines().find(|line| line.starts_with("missing = ")).unwrap();
    for text in ["\"-1\"", "\"-9\"", "\"1900-01-01\""] {
        assert!(missing.contains(text), "{missing}");
    }
    for (column, role) in [
        ("respondent_id", "identifier"),
        ("survey_weight", "drop"),
        ("wave", "drop"),
        ("interviewer_comment", "drop"),
        ("education_code", "drop"),
        ("education", "quasi"),
        ("net_income", "sensitive"),
        ("religion", "sensitive"),
        ("hiv_test_result", "sensitive"),
        ("country_iso2", "quasi"),
    ] {
        assert_eq!(of(&found, column)["role"], role, "{column}");
    }
    assert_eq!(
        of(&found, "education_code")["reason"],
        "redundant: `education` determines it"
    );
    assert_eq!(of(&found, "country_iso2")["hierarchy"]["template"], "un-region");
    assert!(recipe.contains("# check: `age`: "), "{recipe}");
    publishes(home.path(), "survey.csv");
    let rows = fs::read_to_string(home.path().join("release/data.csv")).unwrap();
    assert!(!rows.contains("1900-01"), "a day that means nothing");
}

#[test]
fn a_register_has_people_and_codes() {
    let home = folder(&[("register.csv", &tables::register(2500))]);
    let found = json(home.path(), &["inspect", "register.csv", "--json"]);
    assert_eq!(found["person"]["column"], "national_no");
    assert!(odd(&found, "national_no").starts_with("repeats: "), "{found}");
    for (column, role) in [
        ("first_name", "identifier"),
        ("last_name", "identifier"),
        ("date_of_birth", "quasi"),
        ("plz", "quasi"),
        ("town", "drop"),
        ("main_icd10", "sensitive"),
        ("lab_hba1c", "sensitive"),
        ("outcome", "sensitive"),
        ("source_system", "drop"),
    ] {
        assert_eq!(of(&found, column)["role"], role, "{column}");
    }
    assert_eq!(of(&found, "town")["reason"], "redundant: `plz` determines it");
    assert_eq!(of(&found, "days_in_care")["type"], "number", "`unknown` is no number");
    publishes(home.path(), "register.csv");
}

#[test]
fn a_population_tells_who_is_alone_in_it() {
    let home = folder(&[("survey.csv", &tables::survey(500))]);
    let arguments = ["inspect", "survey.csv", "--population-size", "5000", "--json"];
    let found = &json(home.path(), &arguments)["uniqueness"];
    let (sample, pitman) =
        (found["sample"].as_f64().unwrap(), found["pitman"]["share"].as_f64().unwrap());
    assert!(sample > 0.9 && pitman <= sample && pitman > 0.0, "{found}");
    let (_, said, _) = run(home.path(), &arguments[..4]);
    assert!(
        said.contains("by Pitman's model") && said.contains("prosecutor"),
        "{said}"
    );
}

#[test]
fn a_hierarchy_is_shown_and_written_and_used() {
    let table = "age,land,diag\n31,DE,E11.9\n35,fr,I10\n52,Atlantis,I50.1\n58,BR,J45\n";
    let recipe = "[input]\ntable = \"t.csv\"\n[columns]\n\
        age = { role = \"quasi\", hierarchy = { quantiles = [2] } }\n\
        land = { role = \"quasi\", hierarchy = { template = \"un-region\", other = true } }\n\
        diag = { role = \"quasi\", hierarchy = { csv = \"diag.csv\" } }\n\
        [promise]\nk-anonymity = 2\n[method]\nname = \"full-domain\"\n";
    let home = folder(&[("t.csv", table), ("r.toml", recipe)]);
    let home = home.path();
    let arguments =
        ["hierarchy", "t.csv", "diag", "--template", "icd10", "--output", "diag.csv"];
    let (code, said, _) = run(home, &arguments);
    assert!(code == 0 && said.contains("E11.9 > E11 > E08-E13"), "{said}");
    assert!(said.contains("template = \"icd10\""), "{said}");
    let (code, _, err) = run(home, &arguments);
    assert!(code == 2 && err.contains("use `--force`"), "{err}");
    let (code, _, err) = run(home, &["publish", "r.toml", "-q", "--seed", "1"]);
    assert_eq!(code, 0, "{err}");
    let rows = fs::read_to_string(home.join("release/data.csv")).unwrap();
    assert!(!rows.contains("Atlantis"), "{rows}");

    fs::write(home.join("r.toml"), recipe.replace(", other = true", "")).unwrap();
    let (code, _, err) = run(home, &["publish", "r.toml", "--force"]);
    assert_eq!(code, 2);
    assert!(err.contains("column `land`: 1 value is not a country"), "{err}");
    assert!(err.contains("say `other = true`") && !err.contains("Atlantis"), "{err}");
    let (code, _, err) =
        run(home, &["hierarchy", "t.csv", "land", "--template", "icd11"]);
    assert!(code == 2 && err.contains("there are icd9, icd10, un-region"), "{err}");
}
