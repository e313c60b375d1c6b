//! Tables in databases: SQLite, and a PostgreSQL server that the test starts where there is one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use scumble::audit::{Given, Original, audit};
use scumble::error::Result;
use scumble::release::Release;
use scumble::table::{Password, ReadOptions, Source};
use scumble::watch::Unwatched;

use crate::builder::{records, run_whole};
use crate::formats::rows;

const RECIPE: &str = "[columns]\nage = { role = \"quasi\", type = \"number\" }\n\
     illness = \"sensitive\"\n[promise]\nk-anonymity = 3\n";

/// Tables of patients and visits, in the words of both databases.
const TABLES: &str = "CREATE TABLE patient (id INTEGER PRIMARY KEY, age INTEGER, sex TEXT); \
     CREATE TABLE visit (patient INTEGER, illness TEXT, cost DOUBLE PRECISION, note TEXT);";

/// Their rows: 60 patients, each with one visit.
fn inserts() -> String {
    let mut text = String::new();
    for id in 0..60 {
        let (age, sex) = (20 + id % 10, ["m", "f"][id % 2]);
        let illness = ["flu", "cough", "ulcer"][id % 3];
        text.push_str(&format!(
            "INSERT INTO patient VALUES ({id}, {age}, '{sex}'); \
             INSERT INTO visit VALUES ({id}, '{illness}', {id}.25, NULL);"
        ));
    }
    text
}

const JOINED: &str =
    "SELECT age, illness FROM patient JOIN visit ON patient = id ORDER BY id";

fn asked(query: &str) -> ReadOptions {
    ReadOptions { query: Some(query.to_owned()), ..ReadOptions::default() }
}

fn told<T: std::fmt::Debug>(result: Result<T>) -> (String, String) {
    let error = result.unwrap_err();
    (error.to_string(), error.hints().first().cloned().unwrap_or_default())
}

/// The release of the joined table, and what an audit of it against the same query says.
fn published(home: &Path, table: &str, input: &str) -> Vec<u8> {
    let recipe = format!(
        "[input]\ntable = \"{table}\"\nquery = \"{JOINED}\"\n{input}\n{RECIPE}"
    );
    run_whole(home, &recipe, 5).unwrap();
    fs::read(home.join("release/data.csv")).unwrap()
}

/// The same of a text file.
fn of_text(home: &Path) -> Vec<u8> {
    let row =
        |id: usize| format!("{},{}\n", 20 + id % 10, ["flu", "cough", "ulcer"][id % 3]);
    let text: String = (0..60).map(row).collect();
    fs::write(home.join("t.csv"), format!("age,illness\n{text}")).unwrap();
    run_whole(home, &format!("input.table = \"t.csv\"\n{RECIPE}"), 5).unwrap();
    fs::read(home.join("release/data.csv")).unwrap()
}

/// That an audit can be given the answer of a database.
fn audits(home: &Path, source: &Source) {
    let release = Release::open(&home.join("release")).unwrap();
    let original = Original::read(source, &release.manifest, &Unwatched).unwrap();
    let given = Given { original: Some(&original), ..Given::default() };
    let report = audit(&release, &given, &Unwatched).unwrap().private;
    assert!(report.holds());
    assert!(!report.attacks.is_empty());
}

#[cfg(feature = "sqlite")]
fn clinic() -> (tempfile::TempDir, PathBuf) {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("clinic.db");
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection
        .execute_batch(&format!("BEGIN; {TABLES} {} COMMIT;", inserts()))
        .unwrap();
    (home, path)
}

#[cfg(feature = "sqlite")]
fn named(path: &Path) -> PathBuf {
    PathBuf::from(format!("sqlite:{}", path.display()))
}

#[cfg(feature = "sqlite")]
#[test]
fn an_sqlite_query_is_a_table() {
    let (home, path) = clinic();
    let source = Source::open(
        &named(&path),
        &asked(
            "SELECT id, sex, cost, note, 'a,\"b' AS odd FROM patient, visit \
                WHERE id = patient AND id < 2;",
        ),
    );
    let found = rows(&source.unwrap()).unwrap();
    let expected = [
        ["id", "sex", "cost", "note", "odd"],
        ["0", "m", "0.25", "", "a,\"b"],
        ["1", "f", "1.25", "", "a,\"b"],
    ];
    assert_eq!(found, expected);
    let one = Source::open(&named(&path), &asked("SELECT note FROM visit")).unwrap();
    assert_eq!(rows(&one).unwrap().len(), 61, "a null alone is a row");
    let release = published(home.path(), "sqlite:clinic.db", "");
    audits(home.path(), &Source::open(&named(&path), &asked(JOINED)).unwrap());
    assert!(release == of_text(home.path()));
    assert_eq!(records(&home.path().join("release/data.csv")).len(), 60);
}

#[cfg(feature = "sqlite")]
#[test]
fn what_sqlite_cannot_answer_is_said() {
    let (home, path) = clinic();
    let shown = path.display().to_string();
    let other = home.path().join("other.db");
    fs::write(&other, vec![b'x'; 4096]).unwrap();
    let empty = home.path().join("empty.db");
    fs::write(&empty, "").unwrap();
    let told = |query: &str| {
        let opened = Source::open(&named(&path), &asked(query));
        told(opened.and_then(|source| rows(&source)))
    };
    for (query, message) in [
        ("SELECT nope FROM patient", "`query`: no such column: nope"),
        ("SELECT * FROM people", "`query`: no such table: people"),
        ("SELEKT 1", "`query`: near \"SELEKT\": syntax error"),
        ("DELETE FROM patient", "`query` does not ask for a table"),
        ("DELETE FROM patient RETURNING id", "`query` does not ask for a table"),
        ("SELECT 1; SELECT 2", "`query` has several statements"),
        ("SELECT id, id FROM patient", "two columns are called `id`"),
        ("SELECT id FROM patient WHERE id < 0", "the table has a header but no rows"),
        ("SELECT x'00ff' AS scan", "row 1, column `scan` holds bytes that are no text"),
    ] {
        assert_eq!(told(query).0, format!("{shown}: {message}"), "{query}");
    }
    assert_eq!(
        told(" "),
        (
            format!("{shown}: a database needs a `query`"),
            "say `query = \"SELECT * FROM patient\"`; the database has `patient`, `visit`"
                .to_owned()
        )
    );
    let of = |path: &Path| {
        Source::open(&named(path), &ReadOptions::default()).unwrap_err().to_string()
    };
    assert!(of(&other).ends_with("this is not an SQLite database, or it is encrypted"));
    assert!(of(&empty).ends_with("the database has no tables"));
    assert!(of(&home.path().join("no.db")).contains("cannot read the file"));
    let error = Source::open(&path, &ReadOptions::default()).unwrap_err();
    assert_eq!(error.hints(), ["name it `sqlite:clinic.db`, with a `query`"]);
    let writer = rusqlite::Connection::open(&path).unwrap();
    writer.execute_batch("BEGIN EXCLUSIVE").unwrap();
    assert_eq!(
        told("SELECT id FROM patient"),
        (
            format!("{shown}: the database is locked by another program"),
            "wait until it has finished, or work on a copy".to_owned()
        )
    );
}

/// One statement sees one state: what is written meanwhile is not seen, and what is poured is
/// read again.
#[cfg(feature = "sqlite")]
#[test]
fn a_database_that_changes_is_one_table() {
    let (_home, path) = clinic();
    let query = "SELECT * FROM patient";
    let source = Source::open(&named(&path), &asked(query)).unwrap();
    let first = rows(&source).unwrap();
    let writer = rusqlite::Connection::open(&path).unwrap();
    writer.execute_batch("DELETE FROM patient WHERE id > 3").unwrap();
    assert_eq!(rows(&source).unwrap(), first);
    let source = Source::open(&named(&path), &asked(query)).unwrap();
    writer.execute_batch("ALTER TABLE patient ADD COLUMN late TEXT").unwrap();
    let (message, _) = told(rows(&source));
    assert!(message.ends_with("the table has changed while it was read"), "{message}");
}

/// A server of its own, which ends with the test.
#[cfg(feature = "postgres")]
struct Server {
    home: tempfile::TempDir,
    port: u16,
}

#[cfg(feature = "postgres")]
impl Server {
    /// Starts one; nothing if there is none to start.
    fn start() -> Option<Self> {
        let bin = ["initdb", "pg_ctl"]
            .map(|name| Command::new(name).arg("--version").output());
        if bin.iter().any(|found| found.as_ref().map_or(true, |o| !o.status.success()))
        {
            return None;
        }
        let home = tempfile::tempdir().unwrap();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let server = Self { home, port };
        fs::write(server.at("password"), "gehe:im@\n").unwrap();
        if is_root() {
            run(Command::new("chown")
                .arg("-R")
                .arg("postgres")
                .arg(server.home.path()))?;
        }
        let (data, password) = (server.at("data"), server.at("password"));
        let own = |program: &str| match is_root() {
            // The server refuses to run as root.
            true => {
                let mut command = Command::new("runuser");
                command.args(["-u", "postgres", "--", program]);
                command
            }
            false => Command::new(program),
        };
        run(own("initdb").arg("-D").arg(&data).arg("--pwfile").arg(password).args([
            "-U",
            "anna",
            "-A",
            "scram-sha-256",
            "-E",
            "UTF8",
            "--no-sync",
            "--locale=C",
        ]))?;
        let options = format!(
            "-p {port} -c listen_addresses=127.0.0.1 -c fsync=off -k {}",
            server.home.path().display()
        );
        run(own("pg_ctl")
            .arg("-D")
            .arg(&data)
            .args(["-w", "-s", "-o", &options, "start"]))?;
        Some(server)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn address(&self, who: &str, rest: &str) -> String {
        format!("postgres://{who}@127.0.0.1:{}/postgres{rest}", self.port)
    }
}

#[cfg(feature = "postgres")]
impl Drop for Server {
    fn drop(&mut self) {
        let mut command = match is_root() {
            true => {
                let mut command = Command::new("runuser");
                command.args(["-u", "postgres", "--", "pg_ctl"]);
                command
            }
            false => Command::new("pg_ctl"),
        };
        run(command.arg("-D").arg(self.at("data")).args([
            "-m",
            "immediate",
            "-s",
            "stop",
        ]));
    }
}

#[cfg(feature = "postgres")]
fn is_root() -> bool {
    let id = Command::new("id").arg("-u").output();
    id.is_ok_and(|found| found.stdout.starts_with(b"0\n"))
}

/// Runs a program; nothing if it fails. A server keeps what it is given open, so no pipes.
#[cfg(feature = "postgres")]
fn run(command: &mut Command) -> Option<()> {
    let quiet =
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    quiet.status().ok().filter(|status| status.success()).map(|_| ())
}

/// One test, since a server is slow to start.
#[cfg(feature = "postgres")]
#[test]
fn a_postgresql_query_is_a_table() {
    let Some(server) = Server::start() else {
        println!("skipped: there is no PostgreSQL server to start (initdb, pg_ctl)");
        return;
    };
    let secret = ReadOptions {
        password: Some(Password("gehe:im@".to_owned())),
        ..ReadOptions::default()
    };
    let asked =
        |query: &str| ReadOptions { query: Some(query.to_owned()), ..secret.clone() };
    let address = server.address("anna", "");
    let open = |query: &str| Source::open(Path::new(&address), &asked(query));
    let mut config: postgres::Config = address.parse().unwrap();
    let mut client = config.password("gehe:im@").connect(postgres::NoTls).unwrap();
    client.batch_execute(TABLES).unwrap();
    let shown = format!("postgres://127.0.0.1:{}/postgres", server.port);
    assert_eq!(
        told(open(" ")),
        (
            format!("{shown}: a database needs a `query`"),
            "say `query = \"SELECT * FROM public.patient\"`; the database has \
             `public.patient`, `public.visit`"
                .to_owned()
        )
    );
    client.batch_execute(&inserts()).unwrap();

    let found = open(
        "SELECT id, cost, note, 'a,\"b' || chr(10) AS odd, DATE '2024-05-17' AS day, \
         id > 0 AS late FROM patient JOIN visit ON id = patient WHERE id < 2 ORDER BY id;",
    );
    let expected = [
        ["id", "cost", "note", "odd", "day", "late"],
        ["0", "0.25", "", "a,\"b\n", "2024-05-17", "f"],
        ["1", "1.25", "", "a,\"b\n", "2024-05-17", "t"],
    ];
    assert_eq!(rows(&found.unwrap()).unwrap(), expected);
    let one = open("SELECT note AS \"a \"\"b\" FROM visit").unwrap();
    assert_eq!(rows(&one).unwrap().len(), 61, "a null alone is a row");

    // The same release as from a text file; the password is in it nowhere.
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("secret"), "gehe:im@\n").unwrap();
    let release = published(home.path(), &address, "password-file = \"secret\"");
    audits(home.path(), &open(JOINED).unwrap());
    for entry in fs::read_dir(home.path().join("release")).unwrap() {
        let text = fs::read(entry.unwrap().path()).unwrap();
        let text = String::from_utf8_lossy(&text);
        for word in ["gehe", "anna", "127.0.0.1"] {
            assert!(!text.contains(word), "{word}");
        }
    }
    assert!(release == of_text(home.path()));

    for (query, message) in [
        ("SELECT nothing FROM patient", "`query`: column \"nothing\" does not exist"),
        ("SELEKT 1", "`query`: syntax error at or near \"SELEKT\""),
        (
            "SELECT 1; SELECT 2",
            "`query`: cannot insert multiple commands into a prepared statement",
        ),
        ("DELETE FROM patient", "`query` does not ask for a table"),
        ("DELETE FROM patient RETURNING id, age", "`query` would change the database"),
        ("SELECT id FROM patient WHERE id < 0", "the table has a header but no rows"),
        // The server would show the value that it cannot read.
        (
            "SELECT illness::int AS n FROM visit",
            "the database cannot answer `query` (SQLSTATE 22P02)",
        ),
    ] {
        let result = open(query).and_then(|source| rows(&source));
        assert_eq!(told(result).0, format!("{shown}: {message}"), "{query}");
    }

    // Who may not, where nobody is, and what was typed: never a word of the password.
    let wrong = |typed: String, options: &ReadOptions| {
        let (message, hint) = told(Source::open(Path::new(&typed), options));
        assert!(!message.contains("gehe") && !hint.contains("gehe"), "{message}");
        message
    };
    assert_eq!(
        wrong(server.address("anna:gehe", ""), &ReadOptions::default()),
        format!("{shown}: the database does not accept user and password")
    );
    assert_eq!(
        wrong(address.clone(), &ReadOptions::default()),
        format!("{shown}: the database asks for a password")
    );
    assert_eq!(
        wrong(format!("postgres://anna:gehe@127.0.0.1:{}/none", server.port), &secret),
        format!(
            "postgres://127.0.0.1:{}/none: the server has no database of this name",
            server.port
        )
    );
    assert_eq!(
        wrong("postgres://anna:gehe@127.0.0.1:1/clinic".to_owned(), &secret),
        "postgres://127.0.0.1:1/clinic: the database cannot be reached"
    );

    // A table that gets another column between the look at it and the first pass.
    let source = open("SELECT * FROM patient").unwrap();
    client.batch_execute("ALTER TABLE patient ADD COLUMN late TEXT").unwrap();
    let (message, _) = told(rows(&source));
    assert!(message.ends_with("the table has changed while it was read"), "{message}");
    let source = open("SELECT id FROM patient").unwrap();
    let first = rows(&source).unwrap();
    client.batch_execute("DELETE FROM patient WHERE id > 3").unwrap();
    assert_eq!(rows(&source).unwrap(), first, "what was poured is read again");
}
