//! Promises about sensitive values, judged from the published files by their definitions:
//! each of its own columns, whatever else the recipe does.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use scumble::decimal::Decimal;
use scumble::promise::{BetaLikeness, DeltaDisclosure, Group, GroupPromise, Likeness};
use scumble::recipe::Published;
use scumble::table::Histogram;

use crate::builder::{Record, folder, records, run};

/// People with three things that nobody should learn.
fn people(n: usize) -> String {
    let mut text = String::from("id,age,town,illness,hiv,income\n");
    for row in 0..n {
        let town = ["Ghent", "Bruges", "Aalst"][row * 5 % 7 % 3];
        let illness = ["flu", "cough", "ulcer", "asthma", "gout"][row * 7 % 11 % 5];
        let hiv = if row * 13 % 17 < 5 { "yes" } else { "no" };
        let (age, income) = (20 + row * 13 % 50, row * 31 % 7 % 4);
        text.push_str(&format!("{row},{age},{town},{illness},{hiv},{income}\n"));
    }
    text
}

const COLUMNS: &str = "[columns]\nid = \"identifier\"\n\
     age = { role = \"quasi\", type = \"number\", hierarchy = { widths = [5, 10, 20] } }\n\
     town = \"quasi\"\n\
     illness = { role = \"sensitive\", hierarchy = { csv = \"illness.csv\" } }\n\
     hiv = \"sensitive\"\nincome = { role = \"sensitive\", type = \"number\" }\n";

const TREE: &str =
    "flu;lung;*\ncough;lung;*\nasthma;lung;*\nulcer;belly;*\ngout;foot;*\n";

/// How often each value of a column occurs in each group.
type Counts = BTreeMap<String, BTreeMap<String, f64>>;

/// The values of a column by group, as a reader of the files sees them: among rows of equal
/// cells, or in its bucket.
fn counts(release: &Path, published: &Published, column: &str) -> Counts {
    let mut counts = Counts::new();
    let treatment = published.manifest.column(column).unwrap().treatment.name();
    let rows = match treatment {
        "kept" => records(&release.join("data.csv")),
        "apart" => records(&release.join("sensitive.csv")),
        other => panic!("{column} is {other}"),
    };
    let group = |row: &Record| match treatment {
        "kept" => format!("{} {}", row["age"], row["town"]),
        _ => row["group"].clone(),
    };
    for row in &rows {
        let n = row.get("count").map_or(1.0, |n| n.parse().unwrap());
        let values = counts.entry(group(row)).or_default();
        let value = row.get(column).unwrap_or_else(|| &row["value"]);
        *values.entry(value.clone()).or_default() += n;
    }
    counts
}

/// The largest of what is measured of each group's shares and those of all rows.
fn worst(
    counts: &Counts,
    measure: impl Fn(&BTreeMap<String, f64>, &BTreeMap<String, f64>) -> f64,
) -> f64 {
    let shares = |values: &BTreeMap<String, f64>| -> BTreeMap<String, f64> {
        let all: f64 = values.values().sum();
        values.iter().map(|(value, n)| (value.clone(), n / all)).collect()
    };
    let mut whole = BTreeMap::new();
    for (value, n) in counts.values().flatten() {
        *whole.entry(value.clone()).or_insert(0.0) += n;
    }
    let whole = shares(&whole);
    let groups = counts.values().map(|group| measure(&shares(group), &whole));
    groups.fold(f64::NEG_INFINITY, f64::max)
}

fn share(shares: &BTreeMap<String, f64>, value: &str) -> f64 {
    shares.get(value).copied().unwrap_or(0.0)
}

/// Half of what shares differ by.
fn equal(group: &BTreeMap<String, f64>, whole: &BTreeMap<String, f64>) -> f64 {
    let differ = whole.iter().map(|(value, p)| (share(group, value) - p).abs());
    differ.sum::<f64>() / 2.0
}

/// By rank: numbers of one digit stand in the order of their texts.
fn ordered(group: &BTreeMap<String, f64>, whole: &BTreeMap<String, f64>) -> f64 {
    let (mut carried, mut work) = (0.0, 0.0);
    for (value, p) in whole {
        carried += share(group, value) - p;
        work += f64::abs(carried);
    }
    work / (whole.len() as f64 - 1.0)
}

/// In a tree: half the edges' loads over the height.
fn along_tree(group: &BTreeMap<String, f64>, whole: &BTreeMap<String, f64>) -> f64 {
    let part = |value: &str| {
        TREE.lines().find(|line| line.starts_with(value)).unwrap().split(';').nth(1)
    };
    let mut over: BTreeMap<&str, f64> = BTreeMap::new();
    for (value, p) in whole {
        let more = share(group, value) - p;
        *over.entry(value).or_default() += more;
        *over.entry(part(value).unwrap()).or_default() += more;
    }
    over.values().map(|over| over.abs()).sum::<f64>() / 4.0
}

/// How much a value gains at most; infinitely much if somebody may be too sure of it.
fn gain(
    group: &BTreeMap<String, f64>,
    whole: &BTreeMap<String, f64>,
    form: &serde_json::Value,
) -> f64 {
    let gains = group.iter().map(|(value, q)| {
        let p = whole[value];
        let gain = (q - p) / p;
        match form == "enhanced" && gain > 1e-12 && gain > -p.ln() {
            true => f64::INFINITY,
            false => gain.max(0.0),
        }
    });
    gains.fold(0.0, f64::max)
}

/// What somebody who reads the files finds of a promise in one column, turned so that larger
/// is worse.
fn found(name: &str, asked: &serde_json::Value, counts: &Counts) -> f64 {
    match (name, asked["kind"].as_str(), asked["distance"].as_str()) {
        ("l-diversity", Some("distinct"), _) => worst(counts, |q, _| -(q.len() as f64)),
        ("l-diversity", Some("entropy"), _) => worst(counts, |q, _| {
            q.values().map(|share| share * share.ln()).sum::<f64>()
        }),
        ("t-closeness", _, Some("equal")) => worst(counts, equal),
        ("t-closeness", _, Some("ordered")) => worst(counts, ordered),
        ("t-closeness", _, Some("hierarchical")) => worst(counts, along_tree),
        ("beta-likeness", ..) => worst(counts, |q, p| gain(q, p, &asked["form"])),
        ("delta-disclosure", ..) => worst(counts, |q, p| {
            p.iter().map(|(v, p)| (share(q, v) / p).ln().abs()).fold(0.0, f64::max)
        }),
        other => panic!("{other:?}"),
    }
}

/// The measure as the manifest has it, and the most it may be.
fn measured(
    name: &str,
    asked: &serde_json::Value,
    of: &serde_json::Value,
) -> (f64, f64) {
    let both = |key: &str| (of[key].as_f64().unwrap(), asked[key].as_f64().unwrap());
    match (name, asked["kind"].as_str()) {
        ("l-diversity", Some("distinct")) => (-both("l").0, -both("l").1),
        ("l-diversity", Some("entropy")) => (-both("l").0.ln(), -both("l").1.ln()),
        ("beta-likeness", _) => both("beta"),
        ("delta-disclosure", _) => both("delta"),
        _ => both("t"),
    }
}

/// Judges every promise about values of a release, and gives the columns of each.
fn judge(release: &Path, published: &Published) -> Vec<(String, String)> {
    assert!(published.audit.holds());
    let mut judged = Vec::new();
    for note in &published.manifest.promises {
        if ["k-anonymity", "breach"].contains(&&*note.name) {
            continue;
        }
        let each = note.columns.iter().map(|column| {
            found(&note.name, &note.asked, &counts(release, published, column))
        });
        let worst = each.fold(f64::NEG_INFINITY, f64::max);
        let (said, most) = measured(&note.name, &note.asked, &note.measured);
        assert!((worst - said).abs() < 1e-9, "{note:?}: found {worst}");
        assert!(worst <= most + 1e-9, "{note:?}: found {worst}");
        judged.push((note.name.clone(), note.columns.join("+")));
    }
    judged
}

/// Promises, methods, and the promises about values with their columns.
type Case<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)]);

#[test]
fn a_promise_speaks_of_its_own_columns_only() {
    let home = folder(&[("table.csv", &people(240)), ("illness.csv", TREE)]);
    let breach = "breach = { prior = 0.4, posterior = 0.7, columns = [\"hiv\"] }\n";
    let cases: [Case<'_>; 16] = [
        // Every value alone, up, or both ways.
        ("beta-likeness = 1.5\n", "", &[("beta-likeness", "illness+hiv+income")]),
        (
            "beta-likeness = { beta = 0.8, form = \"basic\", columns = [\"hiv\"] }\n\
             delta-disclosure = { delta = 1.2, columns = [\"income\"] }\n",
            "[method]\nname = \"mondrian\"\n",
            &[("beta-likeness", "hiv"), ("delta-disclosure", "income")],
        ),
        (
            "delta-disclosure = 1.1\n",
            "[method]\nname = \"full-domain\"\n",
            &[("delta-disclosure", "illness+hiv+income")],
        ),
        (
            "beta-likeness = { beta = 2, columns = [\"illness\"] }\n\
             t-closeness = { t = 0.5, columns = [\"illness\", \"hiv\"] }\n",
            "",
            &[("beta-likeness", "illness"), ("t-closeness", "illness+hiv")],
        ),
        // In groups of values that stand apart.
        (
            "beta-likeness = { beta = 1.5, columns = [\"illness\"] }\n",
            "[[method]]\nname = \"anatomy\"\ncolumns = [\"illness\"]\n",
            &[("beta-likeness", "illness")],
        ),
        (
            "delta-disclosure = { delta = 0.9, columns = [\"illness\"] }\n\
             beta-likeness = { beta = 1, form = \"basic\", columns = [\"income\"] }\n",
            "[[method]]\nname = \"anatomy\"\ncolumns = [\"illness\"]\n",
            &[("delta-disclosure", "illness"), ("beta-likeness", "income")],
        ),
        // Beside a drawn column.
        (
            &format!("beta-likeness = 2.5\ndelta-disclosure = 2\n{breach}"),
            "",
            &[
                ("beta-likeness", "illness+income"),
                ("delta-disclosure", "illness+income"),
            ],
        ),
        // Of two columns that stay in the rows, each has its own.
        (
            "l-diversity = { l = 3, columns = [\"illness\"] }\n\
             t-closeness = { t = 0.4, columns = [\"hiv\"] }\n",
            "",
            &[("l-diversity", "illness"), ("t-closeness", "hiv")],
        ),
        (
            "l-diversity = { l = 4, columns = [\"illness\"] }\n\
             t-closeness = { t = 0.3, distance = \"ordered\", columns = [\"income\"] }\n",
            "[method]\nname = \"mondrian\"\n",
            &[("l-diversity", "illness"), ("t-closeness", "income")],
        ),
        // Two of three, and one promise of both.
        (
            "l-diversity = { l = 2, columns = [\"hiv\", \"income\"] }\n\
             t-closeness = { t = 0.3, distance = \"hierarchical\", columns = [\"illness\"] }\n",
            "[method]\nname = \"full-domain\"\n",
            &[("l-diversity", "hiv+income"), ("t-closeness", "illness")],
        ),
        // Without columns: of each.
        (
            "l-diversity = 2\nt-closeness = 0.4\n",
            "",
            &[
                ("l-diversity", "illness+hiv+income"),
                ("t-closeness", "illness+hiv+income"),
            ],
        ),
        (
            "l-diversity = { l = 3, columns = [\"illness\", \"income\"] }\n\
             t-closeness = 0.5\n",
            "",
            &[("l-diversity", "illness+income"), ("t-closeness", "illness+hiv+income")],
        ),
        // Of one, and of the others nothing.
        (
            "l-diversity = { l = 3.5, kind = \"entropy\", columns = [\"illness\"] }\n",
            "",
            &[("l-diversity", "illness")],
        ),
        // Beside a drawn column.
        (
            &format!(
                "l-diversity = {{ l = 3, columns = [\"illness\"] }}\n\
                 t-closeness = {{ t = 0.4, columns = [\"income\"] }}\n{breach}"
            ),
            "",
            &[("l-diversity", "illness"), ("t-closeness", "income")],
        ),
        // Of all that nobody draws.
        (
            &format!("l-diversity = 3\n{breach}"),
            "",
            &[("l-diversity", "illness+income")],
        ),
        // One stands apart, the other stays.
        (
            "l-diversity = { l = 3, columns = [\"illness\"] }\n\
             t-closeness = { t = 0.4, columns = [\"hiv\"] }\n",
            "[[method]]\nname = \"anatomy\"\ncolumns = [\"illness\"]\n",
            &[("l-diversity", "illness"), ("t-closeness", "hiv")],
        ),
    ];
    for (promises, methods, wanted) in cases {
        let text = format!("{COLUMNS}[promise]\nk-anonymity = 2\n{promises}{methods}");
        let published = run(home.path(), &text, 5).unwrap();
        let judged = judge(&home.path().join("release"), &published);
        let judged: Vec<(&str, &str)> =
            judged.iter().map(|(name, columns)| (&**name, &**columns)).collect();
        assert_eq!(judged, wanted, "{text}");
        // All columns are published, whether a promise is about them or not.
        let names: BTreeSet<&str> =
            published.manifest.columns.iter().map(|column| &*column.name).collect();
        let all = ["age", "town", "illness", "hiv", "income"];
        assert_eq!(names, BTreeSet::from(all), "{text}");
        assert_eq!(
            (published.unnamed.len(), &*published.removed),
            (0, &["id".into()][..])
        );
        assert_eq!(published.manifest.rows, 240);
        // Of a column in the rows that no promise is about this is said, and of no other.
        let spoken: BTreeSet<&str> = published
            .manifest
            .promises
            .iter()
            .flat_map(|note| note.columns.iter().map(String::as_str))
            .collect();
        let notes = &published.manifest.not_promised;
        let told = |name: &str| {
            let name = format!("`{name}`");
            notes.iter().any(|note| note.contains(&name))
        };
        for name in ["illness", "hiv", "income"] {
            assert_eq!(told(name), !spoken.contains(name), "{text}: {notes:?}");
        }
        let shared = "sensitive values: all rows of a group may share one";
        assert!(!notes.iter().any(|note| note.starts_with(shared)), "{notes:?}");
    }
}

/// A release without any promise about values says so; one without sensitive columns has
/// nothing to say.
#[test]
fn what_is_not_promised_of_values_is_said_where_there_are_values() {
    let home = folder(&[("table.csv", &people(60))]);
    let shared = "sensitive values: all rows of a group may share one";
    for (columns, wanted) in [
        ("age = \"quasi\"\nhiv = \"sensitive\"\nillness = \"sensitive\"\n", true),
        ("age = \"quasi\"\ntown = \"quasi\"\n", false),
    ] {
        let text = format!("[columns]\n{columns}[promise]\nk-anonymity = 3\n");
        let published = run(home.path(), &text, 1).unwrap();
        let notes = &published.manifest.not_promised;
        assert_eq!(notes.iter().any(|note| note.starts_with(shared)), wanted);
    }
}

/// A column whose promise nobody can keep is named in vain by nobody else.
#[test]
fn a_promise_of_one_column_does_not_ask_it_of_another() {
    let home = folder(&[("table.csv", &people(240)), ("illness.csv", TREE)]);
    let of = |columns: &str| {
        let promise = format!("l-diversity = {{ l = 3, columns = {columns} }}\n");
        let text = format!("{COLUMNS}[promise]\nk-anonymity = 2\n{promise}");
        run(home.path(), &text, 5)
    };
    assert!(of("[\"illness\"]").is_ok());
    let error = of("[\"illness\", \"hiv\"]").unwrap_err();
    let wanted = "a sensitive column has 2 different values, not 3";
    assert!(error.to_string().contains(wanted), "{error}");
}

/// All counts of three values up to 3.
fn all_counts() -> Vec<[u64; 3]> {
    let up_to = |n: u64| 0..=n;
    let mut all = Vec::new();
    for a in up_to(3) {
        for b in up_to(3) {
            all.extend(up_to(3).map(|c| [a, b, c]));
        }
    }
    all.retain(|counts| counts.iter().sum::<u64>() > 0);
    all
}

fn sum(a: [u64; 3], b: [u64; 3]) -> [u64; 3] {
    std::array::from_fn(|value| a[value] + b[value])
}

/// Every pair of small groups in every small table: what holds is what the definition says,
/// and it holds of the union if it holds of both.
#[test]
fn bounds_on_single_values_survive_every_merging() {
    type Definition = Box<dyn Fn(f64, f64) -> bool>;
    let decimal = |value| Decimal::from_f64("number", value).unwrap();
    let mut all: Vec<(Box<dyn GroupPromise>, Definition)> = Vec::new();
    for beta in [0.25, 0.5, 1.0, 2.0, 7.0] {
        let basic = BetaLikeness::new(decimal(beta), Likeness::Basic).unwrap();
        let most = move |q: f64, p: f64| q <= p || (q - p) / p <= beta + 1e-12;
        all.push((Box::new(basic), Box::new(most)));
        let enhanced = BetaLikeness::new(decimal(beta), Likeness::Enhanced).unwrap();
        let most = move |q: f64, p: f64| {
            q <= p + 1e-12 || (q - p) / p <= beta.min(-p.ln()) + 1e-12
        };
        all.push((Box::new(enhanced), Box::new(most)));
    }
    for delta in [0.2, 0.5, 0.7, 1.1, 2.4] {
        let promise = DeltaDisclosure::new(decimal(delta)).unwrap();
        let most = move |q: f64, p: f64| p == 0.0 || (q / p).ln().abs() < delta;
        all.push((Box::new(promise), Box::new(most)));
    }
    let groups = all_counts();
    let (mut held, mut failed) = (0u64, 0u64);
    for rest in [[0, 0, 0], [1, 0, 2], [5, 1, 1], [0, 9, 1], [40, 1, 3]] {
        for a in &groups {
            for b in &groups {
                let (both, whole) = (sum(*a, *b), sum(sum(*a, *b), rest));
                for (promise, definition) in &all {
                    let holds = |group: [u64; 3]| {
                        let (values, whole_values) =
                            ([Histogram::of(&group)], [Histogram::of(&whole)]);
                        let (rows, n) = (group.iter().sum(), whole.iter().sum());
                        let seen = Group { rows, people: rows, values: &values };
                        let whole = Group { rows: n, people: n, values: &whole_values };
                        promise.holds(seen, whole)
                    };
                    let said = (0..3).all(|value| {
                        let part = |counts: [u64; 3]| {
                            counts[value] as f64 / counts.iter().sum::<u64>() as f64
                        };
                        definition(part(*a), part(whole))
                    });
                    assert_eq!(holds(*a), said, "{promise:?}: {a:?} of {whole:?}");
                    if said && holds(*b) {
                        assert!(holds(both), "{promise:?}: {a:?} + {b:?} of {whole:?}");
                        held += 1;
                    } else {
                        failed += 1;
                    }
                }
            }
        }
    }
    assert!(held > 10_000 && failed > 10_000, "{held} {failed}");
}

/// Publisher and audit compute logarithms in different ways: groups at every distance from
/// the bound that counts can have are published, none is refused at the last moment.
#[test]
fn publisher_and_audit_agree_near_the_bound() {
    for (rows, common) in [(7usize, 4usize), (50, 29), (211, 130)] {
        let mut table = String::from("town,illness\n");
        for row in 0..rows {
            let (town, illness) = (
                if row % 3 == 0 { "a" } else { "b" },
                if row < common { "x" } else { "y" },
            );
            table.push_str(&format!("{town},{illness}\n"));
        }
        let home = folder(&[("table.csv", &table)]);
        // The gains and logarithms of this table, cut to twelve decimals below and above.
        let counts: Vec<Vec<f64>> = ["a,x", "a,y", "b,x", "b,y"]
            .chunks(2)
            .map(|town| {
                let of =
                    |pair: &&str| table.lines().filter(|l| l == pair).count() as f64;
                town.iter().map(of).collect()
            })
            .collect();
        let whole = [common as f64, (rows - common) as f64].map(|n| n / rows as f64);
        let mut bounds = Vec::new();
        for town in &counts {
            let size: f64 = town.iter().sum();
            for (n, p) in town.iter().zip(whole) {
                let q = n / size;
                bounds.push(format!("beta-likeness|{}", (q - p) / p));
                bounds.push(format!("delta-disclosure|{}", (q / p).ln().abs()));
            }
        }
        for bound in bounds {
            let (name, number) = bound.split_once('|').unwrap();
            let number: f64 = number.parse().unwrap();
            for more in [-2e-12, -1e-12, 0.0, 1e-12, 2e-12, 3e-12] {
                let number = ((number + more) * 1e12).round() / 1e12;
                if number <= 0.0 {
                    continue;
                }
                let text = format!(
                    "[columns]\ntown = \"quasi\"\nillness = \"sensitive\"\n\
                     [promise]\n{name} = {number:.12}\n"
                );
                let published = run(home.path(), &text, 1).unwrap();
                assert!(published.audit.holds(), "{text}");
            }
        }
    }
}
