//! Releases with blurred numbers: what leaves, with which noise, and among whom people hide.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::error::ErrorKind;
use scumble::recipe::{Request, Spec, publish};
use scumble::release::{BlurNote, FrameNote};
use scumble::space::Shape;
use scumble::watch::Watch;

use crate::builder::{Record, folder, records, run};

/// Three clouds of people and a few far from all; `row` tells them apart. Ages are whole,
/// `cost` has two decimals, `weight` three.
fn people(n: usize, seed: u64) -> String {
    let mut random = ChaCha20Rng::seed_from_u64(seed);
    let mut text = String::from("row,age,sex,cost,weight,k\n");
    for row in 0..n {
        let cloud = random.random_range(0..3u32);
        let wide = if row % 97 == 0 { 4.0 } else { 1.0 };
        let mut bell = || {
            let sum: f64 = (0..6).map(|_| random.random::<f64>()).sum();
            wide * (sum - 3.0)
        };
        let age = (30.0 + 15.0 * f64::from(cloud) + 8.0 * bell()).round().max(0.0);
        let cost = 500.0 + 300.0 * f64::from(cloud) + 90.0 * bell();
        let weight = 70.0 + 0.1 * age + 6.0 * bell();
        let sex = if random.random::<bool>() { 'f' } else { 'm' };
        let k = 2 + row % 9;
        writeln!(text, "{row},{age},{sex},{cost:.2},{weight:.3},{k}").unwrap();
    }
    text
}

const COLUMNS: &str = "columns = { row = \"other\", age = \"quasi\", sex = \"drop\", \
                       cost = \"quasi\", weight = \"quasi\", k = \"drop\" }\n";

const NAMES: [&str; 3] = ["age", "cost", "weight"];

/// Every shape in every frame.
fn all_ways() -> Vec<String> {
    let mut ways = Vec::new();
    for shape in ["gaussian", "uniform"] {
        for frame in ["global", "local", "rotated"] {
            ways.push(format!(
                "{COLUMNS}promise.expected-anonymity = 6\nmethod.name = \"blur\"\n\
                 method.shape = \"{shape}\"\nmethod.frame = \"{frame}\"\n\
                 method.suppression = 0.02\n"
            ));
        }
    }
    ways
}

/// A published row beside the true one.
struct Pair {
    truth: Vec<f64>,
    published: Vec<f64>,
    frame: usize,
    level: usize,
    record: Record,
}

fn pairs(home: &Path) -> Vec<Pair> {
    let truth: BTreeMap<String, Record> = records(&home.join("table.csv"))
        .into_iter()
        .map(|record| (record["row"].clone(), record))
        .collect();
    let number = |record: &Record, name: &str| record[name].parse::<f64>().unwrap();
    records(&home.join("release/data.csv"))
        .into_iter()
        .map(|record| Pair {
            truth: NAMES.map(|name| number(&truth[&record["row"]], name)).to_vec(),
            published: NAMES.map(|name| number(&record, name)).to_vec(),
            frame: record.get("frame").map_or(1, |frame| frame.parse().unwrap()) - 1,
            level: record["level"].parse::<usize>().unwrap() - 1,
            record,
        })
        .collect()
}

/// A difference along the axes of a frame.
fn along(frame: &FrameNote, difference: &[f64]) -> Vec<f64> {
    match &frame.axes {
        None => difference.to_vec(),
        Some(axes) => axes
            .iter()
            .map(|axis| axis.iter().zip(difference).map(|(a, d)| a * d).sum())
            .collect(),
    }
}

/// How likely somebody at this difference fits at least as well: lemmas 2.1 and 2.2, with
/// nothing left away.
fn fits(note: &BlurNote, frame: &FrameNote, level: usize, difference: &[f64]) -> f64 {
    if difference.iter().all(|d| *d == 0.0) {
        return 1.0;
    }
    let w = along(frame, difference);
    let spreads = &frame.levels[level];
    let scaled =
        w.iter().zip(spreads).map(|(w, s)| if *w == 0.0 { 0.0 } else { w / s });
    match note.shape {
        Shape::Gaussian => {
            let length = scaled.map(|x| x * x).sum::<f64>().sqrt();
            0.5 * libm::erfc(length / 2.0 / std::f64::consts::SQRT_2)
        }
        Shape::Uniform => scaled.map(|x| (1.0 - x.abs()).max(0.0)).product(),
    }
}

#[test]
fn everybody_has_company_at_their_own_level() {
    let home = folder(&[("table.csv", &people(600, 1))]);
    for way in all_ways() {
        let published = run(home.path(), &way, 3).unwrap();
        let note = published.manifest.blur().unwrap();
        let pairs = pairs(home.path());
        assert_eq!(pairs.len() as u64, published.manifest.rows);
        assert!(published.manifest.left_out <= 12, "{}", published.manifest.left_out);
        let mut least = f64::INFINITY;
        for one in &pairs {
            let company =
                |other: &&Pair| (other.frame, other.level) == (one.frame, one.level);
            let frame = &note.frames[one.frame];
            let count: f64 = pairs
                .iter()
                .filter(company)
                .map(|other| {
                    let difference: Vec<f64> = one
                        .truth
                        .iter()
                        .zip(&other.truth)
                        .map(|(a, b)| a - b)
                        .collect();
                    fits(&note, frame, one.level, &difference)
                })
                .sum();
            assert!(count >= 6.0, "{count}\n{way}");
            least = least.min(count);
        }
        let measured = published.audit.promises[0].measured["k"].as_f64().unwrap();
        assert!(
            measured >= 6.0 && measured <= least + 1e-6,
            "{measured} {least}\n{way}"
        );
        // Frames are shared, and their limits hold.
        for one in &pairs {
            for (name, [from, to]) in &note.frames[one.frame].part {
                let place = NAMES.iter().position(|known| known == name).unwrap();
                assert!(from.is_none_or(|from| one.truth[place] >= from));
                assert!(to.is_none_or(|to| one.truth[place] < to));
            }
        }
    }
}

/// Noise in units of its spread, along the axes; coarse lattices are left out, where rounding
/// shows.
fn residuals(note: &BlurNote, pairs: &[Pair], scale: f64) -> Vec<f64> {
    let mut found = Vec::new();
    for pair in pairs {
        let frame = &note.frames[pair.frame];
        let difference: Vec<f64> =
            pair.published.iter().zip(&pair.truth).map(|(z, x)| z - x).collect();
        let spreads = &frame.levels[pair.level];
        let along = along(frame, &difference);
        for (place, (w, s)) in along.iter().zip(spreads).enumerate() {
            if *s > 0.0 && (frame.axes.is_some() || place > 0) {
                found.push(scale * w / s);
            }
        }
    }
    found
}

/// The largest distance between the distribution of `values` and `law`, in units in which
/// 2.8 is passed less often than once in three million times (Kolmogorov).
fn distance(mut values: Vec<f64>, law: impl Fn(f64) -> f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len() as f64;
    let apart = values.iter().enumerate().map(|(place, value)| {
        let expected = law(*value);
        (expected - place as f64 / n)
            .abs()
            .max(((place + 1) as f64 / n - expected).abs())
    });
    apart.fold(0.0, f64::max) * n.sqrt()
}

#[test]
fn noise_follows_its_law_in_every_frame() {
    // Few numbers are on one of the axes' ends, so rounding to two decimals does not show.
    let home = folder(&[("table.csv", &people(3000, 2))]);
    for way in all_ways() {
        let published = run(home.path(), &way, 4).unwrap();
        let note = published.manifest.blur().unwrap();
        let pairs = pairs(home.path());
        let normal = |x: f64| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        let even = |x: f64| (x + 0.5).clamp(0.0, 1.0);
        let test = |scale: f64| {
            let found = residuals(&note, &pairs, scale);
            assert!(found.len() > 3000);
            match note.shape {
                Shape::Gaussian => distance(found, normal),
                Shape::Uniform => distance(found, even),
            }
        };
        // Rotated axes carry the rounding of whole ages, which is an eighth of the spread.
        let margin = if note.frames[0].axes.is_some() { 1.0 } else { 0.0 };
        assert!(test(1.0) < 2.8 + margin, "{} \n{way}", test(1.0));
        assert!(
            test(0.8) > 2.8 + margin,
            "a broken twin is not noticed: {}\n{way}",
            test(0.8)
        );
        assert!(test(1.25) > 2.8 + margin, "a broken twin is not noticed\n{way}");
    }
}

#[test]
fn even_noise_on_whole_numbers_takes_every_step_as_often() {
    let home = folder(&[("table.csv", &people(4000, 3))]);
    let way = &all_ways()[3];
    let note = run(home.path(), way, 5).unwrap().manifest.blur().unwrap();
    let mut counts: BTreeMap<(usize, i64), u64> = BTreeMap::new();
    for pair in pairs(home.path()) {
        let step = (pair.published[0] - pair.truth[0]).round() as i64;
        *counts.entry((pair.level, step)).or_default() += 1;
    }
    for (level, spreads) in note.frames[0].levels.iter().enumerate() {
        let half = (spreads[0] as i64 - 1) / 2;
        let found: Vec<f64> = (-half..=half)
            .map(|step| counts.remove(&(level, step)).unwrap_or(0) as f64)
            .collect();
        let total: f64 = found.iter().sum();
        let expected = total / found.len() as f64;
        if expected < 5.0 {
            continue;
        }
        let chi: f64 = found.iter().map(|n| (n - expected).powi(2) / expected).sum();
        let freedom = (found.len() - 1) as f64;
        // Far beyond what chance does once in a million times.
        assert!(chi < freedom + 8.0 * (2.0 * freedom).sqrt() + 25.0, "{chi} {freedom}");
    }
    assert!(counts.is_empty(), "steps beyond the box: {counts:?}");
}

#[test]
fn spreads_stand_beside_numbers_and_agree_with_the_ladder() {
    let home = folder(&[("table.csv", &people(500, 4))]);
    for way in all_ways() {
        let note = run(home.path(), &way, 6).unwrap().manifest.blur().unwrap();
        for pair in pairs(home.path()) {
            for (place, name) in NAMES.iter().enumerate() {
                let spread = pair.record.get(&format!("{name}.spread"));
                let ladder = note.frames[pair.frame].levels[pair.level][place];
                match &note.frames[pair.frame].axes {
                    Some(_) => assert!(spread.is_none()),
                    None => assert_eq!(spread.unwrap().parse::<f64>().unwrap(), ladder),
                }
            }
        }
        for column in &note.columns {
            let [low, high] = column.domain;
            assert!(low < high);
        }
    }
}

#[test]
fn the_domain_never_shows_anybodys_number() {
    let home = folder(&[("table.csv", &people(500, 4))]);
    let note = run(home.path(), &all_ways()[0], 6).unwrap().manifest.blur().unwrap();
    let rows = records(&home.path().join("table.csv"));
    for column in &note.columns {
        let numbers: Vec<f64> =
            rows.iter().map(|row| row[&column.name].parse().unwrap()).collect();
        let least = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let most = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        assert!(column.domain[0] < least && column.domain[1] > most, "{}", column.name);
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads() {
    let home = folder(&[("table.csv", &people(400, 5))]);
    for way in all_ways() {
        let bytes = |threads: usize, seed: u64| {
            let pool =
                rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run(home.path(), &way, seed)).unwrap();
            ["data.csv", "manifest.json", "report.html"]
                .map(|file| fs::read(home.path().join("release").join(file)).unwrap())
        };
        let first = bytes(1, 7);
        assert_eq!(first, bytes(3, 7), "{way}");
        assert_ne!(first[0], bytes(1, 8)[0], "{way}");
    }
}

#[test]
fn the_order_of_rows_tells_nothing() {
    // Rows come sorted by `row`; where they leave must not depend on it.
    let home = folder(&[("table.csv", &people(2000, 6))]);
    run(home.path(), &all_ways()[0], 9).unwrap();
    let rows: Vec<f64> = records(&home.path().join("release/data.csv"))
        .iter()
        .map(|record| record["row"].parse().unwrap())
        .collect();
    let n = rows.len() as f64;
    let mean = rows.iter().sum::<f64>() / n;
    let (mut covariance, mut variance) = (0.0, 0.0);
    for (place, row) in rows.iter().enumerate() {
        covariance += (place as f64 - (n - 1.0) / 2.0) * (row - mean);
        variance += (row - mean).powi(2);
    }
    let correlation = covariance / variance;
    assert!(correlation.abs() * n.sqrt() < 5.2, "{correlation}");
}

#[test]
fn people_of_another_sex_are_no_company() {
    let home = folder(&[("table.csv", &people(500, 7))]);
    let way = all_ways()[1].replace("sex = \"drop\"", "sex = \"quasi\"");
    let way = way.replace("\"local\"", "\"global\"");
    let published = run(home.path(), &way, 3).unwrap();
    let note = published.manifest.blur().unwrap();
    assert_eq!(note.exact, ["sex"]);
    assert_eq!(note.frames.len(), 2);
    for pair in pairs(home.path()) {
        assert_eq!(pair.record["sex"], note.frames[pair.frame].exact["sex"]);
    }
}

#[test]
fn missing_numbers_are_refused_or_stay_missing() {
    let mut table = people(400, 8);
    let lines: Vec<String> = table
        .lines()
        .enumerate()
        .map(|(place, line)| {
            let mut cells: Vec<&str> = line.split(',').collect();
            if place > 0 && place % 5 == 0 {
                cells[3] = "";
            }
            cells.join(",")
        })
        .collect();
    table = lines.join("\n") + "\n";
    let home = folder(&[("table.csv", &table)]);
    let way = &all_ways()[0];
    let error = run(home.path(), way, 1).unwrap_err();
    assert!(error.to_string().ends_with("row 5, column `cost`: the number is missing"));
    assert!(!home.path().join("release").exists());
    let published =
        run(home.path(), &format!("{way}method.missing = \"keep\""), 1).unwrap();
    let note = published.manifest.blur().unwrap();
    assert_eq!(note.frames.len(), 2);
    let rows = records(&home.path().join("release/data.csv"));
    let without: Vec<&Record> =
        rows.iter().filter(|row| row["cost"].is_empty()).collect();
    assert!(without.len() > 70);
    for row in without {
        assert_eq!(row["cost.spread"], "");
        let frame: usize = row["frame"].parse().unwrap();
        assert_eq!(note.frames[frame - 1].missing, ["cost"]);
    }
}

#[test]
fn a_column_says_what_everybody_asks_for() {
    let home = folder(&[("table.csv", &people(500, 9))]);
    let way =
        all_ways()[0].replace("expected-anonymity = 6", "expected-anonymity = \"k\"");
    let published = run(home.path(), &way, 3).unwrap();
    assert_eq!(published.manifest.promises[0].asked["k"], "k");
    let note = published.manifest.blur().unwrap();
    let asked: BTreeMap<String, f64> = records(&home.path().join("table.csv"))
        .iter()
        .map(|row| (row["row"].clone(), row["k"].parse().unwrap()))
        .collect();
    let pairs = pairs(home.path());
    for one in &pairs {
        let count: f64 = pairs
            .iter()
            .filter(|other| other.level == one.level)
            .map(|other| {
                let difference: Vec<f64> =
                    one.truth.iter().zip(&other.truth).map(|(a, b)| a - b).collect();
                fits(&note, &note.frames[0], one.level, &difference)
            })
            .sum();
        assert!(count >= asked[&one.record["row"]]);
    }
}

#[test]
fn the_scheme_of_the_paper_is_there_to_compare_with() {
    let home = folder(&[("table.csv", &people(300, 10))]);
    for frame in ["global", "local"] {
        let way = format!(
            "{COLUMNS}promise.expected-anonymity = {{ k = 6, strict = false }}\n\
             method.frame = \"{frame}\"\n"
        );
        let published = run(home.path(), &way, 3).unwrap();
        let calibration =
            published.audit.attacks.iter().find(|attack| attack.name == "calibration");
        assert!(calibration.unwrap().success > 0.4, "{calibration:?}");
        assert!(
            published.notes.iter().any(|note| note.contains("for comparison only"))
        );
        let rows = records(&home.path().join("release/data.csv"));
        assert!(rows[0].contains_key("cost.spread") && !rows[0].contains_key("level"));
    }
}

#[test]
fn condensed_rows_keep_mean_and_spread_and_their_group() {
    let home = folder(&[("table.csv", &people(600, 11))]);
    let way = format!(
        "{COLUMNS}promise.expected-anonymity = 10\nmethod.name = \"condensation\"\n"
    );
    let published = run(home.path(), &way, 3).unwrap();
    let rows = records(&home.path().join("release/data.csv"));
    assert_eq!(rows.len(), 600);
    let mut sizes: BTreeMap<&str, u64> = BTreeMap::new();
    for row in &rows {
        *sizes.entry(&row["group"]).or_default() += 1;
    }
    assert!(sizes.values().all(|size| *size >= 10));
    let groups = published.manifest.condensed().unwrap().groups;
    assert_eq!(groups, sizes.len() as u64);
    let mean = |rows: &[Record]| {
        rows.iter().map(|row| row["cost"].parse::<f64>().unwrap()).sum::<f64>() / 600.0
    };
    let truth = mean(&records(&home.path().join("table.csv")));
    assert!((mean(&rows) - truth).abs() < 15.0, "{} {truth}", mean(&rows));
}

/// The message and hint of a recipe that must be refused, and that nothing was written.
fn refused(table: &str, recipe: &str) -> String {
    let home = folder(&[("table.csv", table)]);
    let error = run(home.path(), recipe, 1).unwrap_err();
    assert!(!home.path().join("release").exists());
    let message = error.to_string().replace(&home.path().display().to_string(), "");
    let hints: Vec<&str> = error.hints().iter().map(String::as_str).collect();
    [&[message.as_str()], &hints[..]].concat().join("\n")
}

#[test]
fn bad_input_is_refused_with_its_place() {
    let small = "x,y\n1,2\n2,3\n3,9\n4,1\n5,5\n";
    let recipe = |k: &str, more: &str| {
        format!(
            "columns = {{ x = {{ role = \"quasi\", type = \"number\" }}, y = \"quasi\" }}\n\
             promise.expected-anonymity = {k}\n{more}\n"
        )
    };
    let says = |table: &str, recipe: &str, wanted: &str| {
        let message = refused(table, recipe);
        assert!(message.contains(wanted), "{message}\n-- wanted: {wanted}");
    };
    says(
        &small.replace("3,9", "abc,9"),
        &recipe("2", ""),
        "row 3, column `x`: the cell is not a number",
    );
    says(
        &small.replace("3,9", "3,abc"),
        &recipe("2", ""),
        "row 3, column `y`: the cell is not a number, but others of the column are",
    );
    says(
        &small.replace("3,9", "inf,9"),
        &recipe("2", ""),
        "row 3, column `x`: the number is not finite",
    );
    says(
        &small.replace("3,9", ",9"),
        &recipe("2", ""),
        "row 3, column `x`: the number is missing",
    );
    says(small, &recipe("6", ""), "expected-anonymity");
    // Half of the four others, and oneself.
    says(small, &recipe("4", ""), "3");
    says(small, &recipe("0.5", ""), "`k` is 0.5, but must be above 1");
    says(small, &recipe("{ k = 3, best-guess = 0 }", ""), "`best-guess` is 0");
    says(
        small,
        &recipe("{ k = 3, best-guess = 0.5, strict = false }", ""),
        "`best-guess` goes with `strict = true` only",
    );
    says(small, &recipe("\"wish\"", ""), "no column is called `wish`");
    let wishes = "x,y,w\n1,2,2\n2,3,0\n3,9,2\n";
    says(
        wishes,
        "columns = { x = \"quasi\", y = \"quasi\", w = \"drop\" }\n\
         promise.expected-anonymity = \"w\"",
        "row 2, column `w`: the cell is not a number from 1 on",
    );
    says(
        small,
        "columns = { x = { role = \"quasi\", domain = [2, 9] }, y = \"quasi\" }\n\
         promise.expected-anonymity = 2",
        "`domain` of `x` is from 2 to 9, but 1 number is outside; the first is in row 1",
    );
    says(
        small,
        "columns = { x = \"quasi\", y = \"quasi\" }\npromise.expected-anonymity = 2\n\
         promise.k-anonymity = 2",
        "`x` is in `expected-anonymity` and in `k-anonymity`, which do different things to \
         it\ngive each promise its own `columns = [...]`",
    );
    says(
        small,
        &recipe("2", "method.name = \"mondrian\""),
        "`mondrian` cannot keep `expected-anonymity`\nthese can: `blur`, `condensation`",
    );
    says(
        small,
        &recipe("{ k = 2, strict = false }", "method.frame = \"rotated\""),
        "rotated frames go with `strict = true` only",
    );
    says(
        small,
        &recipe("2", "method.frames = 4"),
        "`frames` goes with local or rotated",
    );
    says(
        small,
        &recipe("2", "method.levels = 0"),
        "`levels` is 0, but must be from 1 to 64",
    );
    says(
        small,
        &recipe("2", "method.loss = \"kl\""),
        "`loss` means nothing to the methods that keep these promises\nit is for",
    );
    says(
        small,
        &recipe("2", "method.missing = \"value\""),
        "write \"keep\" or \"refuse\"",
    );
    says(
        "level,y\n1,2\n2,3\n",
        "columns = { level = \"other\", y = \"quasi\" }\npromise.expected-anonymity = 2",
        "a published column must not be called `level`",
    );
    says(
        "x,x.spread\n1,2\n2,3\n",
        "columns = { x = \"quasi\", \"x.spread\" = \"other\" }\n\
         promise.expected-anonymity = 2",
        "a published column must not be called `x.spread`",
    );
    says(
        "x\nred\nblue\n",
        "columns = { x = \"quasi\" }\npromise.expected-anonymity = 2",
        "`blur` needs a quasi column of numbers",
    );
    says(
        small,
        "columns = { x = { role = \"quasi\", type = \"number\", domain = [\"1\", \"2\"] }, \
         y = \"quasi\" }\npromise.expected-anonymity = 2",
        "a `domain` that lists values does not go with noise\nwrite `[0, 120]`",
    );
    says(
        small,
        "columns = { x = \"quasi\", y = \"quasi\" }\npromise.k-anonymity = 2\n\
         method.shape = \"uniform\"",
        "`shape` means nothing to the methods that keep these promises\nit is for `blur`",
    );
}

#[test]
fn no_message_shows_a_number_of_the_table() {
    let table = "x,y\n81234.5,2\n81235.5,3\nsecret91,9\n";
    let message = refused(
        table,
        "columns = { x = \"quasi\", y = \"quasi\" }\npromise.expected-anonymity = 2",
    );
    assert!(!message.contains("8123") && !message.contains("secret"), "{message}");
}

/// A search that went on for ever: noise was lowered towards that of rows which need none.
#[test]
fn every_search_ends() {
    struct Patience(AtomicU64);
    impl Watch for Patience {
        fn is_cancelled(&self) -> bool {
            self.0.fetch_add(1, Ordering::SeqCst) > 200_000
        }
    }
    let table =
        "x0,x1\n,41.91\n,41.91\n,41.91\n,48.12\n,47.56\n7,41.91\n7,41.91\n9,50.54\n";
    let recipe = |k: &str, shape: &str, levels: u32| {
        format!(
            "input.table = \"table.csv\"\n\
             columns = {{ x0 = {{ role = \"quasi\", type = \"number\" }}, \
             x1 = {{ role = \"quasi\", type = \"number\" }} }}\n\
             promise.expected-anonymity = {k}\n[method]\nname = \"blur\"\n\
             shape = \"{shape}\"\nmissing = \"keep\"\nlevels = {levels}\n\
             suppression = 0.1\n"
        )
    };
    for (k, shape, levels) in [
        ("2.5", "uniform", 2),
        ("2.5", "gaussian", 2),
        ("2", "uniform", 3),
        ("3", "uniform", 2),
    ] {
        let home = folder(&[("table.csv", table)]);
        let recipe = recipe(k, shape, levels);
        let spec = Spec::parse(&recipe, "recipe.toml").unwrap();
        let request = Request { seed: Some(1), ..Request::new(&spec, home.path()) };
        let done = publish(request, &Patience(AtomicU64::new(0)));
        let ended = !matches!(
            done.as_ref().map_err(|error| error.kind()),
            Err(ErrorKind::Cancelled)
        );
        assert!(ended, "k = {k}, {shape}, {levels} levels: {done:?}");
    }
}

#[test]
fn what_is_the_same_for_all_needs_no_noise() {
    let mut table = String::from("x,y,row\n");
    for row in 0..60 {
        writeln!(table, "7,{},{row}", row / 12).unwrap();
    }
    let home = folder(&[("table.csv", &table)]);
    let published = run(
        home.path(),
        "columns = { x = \"quasi\", y = \"quasi\", row = \"other\" }\n\
         promise.expected-anonymity = 12",
        1,
    )
    .unwrap();
    assert!(published.notes.iter().any(|note| note.starts_with("all numbers of `x`")));
    for row in records(&home.path().join("release/data.csv")) {
        assert_eq!((&*row["x"], &*row["x.spread"]), ("7", "0"));
        // Twelve people share every number, so none needs noise.
        let number: usize = row["row"].parse().unwrap();
        assert_eq!(row["y"], (number / 12).to_string());
        assert_eq!(row["y.spread"], "0");
    }
}

#[test]
fn many_columns_are_warned_of() {
    let names: Vec<String> = (0..33).map(|column| format!("c{column}")).collect();
    let mut table = names.join(",") + "\n";
    let mut random = ChaCha20Rng::seed_from_u64(1);
    for _ in 0..30 {
        let cells: Vec<String> =
            names.iter().map(|_| random.random_range(0..100u32).to_string()).collect();
        writeln!(table, "{}", cells.join(",")).unwrap();
    }
    let home = folder(&[("table.csv", &table)]);
    let columns: Vec<String> =
        names.iter().map(|name| format!("{name} = \"quasi\"")).collect();
    let recipe = format!(
        "columns = {{ {} }}\npromise.expected-anonymity = 3",
        columns.join(", ")
    );
    let published = run(home.path(), &recipe, 1).unwrap();
    assert!(
        published.notes.iter().any(|note| note.starts_with("33 columns of numbers"))
    );
}
