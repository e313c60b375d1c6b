//! Experiments, on data so small that every one of them takes a moment.
#![expect(clippy::unwrap_used, reason = "a test may stop at any error")]

use std::cell::RefCell;
use std::fs;
use std::path::Path;

use scumble::error::Result;
use scumble_lab::{Data, EXPERIMENTS, Experiment, Ran, RequiredData, survey};
use serde_json::Value;

fn experiment(name: &str) -> &'static Experiment {
    EXPERIMENTS.iter().find(|known| known.name == name).unwrap()
}

/// Runs an experiment in a folder, on the data in it if there are any.
fn run(home: &Path, name: &str, rows: Option<u32>) -> Result<Ran> {
    let folder = Some(home.join("data")).filter(|data| data.exists());
    experiment(name).run(&Data { folder, rows }, &home.join("out"))
}

/// The columns of Adult that experiments use, with a few values each.
const COLUMNS: [(&str, &[&str]); 9] = [
    ("workclass", &["Private", "State-gov"]),
    ("education", &["Bachelors", "HS-grad", "Masters"]),
    ("marital-status", &["Divorced", "Never-married"]),
    ("occupation", &["Sales", "Tech-support"]),
    ("relationship", &["Husband", "Own-child"]),
    ("race", &["Black", "White"]),
    ("sex", &["Female", "Male"]),
    ("native-country", &["England", "Japan"]),
    ("salary-class", &["<=50K", ">50K"]),
];

/// Columns of numbers besides age.
const NUMBERS: [&str; 5] =
    ["fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week"];

/// A folder with 700 people, of whom every 23rd is in the private tables.
fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    let adult = home.path().join("data/adult");
    fs::create_dir_all(adult.join("hierarchies")).unwrap();
    let mut table = "age".to_owned();
    let ages: String =
        (17..=90).map(|age| format!("{age};{}0s;*\n", age / 10)).collect();
    fs::write(adult.join("hierarchies/age.csv"), ages).unwrap();
    for (name, values) in COLUMNS {
        table.push_str(&format!(",{name}"));
        let lines: String = values.iter().map(|value| format!("{value};*\n")).collect();
        fs::write(adult.join(format!("hierarchies/{name}.csv")), lines).unwrap();
    }
    for name in NUMBERS {
        table.push_str(&format!(",{name}"));
    }
    for row in 0..700 {
        table.push_str(&format!("\n{}", 17 + row * 7 % 74));
        for (place, (_, values)) in COLUMNS.iter().enumerate() {
            let value = values[(row / (place + 2)) % values.len()];
            table.push_str(&format!(",{value}"));
        }
        for place in 0..NUMBERS.len() {
            let number = row * (place + 3) % 97 * (row % (place + 1)) + row % 5;
            table.push_str(&format!(",{number}"));
        }
    }
    fs::write(adult.join("adult.csv"), table).unwrap();
    let members: String = (0..700).step_by(23).map(|row| format!("{row}\n")).collect();
    for subset in ["random", "diabetes"] {
        fs::write(adult.join(format!("subset_{subset}_1957.idx")), &members).unwrap();
    }
    randomized(&home.path().join("data"));
    home
}

/// Counts of 20 occupations and 14 levels of education, and 1,000 records.
fn randomized(data: &Path) {
    for (name, values) in [("occ", 20), ("edu", 14)] {
        let lines: String = (1..=values)
            .map(|rank| format!("x{rank},{}\n", 600 / (rank + 9)))
            .collect();
        let path = data.join(format!("{name}100k_counts.csv"));
        fs::write(path, format!("value,count\n{lines}")).unwrap();
    }
    let mut table =
        "Age,Gender,Education,Marital,Race,Workclass,Country,Occupation,Hours"
            .to_owned();
    for row in 0..1_000 {
        let education = if row % 40 == 0 { 13 } else { row % 13 };
        table.push_str(&format!(
            "\n{},{},{education},{},{},{},{},{},40",
            17 + row % 30,
            1 + row % 2,
            row % 3,
            row / 7 % 4,
            row / 11 % 3,
            row / 13 % 5,
            row * 7 % 20 * 3
        ));
    }
    fs::write(data.join("acs_occ_500k.csv"), table).unwrap();
}

#[test]
fn every_experiment_writes_a_table_and_a_picture() {
    let home = home();
    for Experiment { name, .. } in EXPERIMENTS {
        let ran = run(home.path(), name, Some(300)).unwrap();
        let text = ran.text();
        assert!(text.contains("said   ") && text.contains("\nfound  "), "{text}");
        let [table, picture] = ran.files() else { panic!("{:?}", ran.files()) };
        assert!(table.ends_with(&format!("out/{name}.csv")), "{table}");
        assert!(fs::read_to_string(table).unwrap().lines().count() > 5, "{table}");
        let picture = fs::read_to_string(picture).unwrap();
        assert!(picture.starts_with("<svg") && picture.ends_with("</svg>\n"));
    }
}

#[test]
fn experiments_with_an_example_need_no_data() {
    let home = tempfile::tempdir().unwrap();
    assert_eq!(experiment("fine-grain-downward").needs, RequiredData::Nothing);
    for Experiment { name, needs, .. } in EXPERIMENTS {
        let ran = run(home.path(), name, Some(300));
        match needs {
            RequiredData::Nothing => assert!(ran.is_ok(), "{name}"),
            RequiredData::Data => {
                let error = ran.unwrap_err();
                let message = "this experiment needs a folder with its data";
                assert_eq!(error.to_string(), message, "{name}");
                assert!(error.hints()[0].starts_with("name it with `--data DIR`"));
            }
        }
    }
}

/// One needs data that are not there, one has an example, one fails.
#[test]
fn all_write_one_page_and_a_failure_does_not_stop_them() {
    let home = home();
    let few = ["presence-n2", "fine-grain-downward", "calibration"].map(experiment);
    let told = RefCell::new(String::new());
    let tell = |line: &str| *told.borrow_mut() += &format!("{line}\n");
    let mut data = Data { folder: None, rows: Some(300) };
    let all = survey(&few, &data, home.path(), &tell).unwrap();
    let text = all.text();
    assert!(text.starts_with("2 experiments ran, 0 failed, 1 skipped.\n"), "{text}");
    let told = told.borrow();
    assert!(told.starts_with("[1/3] presence-n2: skipped, it needs `--data`\n"));
    assert!(told.contains("[3/3] calibration: done in "), "{told}");
    let read = || fs::read_to_string(home.path().join("index.html")).unwrap();
    let page = read();
    for text in [
        "tables that experiments draw have 300 rows",
        "<a href=\"#calibration\">calibration</a>",
        "<section id=\"fine-grain-downward\">",
        "<th>said</th><th>found</th>",
        "<p>Skipped: it needs a folder",
        "<svg width=",
    ] {
        assert!(page.contains(text), "{text}");
    }
    // The names of SVG and nothing else are addresses.
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!elsewhere.contains("http") && !elsewhere.contains("<script"));
    survey(&few, &data, home.path(), &|_| ()).unwrap();
    assert_eq!(read(), page, "the same page again");

    let adult = home.path().join("data/adult");
    fs::write(adult.join("subset_diabetes_1957.idx"), "3\n700\n").unwrap();
    data.folder = Some(home.path().join("data"));
    let all = survey(&few, &data, home.path(), &|_| ()).unwrap();
    assert!(all.has_failed());
    let found = all.json();
    let status: Vec<&str> =
        found.iter().map(|known| known["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["failed", "ran", "ran"]);
    let error = found[0]["error"].as_str().unwrap();
    assert!(error.contains("subset_diabetes_1957.idx:2:1: not a row number below 700"));
    assert!(found[1]["rows"].is_array() && found[1]["claims"].is_array());
    assert!(read().contains("<p class=\"bad\">Failed: "));
    data.folder = Some(home.path().join("nowhere"));
    let error = survey(&few, &data, home.path(), &|_| ()).unwrap_err();
    assert!(error.to_string().ends_with("nowhere: there is no such folder"));
}

#[test]
fn a_belief_falls_too_far_with_the_published_operator_only() {
    let home = tempfile::tempdir().unwrap();
    let json = run(home.path(), "fine-grain-downward", None).unwrap().json();
    let rows = json["rows"].as_array().unwrap();
    let breaches = |operator: &str| -> Vec<&str> {
        let mine = rows.iter().filter(|row| row["operator"] == operator);
        let mine = mine.filter(|row| row["table"] == "example");
        mine.map(|row| row["breach"].as_str().unwrap()).collect()
    };
    assert_eq!(breaches("published"), ["none", "none", "none", "none", "downward"]);
    assert_eq!(breaches("mended"), ["none"; 5]);
    assert_eq!(breaches("general, both"), ["none"; 5]);
    assert!(breaches("as printed").contains(&"upward"));
    let claim = &json["claims"][1];
    assert_eq!(claim["agrees"], false);
    let found = claim["found"].as_str().unwrap();
    assert!(found.contains("gives H1N1 0.0679 afterwards, below 1/14"), "{found}");
    assert!(found.contains("1.056 times gamma"), "{found}");
    let mended = &json["claims"][2];
    assert_eq!(mended["agrees"], true);
    assert!(mended["found"].as_str().unwrap().starts_with("p 0.1219, 57.1 %"));
    assert!(json["claims"][3]["found"].as_str().unwrap().contains("0.018"));
    // Of random tables many breach, and none after mending.
    let random = rows.iter().filter(|row| row["table"] == "random tables");
    for row in random.filter(|row| row["operator"] == "mended") {
        assert_eq!(row["breach"], "0 of 200");
    }
}

#[test]
fn groups_that_keep_the_published_bound_give_people_away() {
    let home = tempfile::tempdir().unwrap();
    let json = run(home.path(), "delta-bound", None).unwrap().json();
    let claims = json["claims"].as_array().unwrap();
    let agrees: Vec<bool> =
        claims.iter().map(|claim| claim["agrees"].as_bool().unwrap()).collect();
    // Table and examples agree; the theorem does not.
    assert_eq!(agrees[..6], [true, true, true, false, false, true]);
    let found = claims[3]["found"].as_str().unwrap();
    assert!(found.contains("(checked, every Delta 0.1235)"), "{found}");
    assert!(found.ends_with("has x with 0.591"), "{found}");
    let rows = json["rows"].as_array().unwrap();
    let of_ours = rows.iter().filter(|row| row["bound"] == "ours");
    for row in of_ours.filter(|row| row["groups"].is_number()) {
        assert_eq!(row["broken"], 0);
    }
    let broken = |table: &str| -> u64 {
        let mine = rows.iter().filter(|row| row["table"] == table);
        let mine = mine.filter(|row| row["bound"] == "the source");
        mine.map(|row| row["broken"].as_u64().unwrap()).sum()
    };
    assert!(broken("beliefs drawn at its ends") > 100);
    assert!(broken("beliefs drawn within the bound") > 0);
    assert_eq!(run(home.path(), "delta-bound", None).unwrap().json(), json);
}

#[test]
fn values_by_group_are_asked_like_randomized_ones() {
    let home = home();
    let rows = |name: &str| -> Vec<Value> {
        let json = run(home.path(), name, None).unwrap().json();
        json["rows"].as_array().unwrap().clone()
    };
    let all = rows("bucket-queries");
    assert_eq!(all.len(), 2 * 2 * 4 * 3);
    // Half of these people have each of two occupations.
    let adult = |method: &str, parts: u64| {
        let fits = |row: &&Value| {
            row["data"] == "Adult" && row["method"] == method && row["parts"] == parts
        };
        all.iter().find(fits).unwrap().clone()
    };
    assert_eq!(adult("anatomy", 2)["mean_group"], 2.0);
    assert!(adult("anatomy", 2)["median_error"].is_number());
    assert!(adult("anatomy", 3)["groups"].is_null());
    let acs =
        all.iter().filter(|row| row["data"] == "ACS" && row["method"] == "anatomy");
    for row in acs {
        let covered = row["coverage"].as_f64().unwrap();
        assert!((0.0..=100.0).contains(&covered) && covered > 50.0, "{row}");
        let (parts, mean) = (row["parts"].as_f64(), row["mean_group"].as_f64());
        assert!((parts..=parts.map(|l| 2.0 * l)).contains(&mean), "{row}");
    }
    let all = rows("perturbation-queries");
    let of = |method: &str| all.iter().filter(|row| row["method"] == method).count();
    assert_eq!((of("UP"), of("PP"), of("Ana")), (48, 48, 48));
}

#[test]
fn published_spreads_name_people_and_levels_do_not() {
    let home = tempfile::tempdir().unwrap();
    let json = |name: &str| run(home.path(), name, Some(400)).unwrap().json();
    let found = json("calibration");
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 * 2 * 2);
    for row in rows {
        let share = |name: &str| row[name].as_f64().unwrap();
        if row["scheme"] == "paper" {
            // Spreads are published with four digits, so a few are equal by chance.
            assert!(share("by_spreads") > 0.5, "{row}");
            assert!(share("by_both") > 0.95, "{row}");
        } else {
            assert!(share("by_spreads") <= 5.0 / 400.0 + 1e-9, "{row}");
            assert!(share("by_both") < 0.5, "{row}");
        }
    }
    let agrees = |place: usize| found["claims"][place]["agrees"].as_bool().unwrap();
    assert_eq!([agrees(0), agrees(1)], [false, true]);

    let found = json("blur-queries");
    let rows = found["rows"].as_array().unwrap();
    // At k = 10 queries of four sizes, at four other k of one.
    assert_eq!(rows.len(), 2 * 5 * (4 + 4));
    let known = rows.iter().filter(|row| row["error"].is_number()).count();
    assert!(known > 15, "{known}");

    let found = json("blur-classification");
    let rows = found["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2 + 5 * 5);
    assert!(rows[0]["accuracy"].as_f64().unwrap() > 50.0, "{}", rows[0]);
}

#[test]
fn records_are_unpacked_by_the_user() {
    let home = home();
    let data = home.path().join("data");
    fs::rename(data.join("acs_occ_500k.csv"), data.join("acs_occ_500k.csv.xz"))
        .unwrap();
    let error = run(home.path(), "perturbation-queries", None).unwrap_err();
    assert!(error.hints()[0].starts_with("unpack `acs_occ_500k.csv.xz` first"));
}
