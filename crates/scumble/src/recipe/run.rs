//! Carrying a recipe out: gather, plan, apply and write, audit, and only then publish.

use std::collections::BTreeMap;

use crate::audit::{Audit, Given, Knowledge, Original, PAGE_FILE, audit, page};
use crate::error::{Error, Result};
use crate::method::{DrawPlan, Step, SubtableId};
use crate::recipe::calibrate::calibrate;
use crate::recipe::certify::{certify, uncertified};
use crate::recipe::join::{Joined, join};
use crate::recipe::ledger::Earlier;
use crate::recipe::made::{Context, Made, plan};
use crate::recipe::methods::{Gathered, Planned, Task};
use crate::recipe::order::{Order, check_person};
use crate::recipe::parts::parts;
use crate::recipe::{Published, Request, Spec, repeated, shares, single};
use crate::release::{
    Binding, CELLS_FILE, Class, DATAPACKAGE_FILE, DataFile, DataFormat, Draft, FORMAT,
    Manifest, Parameters, PendingEntry, PersonNote, PublishedColumn, Release,
    SHARES_FILE, SOFTWARE, StepBinding, Treatment, write_cells, write_datapackage,
    write_rows, write_shares, write_values,
};
use crate::table::{Of, Role};
use crate::watch::{Quiet, Stage, Watch};

/// Makes a release. Nothing appears under its name unless the audit of the written files
/// confirms every promise.
pub fn publish(request: Request<'_>, watch: &dyn Watch) -> Result<Published> {
    let spec = request.spec;
    check_person(spec)?;
    shares::check(spec)?;
    let parts = parts(spec)?;
    let earlier = Earlier::read(&request)?;
    let draft = request.draft()?;
    let randomness = request.randomness()?;
    let context = Context { request: &request, randomness: &randomness, watch };
    let mut made = plan(&parts, &context)?;
    let is_divided = parts.iter().any(|part| !part.is_whole(spec));
    let whole = is_divided.then(|| Order::open(spec, &request.inputs)).transpose()?;
    if let Some(whole) = &whole {
        let is_kept = |name: &str| {
            !parts.iter().any(|part| part.columns.iter().any(|column| column == name))
        };
        whole.check_domains(spec, is_kept, &Quiet(watch))?;
    }

    let making = Making { context: &context, draft: &draft, is_divided };
    let (joined, mut manifest, audit, formulas) = loop {
        let joined = join(spec, whole.as_ref(), &mut made);
        watch.stage(Stage::Write, made[0].order.source.bytes());
        let (manifest, formulas) = making.write(&joined, &made)?;
        watch.stage(Stage::Audit, 0);
        let audit = making.audit(&made, &manifest)?;
        let weaker = match uncertified(&audit.private) {
            true => making.weaker(&made)?,
            false => None,
        };
        let Some((place, weaker)) = weaker else {
            break (joined, manifest, audit, formulas);
        };
        joined.divide(&mut made);
        made[place].planned = weaker;
    };
    let Audit { private: audit, public } = audit;
    certify(&mut manifest, &audit)?;
    certify(&mut manifest, &public)?;
    let order = whole.as_ref().unwrap_or(&made[0].order);
    let written = Release::of(draft.store().clone())?;
    manifest.calibration = calibrate(&written, spec, &order.source, &Quiet(watch))?;
    write_datapackage(&manifest, draft.store())?;
    draft.store().write(PAGE_FILE, page(&manifest, &public).as_bytes())?;
    for file in [DATAPACKAGE_FILE, PAGE_FILE] {
        let checksum = draft.store().checksum(file)?;
        manifest.checksums.insert(file.to_owned(), checksum);
    }
    // Last, since it vouches for all other files.
    manifest.write(draft.store())?;
    let release = Release::of(draft.store().clone())?;
    let mut notes = repeated::warnings(spec, &order.source, &release, &Quiet(watch))?;
    notes.extend(single::warnings(spec, &order.source, &Quiet(watch))?);
    notes.extend(in_the_clear(&manifest));
    notes.extend((formulas > 0).then(|| {
        let cells = if formulas == 1 { "1 cell".into() } else { format!("{formulas} cells") };
        format!(
            "{cells} would be taken for a formula by a spreadsheet (they begin with `=`, `+`, \
             `-` or `@`): `spreadsheet-safe` puts an apostrophe before them"
        )
    }));
    if let Some(people) = order.people(&Quiet(watch))?.filter(|p| p.unnamed > 0) {
        notes.push(format!(
            "{} name nobody: each counts as a person of its own",
            match people.unnamed {
                1 => "1 row".to_owned(),
                n => format!("{n} rows"),
            }
        ));
    }
    let mut pending = None;
    if let Some(earlier) = &earlier {
        notes.extend(earlier.check(
            &request,
            &release,
            &order.source,
            &Quiet(watch),
        )?);
        pending = Some(earlier.ledger.prepare(&request.target(), &release)?);
    }
    // Nothing but this renaming may fail any more once it has appeared.
    let release = release.moved_to(draft.publish()?);
    pending.map_or(Ok(()), PendingEntry::record)?;
    let mut search = joined.search;
    if made.iter().any(|made| made.planned.grouping.is_some()) {
        search.n_groups = audit.group_sizes.iter().map(|(_, n)| *n as usize).sum();
    }
    Ok(Published {
        directory: request.target(),
        release,
        manifest,
        audit,
        plan: joined.plan,
        unnamed: order.unnamed.clone(),
        removed: order.removed.clone(),
        search,
        notes: {
            notes.extend(made.into_iter().flat_map(|made| made.planned.remarks));
            notes
        },
    })
}

/// A release that is being made.
struct Making<'a> {
    context: &'a Context<'a>,
    draft: &'a Draft,
    /// Whether no part knows all columns.
    is_divided: bool,
}

impl Making<'_> {
    /// Applies the plan and writes all files. The manifest does not say yet what the audit
    /// found. Beside it, how many cells a spreadsheet would take for formulas.
    fn write(&self, joined: &Joined, made: &[Made<'_>]) -> Result<(Manifest, u64)> {
        let Context { request, randomness, watch } = *self.context;
        let person = match &request.spec.input.person {
            None => None,
            Some((column, _)) => {
                let (source, missing) =
                    (&made[0].order.source, &request.spec.input.missing);
                let (classes, watch) = (&joined.classes, &Quiet(watch));
                let shared = repeated::shared(source, classes, column, missing, watch)?;
                Some(PersonNote {
                    column: column.clone(),
                    missing: missing.clone(),
                    shared,
                })
            }
        };
        let mut manifest = Manifest {
            format: FORMAT,
            software: SOFTWARE.to_owned(),
            experiment: request.seed.is_some(),
            rows: 0,
            left_out: 0,
            data: data_file(request.spec)?,
            columns: joined.columns.clone(),
            classes: joined.classes.clone(),
            sampled: made.iter().find_map(|made| made.planned.sampled.clone()),
            method: joined.method.clone(),
            promises: joined.promises.clone(),
            person,
            loss: BTreeMap::new(),
            not_promised: joined.not_promised.clone(),
            shares: None,
            calibration: None,
            checksums: BTreeMap::new(),
        };
        if let Some(name) = manifest.name_of_two() {
            return Err(Error::input(format!(
                "two published columns would be called `{name}`"
            ))
            .in_file(made[0].order.source.name())
            .with_hint("a method adds one of that name: rename yours, or `drop` it"));
        }
        let known = joined.part_of.iter().map(|part| made[*part].known());
        let known: Vec<StepBinding<'_>> = known.collect();
        let starts = made.iter().map(|made| made.data.block_starts());
        let starts = starts.max_by_key(|starts| starts.len());
        let binding = Binding {
            plan: &joined.plan,
            layout: manifest.layout(),
            source: &made[0].order.source,
            known: &known,
            texts: None,
            block_starts: starts.unwrap_or_default(),
            randomness,
        };
        let written = write_rows(binding, &manifest.data, self.draft, watch)?;
        let (mut met, formulas) = (written.formulas, manifest.data.formulas());
        manifest.rows = written.rows;
        manifest.left_out = made[0].data.n_rows() - written.rows;
        // What one step leaves out is missing in the sub-tables of another.
        for (step, rows) in joined.plan.steps.iter().zip(&written.drawn) {
            if let Step::Draw(draw) = step {
                count_subtables(&mut manifest, draw, rows);
            }
        }
        let store = self.draft.store();
        let mut files = vec![manifest.data.file.clone()];
        for made in made {
            let (cells, data) = (&made.planned.cells, made.data.counts());
            if let (Some(cells), Some(data)) = (cells, data) {
                let cells = cells.iter().map(Vec::as_slice);
                met += write_cells((store, formulas), &data.quasi, cells)?;
                files.push(CELLS_FILE.to_owned());
            }
        }
        let notes = manifest.buckets();
        for (step, known) in joined.plan.steps.iter().zip(&known) {
            if let (Step::Apart(apart), Some(data)) = (step, known.data) {
                let own = notes.iter().filter(|note| note.column == apart.column);
                for note in own {
                    met +=
                        write_values(apart, data, (&note.file, formulas), self.draft)?;
                    files.push(note.file.clone());
                }
            }
        }
        if let Some((note, shares)) = shares::of(request.spec, &manifest, made)? {
            met += write_shares(&shares, (store, formulas))?;
            files.push(SHARES_FILE.to_owned());
            manifest.not_promised.push(shares::not_promised(&note));
            manifest.shares = Some(note);
        }
        for file in files {
            let checksum = store.checksum(&file)?;
            manifest.checksums.insert(file, checksum);
        }
        manifest.write(store)?;
        Ok((manifest, met))
    }

    /// Audits what was written, with the table at hand.
    fn audit(&self, made: &[Made<'_>], manifest: &Manifest) -> Result<Audit> {
        let watch = Quiet(self.context.watch);
        let release = Release::of(self.draft.store().clone())?;
        let mut everyone = made.iter().find_map(|made| made.data.counts()?.everyone());
        let original = match made {
            [Made { data, .. }] if !self.is_divided => match data {
                Gathered::Counts(data) => Original::counted(data),
                Gathered::Numbers(rows) => Original::numbers(&rows.numbers),
            }
            .with_rows(&made[0].order.source),
            _ => {
                let source = &made[0].order.source.whole();
                let population = made.iter().find_map(|m| m.order.population.as_ref());
                let (original, people) =
                    Original::read_within(source, population, manifest, &watch)?;
                everyone = everyone.or(people);
                original
            }
        };
        let knowledge = made.iter().find_map(|made| made.planned.knowledge.clone());
        let knowledge = knowledge.map(Knowledge::Stated);
        let given = Given {
            original: Some(&original),
            population: everyone.as_ref(),
            knowledge: knowledge.as_ref(),
        };
        audit(&release, &given, &watch)
    }

    /// What else a part can publish if the audit could not certify the first plan in time.
    fn weaker(&self, made: &[Made<'_>]) -> Result<Option<(usize, Planned)>> {
        let Context { request, randomness, watch } = *self.context;
        for (place, made) in made.iter().enumerate() {
            let task = Task {
                spec: &made.part.spec,
                order: &made.order,
                inputs: &request.inputs,
                plan: request.plan.as_ref(),
                crowd: None,
                randomness: &made.part.coins(randomness),
                watch,
            };
            if let Some(weaker) =
                made.method.weaker(&made.planned, &made.data, &task)?
            {
                return Ok(Some((place, weaker)));
            }
        }
        Ok(None)
    }
}

/// The file of the rows.
fn data_file(spec: &Spec) -> Result<DataFile> {
    let file = DataFile::of(spec.release.format);
    let spreadsheet_safe = spec.release.spreadsheet_safe;
    if spreadsheet_safe && file.format != DataFormat::Csv {
        return Err(Error::recipe("`spreadsheet-safe` is for CSV files")
            .with_hint("spreadsheets do not open Parquet files: leave it out"));
    }
    Ok(DataFile { spreadsheet_safe, ..file })
}

/// What a steward must know if nothing hides whose row is whose, and a sensitive column is
/// published beside it that no promise is about.
fn in_the_clear(manifest: &Manifest) -> Option<String> {
    let of_role = |role| manifest.columns.iter().filter(move |c| c.role == role);
    let is_kept = |column: &&PublishedColumn| column.treatment == Treatment::Kept;
    let is_promised = |column: &PublishedColumn| {
        manifest.promises.iter().any(|promise| promise.columns.contains(&column.name))
    };
    let mut quasi = of_role(Role::Quasi);
    if !quasi.all(|column| is_kept(&column) && !is_promised(column)) {
        return None;
    }
    let clear = of_role(Role::Sensitive).filter(is_kept).filter(|c| !is_promised(c));
    let names: Vec<String> = clear.map(|column| format!("`{}`", column.name)).collect();
    (!names.is_empty()).then(|| {
        format!(
            "NO PROMISE is about {}, published as it is beside quasi columns as they are: \
             anybody who knows a person reads it",
            names.join(", ")
        )
    })
}

/// Says how many rows the sub-tables of a step have.
fn count_subtables(
    manifest: &mut Manifest,
    step: &DrawPlan,
    rows: &Of<SubtableId, u64>,
) {
    let drawn = |class: &&mut Class| {
        class.of.iter().eq(step.columns.iter().map(|column| &column.name))
    };
    for class in manifest.classes.iter_mut().filter(drawn) {
        if let Parameters::Subtables { subtables } = &mut class.parameters {
            for (table, rows) in subtables.iter_mut().zip(rows) {
                table.rows = *rows;
            }
        }
    }
}
