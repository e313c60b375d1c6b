//! A table that is changed in place between two passes is never published.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arrow_array::{ArrayRef, RecordBatch, StringArray};
use parquet::arrow::ArrowWriter;
use parquet::basic::Compression;
use parquet::file::properties::WriterProperties;
use scumble::error::Result;
use scumble::recipe::{Published, Request, Spec, publish};
use scumble::watch::{Stage, Unwatched, Watch};

use crate::builder::keep_private;
use crate::publish::every_way::{WAYS, Way, files};

/// How a file is changed, without a new one taking its place.
#[derive(Debug, Clone, Copy)]
enum Change {
    Swap,
    CutOff,
    Append,
    Replace,
}

impl Change {
    fn make(self, path: &Path) {
        let bytes = fs::read(path).unwrap();
        match self {
            Self::Swap => {
                let text = String::from_utf8(bytes).unwrap();
                let text = text.replace("cough", "?????");
                let text = text.replace("ulcer", "cough").replace("?????", "ulcer");
                let mut file = OpenOptions::new().write(true).open(path).unwrap();
                file.write_all(text.as_bytes()).unwrap();
            }
            Self::CutOff => {
                let kept = bytes.iter().enumerate().rev();
                let mut ends = kept.filter(|(_, byte)| **byte == b'\n');
                let (end, _) = ends.nth(10).unwrap();
                let file = OpenOptions::new().write(true).open(path).unwrap();
                file.set_len(end as u64 + 1).unwrap();
            }
            Self::Append => {
                let row =
                    bytes.split_inclusive(|byte| *byte == b'\n').next_back().unwrap();
                let mut file = OpenOptions::new().append(true).open(path).unwrap();
                file.write_all(&row.repeat(500)).unwrap();
            }
            // What careful programs do: the file that is open stays as it is.
            Self::Replace => {
                let new = path.with_extension("new");
                fs::write(&new, "age\n1\n").unwrap();
                fs::rename(new, path).unwrap();
            }
        }
    }
}

/// Changes a file as soon as a stage begins for the first time.
struct Meddler {
    stage: Stage,
    path: PathBuf,
    change: Change,
    times: AtomicU32,
}

impl Watch for Meddler {
    fn stage(&self, stage: Stage, _bytes: u64) {
        if stage == self.stage && self.times.fetch_add(1, Ordering::SeqCst) == 0 {
            self.change.make(&self.path);
        }
    }
}

fn home() -> tempfile::TempDir {
    let home = tempfile::tempdir().unwrap();
    for (name, bytes) in files() {
        fs::write(home.path().join(name), bytes).unwrap();
        keep_private(&home.path().join(name));
    }
    home
}

fn run(home: &Path, recipe: &str, watch: &dyn Watch) -> Result<Published> {
    let spec = Spec::parse(recipe, "recipe.toml").unwrap();
    publish(Request { seed: Some(5), ..Request::new(&spec, home) }, watch)
}

/// The files of a release.
fn release(home: &Path) -> Vec<(String, Vec<u8>)> {
    let release = scumble::Release::open(&home.join("release")).unwrap();
    let names = release.store().files().unwrap().into_iter();
    names.map(|name| (name.clone(), release.store().read(&name).unwrap())).collect()
}

/// Whether it was refused for the right reason, with nothing left.
fn is_refused(home: &Path, file: &str, done: Result<Published>, told: &str) -> bool {
    let Err(error) = done else { return false };
    let path = home.join(file).display().to_string();
    assert_eq!(
        error.to_string(),
        format!("{path}: the table has changed while it was read"),
        "{told}"
    );
    assert_eq!(error.hints(), ["wait until nobody writes to it, or work on a copy"]);
    assert_eq!(error.exit_code(), 2);
    let names = fs::read_dir(home).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names, ["all", "key", "people.csv"], "{told}");
    true
}

fn note(way: &Way) -> &'static str {
    if way.is_sampled() || way.is_keyed() { "" } else { "note = \"other\"" }
}

#[test]
fn a_table_that_changes_before_it_is_written_is_refused_by_every_method() {
    // A sample is written from counts.
    for way in WAYS.iter().filter(|way| !way.is_sampled()) {
        for change in [Change::Swap, Change::CutOff, Change::Append] {
            let home = home();
            let path = home.path().join("people.csv");
            let times = AtomicU32::new(0);
            let meddler = Meddler { stage: Stage::Write, path, change, times };
            let done = run(home.path(), &way.recipe(note(way)), &meddler);
            let told = format!("{change:?}: {}", way.method);
            assert!(is_refused(home.path(), "people.csv", done, &told), "{told}");
        }
    }
}

/// Where counts are all there is to know, the table is read once: what was counted is
/// published, or nothing.
#[test]
fn what_is_published_from_counts_is_what_was_counted() {
    for way in &WAYS {
        let before = home();
        run(before.path(), &way.recipe(""), &Unwatched).unwrap();
        let before = release(before.path());
        for (file, change) in [
            ("people.csv", Change::Swap),
            ("people.csv", Change::Append),
            ("people.csv", Change::Replace),
            ("all", Change::CutOff),
        ] {
            let home = home();
            let path = home.path().join(file);
            let times = AtomicU32::new(0);
            let meddler = Meddler { stage: Stage::Search, path, change, times };
            let done = run(home.path(), &way.recipe(""), &meddler);
            let told = format!("{change:?} of {file}: {}", way.method);
            match done {
                Ok(_) => assert!(release(home.path()) == before, "{told}"),
                Err(_) => assert!(is_refused(home.path(), file, done, &told)),
            }
        }
    }
}

/// Several methods read the table several times, each for its columns.
#[test]
fn all_parts_of_a_recipe_read_one_table() {
    let recipe = "input.table = \"people.csv\"\n[columns]\n\
         age = { role = \"quasi\", type = \"number\" }\ntown = \"quasi\"\n\
         illness = \"sensitive\"\ncost = { role = \"sensitive\", type = \"category\" }\n\
         [promise]\nk-anonymity = 3\n\
         l-diversity = { l = 2, columns = [\"illness\"] }\n\
         breach = { prior = 0.3, posterior = 0.6, columns = [\"cost\"] }\n";
    run(home().path(), recipe, &Unwatched).unwrap();
    for (stage, change) in [
        (Stage::Search, Change::Swap),
        (Stage::Write, Change::CutOff),
        (Stage::Audit, Change::Append),
        (Stage::Audit, Change::Swap),
    ] {
        let home = home();
        let path = home.path().join("people.csv");
        let meddler = Meddler { stage, path, change, times: AtomicU32::new(0) };
        let done = run(home.path(), recipe, &meddler);
        let told = format!("{change:?} at {stage:?}");
        assert!(is_refused(home.path(), "people.csv", done, &told), "{told}");
    }
}

/// A key that others can read is no secret.
#[cfg(unix)]
#[test]
fn a_key_that_others_can_read_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let way = WAYS.iter().find(|way| way.is_keyed()).unwrap();
    let home = home();
    let key = home.path().join("key");
    run(home.path(), &way.recipe(""), &Unwatched).unwrap();
    fs::remove_dir_all(home.path().join("release")).unwrap();
    for mode in [0o640, 0o604, 0o644] {
        fs::set_permissions(&key, fs::Permissions::from_mode(mode)).unwrap();
        let error = run(home.path(), &way.recipe(""), &Unwatched).unwrap_err();
        let shown = key.display();
        assert_eq!(
            error.to_string(),
            format!("{shown}: the key can be read by others")
        );
        assert_eq!(
            error.hints(),
            [format!("keep it for yourself: `chmod 600 {shown}`")]
        );
    }
}

/// A table in Parquet whose values can be exchanged in place.
fn parquet(swapped: bool) -> Vec<u8> {
    let column = |cells: Vec<String>| Arc::new(StringArray::from(cells)) as ArrayRef;
    let illness = |row: usize| match swapped {
        true => ["ulcer", "cough"][row % 2].to_owned(),
        false => ["cough", "ulcer"][row % 2].to_owned(),
    };
    let batch = RecordBatch::try_from_iter([
        ("age", column((0..400).map(|row| (20 + row % 50).to_string()).collect())),
        ("illness", column((0..400).map(illness).collect())),
        ("note", column((0..400).map(|row| format!("n{row}")).collect())),
    ]);
    let batch = batch.unwrap();
    let properties = WriterProperties::builder()
        .set_compression(Compression::UNCOMPRESSED)
        .set_dictionary_enabled(false)
        .set_max_row_group_row_count(Some(64))
        .build();
    let mut writer =
        ArrowWriter::try_new(Vec::new(), batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn a_parquet_file_that_changes_is_refused_too() {
    struct Rewriter<'a>(&'a Path, Option<u64>);
    impl Watch for Rewriter<'_> {
        fn stage(&self, stage: Stage, _bytes: u64) {
            if stage == Stage::Write {
                let mut file = OpenOptions::new().write(true).open(self.0).unwrap();
                match self.1 {
                    Some(cut) => file.set_len(cut).unwrap(),
                    None => file.write_all(&parquet(true)).unwrap(),
                }
            }
        }
    }
    let recipe = "input.table = \"people.parquet\"\n[columns]\n\
         age = { role = \"quasi\", type = \"number\" }\nillness = \"sensitive\"\n\
         note = \"other\"\n[promise]\nk-anonymity = 5\n";
    assert_eq!(parquet(false).len(), parquet(true).len());
    for (cut, refused) in [(Some(2_000), true), (None, true)] {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("people.parquet");
        fs::write(&path, parquet(false)).unwrap();
        let done = run(home.path(), recipe, &Rewriter(&path, cut));
        let error = done.map(|_| ()).unwrap_err().to_string();
        assert_eq!(
            error.ends_with("the table has changed while it was read"),
            refused,
            "{error}"
        );
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
