//! Rows come out the same whichever way they are written: from counts, by reading the table
//! again, or batch by batch with a bound plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use scumble::random::Randomness;
use scumble::recipe::{METHODS, Request, Spec, publish};
use scumble::release::PublishedColumn;
use scumble::table::{Input, Said, Schema, Source};
use scumble::watch::Unwatched;
use scumble::{Plan, Published};

pub(super) const SEED: u64 = 5;
const ROWS: usize = 240;

/// Texts that are the same value are written in several ways, some are missing, and `note`
/// tells rows apart.
pub(super) fn table() -> Vec<[String; 7]> {
    let row = |row: usize| {
        let age = match row % 19 {
            0 => String::new(),
            1 => format!("{}.0", 20 + row * 13 % 50),
            _ => (20 + row * 13 % 50).to_string(),
        };
        let zip = 47_900 + row * 13 % 40;
        let town = ["Ghent", "Bruges", "Aalst, east", ""][row * 5 % 17 % 4];
        let illness = ["flu", "cough", "ulcer", "asthma", "gout"][row * 7 % 5];
        let weight = format!("{}.{}", 50 + row * 29 % 40, ["0", "5", "50"][row % 3]);
        let cost = format!("{}{}", row * 11 % 6, ["", ".0"][row % 2]);
        let texts = [&*age, &zip.to_string(), town, illness, &weight, &cost];
        let [age, zip, town, illness, weight, cost] = texts.map(str::to_owned);
        [age, zip, town, illness, weight, cost, format!("n{row}")]
    };
    (0..ROWS).map(row).collect()
}

pub(super) const NAMES: [&str; 7] =
    ["age", "zip", "town", "illness", "weight", "cost", "note"];

pub(super) fn lines(rows: &[[String; 7]]) -> Vec<u8> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    writer.write_record(NAMES).unwrap();
    rows.iter().for_each(|row| writer.write_record(row).unwrap());
    writer.into_inner().unwrap()
}

/// What the recipes name: the table, everyone who may be in it, and a key.
pub(crate) fn files() -> [(&'static str, Vec<u8>); 3] {
    let rows = table();
    let everyone = [&rows[..], &rows[..ROWS / 2]].concat();
    [
        ("people.csv", lines(&rows)),
        ("all", lines(&everyone)),
        ("key", "0123456789abcdef".repeat(4).into_bytes()),
    ]
}

/// How the sensitive values are published, apart from the method.
pub(crate) struct Way {
    pub(crate) method: &'static str,
    promise: &'static str,
    columns: &'static str,
}

const GENERALIZED: &str = "age = { role = \"quasi\", type = \"number\", \
     hierarchy = { widths = [10, 20] } }\nzip = { role = \"quasi\", type = \"category\", \
     hierarchy = { mask = \"right\" } }\ntown = \"quasi\"\nillness = \"sensitive\"\n\
     cost = { role = \"sensitive\", type = \"number\" }";
const ONE: &str = "age = { role = \"quasi\", type = \"number\" }\ntown = \"quasi\"\n\
     illness = \"sensitive\"";
const NUMBERS: &str = "zip = { role = \"quasi\", type = \"number\" }\n\
     weight = { role = \"quasi\", type = \"number\" }\ntown = \"quasi\"\n\
     illness = \"sensitive\"";
const K: &str = "k-anonymity = 4";
const BREACH: &str = "breach = { prior = 0.3, posterior = 0.6 }";
const EXPECTED: &str = "expected-anonymity = 3";
const LOOSE: &str = "expected-anonymity = { k = 3, strict = false }";

const fn way(
    method: &'static str,
    promise: &'static str,
    columns: &'static str,
) -> Way {
    Way { method, promise, columns }
}

/// Every method, those that generalize with every form of cells.
pub(crate) const WAYS: [Way; 29] = [
    way("name = \"full-domain\"\nsuppression = 0.2", K, GENERALIZED),
    way("name = \"full-domain\"\ncells = \"interval\"", K, GENERALIZED),
    way("name = \"full-domain\"\ncells = \"set\"\nsuppression = 0.2", K, GENERALIZED),
    way("name = \"full-domain\"", "l-diversity = 2\nt-closeness = 0.4", ONE),
    way("name = \"full-domain\"", PRESENCE, GENERALIZED),
    way("name = \"full-domain\"\ncells = \"pdf\"", PRESENCE, GENERALIZED),
    way("name = \"mondrian\"", K, GENERALIZED),
    way("name = \"mondrian\"\ncells = \"taxonomy\"", K, GENERALIZED),
    way("name = \"mondrian\"\ncells = \"interval\"\nsuppression = 0.2", K, GENERALIZED),
    way("name = \"mondrian\"\ncells = \"set\"", K, GENERALIZED),
    way("name = \"mondrian\"\ncells = \"pdf\"", K, GENERALIZED),
    way("name = \"mondrian\"", PRESENCE, GENERALIZED),
    way("name = \"mondrian\"\ncells = \"pdf\"", PRESENCE, GENERALIZED),
    way("name = \"anatomy\"", "l-diversity = 3", ONE),
    way("name = \"anatomy\"\nsuppression = 0.2", "l-diversity = 5", ONE),
    way("name = \"robust\"", "r-robustness = { r = 2, support = 500 }", ONE),
    way("name = \"uniform-perturbation\"", BREACH, ONE),
    way("name = \"uniform-perturbation\"\nsensitive = \"each\"", BREACH, GENERALIZED),
    way(
        "name = \"uniform-perturbation\"\nsensitive = \"compound\"",
        BREACH,
        GENERALIZED,
    ),
    way(
        "name = \"uniform-perturbation\"\nkey-file = \"key\"\nid = \"note\"",
        BREACH,
        ONE,
    ),
    way("name = \"general-perturbation\"", BREACH, ONE),
    way("name = \"fine-grain-perturbation\"", "fine-grain = { factor = 2 }", ONE),
    way("name = \"partitioned-perturbation\"", BREACH, ONE),
    way("name = \"perturbed-generalization\"", SAMPLED, ONE),
    way("name = \"blur\"", EXPECTED, NUMBERS),
    way("name = \"blur\"\nlevels = 2\nshape = \"uniform\"", EXPECTED, NUMBERS),
    way("name = \"blur\"\nframe = \"rotated\"", EXPECTED, NUMBERS),
    way("name = \"blur\"", LOOSE, NUMBERS),
    way("name = \"condensation\"", EXPECTED, NUMBERS),
];
const PRESENCE: &str = "delta-presence = { min = 0.0, max = 0.9 }";
const SAMPLED: &str = "k-anonymity = 3\nbreach = { prior = 0.3, posterior = 0.8 }";

impl Way {
    pub(crate) fn name(&self) -> &str {
        self.method.split('"').nth(1).unwrap()
    }

    pub(crate) fn is_keyed(&self) -> bool {
        self.method.contains("key-file")
    }

    pub(crate) fn is_sampled(&self) -> bool {
        self.name() == "perturbed-generalization"
    }

    /// The recipe, with what is said of the column that tells rows apart.
    pub(crate) fn recipe(&self, note: &str) -> String {
        let Self { method, promise, columns } = self;
        let everyone = if *promise == PRESENCE { "population = \"all\"" } else { "" };
        format!(
            "[input]\ntable = \"people.csv\"\n{everyone}\n[columns]\n{columns}\n{note}\n\
             [promise]\n{promise}\n[method]\n{method}\n"
        )
    }

    /// What is published, with what tells rows apart as this.
    fn publish(&self, note: &str) -> Published {
        let text = self.recipe(note);
        let spec = Spec::parse(&text, "recipe.toml").unwrap();
        let given = files().map(|(name, bytes)| (name.to_owned(), Input::Bytes(bytes)));
        let request = Request { seed: Some(SEED), ..Request::in_memory(&spec, given) };
        publish(request, &Unwatched).unwrap_or_else(|error| panic!("{error}\n{text}"))
    }
}

/// The header and rows of the data.
fn rows(published: &Published) -> (Vec<String>, Vec<Vec<String>>) {
    let bytes = published.release.store().read("data.csv").unwrap();
    let mut reader = csv::Reader::from_reader(&*bytes);
    let header = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let cells = |row: csv::StringRecord| row.iter().map(str::to_owned).collect();
    (header, reader.records().map(|row| cells(row.unwrap())).collect())
}

/// All files but the data and what is said about them.
fn beside(published: &Published) -> BTreeMap<String, Vec<u8>> {
    let store = published.release.store();
    let names = store.files().unwrap().into_iter();
    let names = names.filter(|name| ["cells.csv", "sensitive.csv"].contains(&&**name));
    names.map(|name| (name.clone(), store.read(&name).unwrap())).collect()
}

#[test]
fn every_method_is_tried() {
    for method in METHODS {
        assert!(
            WAYS.iter().any(|way| way.name() == method.name()),
            "{}",
            method.name()
        );
    }
}

/// Columns of the role `other` are not counted, so that the table is read again.
#[test]
fn rows_from_counts_are_those_of_the_table_read_again() {
    for way in WAYS.iter().filter(|way| !way.is_sampled() && !way.is_keyed()) {
        let counted = way.publish("");
        let streamed = way.publish("note = \"other\"");
        assert_eq!(counted.plan, streamed.plan, "{}", way.method);
        let (names, mut expected) = rows(&counted);
        let (header, found) = rows(&streamed);
        let note = header.iter().position(|name| name == "note").unwrap();
        let mut notes: Vec<String> =
            found.iter().map(|row| row[note].clone()).collect();
        let without = |mut row: Vec<String>| {
            row.remove(note);
            row
        };
        let mut found: Vec<Vec<String>> = found.into_iter().map(without).collect();
        assert_eq!(without(header), names);
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{}", way.method);
        assert_eq!(beside(&streamed), beside(&counted), "{}", way.method);
        notes.sort();
        notes.dedup();
        assert_eq!(notes.len() as u64, streamed.manifest.rows, "{}", way.method);
        assert_eq!(streamed.manifest.rows + streamed.manifest.left_out, ROWS as u64);
    }
}

/// A batch of texts.
pub(super) fn batch<S: AsRef<str>>(
    names: &[&str],
    rows: &[impl AsRef<[S]>],
) -> RecordBatch {
    let columns = names.iter().enumerate().map(|(place, name)| {
        let cells = rows.iter().map(|row| row.as_ref()[place].as_ref());
        (*name, Arc::new(StringArray::from_iter_values(cells)) as ArrayRef)
    });
    RecordBatch::try_from_iter(columns).unwrap()
}

/// What a plan makes of a table in batches: the header, and the rows.
pub(super) fn applied(
    plan: &Plan,
    said: &[Said],
    batches: &[RecordBatch],
) -> scumble::Result<(Vec<String>, Vec<Vec<String>>)> {
    let source = Source::from_batches("rows", batches.to_vec())?;
    let schema = Schema::read(&source, said, &[String::new()], &Unwatched)?;
    let applier = plan.bind(&schema)?;
    let (mut all, mut first) = (Vec::new(), 0);
    for (block, batch) in (0..).zip(batches) {
        let done = applier.apply(batch, block, first, &Randomness::of_seed(SEED))?;
        first += batch.num_rows() as u64;
        let columns = done.columns().iter();
        let columns: Vec<&StringArray> =
            columns.map(|column| column.as_any().downcast_ref().unwrap()).collect();
        let row =
            |row: usize| columns.iter().map(|c| c.value(row).to_owned()).collect();
        all.extend((0..done.num_rows()).map(row));
    }
    Ok((applier.header().into_iter().map(str::to_owned).collect(), all))
}

/// What the plan of a release makes of the table, cut into batches of so many rows.
fn cut(
    published: &Published,
    size: usize,
) -> scumble::Result<(Vec<String>, Vec<Vec<String>>)> {
    let saved = published.plan.to_json()?;
    let plan = Plan::from_json(&saved, "plan.json")?;
    assert_eq!(plan, published.plan);
    let said = |column: &PublishedColumn| Said {
        name: column.name.clone(),
        role: column.role,
        kind: Some(column.kind),
        date_format: None,
    };
    let said: Vec<Said> = published.manifest.columns.iter().map(said).collect();
    let batches: Vec<RecordBatch> =
        table().chunks(size).map(|rows| batch(&NAMES, rows)).collect();
    applied(&plan, &said, &batches)
}

/// The rows by what tells them apart, without the columns of these names.
fn by_note(
    (header, rows): (Vec<String>, Vec<Vec<String>>),
    without: &[&str],
) -> BTreeMap<String, BTreeMap<String, String>> {
    let row = |row: Vec<String>| {
        let cells = header.iter().cloned().zip(row);
        let cells = cells.filter(|(name, _)| !without.contains(&&**name));
        let cells: BTreeMap<String, String> = cells.collect();
        (cells["note"].clone(), cells)
    };
    rows.into_iter().map(row).collect()
}

#[test]
fn a_bound_plan_gives_the_published_rows_batch_by_batch_or_says_why_not() {
    for way in &WAYS {
        let note =
            if way.is_sampled() || way.is_keyed() { "" } else { "note = \"other\"" };
        let published = way.publish(note);
        let whole = match cut(&published, ROWS) {
            Ok(whole) => whole,
            Err(error) => {
                let reason = match way.name() {
                    "anatomy" | "robust" => {
                        "it deals the rows of the whole table to groups"
                    }
                    "partitioned-perturbation" => {
                        "it deals the rows of the whole table to sub-tables"
                    }
                    "perturbed-generalization" => {
                        "it publishes one row of each group, chosen among all of them"
                    }
                    _ if way.is_keyed() => {
                        "its noise depends on a key, which the plan does not hold"
                    }
                    _ => panic!("{}: {error}", way.method),
                };
                let wanted = format!(
                    "a plan of `{}` cannot be applied batch by batch: {reason}",
                    way.name()
                );
                assert_eq!(error.to_string(), wanted);
                assert_eq!(error.hints(), ["publish the whole table with the recipe"]);
                continue;
            }
        };
        // One batch is one block of the table: even the noise is the same.
        let expected = rows(&published);
        assert_eq!(whole.0, expected.0, "{}", way.method);
        let expected = by_note(expected, &[]);
        assert_eq!(by_note(whole, &[]), expected, "{}", way.method);
        // What is drawn by a matrix comes from the stream of the batch, all else does not
        // depend on how the table is cut.
        let drawn: &[&str] = match way.name().ends_with("perturbation") {
            true => &["illness", "cost"],
            false => &[],
        };
        let expected = by_note(rows(&published), drawn);
        for size in [1, 7, 100] {
            let rows = cut(&published, size).unwrap();
            assert_eq!(by_note(rows, drawn), expected, "{} by {size}", way.method);
        }
    }
}
