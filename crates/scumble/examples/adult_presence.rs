//! What delta-presence costs on Adult, in seconds and in loss:
//! `cargo run --release --example adult_presence -- DATA-FOLDER [random|diabetes] [MIN MAX]`.
//!
//! The folder holds `adult/adult.csv`, `adult/hierarchies/*.csv` and the private tables
//! `adult/subset_*_1957.idx` as row numbers.
#![expect(clippy::print_stdout, reason = "an experiment prints its result")]

use std::path::Path;

use rand::Rng;
use scumble::decimal::Decimal;
use scumble::error::{Error, Result};
use scumble::hierarchy::{Cells, ColumnSpec, Microdata, Population, Rule, Tree};
use scumble::loss::Loss;
use scumble::method::pdf::{Range, Shift, kl};
use scumble::method::{
    ColumnChoice, FullDomain, Grouping, GroupingTask, Mondrian, ValueChoice, Weighting,
    safe_cuts, safe_levels,
};
use scumble::promise::{DeltaPresence, Promises};
use scumble::random::Randomness;
use scumble::table::{ReadOptions, Reading, Role, Source};
use scumble::watch::Unwatched;

const COLUMNS: [&str; 9] = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
    "occupation",
    "salary-class",
];

#[expect(clippy::disallowed_types, reason = "it measures time")]
fn timed<T>(name: &str, work: impl FnOnce() -> T) -> T {
    let start = std::time::Instant::now();
    let result = work();
    println!("{name:<34} {:>9.1} ms", start.elapsed().as_secs_f64() * 1000.0);
    result
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let folder = arguments.first().ok_or_else(|| {
        Error::recipe("the data folder is missing").with_hint("give it as the argument")
    })?;
    let subset = arguments.get(1).map_or("random", String::as_str);
    let number = |place: usize, usual: f64| {
        arguments.get(place).and_then(|text| text.parse().ok()).unwrap_or(usual)
    };
    let (min, max) = (number(2, 0.0), number(3, 0.1));
    let folder = Path::new(folder).join("adult");
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read_to_string(&path)
            .map_err(|error| Error::io("read", path.display().to_string(), error))
    };
    let text = read("adult.csv")?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut part = lines[0].to_owned();
    for number in read(&format!("subset_{subset}_1957.idx"))?.split_whitespace() {
        let row: usize =
            number.parse().map_err(|_| Error::input("a row number is not a number"))?;
        part.push_str(lines[row + 1]);
    }
    let source = |name: &str, text: String| {
        Source::from_bytes(name, text.into_bytes(), &ReadOptions::default())
    };
    let (everyone, table) =
        (source("adult.csv", text.clone())?, source("part.csv", part)?);
    let specs = |cells: fn(&str) -> Cells| -> Result<Vec<ColumnSpec>> {
        COLUMNS
            .iter()
            .map(|name| {
                let tree = Tree::read(&folder.join(format!("hierarchies/{name}.csv")))?;
                let rule = Rule::Tree(tree);
                let spec =
                    ColumnSpec::new(name, Role::Quasi, Reading::category(), rule);
                Ok(ColumnSpec { cells: cells(name), ..spec })
            })
            .collect()
    };
    let population = Population { source: &everyone, key: &[] };
    let read = |cells: fn(&str) -> Cells| {
        Microdata::read_within(&table, Some(population), &specs(cells)?, &Unwatched)
    };
    let data = timed("read and join", || read(|_| Cells::Taxonomy))?;
    let decimal = |value| Decimal::from_f64("share", value);
    let range = Range { min: decimal(min)?, max: decimal(max)? };
    let promises =
        Promises::new(vec![Box::new(DeltaPresence::new(range.min, range.max)?)]);
    println!(
        "{} of {} people, presence {min} to {max}",
        data.n_rows(),
        data.census.n_people()
    );

    let loss = Loss::by_name("loss")?;
    for (name, limit) in [("SPALM", 0), ("SPALM, 5 % left out", data.n_rows() / 20)] {
        let (columns, census) = (&data.quasi, &data.census);
        let task = GroupingTask { columns, census, promises: &promises, loss, limit };
        let found = timed(name, || FullDomain::default().find(&task))?;
        let shape = found.grouping.shape(census);
        println!(
            "    loss {:.4}, levels {:?}, {} groups, {} left out, {} nodes looked at",
            found.loss,
            found.levels,
            shape.groups.len(),
            shape.left_out,
            found.checked
        );
        if limit == 0 {
            weights(&data, &found.grouping, range);
        }
    }
    let (columns, census) = (&data.quasi, &data.census);
    let task = GroupingTask { columns, census, promises: &promises, loss, limit: 0 };
    for seed in 1..=3 {
        let mut coins = Randomness::of_seed(seed).stream("levels", 0);
        let name = format!("safe levels, coins {seed}");
        let found =
            timed(&name, || safe_levels(&task, |chance| coins.next_u64() < chance))?;
        let loss = loss.of(columns, &found.grouping.shape(census));
        println!(
            "    loss {loss:.4}, {} looks, levels {:?}, refused {:?}",
            found.looks,
            found.grouping.levels(),
            found.refused
        );
    }
    let boxes = read(|name| if name == "age" { Cells::Interval } else { Cells::Set })?;
    let (columns, census) = (&boxes.quasi, &boxes.census);
    let task = GroupingTask { columns, census, promises: &promises, loss, limit: 0 };
    for seed in 1..=3 {
        let random = Randomness::of_seed(seed);
        let mut coins = random.stream("cuts", 0);
        let name = format!("safe cuts, coins {seed}");
        let grouping =
            timed(&name, || safe_cuts(&task, |chance| coins.next_u64() < chance))?;
        let shape = grouping.shape(census);
        let n_groups = shape.groups.len();
        println!("    loss {:.4}, {n_groups} groups", loss.of(columns, &shape));
    }
    for column in ColumnChoice::ALL {
        for value in ValueChoice::ALL {
            let method = Mondrian { column, value };
            let name = format!("MPALM {} {}", column.name(), value.name());
            let grouping = timed(&name, || method.find(&task))?;
            let shape = grouping.shape(census);
            let n_groups = shape.groups.len();
            println!("    loss {:.4}, {n_groups} groups", loss.of(columns, &shape));
        }
    }
    Ok(())
}

/// What each kind of weights costs.
fn weights(data: &Microdata, grouping: &Grouping, range: Range) {
    let parts = grouping.parts(&data.census);
    let shape = grouping.shape(&data.census);
    if let Ok(uniform) = Loss::by_name("kl") {
        println!("    kl of nodes {:.0}", uniform.of(&data.quasi, &shape));
    }
    for (name, weighting) in [
        ("own", Weighting::Own),
        ("population", Weighting::Population),
        ("counted", Weighting::Counted(range)),
        ("paper, exact", Weighting::Shifted(range, Shift::Exact)),
        ("paper, bounds", Weighting::Shifted(range, Shift::Bounds)),
        ("paper, steps", Weighting::Shifted(range, Shift::Steps(10))),
    ] {
        let name = format!("weights {name}");
        let pdfs =
            timed(&name, || grouping.weighted(&data.quasi, &data.census, weighting));
        let cost: f64 =
            parts.iter().zip(&pdfs).map(|(part, pdfs)| kl(part, pdfs)).sum();
        println!("    kl {cost:.0}");
    }
}
