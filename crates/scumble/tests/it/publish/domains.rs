//! Columns with a public domain: what is published of them, what is refused, and that the
//! extremes of the table no longer matter.

use scumble::estimate::Evidence;
use scumble::release::Release;
use scumble::table::PublicDomain;
use scumble::watch::Unwatched;
use serde_json::{Value, json};

use crate::builder::{ask, audited, folder, run_whole};

/// Forty people; ages from 18 to 57.
fn table() -> String {
    let mut text = String::from("age,zip,nation,ward,cost\n");
    for n in 0..40 {
        let zip = ["1000", "1010", "2000"][n % 3];
        let nation = ["a1", "b1"][n / 3 % 2];
        let ward = ["north", "south", "east"][n * 7 % 5 % 3];
        text.push_str(&format!("{},{zip},{nation},{ward},{}.5\n", 18 + n, n % 9));
    }
    text
}

const TREE: &str = "a1;A;*\na2;A;*\nb1;B;*\nb2;B;*\n";

const AGE: &str =
    "age = { role = \"quasi\", domain = [0, 99], hierarchy = { cuts = [20, 40] } }";
const ZIP: &str = "zip = { role = \"quasi\", domain = { csv = \"zips.csv\" }, hierarchy = { mask = \"right\" } }";
const NATION: &str = "nation = { role = \"quasi\", domain = [\"b1\", \"a1\"], \
                      hierarchy = { csv = \"tree.csv\" } }";
const WARD: &str = "ward = { role = \"sensitive\", domain = [\"east\", \"north\", \"south\", \"west\"] }";
const COST: &str = "cost = { role = \"other\", domain = [0, 10] }";

fn recipe(columns: [&str; 5], more: &str) -> String {
    format!("input.table = \"table.csv\"\n{more}\n[columns]\n{}\n", columns.join("\n"))
}

fn home() -> tempfile::TempDir {
    folder(&[
        ("table.csv", &table()),
        ("tree.csv", TREE),
        ("zips.csv", "1000\n1010\n\"2000\"\n2010\n"),
    ])
}

const METHODS: [&str; 7] = [
    "promise.k-anonymity = 4\nmethod.name = \"full-domain\"",
    "promise.k-anonymity = 4\nmethod.name = \"mondrian\"",
    "promise.k-anonymity = 4\nmethod.name = \"mondrian\"\nmethod.cells = \"interval\"",
    "promise.k-anonymity = 4\nmethod.name = \"mondrian\"\nmethod.cells = \"pdf\"",
    "promise.l-diversity = 2\nmethod.name = \"anatomy\"",
    "promise.breach = { prior = 0.5, posterior = 0.8 }",
    "promise.expected-anonymity = { k = 3, columns = [\"age\"] }\n\
     promise.breach = { prior = 0.5, posterior = 0.8, columns = [\"ward\"] }",
];

#[test]
fn every_method_publishes_domains_and_its_release_can_be_asked() {
    let home = home();
    let columns = [AGE, ZIP, NATION, WARD, COST];
    for more in METHODS {
        let made = run_whole(home.path(), &recipe(columns, more), Some(3)).unwrap();
        assert!(made.audit.holds(), "{more}");
        let domain = |name: &str| made.manifest.column(name).unwrap().domain.clone();
        let words = |words: &[&str]| {
            let words = words.iter().map(|word| (*word).to_owned());
            Some(PublicDomain::Words(words.collect()))
        };
        assert_eq!(domain("age"), Some(PublicDomain::Numbers([0.0, 99.0])), "{more}");
        assert_eq!(domain("cost"), Some(PublicDomain::Numbers([0.0, 10.0])), "{more}");
        assert_eq!(domain("zip"), words(&["1000", "1010", "2000", "2010"]), "{more}");
        assert_eq!(domain("nation"), words(&["b1", "a1"]), "{more}");
        assert_eq!(
            domain("ward"),
            words(&["east", "north", "south", "west"]),
            "{more}"
        );
        // From the files alone, and with the table.
        let release = Release::open(&made.directory).unwrap();
        audited(&release, Some(&table()), None).unwrap();
        let evidence = Evidence::read(&release, &Unwatched).unwrap();
        for question in [
            "SELECT COUNT(*) WHERE age < 30 AND zip = '1010'",
            "SELECT COUNT(*) WHERE nation = 'a1' AND zip <> '2000'",
            "SELECT COUNT(*) WHERE nation = 'a1' AND ward = 'north'",
            "SELECT AVG(age) WHERE cost >= 2",
        ] {
            assert!(
                ask(&evidence, question)[0].count.is_finite(),
                "{more}: {question}"
            );
        }
        // Other tools are told the same, of columns that hold values.
        let package = std::fs::read(made.directory.join("datapackage.json")).unwrap();
        let package: Value = serde_json::from_slice(&package).unwrap();
        let fields = package["resources"][0]["schema"]["fields"].as_array().unwrap();
        let cost = fields.iter().find(|field| field["name"] == "cost").unwrap();
        assert_eq!(cost["constraints"], json!({ "minimum": 0.0, "maximum": 10.0 }));
    }
}

#[test]
fn the_loss_does_not_depend_on_extremes() {
    let columns = [AGE, ZIP, NATION, WARD, COST];
    let more = METHODS[0];
    let loss = |text: &str| {
        let home = folder(&[
            ("table.csv", text),
            ("tree.csv", TREE),
            ("zips.csv", "1000\n1010\n2000\n2010\n"),
        ]);
        let made = run_whole(home.path(), &recipe(columns, more), Some(3)).unwrap();
        (made.manifest.loss["loss"], made.manifest.method.levels)
    };
    // The oldest is older, and still above 40.
    let other = table().replace("\n57,", "\n95,");
    assert_eq!(loss(&table()), loss(&other));
    assert_ne!(table(), other);
}

/// What a recipe says that is refused; nothing is written.
fn refused(columns: [&str; 5], more: &str) -> String {
    let home = home();
    let error = run_whole(home.path(), &recipe(columns, more), None).unwrap_err();
    assert!(!home.path().join("release").exists());
    let hints = error.hints().join("\n");
    format!("{error}\n{hints}")
}

#[test]
fn what_cannot_be_a_domain_is_refused_with_its_place() {
    let k = METHODS[0];
    let quasi =
        |domain: &str| format!("age = {{ role = \"quasi\", domain = {domain} }}");
    let all = |age: &str| refused([age, ZIP, NATION, WARD, COST], k);
    for (domain, expected) in [
        (
            "[19, 99]",
            "5:34: `domain` of `age` is from 19 to 99, but 1 number is outside; the \
                      first is in row 1\nwiden it",
        ),
        ("[99, 0]", "5:34: the first number of `domain` is not below the second"),
        ("[0, 50, 99]", "5:34: `domain` has numbers, but not two of them"),
        ("[]", "5:34: `domain` is empty"),
        ("[\"18\", \"18\"]", "5:34: `domain` has `18` twice"),
        ("{ csv = \"ages.csv\" }", "cannot read the file"),
        ("{ file = \"ages.csv\" }", "unknown key"),
    ] {
        let found = all(&quasi(domain));
        assert!(found.contains(expected), "{domain}: {found}");
    }
    let words = "age = { role = \"quasi\", type = \"category\", domain = [0, 99] }";
    assert!(all(words).contains("is for columns of type `number`"));
    let dropped = "age = { role = \"drop\", domain = [0, 99] }";
    assert!(all(dropped).contains("a `domain` is for columns that are published"));
    let nation = NATION.replace("\"b1\"", "\"b1\", \"c1\"");
    let found = refused([AGE, ZIP, &nation, WARD, COST], k);
    let expected = "`domain` has 1 value that the hierarchy lacks, such as `c1`";
    assert!(found.contains(expected), "{found}");
    let nation = NATION.replace("\"b1\"", "\"b2\"");
    let found = refused([AGE, ZIP, &nation, WARD, COST], k);
    let expected = "`domain` of `nation` has 2 values, but 19 cells are outside; the first is \
                    in row 4";
    assert!(found.contains(expected), "{found}");
    let cost = "cost = { role = \"other\", domain = [0, 8] }";
    for more in METHODS {
        let found = refused([AGE, ZIP, NATION, WARD, cost], more);
        assert!(
            found.contains("`domain` of `cost` is from 0 to 8, but 4 numbers are"),
            "{found}"
        );
        assert!(!found.contains("8.5"), "{found}");
    }
}
