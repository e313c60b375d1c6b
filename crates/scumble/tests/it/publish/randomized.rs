//! Releases with randomized values: what leaves, in which order, by which law.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use scumble::recipe::Published;
use scumble::release::{OperatorNote, SubtableNote};

use crate::builder::{folder, keep_private, records, run_whole};

/// Diseases and how many rows of a thousand have each; further ones have 20.
const DISEASES: [(&str, u64); 6] = [
    ("flu", 150),
    ("cancer", 120),
    ("asthma", 110),
    ("malaria, severe", 100),
    ("", 50),
    ("H1N1", 30),
];

fn diseases() -> Vec<(String, u64)> {
    let rare = (0..22).map(|number| (format!("rare {number}"), 20));
    DISEASES
        .map(|(name, rows)| (name.to_owned(), rows))
        .into_iter()
        .chain(rare)
        .collect()
}

/// So many thousand people, sorted by disease; `row` tells them apart.
fn table(thousands: u64) -> String {
    let mut text = String::from("row,id,age,sex,disease,income\n");
    let mut row = 0;
    for (disease, share) in diseases() {
        for _ in 0..share * thousands {
            let (age, sex) = (20 + row * 7 % 60, if row % 3 == 0 { "f" } else { "m" });
            let income = ["low", "middle", "high"][(row % 5 % 3) as usize];
            let quote = if disease.contains(',') { "\"" } else { "" };
            writeln!(text, "{row},p{row},{age},{sex},{quote}{disease}{quote},{income}")
                .unwrap();
            row += 1;
        }
    }
    text
}

const COLUMNS: &str = "input.table = \"table.csv\"\n\
    columns = { row = \"other\", id = \"identifier\", age = \"quasi\", sex = \"quasi\", \
    disease = \"sensitive\", income = \"drop\" }\n";

/// How likely `original` is published as `published`.
fn entry(part: &SubtableNote, published: usize, original: usize) -> f64 {
    let m = part.domain.len() as f64;
    let mixed =
        |keep: f64| (1.0 - keep) / m + if published == original { keep } else { 0.0 };
    match &part.operator {
        OperatorNote::Uniform { keep } => mixed(*keep),
        OperatorNote::FineGrain { keep } => mixed(keep[original]),
        OperatorNote::General { matrix } => matrix[published][original],
    }
}

/// Pearson's statistic of what was published of each original value of a sub-table against
/// its matrix, and its degrees of freedom. Cells of fewer than five expected rows are one.
fn chi_square(part: &SubtableNote, pairs: &[(String, String)]) -> (f64, f64) {
    let place =
        |text: &str| part.domain.iter().position(|value| value[0] == text).unwrap();
    let m = part.domain.len();
    let mut seen = vec![vec![0u64; m]; m];
    for (original, published) in pairs {
        seen[place(original)][place(published)] += 1;
    }
    let (mut sum, mut freedom) = (0.0, 0.0);
    for (original, row) in seen.iter().enumerate() {
        let n: u64 = row.iter().sum();
        let expected = |published: usize| n as f64 * entry(part, published, original);
        let (mut cells, mut rest) = (0, (0.0, 0.0));
        for (published, seen) in row.iter().enumerate() {
            if expected(published) < 5.0 {
                rest = (rest.0 + *seen as f64, rest.1 + expected(published));
                continue;
            }
            sum += (*seen as f64 - expected(published)).powi(2) / expected(published);
            cells += 1;
        }
        if rest.1 > 1e-9 {
            sum += (rest.0 - rest.1).powi(2) / rest.1;
            cells += 1;
        }
        freedom += f64::from((cells - 1i32).max(0));
    }
    (sum, freedom)
}

/// Whether the statistic is too large: false alarms in fewer than one of a million
/// (Wilson and Hilferty's normal approximation, with some room for its error).
fn alarms((sum, freedom): (f64, f64)) -> bool {
    let spread = 2.0 / (9.0 * freedom);
    ((sum / freedom).cbrt() - (1.0 - spread)) / spread.sqrt() > 5.0
}

/// The pairs of original and published value of the rows of each sub-table.
fn pairs(home: &Path, published: &Published) -> Vec<Vec<(String, String)>> {
    let originals: BTreeMap<String, String> = records(&home.join("table.csv"))
        .into_iter()
        .map(|row| (row["row"].clone(), row["disease"].clone()))
        .collect();
    let note = &published.manifest.perturbation()[0];
    let mut pairs = vec![Vec::new(); note.subtables.len()];
    for row in records(&published.directory.join("data.csv")) {
        let part =
            note.subtable_column.as_ref().map_or(1, |name| row[name].parse().unwrap());
        pairs[part - 1].push((originals[&row["row"]].clone(), row["disease"].clone()));
    }
    pairs
}

const METHODS: [&str; 8] = [
    "promise.breach = { prior = 0.1, posterior = 0.4 }",
    "promise.breach = { prior = 0.1, posterior = 0.4, kind = \"both\" }\n\
     method.name = \"general-perturbation\"",
    "promise.breach = { prior = 0.2, posterior = 0.3 }\n\
     method.name = \"partitioned-perturbation\"",
    "promise.breach = { prior = 0.3, posterior = 0.5 }\nmethod.inside = \"fine-grain\"",
    "promise.fine-grain = { factor = 2.5 }",
    "promise.fine-grain = { factor = 2.5, kind = \"both\" }",
    "promise.fine-grain = { factor = 2.5 }\nmethod.name = \"general-perturbation\"",
    "promise.fine-grain = { factor = 2 }\nmethod.name = \"partitioned-perturbation\"",
];

#[test]
fn draws_follow_the_published_matrix_and_other_columns_stay() {
    let home = folder(&[("table.csv", &table(20))]);
    let untouched = |path: &Path| {
        let mut rows: Vec<[String; 3]> = records(path)
            .iter()
            .map(|row| ["row", "age", "sex"].map(|name| row[name].clone()))
            .collect();
        rows.sort();
        rows
    };
    let original = untouched(&home.path().join("table.csv"));
    for more in METHODS {
        let published =
            run_whole(home.path(), &format!("{COLUMNS}{more}"), Some(5)).unwrap();
        assert!(published.audit.holds(), "{more}");
        assert!(published.manifest.experiment);
        assert_eq!(
            untouched(&published.directory.join("data.csv")),
            original,
            "{more}"
        );
        let pairs = pairs(home.path(), &published);
        let note = &published.manifest.perturbation()[0];
        assert_eq!(note.subtables.len() > 1, more == METHODS[2], "{more}");
        for (part, pairs) in note.subtables.iter().zip(&pairs) {
            assert_eq!(part.rows, pairs.len() as u64, "{more}");
            assert!(!alarms(chi_square(part, pairs)), "{more}");
        }
        // A broken twin: one published row of ten is the original instead.
        let broken = |place: usize, pair: &(String, String)| match place % 10 {
            0 => (pair.0.clone(), pair.0.clone()),
            _ => pair.clone(),
        };
        let caught = note.subtables.iter().zip(&pairs).any(|(part, pairs)| {
            let pairs =
                pairs.iter().enumerate().map(|(place, pair)| broken(place, pair));
            alarms(chi_square(part, &pairs.collect::<Vec<_>>()))
        });
        assert!(caught, "{more}");
    }
}

#[test]
fn the_order_of_rows_tells_nothing() {
    let home = folder(&[("table.csv", &table(5))]);
    // The mean place of the first half of the input: 5 sigma either way.
    let mean_place = |rows: &[u64]| {
        let n = rows.len() as f64;
        let places =
            rows.iter().enumerate().filter(|(_, row)| (**row as f64) < n / 2.0);
        let sum: f64 = places.map(|(place, _)| place as f64).sum();
        (sum / (n / 2.0) - n / 2.0) / (n / 12.0).sqrt()
    };
    for more in METHODS {
        let published =
            run_whole(home.path(), &format!("{COLUMNS}{more}"), None).unwrap();
        assert!(!published.manifest.experiment);
        let rows = records(&published.directory.join("data.csv"));
        let rows: Vec<u64> =
            rows.iter().map(|row| row["row"].parse().unwrap()).collect();
        assert!(mean_place(&rows).abs() < 5.0, "{more}");
        // Rows that stood together do not: about two pairs of neighbours are left over.
        let neighbours = rows.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) == 1);
        assert!(neighbours.count() < 20, "{more}");
    }
    let sorted: Vec<u64> = (0..5000).collect();
    assert!(mean_place(&sorted).abs() > 5.0, "the broken twin is caught");
}

fn data(published: &Published) -> Vec<u8> {
    fs::read(published.directory.join("data.csv")).unwrap()
}

#[test]
fn a_seed_repeats_every_byte_whatever_the_threads_and_no_seed_repeats_none() {
    let home = folder(&[("table.csv", &table(40))]);
    let pool = |n| rayon::ThreadPoolBuilder::new().num_threads(n).build().unwrap();
    for more in [METHODS[0], METHODS[2], METHODS[6]] {
        let with = |threads, seed| {
            let published = pool(threads).install(|| {
                run_whole(home.path(), &format!("{COLUMNS}{more}"), seed).unwrap()
            });
            let manifest = fs::read(published.directory.join("manifest.json")).unwrap();
            (data(&published), manifest)
        };
        assert_eq!(with(1, Some(7)), with(3, Some(7)), "{more}");
        assert_ne!(with(2, Some(7)).0, with(2, Some(8)).0, "{more}");
        assert_ne!(with(2, None).0, with(2, None).0, "{more}");
    }
}

/// What was published of each row.
fn drawn(published: &Published) -> BTreeMap<String, (String, String)> {
    let note = &published.manifest.perturbation()[0];
    records(&published.directory.join("data.csv"))
        .into_iter()
        .map(|row| {
            let part = note.subtable_column.as_ref().map(|name| row[name].clone());
            (row["row"].clone(), (row["disease"].clone(), part.unwrap_or_default()))
        })
        .collect()
}

#[test]
fn a_key_gives_a_person_the_same_noise_every_time() {
    let home = tempfile::tempdir().unwrap();
    let text = table(2);
    for (name, key) in
        [("a.key", "a secret of the hospital"), ("b.key", "another secret 0123")]
    {
        fs::write(home.path().join(name), key).unwrap();
        keep_private(&home.path().join(name));
    }
    for more in [METHODS[0], METHODS[2], METHODS[4], METHODS[6]] {
        fs::write(home.path().join("table.csv"), &text).unwrap();
        let keyed = |file: &str| {
            let more = format!("{more}\nmethod.key-file = \"{file}\"");
            run_whole(home.path(), &format!("{COLUMNS}{more}"), None).unwrap()
        };
        let first = keyed("a.key");
        assert_eq!(first.manifest.perturbation()[0].noise, "keyed");
        let (noise, bytes) = (drawn(&first), data(&first));
        // The rows in another order: the same person, the same noise; order is fresh.
        let mut lines: Vec<&str> = text.lines().collect();
        lines[1..].reverse();
        fs::write(home.path().join("table.csv"), lines.join("\n")).unwrap();
        let second = keyed("a.key");
        assert_eq!(drawn(&second), noise, "{more}");
        assert_ne!(data(&second), bytes, "{more}");
        let other = drawn(&keyed("b.key"));
        let same = noise.iter().filter(|(row, drawn)| other[*row] == **drawn).count();
        assert!(same < noise.len() * 19 / 20, "{more}: another key is other noise");
    }
}

#[test]
fn who_changes_does_not_show_both_values() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("a.key"), "a secret of the hospital").unwrap();
    keep_private(&home.path().join("a.key"));
    let text = table(4);
    // Everybody has somebody else's disease.
    let diseases: Vec<&str> = text.lines().skip(1).map(disease).collect();
    let n = diseases.len();
    let changed: String = text
        .lines()
        .skip(1)
        .enumerate()
        .map(|(row, line)| {
            let start = line.match_indices(',').nth(3).unwrap().0 + 1;
            let (before, after) = (&line[..start], &line[line.rfind(',').unwrap()..]);
            format!("{before}{}{after}\n", diseases[(row + n / 3) % n])
        })
        .collect();
    let later = format!("{}\n{changed}", text.lines().next().unwrap());
    let more = format!("{}\nmethod.key-file = \"a.key\"", METHODS[0]);
    let mut seen = Vec::new();
    for text in [&text, &later] {
        fs::write(home.path().join("table.csv"), text).unwrap();
        let published =
            run_whole(home.path(), &format!("{COLUMNS}{more}"), None).unwrap();
        let truth: BTreeMap<String, String> = records(&home.path().join("table.csv"))
            .into_iter()
            .map(|row| (row["row"].clone(), row["disease"].clone()))
            .collect();
        seen.push((truth, drawn(&published)));
    }
    let [(first, shown), (second, later)] = &*seen else { panic!("two releases") };
    let (mut differ, mut both) = (0, 0);
    for (row, truth) in first {
        if shown[row] != later[row] && *truth != second[row] {
            differ += 1;
            both += i32::from(shown[row].0 == *truth && later[row].0 == second[row]);
        }
    }
    assert!(differ > 1000 && both < differ / 2, "{both} of {differ}");
}

/// The disease of a line, quoted as it is.
fn disease(line: &str) -> &str {
    let start = line.match_indices(',').nth(3).unwrap().0 + 1;
    &line[start..line.rfind(',').unwrap()]
}

#[test]
fn keyed_noise_follows_the_matrix_and_people_are_independent() {
    let home = folder(&[("table.csv", &table(20))]);
    fs::write(home.path().join("a.key"), "a secret of the hospital").unwrap();
    keep_private(&home.path().join("a.key"));
    let more = format!("{}\nmethod.key-file = \"a.key\"", METHODS[4]);
    let published = run_whole(home.path(), &format!("{COLUMNS}{more}"), None).unwrap();
    let part = &published.manifest.perturbation()[0].subtables[0];
    let pairs = &pairs(home.path(), &published)[0];
    assert!(!alarms(chi_square(part, pairs)));
    // Whether neighbours in the input are both kept: as often as chance has it.
    let drawn = drawn(&published);
    let kept: Vec<bool> = records(&home.path().join("table.csv"))
        .iter()
        .filter(|row| row["disease"] == "flu")
        .map(|row| drawn[&row["row"]].0 == "flu")
        .collect();
    let share = kept.iter().filter(|kept| **kept).count() as f64 / kept.len() as f64;
    let both = kept.windows(2).filter(|pair| pair[0] && pair[1]).count() as f64;
    let expected = share * share * (kept.len() - 1) as f64;
    assert!(
        (both - expected).abs() < 5.0 * (3.0 * expected).sqrt(),
        "{both} {expected}"
    );
}

#[test]
fn several_columns_are_randomized_each_alone_or_as_one() {
    let home = folder(&[("table.csv", &table(10))]);
    let columns = COLUMNS.replace("income = \"drop\"", "income = \"sensitive\"");
    let each =
        run_whole(home.path(), &format!("{columns}{}", METHODS[0]), Some(1)).unwrap();
    let notes = &each.manifest.perturbation();
    assert_eq!(notes.len(), 2);
    assert!(
        each.manifest
            .not_promised
            .iter()
            .any(|line| line.starts_with("columns together"))
    );
    let more = format!("{}\nmethod.sensitive = \"compound\"", METHODS[4]);
    let compound =
        run_whole(home.path(), &format!("{columns}{more}"), Some(1)).unwrap();
    assert!(compound.audit.holds());
    let [note] = &*compound.manifest.perturbation() else {
        panic!("one compound column")
    };
    assert_eq!(note.columns, ["disease", "income"]);
    assert_eq!(note.subtables[0].domain.len(), 84);
    let known: Vec<[&str; 2]> =
        note.subtables[0].domain.iter().map(|value| [&*value[0], &*value[1]]).collect();
    for row in records(&compound.directory.join("data.csv")) {
        assert!(known.contains(&[&*row["disease"], &*row["income"]]));
    }
}

#[test]
fn parquet_goes_in_and_out() {
    let home = folder(&[("table.csv", &table(2))]);
    let parquet = format!("{}\nrelease.format = \"parquet\"", METHODS[2]);
    let first =
        run_whole(home.path(), &format!("{COLUMNS}{parquet}"), Some(1)).unwrap();
    assert!(first.audit.holds());
    fs::copy(first.directory.join("data.parquet"), home.path().join("again.parquet"))
        .unwrap();
    let columns = COLUMNS
        .replace("table.csv", "again.parquet")
        .replace("id = \"identifier\", ", "")
        .replace(", income = \"drop\"", ", \"disease.subtable\" = \"drop\"");
    let second =
        run_whole(home.path(), &format!("{columns}{}", METHODS[0]), Some(2)).unwrap();
    assert_eq!(second.manifest.rows, 2000);
    assert!(second.audit.holds());
}

#[test]
fn the_report_claims_no_more_than_the_method_keeps() {
    let home = folder(&[("table.csv", &table(2))]);
    let secret = "a secret of the hospital";
    fs::write(home.path().join("a.key"), secret).unwrap();
    keep_private(&home.path().join("a.key"));
    for more in METHODS {
        let keyed = format!("{more}\nmethod.key-file = \"a.key\"");
        let published =
            run_whole(home.path(), &format!("{COLUMNS}{keyed}"), None).unwrap();
        let page = fs::read_to_string(published.directory.join("report.html")).unwrap();
        let any = page.contains("Whatever somebody believed");
        let partitioned = published.manifest.method.name == "partitioned-perturbation";
        assert_eq!(any, !partitioned, "{more}");
        for file in fs::read_dir(&published.directory).unwrap() {
            let text = fs::read_to_string(file.unwrap().path()).unwrap();
            assert!(!text.contains(secret) && !text.contains("p17,"), "{more}");
        }
    }
}

#[test]
fn a_public_domain_may_have_values_that_nobody_has() {
    let home = folder(&[("table.csv", &table(20))]);
    let names: Vec<String> =
        diseases().iter().map(|(name, _)| format!("{name:?}")).collect();
    let domain = format!("[\"aaa\", {}, \"zzz\"]", names.join(", "));
    let wide = format!("{{ role = \"sensitive\", domain = {domain} }}");
    let columns =
        COLUMNS.replace("disease = \"sensitive\"", &format!("disease = {wide}"));
    // With one sub-table, and with several.
    let one = "promise.breach = { prior = 0.2, posterior = 0.9 }\n\
               method.name = \"partitioned-perturbation\"";
    for more in METHODS.into_iter().chain([one]) {
        let published =
            run_whole(home.path(), &format!("{columns}{more}"), Some(5)).unwrap();
        let pairs = pairs(home.path(), &published);
        let note = &published.manifest.perturbation()[0];
        for (part, pairs) in note.subtables.iter().zip(&pairs) {
            assert!(!alarms(chi_square(part, pairs)), "{more}");
        }
    }
}

#[test]
fn perturbed_generalization_publishes_one_row_of_each_group() {
    let home = folder(&[("table.csv", &table(2))]);
    let columns = COLUMNS.replace("row = \"other\", ", "row = \"drop\", ");
    let more = "promise = { k-anonymity = 6, breach = { prior = 0.1, posterior = 0.4 } }\n\
         method.name = \"perturbed-generalization\"";
    let published = run_whole(home.path(), &format!("{columns}{more}"), None).unwrap();
    assert!(published.audit.holds());
    let rows = records(&published.directory.join("data.csv"));
    let sizes: Vec<u64> =
        rows.iter().map(|row| row["group.size"].parse().unwrap()).collect();
    assert!(sizes.iter().all(|size| *size >= 6));
    assert_eq!(sizes.iter().sum::<u64>(), 2000);
    assert_eq!(published.manifest.rows, rows.len() as u64);
    let error = run_whole(home.path(), &format!("{COLUMNS}{more}"), None).unwrap_err();
    assert!(
        error.to_string().contains("publishes no columns of role `other`"),
        "{error}"
    );
}
