//! Values that must not leave are looked for in every file and every message.

use scumble::error::Error;
use scumble::recipe::{Published, Request, Spec, publish};
use scumble::table::Input;
use scumble::watch::Unwatched;

use crate::publish::every_way::{WAYS, Way, files};

const CANARY: &str = "Canary7f3a";

/// A table with every cell of some columns a canary, and columns of canaries beside them.
fn with_canaries(table: &[u8], cells: &[&str]) -> Vec<u8> {
    let mut reader = csv::Reader::from_reader(table);
    let mut writer = csv::Writer::from_writer(Vec::new());
    let header = reader.headers().unwrap().clone();
    writer.write_record(header.iter().chain(["name", "hidden", "forgotten"])).unwrap();
    for (row, record) in reader.records().enumerate() {
        let record = record.unwrap();
        let marked = |name: &str| format!("{CANARY}{name}{row}");
        let mut cells: Vec<String> = header
            .iter()
            .zip(record.iter())
            .map(|(name, cell)| match cells.contains(&name) {
                true => marked(name),
                false => cell.to_owned(),
            })
            .collect();
        cells.extend(["name", "hidden", "forgotten"].map(marked));
        writer.write_record(cells).unwrap();
    }
    writer.into_inner().unwrap()
}

fn run(way: &Way, cells: &[&str]) -> Result<Published, Error> {
    let columns = "name = \"identifier\"\nhidden = \"drop\"";
    let spec = Spec::parse(&way.recipe(columns), "recipe.toml").unwrap();
    let [table, all, key] = files();
    let given = [
        (table.0, with_canaries(&table.1, cells)),
        (all.0, with_canaries(&all.1, cells)),
        key,
    ];
    let given = given.map(|(name, bytes)| (name.to_owned(), Input::Bytes(bytes)));
    publish(Request { seed: Some(3), ..Request::in_memory(&spec, given) }, &Unwatched)
}

fn said(error: &Error) -> String {
    format!("{error}\n{}\n{error:?}", error.hints().join("\n"))
}

#[test]
fn identifiers_and_what_is_left_out_are_in_no_file() {
    for way in &WAYS {
        let published = run(way, &["note"]).unwrap();
        let store = published.release.store();
        for name in store.files().unwrap() {
            let bytes = store.read(&name).unwrap();
            assert!(
                memchr::memmem::find(&bytes, CANARY.as_bytes()).is_none(),
                "{name} of {}",
                way.method
            );
        }
        let notes = published.notes.join("\n");
        assert!(!notes.contains(CANARY), "{notes}");
        assert!(!format!("{:?}", published.audit).contains(CANARY), "{}", way.method);
    }
}

/// Columns of numbers whose cells are none, columns in which everybody differs: whatever is
/// refused is refused without showing it.
#[test]
fn no_message_shows_a_value_of_the_table() {
    let mut refused = 0;
    for way in &WAYS {
        for cells in [
            &["age"][..],
            &["zip", "weight"],
            &["town"],
            &["illness"],
            &["cost"],
            &["age", "zip", "town", "illness", "weight", "cost", "note"],
        ] {
            match run(way, cells) {
                Ok(published) => {
                    let notes = published.notes.join("\n");
                    assert!(!notes.contains(CANARY), "{notes}");
                }
                Err(error) => {
                    refused += 1;
                    assert!(!said(&error).contains(CANARY), "{}", said(&error));
                }
            }
        }
    }
    assert!(refused > 40, "{refused} were refused");
}

/// A hierarchy may have been made from the table, and what is known, too.
#[test]
fn no_message_shows_a_value_of_a_hierarchy_or_of_knowledge() {
    let table = "age,town,illness\n41,Ghent,flu\n42,Bruges,gout\n43,Ghent,flu\n";
    let recipe = |columns: &str, promise: &str| {
        format!(
            "input.table = \"people.csv\"\n[columns]\n{columns}\n\
             illness = \"sensitive\"\n[promise]\n{promise}\n"
        )
    };
    let tree = recipe(
        "town = { role = \"quasi\", hierarchy = { csv = \"file.csv\" } }",
        "k-anonymity = 2",
    );
    let numbers = recipe(
        "age = { role = \"quasi\", type = \"number\", \
         hierarchy = { csv = \"file.csv\" } }",
        "k-anonymity = 2",
    );
    let known = recipe(
        "town = \"quasi\"",
        "r-robustness = { r = 1.5, knowledge = \"file.csv\" }",
    );
    let bounds = format!(
        "{}[method]\nname = \"fine-grain-perturbation\"\n",
        recipe("town = \"quasi\"", "fine-grain = { csv = \"file.csv\" }")
    );
    let c = CANARY;
    let files = [
        (&tree, format!("{c};a;*\n{c};b;*\n")),
        (&tree, format!("Ghent;{c};*\nBruges;{c};{c}2\n")),
        (&tree, format!("Ghent;{c};*\n{c};*\n")),
        (&tree, format!("{c};*\n")),
        (&tree, format!("Ghent;\"{c};*\n")),
        (&numbers, format!("{c};a;*\n41;a;*\n42;a;*\n43;a;*\n")),
        (&numbers, format!("41;{c};*\n41.0;{c}2;*\n42;a;*\n43;a;*\n")),
        (&known, format!("town,illness,probability\nGhent,{c},0.5\nBruges,{c},{c}\n")),
        (&known, format!("town,illness,probability\n{c},flu,0.7\n{c},gout,0.7\n")),
        (&known, format!("town,illness,probability\n{c},flu,0.7\n{c},flu,0.7\n")),
        (&known, format!("town,illness,probability\n{c},flu,0.7\n")),
        (&known, format!("town,illness,probability\n{c},flu\n")),
        (&known, format!("town,illness,probability\nGhent,{c},0.1\nBruges,flu,0.1\n")),
        (&bounds, format!("value,prior,posterior\n{c},0.1,0.5\n")),
        (&bounds, format!("value,prior,posterior\nflu,{c},0.5\ngout,0.1,{c}\n")),
        (&bounds, format!("value,prior,posterior\nflu,0.1\n{c},0.1,0.2\n")),
    ];
    for (recipe, text) in files {
        let given = [("people.csv", table.to_owned()), ("file.csv", text.clone())];
        let given = given
            .map(|(name, text)| (name.to_owned(), Input::Bytes(text.into_bytes())));
        let told = match Spec::parse(recipe, "recipe.toml") {
            Err(error) => panic!("{error}"),
            Ok(spec) => match publish(Request::in_memory(&spec, given), &Unwatched) {
                Ok(published) => published.notes.join("\n"),
                Err(error) => said(&error),
            },
        };
        assert!(!told.contains(CANARY), "{text}\n{told}");
    }
}
