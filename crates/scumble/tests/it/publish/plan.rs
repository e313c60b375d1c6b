//! Plans are saved, read back, and applied to rows one by one.

use std::fs;
use std::path::Path;

use scumble::error::Result;
use scumble::method::Plan;
use scumble::recipe::{Published, Request, Spec, publish};
use scumble::table::{Kind, Role, Said};
use scumble::watch::Unwatched;

use crate::builder::{audited, folder};
use crate::publish::every_way::{applied, batch};

const COLUMNS: &str = "columns.age = { role = \"quasi\", hierarchy = { widths = [10, 20] } }\n\
    columns.zip = { role = \"quasi\", hierarchy = { mask = \"right\" } }\n\
    columns.sex = \"quasi\"\ncolumns.illness = \"sensitive\"\n";

fn table(n: usize, shift: usize) -> String {
    let mut text = String::from("age,zip,sex,illness\n");
    for row in 0..n {
        let place = row + shift;
        let age = if place.is_multiple_of(17) {
            String::new()
        } else {
            (place * 7 % 60).to_string()
        };
        let zip = 47_900 + place * 13 % 40;
        let sex = if place.is_multiple_of(3) { "f" } else { "m" };
        text.push_str(&format!(
            "{age},{zip},{sex},{}\n",
            ["flu", "cough", "ulcer"][place % 3]
        ));
    }
    text
}

fn run(home: &Path, method: &str, plan: Option<Plan>) -> Result<Published> {
    let text = format!(
        "input.table = \"table.csv\"\n{COLUMNS}promise.k-anonymity = 4\nmethod = {{ {method} }}\n"
    );
    let spec = Spec::parse(&text, "recipe.toml")?;
    let request = Request { replace: true, plan, ..Request::new(&spec, home) };
    publish(request, &Unwatched)
}

const METHODS: [&str; 5] = [
    "name = \"full-domain\", suppression = 0.1",
    "name = \"full-domain\", cells = \"set\", suppression = 0.1",
    "name = \"full-domain\", cells = \"interval\"",
    "name = \"mondrian\"",
    "name = \"mondrian\", cells = \"taxonomy\"",
];

#[test]
fn a_plan_is_applied_to_other_rows_and_certified() {
    for method in METHODS {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("table.csv"), table(200, 0)).unwrap();
        let plan = run(home.path(), method, None).unwrap().plan;
        fs::write(home.path().join("table.csv"), table(400, 1000)).unwrap();
        let limited = method.replace(", suppression = 0.1", "");
        let again =
            run(home.path(), &format!("{limited}, suppression = 0.5"), Some(plan));
        let again = again.unwrap();
        assert!(again.audit.holds(), "{method}");
        assert_eq!(again.manifest.rows + again.manifest.left_out, 400);
    }
}

/// The plan's table has values that this one lacks: they are no part of its domain, so what
/// is published about the loss is what a reader finds.
#[test]
fn the_loss_of_a_plan_that_is_used_again_is_that_of_its_own_table() {
    let home = folder(&[("table.csv", &table(400, 0))]);
    let plan = run(home.path(), METHODS[0], None).unwrap().plan;
    let text = table(60, 1000);
    fs::write(home.path().join("table.csv"), &text).unwrap();
    let method = "name = \"full-domain\", suppression = 0.9";
    let again = run(home.path(), method, Some(plan)).unwrap();
    let found = audited(&again.release, Some(&text), None).unwrap().public;
    assert_eq!(again.manifest.loss, found.loss);
}

#[test]
fn a_plan_that_would_break_the_promise_is_refused() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("table.csv"), table(200, 0)).unwrap();
    let plan = run(home.path(), "name = \"mondrian\"", None).unwrap().plan;
    fs::remove_dir_all(home.path().join("release")).unwrap();
    fs::write(home.path().join("table.csv"), table(20, 3)).unwrap();
    let error = run(home.path(), "name = \"mondrian\"", Some(plan)).unwrap_err();
    assert_eq!(error.exit_code(), 1, "{error}");
    assert!(!home.path().join("release").exists());
}

#[test]
fn a_damaged_plan_is_an_error() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("table.csv"), table(60, 0)).unwrap();
    let json =
        run(home.path(), "name = \"mondrian\"", None).unwrap().plan.to_json().unwrap();
    for (from, to) in [
        ("\"version\":2", "\"version\":1"),
        ("\"below\":1", "\"below\":0"),
        ("\"rest\":", "\"rest\":9999"),
        ("{", "["),
    ] {
        let damaged = json.replacen(from, to, 1);
        assert_ne!(damaged, json, "{from}");
        assert!(Plan::from_json(&damaged, "plan.json").is_err(), "{from}");
    }
}

#[test]
fn a_plan_that_cuts_off_what_is_missing_suits_a_table_where_nothing_is() {
    {
        let columns = "columns.q = \"quasi\"\ncolumns.z = \"quasi\"\n";
        let home = tempfile::tempdir().unwrap();
        let recipe = format!(
            "input.table = \"table.csv\"\n{columns}promise.k-anonymity = 2\n\
             method = {{ name = \"mondrian\", suppression = 1.0 }}\n"
        );
        let spec = Spec::parse(&recipe, "recipe.toml").unwrap();
        let table = home.path().join("table.csv");
        fs::write(&table, "q,z\n1,a\n1,a\n,b\n,b\n").unwrap();
        let first = publish(Request::new(&spec, home.path()), &Unwatched).unwrap();
        fs::write(&table, "q,z\n1,a\n1,a\n").unwrap();
        let request = Request {
            replace: true,
            plan: Some(first.plan),
            ..Request::new(&spec, home.path())
        };
        let second = publish(request, &Unwatched).unwrap();
        assert_eq!(second.manifest.rows, 2);
        // Rows are read one by one, too.
        let said = ["q", "z"].map(|name| Said {
            name: name.to_owned(),
            role: Role::Quasi,
            kind: Some(Kind::Category),
            date_format: None,
        });
        let batches = [batch(&["q", "z"], &[["1", "a"]])];
        assert_eq!(applied(&second.plan, &said, &batches).unwrap().1.len(), 1);
    }
}
