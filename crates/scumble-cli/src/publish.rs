//! `scumble publish`: makes a release.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use scumble::error::{Error, Result};
use scumble::method::Plan;
use scumble::recipe::{LARGEST_MATRIX, Published, Request, Spec, publish};
use scumble::release::{
    BlurNote, Manifest, MethodNote, OperatorNote, PerturbationNote, PublishedColumn,
    Treatment,
};
use scumble::space::FrameKind;
use scumble::table::Role;
use serde_json::json;

use crate::output::{
    counted, exists_already, listed, note, percent, print, print_json, short,
    write_private,
};
use crate::progress::Progress;
use crate::result::{as_json, attacks_text, loss_text, promises_text};
use crate::warnings::warnings;

/// Make the release a recipe asks for.
///
/// Paths in the recipe are relative to the folder it is in. The written files are audited
/// before the release appears under its name: a release that does not keep its promises is
/// never published.
#[derive(Debug, Args)]
pub(crate) struct PublishArgs {
    /// The recipe, a TOML file.
    recipe: PathBuf,
    /// Where the release goes, instead of the recipe's `directory`.
    #[arg(long, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Replace an existing release.
    #[arg(long)]
    force: bool,
    /// Also write what was decided, for `--use-plan`. The file is private: it holds values
    /// of the table.
    #[arg(long, value_name = "FILE")]
    plan: Option<PathBuf>,
    /// Apply a saved plan instead of searching; the result is certified all the same.
    #[arg(long, value_name = "FILE", conflicts_with = "plan")]
    use_plan: Option<PathBuf>,
    /// A file that lists the releases that are out: this one is put together with them before
    /// it appears, and listed. Keep it private.
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Publish nothing, instead of warning, if together with a release of the ledger a
    /// promise is broken.
    #[arg(long, requires = "ledger")]
    strict_ledger: bool,
    /// Put an apostrophe before cells that a spreadsheet would take for formulas, as the
    /// recipe's `spreadsheet-safe` does.
    #[arg(long)]
    spreadsheet_safe: bool,
    /// Fix all randomness, for experiments: the release is marked as not for publication.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
    /// Print errors only.
    #[arg(long, short)]
    quiet: bool,
}

pub(crate) fn run(args: &PublishArgs) -> Result<ExitCode> {
    let mut spec = Spec::read(&args.recipe)?;
    spec.release.spreadsheet_safe |= args.spreadsheet_safe;
    let folder = args.recipe.parent().unwrap_or(Path::new("")).to_path_buf();
    let plan = args.use_plan.as_deref().map(read_plan).transpose()?;
    if let Some(path) = &args.plan {
        check_plan_path(path, args.force)?;
    }
    let progress = Progress::new(args.quiet || args.json);
    let request = Request {
        directory: args.directory.clone(),
        replace: args.force,
        plan,
        seed: args.seed,
        ledger: args.ledger.clone(),
        refuse_together: args.strict_ledger,
        ..Request::new(&spec, &folder)
    };
    let published = publish(request, &progress);
    let seconds = progress.finish();
    let published = published?;
    if let Some(path) = &args.plan {
        write_plan(path, &published.plan)?;
    }
    if args.json {
        let mut object = as_json(&published.manifest, &published.audit, &seconds);
        object["directory"] = json!(published.directory.display().to_string());
        object["unnamed_columns"] = json!(published.unnamed);
        object["removed_columns"] = json!(published.removed);
        object["notes"] = json!(published.notes);
        if let Some(proven) = &published.search.proven {
            object["search"] = json!({
                "lattice": published.search.lattice.to_string(),
                "looked_at": published.search.checked,
                "loss": proven.loss,
                "bound": proven.bound,
                "optimal": proven.optimal,
            });
        }
        print_json(&object)?;
    } else if !args.quiet {
        say_what_is_left_out(&published);
        say_what_to_look_at(&published);
        for note in
            published.notes.iter().chain(&noise_notes(&spec, &published.manifest))
        {
            self::note(note);
        }
        print(&summary(&published))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// What a steward should look at before handing the release out.
fn say_what_to_look_at(published: &Published) {
    let as_they_are: Vec<String> = published
        .manifest
        .columns
        .iter()
        .filter(|column| column.role == Role::Other)
        .map(|column| format!("`{}`", column.name))
        .collect();
    if !as_they_are.is_empty() {
        note(&format!(
            "published as they are, so be sure that nobody can know them: {}",
            as_they_are.join(", ")
        ));
    }
    let mut columns = published.manifest.columns.iter();
    let random = columns.any(|column| match column.treatment {
        Treatment::Drawn { .. }
        | Treatment::Noisy { .. }
        | Treatment::Apart
        | Treatment::Redrawn => true,
        Treatment::Kept | Treatment::Coarse { .. } | Treatment::Weighted => false,
    });
    if published.manifest.experiment && random {
        note("randomness was fixed by a seed: this release is not for publication");
    }
    for warning in warnings(&published.manifest, &published.audit) {
        note(&warning);
    }
    if published.audit.loss.get("loss").is_some_and(|loss| *loss > 0.999) {
        note(
            "nothing is left of the quasi columns: allow `suppression`, or ask for less",
        );
    }
}

fn say_what_is_left_out(published: &Published) {
    if !published.unnamed.is_empty() {
        let names = listed(&published.unnamed);
        note(&format!("left out, because the recipe does not name them: {names}"));
    }
}

fn summary(published: &Published) -> String {
    let manifest = &published.manifest;
    let groups: u64 = published.audit.group_sizes.iter().map(|(_, n)| n).sum();
    let mut text = format!(
        "published {}: {}",
        published.directory.display(),
        counted(manifest.rows, "row"),
    );
    if groups > 0 {
        text.push_str(&format!(" in {}", counted(groups, "group")));
    }
    if manifest.sampled.is_some() {
        text.push_str(", one row of each");
    } else if manifest.left_out > 0 {
        text.push_str(&format!(", {} left out", counted(manifest.left_out, "row")));
    }
    text.push_str("\n\n");
    text.push_str(&promises_text(&published.audit));
    text.push('\n');
    text.push_str(&attacks_text(&published.audit));
    let method = |method: &MethodNote| match method.columns.is_empty() {
        true => method.name.clone(),
        false => format!("{} ({})", method.name, method.columns.join(", ")),
    };
    let methods: Vec<String> = manifest.method.each().iter().map(method).collect();
    text.push_str(&format!("\nmethod  {}", methods.join(" + ")));
    if !published.search.levels.is_empty() {
        let levels: Vec<String> = published
            .search
            .levels
            .iter()
            .map(|(name, level, root)| match level {
                0 => format!("{name} as it is"),
                level if level == root => format!("{name} *"),
                level => format!("{name} {level} of {root}"),
            })
            .collect();
        text.push_str(&format!(", levels: {}", levels.join(", ")));
        if let Some(proven) = &published.search.proven {
            text.push_str(&match proven.gap() {
                Some(0.0) => "; optimal".to_owned(),
                Some(gap) => {
                    format!("; at most {} % above the optimum", short(gap * 100.0))
                }
                None => "; perhaps not optimal".to_owned(),
            });
        }
    }
    if !published.search.tried.is_empty() {
        let tried: Vec<String> = published
            .search
            .tried
            .iter()
            .map(|(name, loss)| format!("{name} {}", short(*loss)))
            .collect();
        text.push_str(&format!(" (the best of {})", tried.join(" and ")));
    }
    for note in &manifest.perturbation() {
        text.push_str(&format!("\n{}", perturbation_text(note)));
    }
    if let Some(buckets) = buckets_text(published) {
        text.push_str(&format!("\n{buckets}"));
    }
    if let Some(blur) = &manifest.blur() {
        text.push_str(&format!("\n{}", blur_text(blur)));
    }
    if let Some(condensed) = &manifest.condensed() {
        let groups = counted(condensed.groups, "group");
        text.push_str(&format!(
            "\nnumbers drawn anew from mean and covariance of {groups}"
        ));
    }
    if let Some(shares) = &manifest.shares {
        text.push_str(&format!("\nshares  of values of {}", listed(&shares.columns)));
    }
    text.push('\n');
    if !published.audit.loss.is_empty() {
        text.push_str(&format!("loss    {}\n", loss_text(&published.audit)));
    }
    let directory = published.directory.display();
    let for_comparison = manifest.blur().is_some_and(|blur| !blur.strict);
    text.push_str(&match for_comparison {
        true => format!("\nfor comparison only: do not hand out {directory}\n"),
        false => format!("\nread {directory}/report.html, hand out {directory}\n"),
    });
    text
}

/// What a steward should know about noise before handing the release out.
fn noise_notes(spec: &Spec, manifest: &Manifest) -> Vec<String> {
    let mut notes = Vec::new();
    for perturbation in &manifest.perturbation() {
        let name = perturbation.columns.join(" with ");
        let (lost, values) = hardly_kept(perturbation);
        if lost > 0 {
            // Of more values it would be refused, and point back here.
            let general = match values <= LARGEST_MATRIX {
                true => "`general-perturbation`, ",
                false => "coarser values, ",
            };
            notes.push(format!(
                "`{name}`: {lost} of {} are published as they are hardly more often than by \
                 chance, so their counts cannot be estimated; {general}`kind = \"both\"`, or \
                 bounds that differ less keep more of them",
                counted(values as u64, "value"),
            ));
        }
        if perturbation.noise != "keyed" {
            continue;
        }
        let open = spec.columns.iter().any(|column| {
            perturbation.columns.contains(&column.name)
                && column.domain.is_none()
                && column.hierarchy.is_none()
        });
        if open || perturbation.columns.len() > 1 {
            notes.push(format!(
                "the key keeps everybody's noise only while `{name}` has the same values; a \
                 `domain` for it keeps it when a value is new or gone"
            ));
        }
        let told = manifest
            .promises
            .iter()
            .any(|promise| promise.asked.get("factor").is_some());
        if told
            || manifest.method_of(&perturbation.columns[0]).name
                == "partitioned-perturbation"
        {
            notes.push(format!(
                "the matrix of `{name}` follows how common values are, so it changes from release \
                 to release, and some people's noise with it; `breach` without sub-tables, or \
                 bounds from a file, keep it the same"
            ));
        }
    }
    notes
}

/// How many values are kept with less than a hundredth, and how many values there are, over
/// all sub-tables that have any to hide.
fn hardly_kept(note: &PerturbationNote) -> (usize, usize) {
    let mut all: std::collections::BTreeMap<&[String], bool> = Default::default();
    for part in &note.subtables {
        let keeps: Vec<f64> = match &part.operator {
            OperatorNote::Uniform { keep } => vec![*keep; part.domain.len()],
            OperatorNote::FineGrain { keep } => keep.clone(),
            OperatorNote::General { matrix } => matrix
                .iter()
                .enumerate()
                .map(|(value, row)| {
                    row[value] - row.iter().copied().fold(f64::INFINITY, f64::min)
                })
                .collect(),
        };
        for (value, keep) in part.domain.iter().zip(keeps) {
            *all.entry(value).or_default() |= keep < 0.01;
        }
    }
    (all.values().filter(|lost| **lost).count(), all.len())
}

/// How large groups are, and where their values stand; nothing if no values stand apart.
fn buckets_text(published: &Published) -> Option<String> {
    let notes = published.manifest.buckets();
    let own = notes.first()?;
    if notes.len() > 1 {
        let each = notes.iter().map(|note| {
            let (column, groups) = (&note.column, counted(note.groups, "group"));
            format!("`{column}` in {groups} of its own, in {}", note.file)
        });
        let each: Vec<String> = each.collect();
        return Some(format!("groups  values are counted: {}", each.join("; ")));
    }
    let column = &own.column;
    let sizes = &published.audit.group_sizes;
    let ends = sizes.first().zip(sizes.last());
    let (least, most) = ends.map_or((0, 0), |(first, last)| (first.0, last.0));
    let size = match least == most {
        true => counted(least, "row"),
        false => {
            let groups: u64 = sizes.iter().map(|(_, n)| n).sum();
            let mean = published.manifest.rows as f64 / groups.max(1) as f64;
            format!("{least} to {most} rows, {} on average", short(mean))
        }
    };
    // Where cells form groups, too, sizes are theirs.
    let coarse =
        |c: &PublishedColumn| c.role == Role::Quasi && c.treatment != Treatment::Kept;
    Some(match published.manifest.columns.iter().any(coarse) {
        true => format!(
            "groups  {size}; values of `{column}` are counted in {} of their own, in \
             sensitive.csv",
            counted(own.groups, "group")
        ),
        false => format!(
            "groups  {size}; values of `{column}` are counted for each in sensitive.csv"
        ),
    })
}

/// How wide noise is, in a few words.
fn blur_text(note: &BlurNote) -> String {
    let width = note.shape.spread();
    if note.frames.is_empty() {
        return format!("noise   {}, its own {width} for every row", note.shape.name());
    }
    let levels: usize = note.frames.iter().map(|frame| frame.levels.len()).sum();
    let frames = match note.frames.len() {
        1 => String::new(),
        n => format!(" in {}", counted(n as u64, "frame")),
    };
    let mut text = format!(
        "noise   {}, {}{frames}",
        note.shape.name(),
        counted(levels as u64, "level"),
    );
    if note.frame == FrameKind::Rotated {
        return text;
    }
    let ranges: Vec<String> = (0..note.columns.len())
        .map(|column| {
            let spreads = note.frames.iter().filter_map(|frame| {
                let axis =
                    note.present(frame).iter().position(|known| *known == column)?;
                Some(frame.levels.iter().map(move |level| level[axis]))
            });
            let (least, most) = spreads
                .flatten()
                .fold((f64::INFINITY, 0.0f64), |(a, b), s| (a.min(s), b.max(s)));
            let name = &note.columns[column].name;
            match least < most {
                true => format!("{name} {} to {}", short(least), short(most)),
                false => format!("{name} {}", short(most)),
            }
        })
        .collect();
    text.push_str(&format!("; {width}: {}", ranges.join(", ")));
    text
}

/// How a column was randomized, in a few words.
fn perturbation_text(note: &PerturbationNote) -> String {
    let kept = note.subtables.iter().flat_map(|part| match &part.operator {
        OperatorNote::Uniform { keep } => vec![kept(*keep, part.domain.len())],
        OperatorNote::FineGrain { keep } => {
            keep.iter().map(|keep| kept(*keep, part.domain.len())).collect()
        }
        OperatorNote::General { matrix } => {
            matrix.iter().enumerate().map(|(value, row)| row[value]).collect()
        }
    });
    let (least, most) = kept.fold((1.0f64, 0.0f64), |(least, most), kept| {
        (least.min(kept), most.max(kept))
    });
    let range = match percent(least) == percent(most) {
        true => percent(least),
        false => format!("{} to {}", percent(least), percent(most)),
    };
    let values: usize = match &*note.subtables {
        [part] => part.domain.len(),
        parts => {
            let mut all: Vec<_> = parts.iter().flat_map(|part| &part.domain).collect();
            all.sort();
            all.dedup();
            all.len()
        }
    };
    let parts = match note.subtables.len() {
        1 => String::new(),
        n => format!(" in {}", counted(n as u64, "sub-table")),
    };
    format!(
        "noise   {}: {}{parts}, published as they are with {range}",
        note.columns.join(" with "),
        counted(values as u64, "value"),
    )
}

/// The probability that a value is published as it is: kept, or drawn by chance.
fn kept(keep: f64, size: usize) -> f64 {
    keep + (1.0 - keep) / size as f64
}

fn read_plan(path: &Path) -> Result<Plan> {
    let shown = path.display().to_string();
    let text = fs::read_to_string(path)
        .map_err(|error| Error::io("read", shown.clone(), error))?;
    Plan::from_json(&text, &shown)
}

fn check_plan_path(path: &Path, replace: bool) -> Result<()> {
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    let kept = exists_already(path);
    if read_plan(path).is_err() {
        return Err(kept.with_hint("it is not a plan; choose another name"));
    }
    if replace { Ok(()) } else { Err(kept.with_hint("use `--force` to replace it")) }
}

/// Written for its owner only, as temporary files are, whatever was there before.
fn write_plan(path: &Path, plan: &Plan) -> Result<()> {
    write_private(path, plan.to_json()?.as_bytes())
}
