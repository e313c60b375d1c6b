//! A recipe whose inputs are all in memory gives what it gives from files.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use scumble::recipe::{Request, Spec, publish};
use scumble::table::{Input, Inputs};
use scumble::watch::Unwatched;

const RECIPE: &str = r#"
input.table = "patients.csv"
[columns]
age = { role = "quasi", hierarchy = { widths = [10, 20] } }
nationality = { role = "quasi", hierarchy = { csv = "nationality.csv" } }
illness = "sensitive"
[promise]
k-anonymity = 4
"#;

const TREE: &str = "Italian;Europe;*\nFrench;Europe;*\nPeruvian;America;*\n";

#[test]
fn batches_and_bytes_give_the_release_of_files() {
    let home = tempfile::tempdir().unwrap();
    let spec = Spec::parse(RECIPE, "recipe.toml").unwrap();
    let ages: Vec<i64> = (0..60).map(|row| row * 7 % 50).collect();
    let of = |texts: [&'static str; 3]| (0..60).map(move |row| texts[row * 5 % 7 % 3]);
    let nations: Vec<&str> = of(["Italian", "French", "Peruvian"]).collect();
    let illnesses: Vec<&str> = of(["flu", "cough", "ulcer"]).collect();
    let lines = ages.iter().zip(&nations).zip(&illnesses);
    let lines =
        lines.map(|((age, nation), illness)| format!("{age},{nation},{illness}\n"));
    let text = format!("age,nationality,illness\n{}", lines.collect::<String>());
    fs::write(home.path().join("patients.csv"), text).unwrap();
    fs::write(home.path().join("nationality.csv"), TREE).unwrap();
    let directory = Some(home.path().join("files"));
    let request =
        Request { directory, seed: Some(3), ..Request::new(&spec, home.path()) };
    let files = publish(request, &Unwatched).unwrap();

    let columns: [(&str, ArrayRef); 3] = [
        ("age", Arc::new(Int64Array::from(ages))),
        ("nationality", Arc::new(StringArray::from(nations))),
        ("illness", Arc::new(StringArray::from(illnesses))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let batches = vec![batch.slice(0, 13), batch.slice(13, 47)];
    let given = [
        ("patients.csv".to_owned(), Input::Batches(batches)),
        ("nationality.csv".to_owned(), Input::Bytes(TREE.as_bytes().to_vec())),
    ];
    let request = Request {
        inputs: Inputs::in_memory(given),
        directory: Some(home.path().join("memory")),
        seed: Some(3),
        ..Request::new(&spec, Path::new(""))
    };
    let memory = publish(request, &Unwatched).unwrap();
    assert!(memory.audit.holds());
    for file in ["data.csv", "manifest.json"] {
        let read = |directory: &Path| fs::read_to_string(directory.join(file)).unwrap();
        assert_eq!(read(&memory.directory), read(&files.directory));
    }
}

#[test]
fn an_input_that_was_not_given_is_an_error_that_lists_the_others() {
    let home = tempfile::tempdir().unwrap();
    let spec = Spec::parse(RECIPE, "recipe.toml").unwrap();
    let table = b"age,nationality,illness\n30,Italian,flu\n".to_vec();
    let given = [("patients.csv".to_owned(), Input::Bytes(table))];
    let request = Request {
        inputs: Inputs::in_memory(given),
        directory: Some(home.path().join("memory")),
        ..Request::new(&spec, Path::new(""))
    };
    let error = publish(request, &Unwatched).unwrap_err();
    assert_eq!(error.to_string(), "nationality.csv: this input was not given");
    assert_eq!(error.hints(), ["given are `patients.csv`"]);
}
