//! `scumble sample`: whole tables drawn from a release, for ordinary tools.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::{Args, ValueEnum};
use rand::RngExt;
use scumble::error::{Error, Result};
use scumble::estimate::{DrawnWriter, Evidence};
use scumble::random::Randomness;
use scumble::release::{DataFormat, Release, Treatment};
use scumble::watch::{Stage, Watch};
use serde_json::json;

use crate::output::{
    beside, cannot_write, counted, exists_already, listed, note, print,
};
use crate::progress::Progress;
use crate::result::SCHEMA;

/// The most tables that are drawn at once.
const MOST_DRAWS: u64 = 1000;

/// Draw whole tables from a release, for any tool that reads tables.
///
/// Each draw is a table that may be the one behind the release: cells, groups, noise and blur
/// are replaced by values that they may stand for. All draws are written below each other;
/// the first column, `draw`, tells them apart (`scumble.draw`, if the table has a column
/// `draw`). Compute your result on each, take the mean, and how much the results differ from
/// draw to draw says how far it may be off: docs/sample.md has the rules.
///
/// Example: scumble sample release --draws 20 --output draws.parquet
#[derive(Debug, Args)]
pub(crate) struct SampleArgs {
    /// The release, a directory.
    release: PathBuf,
    /// How many tables are drawn.
    #[arg(long, value_name = "N", default_value_t = 5)]
    draws: u64,
    /// Fix all randomness: the same seed gives the same tables.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How the file is written [default: as its name ends, otherwise CSV].
    #[arg(long, value_enum)]
    format: Option<FormatName>,
    /// The file to write, instead of standard output.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace the file if it exists.
    #[arg(long, requires = "output")]
    force: bool,
    /// Print what was written as JSON.
    #[arg(long, requires = "output")]
    json: bool,
    /// Print errors only, and the rows if they go to standard output.
    #[arg(long, short)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum FormatName {
    /// Text with commas.
    Csv,
    /// Apache Parquet, with numbers as numbers.
    Parquet,
}

impl SampleArgs {
    /// Whether rows go to a file.
    pub(crate) fn writes(&self) -> bool {
        self.output.is_some()
    }
}

pub(crate) fn run(args: &SampleArgs) -> Result<ExitCode> {
    if !(1..=MOST_DRAWS).contains(&args.draws) {
        let wanted = format!("from 1 to {MOST_DRAWS}");
        return Err(Error::recipe(format!(
            "`--draws` is {}, but must be {wanted}",
            args.draws
        ))
        .with_hint("5 to 20 are enough for most; with 100, errors are known to 7 %"));
    }
    let format = chosen_format(args)?;
    if let Some(path) = &args.output {
        check_output(path, args.force)?;
    }
    let release = Release::open(&args.release)?;
    let progress = Progress::new(args.quiet || args.json);
    progress.stage(Stage::Read, release.rows()?.bytes());
    let evidence = Evidence::read(&release, &progress);
    let done = evidence.and_then(|evidence| {
        progress.stage(Stage::Write, 0);
        let written = write(args, format, &evidence, &progress)?;
        Ok((written, notes(&release, &evidence)))
    });
    progress.finish();
    let (written, notes) = done?;
    if args.json {
        let file = args.output.as_ref().map(|path| path.display().to_string());
        let format = match format {
            DataFormat::Csv => "csv",
            DataFormat::Parquet => "parquet",
        };
        let object = json!({
            "schema": SCHEMA, "file": file, "format": format, "draws": args.draws,
            "seed": args.seed, "rows": written.rows, "columns": written.columns,
            "notes": notes,
        });
        print(&format!("{object:#}\n"))?;
    } else if !args.quiet {
        notes.iter().for_each(|text| note(text));
        if let Some(path) = &args.output {
            print(&format!(
                "{} of {} written to {}\n",
                counted(args.draws, "draw"),
                counted(written.rows, "row"),
                path.display()
            ))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What was written.
struct WrittenDraws {
    /// The rows of each draw.
    rows: u64,
    columns: Vec<String>,
}

/// Draws tables, and writes one after the other.
fn write(
    args: &SampleArgs,
    format: DataFormat,
    evidence: &Evidence,
    progress: &Progress,
) -> Result<WrittenDraws> {
    let random = match args.seed {
        Some(seed) => Randomness::of_seed(seed),
        None => Randomness::fresh()?,
    };
    let mut seeds = random.stream("sample", 0);
    let closed = Arc::new(AtomicBool::new(false));
    let (mut writer, unfinished) = match &args.output {
        Some(path) => {
            let file = beside(path)?;
            (DrawnWriter::create(file.path(), format, evidence)?, Some((file, path)))
        }
        None => {
            let out = Pipe { closed: closed.clone() };
            (DrawnWriter::csv(Box::new(out), "standard output", evidence)?, None)
        }
    };
    let columns = writer.names().to_vec();
    let mut rows = 0;
    for draw in 1..=args.draws {
        let drawn = evidence.draw_watched(seeds.random::<u64>(), progress)?;
        rows = drawn.n_rows() as u64;
        writer.write(draw, &drawn)?;
        progress.advance(0);
        if closed.load(Ordering::Relaxed) {
            break;
        }
    }
    writer.finish()?;
    if let Some((file, path)) = unfinished {
        let failed = |error: io::Error| cannot_write(path, error);
        // Nothing in it is private: it comes from what is published.
        readable(file.path()).map_err(failed)?;
        file.persist(path).map_err(|error| failed(error.error))?;
    }
    Ok(WrittenDraws { rows, columns })
}

/// How the rows are written.
fn chosen_format(args: &SampleArgs) -> Result<DataFormat> {
    let named = args.format.map(|format| match format {
        FormatName::Csv => DataFormat::Csv,
        FormatName::Parquet => DataFormat::Parquet,
    });
    let Some(path) = &args.output else {
        return match named {
            Some(DataFormat::Parquet) => {
                Err(Error::recipe("Parquet cannot be written to standard output")
                    .with_hint("name a file with `--output`"))
            }
            _ => Ok(DataFormat::Csv),
        };
    };
    let ending = path.extension().and_then(|ending| ending.to_str());
    let ending = ending.map(str::to_ascii_lowercase);
    match (named, ending.as_deref()) {
        (Some(format), _) => Ok(format),
        (None, Some("csv")) => Ok(DataFormat::Csv),
        (None, Some("parquet")) => Ok(DataFormat::Parquet),
        (None, _) => {
            let message =
                format!("`{}` ends neither in .csv nor .parquet", path.display());
            Err(Error::recipe(message)
                .with_hint("say `--format csv` or `--format parquet`"))
        }
    }
}

/// Refuses to overwrite anything that was not asked for.
fn check_output(path: &Path, replace: bool) -> Result<()> {
    let Ok(found) = fs::symlink_metadata(path) else { return Ok(()) };
    let kept = exists_already(path);
    if !found.is_file() {
        return Err(kept.with_hint("it is not a plain file; choose another name"));
    }
    if replace { Ok(()) } else { Err(kept.with_hint("use `--force` to replace it")) }
}

/// Lets others read a file that was made as a temporary one.
fn readable(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(path, fs::Permissions::from_mode(0o644))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}

/// What an analyst must know of the draws.
fn notes(release: &Release, evidence: &Evidence) -> Vec<String> {
    let mut notes = Vec::new();
    let undrawn = evidence.undrawn();
    if !undrawn.is_empty() {
        notes.push(format!(
            "the release does not say which values some cells of {} stand for: these are \
             kept as they are published",
            listed(&undrawn)
        ));
    }
    let drawn = |treatment: &Treatment| matches!(treatment, Treatment::Drawn { .. });
    if release.manifest.columns.iter().any(|column| drawn(&column.treatment)) {
        notes.push(
            "how randomized values depend on other columns is found only where it is strong: \
             ask `scumble estimate` about combinations"
                .to_owned(),
        );
    }
    let left_out = release.manifest.left_beside(evidence.n_rows() as u64);
    if left_out > 0 {
        let rows = counted(left_out, "row");
        let verb = if left_out == 1 { "was" } else { "were" };
        notes.push(format!(
            "{rows} of the table {verb} left out of the release, and of the draws"
        ));
    }
    if release.manifest.sampled.is_some() {
        notes.push(
            "one row of each group was published, and the others are drawn from it: results \
             differ less from draw to draw than they may be off"
                .to_owned(),
        );
    }
    notes
}

/// Standard output. A reader who has seen enough closes the pipe: not an error.
struct Pipe {
    closed: Arc<AtomicBool>,
}

impl Pipe {
    fn checked<T>(&self, done: io::Result<T>, instead: T) -> io::Result<T> {
        match done {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed.store(true, Ordering::Relaxed);
                Ok(instead)
            }
            done => done,
        }
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.checked(io::stdout().lock().write(bytes), bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.checked(io::stdout().lock().flush(), ())
    }
}
