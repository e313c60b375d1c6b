//! Releases with values by group: what leaves, in which order, and what it tells.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::table::{ReadOptions, Source};
use scumble::watch::Unwatched;

use crate::builder::{Record, folder, records, run};

/// The values of each group and how many rows have each.
fn buckets(release: &Path) -> BTreeMap<String, BTreeMap<String, u64>> {
    let mut groups: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
    for line in records(&release.join("sensitive.csv")) {
        let count = line["count"].parse().unwrap();
        let values = groups.entry(line["group"].clone()).or_default();
        assert!(values.insert(line["value"].clone(), count).is_none());
    }
    groups
}

/// The rows of each group.
fn rows_by_group(release: &Path) -> BTreeMap<String, Vec<Record>> {
    let mut groups: BTreeMap<String, Vec<Record>> = BTreeMap::new();
    for row in records(&release.join("data.csv")) {
        groups.entry(row["group"].clone()).or_default().push(row);
    }
    groups
}

/// People sorted by disease; `row` tells them apart.
fn people(n: usize, seed: u64) -> String {
    let mut random = ChaCha20Rng::seed_from_u64(seed);
    let mut rows: Vec<(usize, u32, char)> = (0..n)
        .map(|_| {
            let age = random.random_range(20..60);
            let sex = if random.random::<bool>() { 'f' } else { 'm' };
            let older = (age - 20) as usize / 20;
            let disease =
                (random.random_range(0..8) + older * usize::from(sex == 'f')) % 9;
            (disease, age, sex)
        })
        .collect();
    rows.sort_unstable();
    let mut text = String::from("row,age,sex,disease\n");
    for (number, (disease, age, sex)) in rows.iter().enumerate() {
        let quote = if *disease == 3 { "\"" } else { "" };
        let comma = if *disease == 3 { ", acute" } else { "" };
        let name = if *disease == 5 { String::new() } else { format!("d{disease}") };
        writeln!(text, "{number},{age},{sex},{quote}{name}{comma}{quote}").unwrap();
    }
    text
}

const WITH_ROWS: &str = "columns = { row = \"other\", age = \"quasi\", sex = \"quasi\", \
                         disease = \"sensitive\" }\n";
const WITHOUT_ROWS: &str = "columns = { row = \"drop\", age = \"quasi\", sex = \"quasi\", \
                            disease = \"sensitive\" }\n";

const METHODS: [&str; 4] = [
    "promise.l-diversity = 3\nmethod.name = \"anatomy\"",
    "promise.l-diversity = { l = 2, kind = \"recursive\", c = 0.4 }\nmethod.name = \"anatomy\"",
    "promise.t-closeness = 0.35\nmethod.name = \"anatomy\"",
    "promise.r-robustness = { r = 3, signatures = [[\"age\"], [\"sex\"], [\"age\", \"sex\"]] }",
];

#[test]
fn groups_have_the_values_of_their_rows() {
    let home = tempfile::tempdir().unwrap();
    let table = people(700, 1);
    fs::write(home.path().join("table.csv"), &table).unwrap();
    let originals: BTreeMap<String, Record> = records(&home.path().join("table.csv"))
        .into_iter()
        .map(|row| (row["row"].clone(), row))
        .collect();
    for more in METHODS {
        let published = run(home.path(), &format!("{WITH_ROWS}{more}"), 7).unwrap();
        let release = &published.directory;
        let values = buckets(release);
        let rows = rows_by_group(release);
        assert_eq!(rows.len(), values.len(), "{more}");
        let mut seen = 0;
        for (group, rows) in &rows {
            let mut counts: BTreeMap<String, u64> = BTreeMap::new();
            for row in rows {
                let original = &originals[&row["row"]];
                assert_eq!(
                    (&row["age"], &row["sex"]),
                    (&original["age"], &original["sex"])
                );
                assert!(!row.contains_key("disease"));
                *counts.entry(original["disease"].clone()).or_default() += 1;
            }
            assert_eq!(&counts, &values[group], "{more}");
            seen += rows.len();
        }
        assert_eq!(seen, 700);
        // How knowledge of the table fares depends on who has which value.
        let page = fs::read_to_string(release.join("report.html")).unwrap();
        let tried = |attack: &str| page.contains(&format!("<th>{attack}</th>"));
        assert!(tried("corruption") && !tried("background-knowledge"));
        assert_eq!(published.manifest.rows, 700);
        let note = published.manifest.buckets().remove(0);
        assert_eq!((note.groups as usize, &*note.column), (rows.len(), "disease"));
    }
}

#[test]
fn no_value_has_more_than_its_part_of_a_group() {
    let home = folder(&[("table.csv", &people(500, 2))]);
    for l in 2..=6u64 {
        let more = format!("promise.l-diversity = {l}\nmethod.name = \"anatomy\"");
        let published = run(home.path(), &format!("{WITHOUT_ROWS}{more}"), 1).unwrap();
        for counts in buckets(&published.directory).values() {
            let size: u64 = counts.values().sum();
            let most = counts.values().max().unwrap();
            assert!(most * l <= size, "{most} of {size} with l = {l}");
            assert!(size < 2 * l, "a group of {size} with l = {l}");
        }
    }
}

#[test]
fn the_order_of_the_table_tells_nothing() {
    let home = tempfile::tempdir().unwrap();
    let sorted = people(400, 3);
    let mut lines: Vec<&str> = sorted.lines().skip(1).collect();
    let read = |lines: &[&str], more: &str| {
        let table = format!("row,age,sex,disease\n{}\n", lines.join("\n"));
        fs::write(home.path().join("table.csv"), table).unwrap();
        let published = run(home.path(), &format!("{WITHOUT_ROWS}{more}"), 5).unwrap();
        ["data.csv", "sensitive.csv"]
            .map(|file| fs::read_to_string(published.directory.join(file)).unwrap())
    };
    for more in METHODS {
        let first = read(&lines, more);
        lines.reverse();
        assert_eq!(first, read(&lines, more), "{more}");
    }
}

#[test]
fn threads_do_not_matter_and_seeds_do() {
    let home = folder(&[("table.csv", &people(900, 4))]);
    for columns in [WITH_ROWS, WITHOUT_ROWS] {
        for more in METHODS {
            let read = |threads: usize, seed: u64| {
                let pool = rayon::ThreadPoolBuilder::new()
                    .num_threads(threads)
                    .build()
                    .unwrap();
                let recipe = format!("{columns}{more}");
                let published =
                    pool.install(|| run(home.path(), &recipe, seed).unwrap());
                ["data.csv", "sensitive.csv", "manifest.json"].map(|file| {
                    fs::read_to_string(published.directory.join(file)).unwrap()
                })
            };
            let one = read(1, 1);
            assert_eq!(one, read(4, 1), "{more}");
            assert_ne!(one[0], read(1, 2)[0], "{more}");
        }
    }
}

/// Group numbers are given by chance: over many seeds the groups of the first and of the
/// last row of a sorted table are spread evenly.
#[test]
fn numbers_of_groups_tell_nothing() {
    let home = folder(&[("table.csv", &people(40, 5))]);
    let recipe =
        format!("{WITH_ROWS}promise.l-diversity = 4\nmethod.name = \"anatomy\"");
    let mut seen: BTreeMap<(&str, u64), f64> = BTreeMap::new();
    let (mut groups, seeds) = (0, 400);
    for seed in 0..seeds {
        let published = run(home.path(), &recipe, seed).unwrap();
        groups = published.manifest.buckets()[0].groups;
        for row in records(&published.directory.join("data.csv")) {
            for wanted in ["0", "39"] {
                if row["row"] == wanted {
                    let group = row["group"].parse().unwrap();
                    *seen.entry((wanted, group)).or_default() += 1.0;
                }
            }
        }
    }
    assert!(groups >= 8);
    for row in ["0", "39"] {
        let expected = seeds as f64 / groups as f64;
        let sum: f64 = (1..=groups)
            .map(|group| {
                let seen = seen.get(&(row, group)).copied().unwrap_or(0.0);
                (seen - expected).powi(2) / expected
            })
            .sum();
        // Nine degrees of freedom: above 48 in fewer than one of a million.
        assert!(sum < 48.0, "row {row}: {sum}");
    }
}

#[test]
fn parquet_has_the_same_rows() {
    let home = folder(&[("table.csv", &people(300, 6))]);
    for columns in [WITH_ROWS, WITHOUT_ROWS] {
        let recipe = format!("{columns}{}", METHODS[0]);
        let published = run(home.path(), &recipe, 1).unwrap();
        let text = fs::read_to_string(published.directory.join("data.csv")).unwrap();
        let recipe = format!("{recipe}\nrelease.format = \"parquet\"");
        let published = run(home.path(), &recipe, 1).unwrap();
        let path = published.directory.join("data.parquet");
        let source = Source::open(&path, &ReadOptions::default()).unwrap();
        let columns: Vec<_> = source.columns().collect();
        let read = source
            .fold(
                &columns,
                Vec::new,
                |rows: &mut Vec<_>, spot, cells| {
                    rows.push((spot, cells.join(",")));
                    Ok(())
                },
                &Unwatched,
            )
            .unwrap();
        let mut rows: Vec<_> = read.states.into_iter().flatten().collect();
        rows.sort();
        let rows: Vec<String> = rows.into_iter().map(|(_, row)| row).collect();
        assert_eq!(rows, text.lines().skip(1).collect::<Vec<_>>());
    }
}

/// What the adversary believes of a row, read from the rule: the shares among rows of the
/// same signature, with coarser ages while there are fewer than `support`, at last among all.
fn prior(
    rows: &[Record],
    of: &Record,
    columns: &[&str],
    value: &str,
    support: usize,
) -> f64 {
    let level_of = |row: &Record, column: &str, level: usize| match (column, level) {
        (_, 0) => row[column].clone(),
        ("age", 1) => (row["age"].parse::<u32>().unwrap() / 10).to_string(),
        ("age", 2) => (row["age"].parse::<u32>().unwrap() / 20).to_string(),
        _ => "*".to_owned(),
    };
    for level in 0..=3 {
        let alike: Vec<&Record> = rows
            .iter()
            .filter(|row| {
                columns
                    .iter()
                    .all(|c| level_of(row, c, level) == level_of(of, c, level))
            })
            .collect();
        if alike.len() >= support || level == 3 {
            let with = alike.iter().filter(|row| row["disease"] == value).count();
            return with as f64 / alike.len() as f64;
        }
    }
    0.0
}

/// Every world of a group, one by one: the mass of those in which each row has each value.
fn worlds(
    priors: &[Vec<f64>],
    row: usize,
    used: &mut Vec<bool>,
    chosen: &mut Vec<usize>,
    weight: f64,
    mass: &mut [Vec<f64>],
) -> f64 {
    if row == priors.len() {
        for (row, value) in chosen.iter().enumerate() {
            mass[row][*value] += weight;
        }
        return weight;
    }
    let mut total = 0.0;
    for value in 0..priors.len() {
        if !used[value] && priors[row][value] > 0.0 {
            used[value] = true;
            chosen.push(value);
            let weight = weight * priors[row][value];
            total += worlds(priors, row + 1, used, chosen, weight, mass);
            chosen.pop();
            used[value] = false;
        }
    }
    total
}

#[test]
fn every_robust_group_passes_enumeration() {
    let columns = "columns = { row = \"drop\", age = { role = \"quasi\", type = \"number\", \
                   hierarchy = { widths = [10, 20] } }, sex = \"quasi\", disease = \"sensitive\" }\n";
    let sets: [&[&str]; 3] = [&["age"], &["sex"], &["age", "sex"]];
    let (mut checked, mut refused) = (0, 0);
    for seed in 0..40 {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("table.csv");
        fs::write(&path, people(60 + 5 * seed as usize, 100 + seed)).unwrap();
        let originals = records(&path);
        let (r, support) =
            ([2.0, 2.5, 3.0, 4.0][seed as usize % 4], 5 + 5 * (seed % 3));
        let recipe = format!(
            "{columns}promise.r-robustness = {{ r = {r}, support = {support}, signatures = \
             [[\"age\"], [\"sex\"], [\"age\", \"sex\"]] }}\n\
             method = {{ largest-group = 8, suppression = 0.4 }}"
        );
        let published = match run(home.path(), &recipe, seed) {
            Ok(published) => published,
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("cannot be met"), "{message}");
                refused += 1;
                continue;
            }
        };
        let values = buckets(&published.directory);
        for (group, rows) in rows_by_group(&published.directory) {
            let names: Vec<&String> = values[&group].keys().collect();
            assert!(values[&group].values().all(|count| *count == 1));
            assert!(names.len() == rows.len() && rows.len() <= 8);
            for set in sets {
                let priors: Vec<Vec<f64>> = rows
                    .iter()
                    .map(|row| {
                        let of = |name: &&String| {
                            prior(&originals, row, set, name, support as usize)
                        };
                        names.iter().map(of).collect()
                    })
                    .collect();
                let n = rows.len();
                let mut mass = vec![vec![0.0; n]; n];
                let (mut used, mut chosen) = (vec![false; n], Vec::new());
                let total = worlds(&priors, 0, &mut used, &mut chosen, 1.0, &mut mass);
                assert!(total > 0.0);
                for share in mass.iter().flatten() {
                    assert!(
                        share / total <= 1.0 / r + 1e-12,
                        "{} of {r}",
                        share / total
                    );
                }
                checked += 1;
            }
        }
    }
    assert!(checked > 1000, "{checked} groups");
    assert!(refused < 20, "{refused} tables were refused");
}

#[test]
fn left_out_rows_are_few_and_told() {
    let home = tempfile::tempdir().unwrap();
    let mut table = String::from("row,age,sex,disease\n");
    for row in 0..100 {
        let disease = if row < 40 { "flu".to_owned() } else { format!("d{}", row % 6) };
        writeln!(table, "{row},{},f,{disease}", 20 + row % 30).unwrap();
    }
    fs::write(home.path().join("table.csv"), table).unwrap();
    let recipe = |share: f64| {
        format!(
            "{WITH_ROWS}promise.l-diversity = 4\nmethod = {{ name = \"anatomy\", \
             suppression = {share} }}"
        )
    };
    // 20 of 80 is a quarter, so 20 people with the flu must go.
    assert!(run(home.path(), &recipe(0.19), 1).is_err());
    assert!(!home.path().join("release").exists());
    let published = run(home.path(), &recipe(0.2), 1).unwrap();
    assert_eq!((published.manifest.rows, published.manifest.left_out), (80, 20));
    let flu: u64 = buckets(&published.directory)
        .values()
        .filter_map(|values| values.get("flu"))
        .sum();
    assert_eq!(flu, 20);
    let told = &published.manifest.not_promised;
    assert!(told.iter().any(|text| text.starts_with("rows left out: all 20 have")));
}

/// Groups of 17 and more people of whom something different is believed each: their worlds
/// are too many, and nothing more is claimed than was checked.
#[test]
fn large_groups_say_what_is_still_certain() {
    let home = tempfile::tempdir().unwrap();
    let (mut table, mut known) =
        (String::from("who,disease\n"), String::from("who,value,probability\n"));
    for person in 0..40 {
        writeln!(table, "p{person},v{}", person % 20).unwrap();
        for value in 0..20 {
            let share = 0.01 + 0.002 * f64::from((7 * person + 3 * value) % 18);
            writeln!(known, "p{person},v{value},{share:.3}").unwrap();
        }
    }
    fs::write(home.path().join("table.csv"), table).unwrap();
    fs::write(home.path().join("known.csv"), known).unwrap();
    let recipe = |more: &str| {
        format!(
            "columns = {{ who = \"quasi\", disease = \"sensitive\" }}\n\
             promise.r-robustness = {{ r = 4, knowledge = \"known.csv\" }}\n{more}"
        )
    };
    let large = "promise.l-diversity = 17\nmethod.largest-group = 20";
    let published = run(home.path(), &recipe(large), 1).unwrap();
    let note = &published.manifest.promises[1];
    assert_eq!(
        (&note.measured["exact"], &note.measured["groups"]),
        (&0.into(), &2.into())
    );
    assert!(
        note.certified.starts_with("exact posteriors of the possible worlds of 0 of 2")
    );
    let told = &published.manifest.not_promised;
    let all_at_once = "all values at once: 2 groups are too large";
    assert!(told.iter().any(|text| text.starts_with(all_at_once)), "{told:?}");
    // With less difference between people, a bound on all worlds will do.
    let even = fs::read_to_string(home.path().join("known.csv")).unwrap();
    let even: String = even
        .lines()
        .map(|line| match line.rsplit_once(',') {
            Some((start, share)) if share.starts_with("0.03") => {
                format!("{start},0.022\n")
            }
            Some((start, share)) if share.starts_with('0') => {
                format!("{start},0.020\n")
            }
            _ => format!("{line}\n"),
        })
        .collect();
    fs::write(home.path().join("known.csv"), even).unwrap();
    let published = run(home.path(), &recipe(large), 1).unwrap();
    assert_eq!(published.manifest.promises[1].measured["exact"], 2);
    // Small groups are certified exactly.
    let published = run(home.path(), &recipe(""), 1).unwrap();
    let measured = &published.manifest.promises[0].measured;
    assert_eq!(measured["exact"], measured["groups"]);
}
