//! How often intervals cover, how wide they are and how far estimates are off, family by
//! family: by the law of a release alone, and as releases are published.

use std::fs;
use std::path::Path;

use scumble::error::{Error, Result};
use scumble::recipe::{Measured, Request, Spec, Yardstick, YardstickOptions, publish};
use scumble::text::short;
use scumble::watch::Unwatched;

use crate::adult::Adult;
use crate::census::Census;
use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::city::sample;
use crate::outcome::{Cell, Claim, Outcome};
use crate::private::cannot_be_met;
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "coverage",
    source: "ours; vovk2005conformal, deming1940adjustment",
    about: "cover, width and error of estimates by family, even against raked and measured",
    needs: RequiredData::Nothing,
    run,
};

const COLUMNS: &str = "data,rows,family,reading,exact,open,cover,width,error,score";

/// The seed of questions, which is not that of publishers.
const SEED: u64 = 5;
const QUERIES: usize = 300;

/// What readers have: the law of the release alone, or all that is published by default.
const READINGS: [&str; 2] = ["by law", "as published"];

const PLAIN: &str = "calibration = \"none\"\nshares = \"none\"\n";

/// Rows of ACS that are enough.
const CENSUS_ROWS: usize = 50_000;

/// What is done to the quasi columns.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Cells, with hierarchies.
    Cells,
    /// As they are.
    Kept,
    /// Numbers with noise.
    Numbers,
}

struct Family {
    name: &'static str,
    kind: Kind,
    rest: &'static str,
}

const FAMILIES: [Family; 8] = [
    Family {
        name: "full-domain, k = 5",
        kind: Kind::Cells,
        rest: "promise.k-anonymity = 5\n\
               method = { name = \"full-domain\", suppression = 0.02 }\n",
    },
    Family {
        name: "mondrian nodes, k = 5",
        kind: Kind::Cells,
        rest: "promise.k-anonymity = 5\nmethod.name = \"mondrian\"\n",
    },
    Family {
        name: "mondrian ranges, k = 5",
        kind: Kind::Cells,
        rest: "promise.k-anonymity = 5\n\
               method = { name = \"mondrian\", cells = \"interval\" }\n",
    },
    Family {
        name: "mondrian pdf, k = 20",
        kind: Kind::Cells,
        rest: "promise.k-anonymity = 20\n\
               method = { name = \"mondrian\", cells = \"pdf\" }\n",
    },
    Family {
        name: "anatomy, l = 4",
        kind: Kind::Kept,
        rest: "promise.l-diversity = 4\nmethod.name = \"anatomy\"\n",
    },
    Family {
        name: "uniform, .05 to .3",
        kind: Kind::Kept,
        rest: "promise.breach = { prior = 0.05, posterior = 0.3 }\n\
               method.name = \"uniform-perturbation\"\n",
    },
    Family {
        name: "blur, k = 10",
        kind: Kind::Numbers,
        rest: "promise.expected-anonymity = 10\n\
               method = { name = \"blur\", shape = \"uniform\", suppression = 0.02 }\n",
    },
    Family {
        name: "condensation, k = 10",
        kind: Kind::Numbers,
        rest: "promise.expected-anonymity = 10\nmethod.name = \"condensation\"\n",
    },
];

/// A table in a folder, and what its columns are by kind.
struct Table {
    name: &'static str,
    rows: usize,
    home: tempfile::TempDir,
    columns: [String; 3],
}

/// What was found of a family; nothing if its promise cannot be met.
struct Found {
    table: usize,
    family: usize,
    measured: Option<[Measured; 2]>,
}

fn run(data: &Data) -> Result<Outcome> {
    let mut tables = vec![patients(data)?];
    if let Some(folder) = data.if_any()? {
        if folder.join("adult").exists() {
            tables.push(adult(data, folder)?);
        }
        tables.extend(
            Census::if_any(folder)?.map(|census| acs(data, &census)).transpose()?,
        );
    }
    let mut all = Vec::new();
    for (number, table) in tables.iter().enumerate() {
        for (family, own) in FAMILIES.iter().enumerate() {
            let measured = match measured(table, own) {
                Ok(measured) => Some(measured),
                Err(error) if cannot_be_met(&error) => None,
                Err(error) => return Err(error),
            };
            all.push(Found { table: number, family, measured });
        }
    }
    let rows =
        all.iter().flat_map(|found| lines(&tables[found.table], found)).collect();
    let panels =
        tables.iter().enumerate().flat_map(|(n, table)| panels(table, n, &all));
    let series = Series::each(READINGS, [7, 0], Mark::Circle);
    let title = "How often intervals cover, and how wide they are";
    let figure = Figure::new(title, series, panels.collect());
    let notes = vec![format!(
        "{QUERIES} random conjunctions of one to three conditions, and sums, that no publisher \
         asked. Cover, width (median, relative to the answer), error (mean, relative, none more \
         than 1) and interval score are of questions that the release leaves open. By law: \
         without shares and measured errors; as published: with what the promises allow of \
         both. - where the promise cannot be met.\n"
    )];
    Ok(Outcome::new(COLUMNS, rows, claims(&all), figure).noting(notes))
}

/// Publishes in both ways, and asks the same questions.
fn measured(table: &Table, family: &Family) -> Result<[Measured; 2]> {
    let columns = &table.columns[family.kind as usize];
    let recipe = |release: &str| {
        let rest = family.rest;
        let text =
            format!("input.table = \"table.csv\"\n{rest}{columns}[release]\n{release}");
        Spec::parse(&text, "coverage.toml")
    };
    let folder = table.home.path();
    let options = YardstickOptions {
        queries: QUERIES,
        draws: 0,
        seed: SEED,
        ..Default::default()
    };
    let yardstick = Yardstick::new(&recipe(PLAIN)?, folder, options, &Unwatched)?;
    let one = |release: &str| {
        let spec = recipe(release)?;
        let request = Request {
            in_memory: true,
            seed: Some(SEED),
            ..Request::new(&spec, folder)
        };
        let published = publish(request, &Unwatched)?;
        yardstick.measure(&published.release, &Unwatched)
    };
    Ok([one(PLAIN)?, one("")?])
}

fn lines(table: &Table, found: &Found) -> Vec<Vec<Cell>> {
    let line = |(reading, name): (usize, &'static str)| {
        let own = found.measured.as_ref().map(|all| &all[reading]);
        let whole = |of: fn(&Measured) -> usize| own.map(|own| of(own) as u64).into();
        let share = |of: fn(&Measured) -> Option<f64>| own.and_then(of).into();
        vec![
            table.name.into(),
            (table.rows as u64).into(),
            FAMILIES[found.family].name.into(),
            name.into(),
            whole(|own| own.exact),
            whole(|own| own.open),
            share(|own| own.coverage),
            share(|own| own.width),
            share(|own| own.open_error),
            share(|own| own.interval_score),
        ]
    };
    READINGS.into_iter().enumerate().map(line).collect()
}

fn panels(table: &Table, number: usize, all: &[Found]) -> Vec<Panel> {
    let names: Vec<String> =
        FAMILIES.iter().map(|family| family.name.to_owned()).collect();
    let panel = |what: &str, of: fn(&Measured) -> Option<f64>| {
        let values = (0..READINGS.len()).map(|reading| {
            let own = all.iter().filter(|found| found.table == number);
            own.map(|found| found.measured.as_ref().and_then(|m| of(&m[reading])))
                .collect()
        });
        Panel::new(
            format!("{}, {what}", table.name),
            ("family", names.clone()),
            (what, Scale::Linear, Form::Bars),
            values.collect(),
        )
    };
    vec![
        panel("cover of 95 % intervals", |own| own.coverage),
        panel("median relative width", |own| own.width),
        panel("mean relative error", |own| own.open_error),
        panel("interval score", |own| own.interval_score),
    ]
}

fn claims(all: &[Found]) -> Vec<Claim> {
    let each =
        || all.iter().filter_map(|found| Some((found, found.measured.as_ref()?)));
    let covers = each().filter_map(|(found, m)| Some((found, m[1].coverage?)));
    let least = covers.min_by(|(_, a), (_, b)| a.total_cmp(b));
    let (family, cover) = least
        .map_or(("none", 1.0), |(found, cover)| (FAMILIES[found.family].name, cover));
    let errors = each().filter(|(found, _)| FAMILIES[found.family].kind == Kind::Cells);
    let errors: Vec<(f64, f64)> =
        errors.filter_map(|(_, m)| m[0].open_error.zip(m[1].open_error)).collect();
    let smaller = errors.iter().filter(|(even, ours)| ours <= even).count();
    vec![
        Claim::new(
            "an interval that is called 95 % covers 95 % of questions that were not asked",
            format!("least often for {family}: {}", short(cover)),
            cover >= 0.93,
        ),
        Claim::new(
            "shares of values bring estimates from cells nearer to the truth",
            format!("{smaller} of {} releases", errors.len()),
            smaller == errors.len(),
        ),
    ]
}

/// A folder with a table, and with hierarchies of some columns.
fn home(text: &str, rows: Option<u32>) -> Result<(tempfile::TempDir, usize)> {
    let home =
        tempfile::tempdir().map_err(|error| Error::io("make", "a folder", error))?;
    let most = rows.map_or(usize::MAX, |rows| rows as usize + 1);
    let lines: Vec<&str> = text.lines().take(most).collect();
    write(home.path(), "table.csv", &(lines.join("\n") + "\n"))?;
    Ok((home, lines.len() - 1))
}

fn write(folder: &Path, name: &str, text: &str) -> Result<()> {
    fs::write(folder.join(name), text).map_err(|error| Error::io("write", name, error))
}

/// The patients of the demo.
fn patients(data: &Data) -> Result<Table> {
    let (home, rows) = home(&sample("patients.csv"), data.rows)?;
    write(home.path(), "nationality.csv", &sample("nationality.csv"))?;
    let rest = "id = \"identifier\"\ndisease = \"sensitive\"\n";
    let cells = format!(
        "[columns]\n{rest}\
         age = {{ role = \"quasi\", type = \"number\", hierarchy = {{ widths = [5, 10, 20] }} }}\n\
         sex = \"quasi\"\nzip = {{ role = \"quasi\", hierarchy = {{ mask = \"right\" }} }}\n\
         nationality = {{ role = \"quasi\", hierarchy = {{ csv = \"nationality.csv\" }} }}\n"
    );
    let kept = format!(
        "[columns]\n{rest}age = {{ role = \"quasi\", type = \"number\" }}\nsex = \"quasi\"\n\
         zip = \"quasi\"\nnationality = \"quasi\"\n"
    );
    let numbers = format!(
        "[columns]\n{rest}age = {{ role = \"quasi\", type = \"number\" }}\nsex = \"quasi\"\n\
         cost = {{ role = \"quasi\", type = \"number\" }}\n"
    );
    Ok(Table { name: "patients", rows, home, columns: [cells, kept, numbers] })
}

/// The people of Adult.
fn adult(data: &Data, folder: &Path) -> Result<Table> {
    let (home, rows) = home(&Adult::read(data)?.text(None), data.rows)?;
    let words = ["education", "marital-status", "race", "sex", "native-country"];
    let mut cells = String::from(
        "[columns]\nage = { role = \"quasi\", type = \"number\", \
         hierarchy = { widths = [5, 10, 20] } }\n",
    );
    let mut kept =
        "[columns]\nage = { role = \"quasi\", type = \"number\" }\n".to_owned();
    for name in words {
        let from = folder.join("adult/hierarchies").join(format!("{name}.csv"));
        let shown = from.display().to_string();
        let text = fs::read_to_string(&from)
            .map_err(|error| Error::io("read", shown, error))?;
        write(home.path(), &format!("{name}.csv"), &text)?;
        cells.push_str(&format!(
            "{name} = {{ role = \"quasi\", hierarchy = {{ csv = \"{name}.csv\" }} }}\n"
        ));
        kept.push_str(&format!("{name} = \"quasi\"\n"));
    }
    let rest = "occupation = \"sensitive\"\n";
    let numbers = format!(
        "[columns]\nage = {{ role = \"quasi\", type = \"number\" }}\nsex = \"quasi\"\n\
         hours-per-week = {{ role = \"quasi\", type = \"number\" }}\n{rest}"
    );
    let columns = [cells + rest, kept + rest, numbers];
    Ok(Table { name: "Adult", rows, home, columns })
}

/// People of a census.
fn acs(data: &Data, census: &Census) -> Result<Table> {
    let names =
        ["age", "gender", "education", "marital", "race", "work", "country", "job"];
    let mut text = names.join(",") + "\n";
    for row in 0..CENSUS_ROWS.min(census.n_rows(5)) {
        let codes =
            (0..names.len()).map(|place| census.column(place, 5)[row].to_string());
        text.push_str(&(codes.collect::<Vec<_>>().join(",") + "\n"));
    }
    let (home, rows) = home(&text, data.rows)?;
    let rest = "job = \"sensitive\"\n";
    let widths = |name: &str, widths: &str| {
        format!(
            "{name} = {{ role = \"quasi\", type = \"number\", hierarchy = {{ widths = {widths} }} }}\n"
        )
    };
    let words = "gender = \"quasi\"\nmarital = \"quasi\"\nrace = \"quasi\"\n";
    let cells = format!(
        "[columns]\n{}{}{words}{rest}",
        widths("age", "[5, 10, 20]"),
        widths("education", "[2, 4, 8]")
    );
    let number =
        |name: &str| format!("{name} = {{ role = \"quasi\", type = \"number\" }}\n");
    let kept =
        format!("[columns]\n{}{}{words}{rest}", number("age"), number("education"));
    let numbers = format!(
        "[columns]\n{}{}gender = \"quasi\"\n{rest}",
        number("age"),
        number("education")
    );
    Ok(Table { name: "ACS", rows, home, columns: [cells, kept, numbers] })
}
