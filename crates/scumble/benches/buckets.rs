//! How long it takes to publish values by group, file to file, stage by stage, and how that
//! grows with the rows.
//!
//! `cargo bench -p scumble --bench buckets` prints one line per case, the best of several
//! runs. The plain loop reads the file, cuts off the last cell of each line, and writes both
//! parts: no quotes, no groups, no check, no audit. Ratios and growth are what to look at.
#![allow(missing_docs, reason = "a benchmark has no interface")]
#![expect(clippy::disallowed_types, reason = "a benchmark measures time")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]
#![expect(clippy::unwrap_used, reason = "a benchmark may stop at any error")]

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::recipe::{Request, Spec, publish};
use scumble::watch::{Stage, Watch};

/// Fifty diseases; older people and one of the sexes have some of them more often.
fn table(rows: usize) -> String {
    let mut random = ChaCha20Rng::seed_from_u64(1);
    let mut text = String::with_capacity(rows * 28);
    text.push_str("age,sex,district,education,disease\n");
    for _ in 0..rows {
        let age: u32 = random.random_range(18..90);
        let female = random.random::<bool>();
        let (district, education) =
            (random.random_range(100..400), random.random_range(1..9));
        let weight = |disease: u32| {
            let by_age = f64::from(age) / 90.0 * f64::from(disease % 5) / 4.0;
            let by_sex = if female == (disease % 7 < 3) { 1.3 } else { 1.0 };
            by_sex * (0.7 + by_age) / f64::from(disease + 12)
        };
        let mut left = random.random::<f64>() * (0..50).map(weight).sum::<f64>();
        let mut disease = 0;
        while disease < 49 && left > weight(disease) {
            left -= weight(disease);
            disease += 1;
        }
        let sex = if female { 'f' } else { 'm' };
        writeln!(text, "{age},{sex},{district},e{education},disease{disease:02}")
            .unwrap();
    }
    text
}

/// What somebody would write by hand, without groups.
fn plain(from: &Path, folder: &Path) {
    let text = fs::read_to_string(from).unwrap();
    let mut rows = String::with_capacity(text.len());
    let mut values = String::with_capacity(text.len());
    for (number, line) in text.lines().enumerate() {
        let (rest, value) = line.rsplit_once(',').unwrap();
        writeln!(rows, "{},{rest}", number / 4).unwrap();
        writeln!(values, "{},{value},1", number / 4).unwrap();
    }
    fs::write(folder.join("rows.csv"), rows).unwrap();
    fs::write(folder.join("values.csv"), values).unwrap();
}

/// When each stage began.
#[derive(Default)]
struct Clock(Mutex<Vec<(Stage, Instant)>>);

impl Watch for Clock {
    fn stage(&self, stage: Stage, _bytes: u64) {
        self.0.lock().unwrap().push((stage, Instant::now()));
    }
}

impl Clock {
    /// Seconds of each stage, and of all.
    fn seconds(self, started: Instant) -> [f64; 5] {
        let ended = Instant::now();
        let stages = self.0.into_inner().unwrap();
        let mut seconds = [0.0; 5];
        for (place, (stage, began)) in stages.iter().enumerate() {
            let end = stages.get(place + 1).map_or(ended, |next| next.1);
            let of = match stage {
                Stage::Read => 0,
                Stage::Search => 1,
                Stage::Write => 2,
                Stage::Audit => 3,
                _ => continue,
            };
            seconds[of] += (end - *began).as_secs_f64();
        }
        seconds[4] = (ended - started).as_secs_f64();
        seconds
    }
}

fn main() {
    let largest = std::env::args()
        .find_map(|argument| argument.strip_prefix("--largest=")?.parse().ok())
        .unwrap_or(1_000_000);
    println!(
        "{:<26} {:>9} {:>7} {:>7} {:>7} {:>7} {:>7} {:>9} {:>10}",
        "case",
        "rows",
        "read",
        "search",
        "write",
        "audit",
        "all",
        "to plain",
        "group size"
    );
    for rows in [10_000, 100_000, 1_000_000].into_iter().filter(|n| *n <= largest) {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("table.csv");
        fs::write(&path, table(rows)).unwrap();
        let runs = if rows > 100_000 { 3 } else { 5 };
        let base = (0..runs)
            .map(|_| {
                let start = Instant::now();
                plain(&path, home.path());
                start.elapsed().as_secs_f64()
            })
            .fold(f64::INFINITY, f64::min);
        println!("{:<26} {rows:>9} {:>39.3} {:>9.2}", "plain loop", base, 1.0);
        for (title, promise, name) in [
            ("anatomy, l = 4", "l-diversity = 4", "anatomy"),
            ("anatomy, t = 0.3", "t-closeness = 0.3", "anatomy"),
            (
                "robust, r = 4, three sets",
                "r-robustness = { r = 4, signatures = [[\"age\"], [\"sex\"], [\"education\", \"sex\"]] }",
                "robust",
            ),
        ] {
            let text = format!(
                "[input]\ntable = \"table.csv\"\n[columns]\n\
                 age = {{ role = \"quasi\", type = \"number\", hierarchy = {{ widths = [5, 10, 20] }} }}\n\
                 sex = \"quasi\"\ndistrict = \"quasi\"\neducation = \"quasi\"\n\
                 disease = \"sensitive\"\n[promise]\n{promise}\n[method]\nname = \"{name}\"\n"
            );
            let spec = Spec::parse(&text, "recipe.toml").unwrap();
            let mut best = [f64::INFINITY; 5];
            let mut size = 0.0;
            for _ in 0..runs {
                let request =
                    Request { replace: true, ..Request::new(&spec, home.path()) };
                let (clock, start) = (Clock::default(), Instant::now());
                let published = publish(request, &clock).unwrap();
                let seconds = clock.seconds(start);
                if seconds[4] < best[4] {
                    best = seconds;
                }
                size = rows as f64 / published.search.n_groups as f64;
            }
            let [read, search, write, audit, all] = best;
            println!(
                "{title:<26} {rows:>9} {read:>7.3} {search:>7.3} {write:>7.3} {audit:>7.3} \
                 {all:>7.3} {:>9.2} {size:>10.2}",
                all / base
            );
        }
    }
}
