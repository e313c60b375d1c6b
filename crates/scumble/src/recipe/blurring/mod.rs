//! Carrying out a recipe that blurs or condenses numbers.

mod check;
mod columns;
mod notes;

use std::collections::BTreeMap;

pub(super) use check::{blurs, check_elsewhere};
pub(super) use notes::certified;

use crate::audit;
use crate::error::{Error, Result};
use crate::method::{BlurTask, Blurred, CondensationTask, blur, condense, draw_noise};
use crate::promise::{ExpectedAnonymity, Wish};
use crate::random::Randomness;
use crate::recipe::blurring::check::{check, promised};
use crate::recipe::blurring::columns::{Quasi, deviation};
use crate::recipe::blurring::notes::Making;
use crate::recipe::order::Order;
use crate::recipe::run::certify;
use crate::recipe::{MethodName, Published, Request, Search, Spec, Stage, Watch};
use crate::release::{
    self, BlurredPlace, BlurredTask, CondensedNote, DataFile, Draft, FORMAT,
    FRAME_COLUMN, GROUP_COLUMN, LEVEL_COLUMN, Made, Manifest, Origin, PromiseNote,
    Release, SOFTWARE, spread_column, write_blurred,
};
use crate::space::FrameKind;
use crate::table::Numbers;
use crate::words::no_column;

/// Levels of a ladder, if the recipe does not say.
const LEVELS: usize = 4;

/// With more columns than this all rows are about equally far from each other.
const MANY_COLUMNS: usize = 32;

/// Makes a release with blurred or condensed numbers.
pub(super) fn publish(request: Request<'_>, watch: &dyn Watch) -> Result<Published> {
    let spec = request.spec;
    let (method, expected) = check(spec)?;
    if request.plan.is_some() {
        return Err(Error::recipe(format!("`{}` takes no plan", method.name()))
            .with_hint("noise is drawn anew for every table"));
    }
    let directory = request.target();
    let draft = Draft::new(&directory, request.replace)?;
    let order = Order::new(spec, request.folder)?;
    let randomness = request.randomness()?;

    watch.stage(Stage::Read, order.source.bytes());
    let progress = |bytes| watch.advance(bytes);
    let wish = wish_column(spec, &order, expected)?;
    let quasi = Quasi::find(spec, &order, method, &|_| ())?;
    let task = quasi.task(spec, wish);
    let (mut numbers, block_starts) =
        Numbers::read_blocks(&order.source, &task, &progress)?;
    quasi.check_missing(spec, &order, &numbers, method)?;
    quasi.check_sizes(&order, &numbers)?;
    let decimals = Quasi::decimals(&numbers);
    numbers.snap(&decimals);
    let domains = quasi.domains(spec, &numbers)?;
    let (decimals, domains) = (&decimals, &domains);
    let numbers = &numbers;
    let making =
        Making { spec, method, expected, quasi: &quasi, numbers, decimals, domains };

    watch.stage(Stage::Search, 0);
    let made = making.make(&randomness)?;

    watch.stage(Stage::Write, order.source.bytes());
    let file = DataFile::of(spec.release.format);
    let path = draft.path().join(&file.file);
    let columns = made.columns(&making, &order);
    let rows = write_blurred(
        &BlurredTask {
            source: &order.source,
            block_starts: &block_starts,
            columns: &columns,
            numbers: &made.numbers,
            decimals,
            missing: spec.input.missing.first().map_or("", String::as_str),
            made: made.how.made(),
            randomness: &randomness,
            format: spec.release.format,
        },
        &path,
        &progress,
    )?;
    let left_out = numbers.n_rows as u64 - rows;
    let checksums = BTreeMap::from([(file.file.clone(), release::checksum(&path)?)]);
    let mut manifest = Manifest {
        format: FORMAT,
        software: SOFTWARE.to_owned(),
        experiment: request.seed.is_some(),
        rows,
        left_out,
        data: file,
        columns: making.published(&order),
        weights: None,
        perturbation: Vec::new(),
        buckets: None,
        blur: match &made.how {
            How::Blurred(blurred) => Some(making.blur_note(blurred)),
            How::Condensed { .. } => None,
        },
        condensed: match &made.how {
            How::Blurred(_) => None,
            How::Condensed { groups, .. } => Some(CondensedNote {
                groups: *groups,
                columns: making.columns(),
                exact: making.exact(),
            }),
        },
        sampled: None,
        method: making.method_note(),
        promises: vec![PromiseNote::unchecked(
            ExpectedAnonymity::NAME,
            expected.asked(),
        )],
        loss: BTreeMap::new(),
        not_promised: making.not_promised(left_out),
        checksums,
    };
    manifest.write(draft.path())?;

    watch.stage(Stage::Audit, 0);
    let release = Release::open(draft.path())?;
    let (report, public) = audit::audit_blur(&release, numbers, &|_| ())?;
    certify(&mut manifest, &report)?;
    manifest.write(draft.path())?;
    audit::write_page(draft.path(), &manifest, &public)?;
    draft.publish()?;
    Ok(Published {
        directory,
        manifest,
        audit: report,
        plan: None,
        unnamed: order.unnamed,
        removed: order.removed,
        search: Search { n_groups: made.how.n_classes(), ..Search::default() },
        notes: making.remarks(),
    })
}

/// The column that says what every row asks for, if there is one.
fn wish_column<'a>(
    spec: &Spec,
    order: &Order,
    expected: &'a ExpectedAnonymity,
) -> Result<Option<&'a str>> {
    let Wish::Column(name) = &expected.wish else { return Ok(None) };
    let header = order.source.header();
    if !header.contains(name) {
        let error = no_column(header, name);
        let spot = promised(spec).map_or(spec.input.table_spot, |(_, p)| p.spot);
        return Err(spec.error_at(spot, error));
    }
    Ok(Some(name))
}

/// What is published instead of the numbers.
struct Numbered {
    /// Row after row.
    numbers: Vec<f64>,
    how: How,
}

enum How {
    Blurred(Blurred),
    Condensed {
        /// The number of each row's group, from 1.
        numbers: Vec<u32>,
        groups: u64,
    },
}

impl How {
    fn made(&self) -> Made<'_> {
        match self {
            Self::Blurred(blurred) => Made::Blurred(blurred),
            Self::Condensed { numbers, .. } => Made::Condensed(numbers),
        }
    }

    /// How many classes of rows there are that readers can tell apart.
    fn n_classes(&self) -> usize {
        match self {
            Self::Blurred(blurred) => {
                blurred.frames.iter().map(|frame| frame.levels.len()).sum()
            }
            Self::Condensed { groups, .. } => *groups as usize,
        }
    }
}

impl Making<'_> {
    fn make(&self, randomness: &Randomness) -> Result<Numbered> {
        let Self { spec, expected, numbers, decimals, .. } = *self;
        let same = match expected.wish {
            Wish::Same(k) => vec![k; numbers.n_rows],
            Wish::Column(_) => Vec::new(),
        };
        let wishes = if same.is_empty() { &numbers.wishes } else { &same };
        if self.method == MethodName::Condensation {
            // All rows of a group fit its rows equally well, so a group of 1/b hides
            // everybody from the best guess, too.
            let least = expected.best_guess.map_or(1.0, |share| (1.0 / share).ceil());
            let wishes: Vec<f64> = wishes.iter().map(|wish| wish.max(least)).collect();
            let task =
                CondensationTask { numbers, decimals, wishes: &wishes, randomness };
            let condensed = condense(&task)?;
            let mut of_row = vec![0; numbers.n_rows];
            for (number, rows) in (1..).zip(&condensed.groups) {
                for row in rows {
                    of_row[*row as usize] = number;
                }
            }
            let groups = condensed.groups.len() as u64;
            let how = How::Condensed { numbers: of_row, groups };
            return Ok(Numbered { numbers: condensed.values, how });
        }
        let blur_spec = &spec.method.blur;
        let task = BlurTask {
            numbers,
            decimals,
            shape: self.shape(),
            frame: self.frame(),
            wishes,
            strict: expected.strict,
            best_guess: expected.best_guess,
            levels: blur_spec.levels.map_or(LEVELS, |(levels, _)| levels),
            parts: blur_spec.frames.map(|(frames, _)| frames),
            limit: spec.method.suppression.share_of(numbers.n_rows as u64),
        };
        let blurred = blur(&task)?;
        let drawn = draw_noise(&task, &blurred, randomness)?;
        Ok(Numbered { numbers: drawn, how: How::Blurred(blurred) })
    }

    /// What a steward should look at, and no file says.
    fn remarks(&self) -> Vec<String> {
        let mut remarks = Vec::new();
        let columns = self.quasi.numbers.len();
        if columns > MANY_COLUMNS {
            remarks.push(format!(
                "{columns} columns of numbers: with so many, everybody is about equally far \
                 from everybody else, and the noise is large; give columns that nobody \
                 knows another role"
            ));
        }
        for (place, column) in self.quasi.numbers.iter().enumerate() {
            if deviation(self.numbers, place) == 0.0 {
                remarks.push(format!(
                    "all numbers of `{}` are the same: it is published as it is",
                    column.name
                ));
            }
        }
        if !self.expected.strict {
            remarks.push(
                "`strict = false` is for comparison only: who knows the table finds almost \
                 everybody by the published spreads"
                    .to_owned(),
            );
        }
        remarks
    }
}

impl Numbered {
    /// The published columns, and where their cells come from.
    fn columns(
        &self,
        making: &Making<'_>,
        order: &Order,
    ) -> Vec<(String, BlurredPlace)> {
        let header = order.source.header();
        let number = |name: &String| {
            making.quasi.numbers.iter().position(|known| known.name == *name)
        };
        let mut columns = Vec::new();
        if let How::Condensed { .. } = self.how {
            columns.push((GROUP_COLUMN.to_owned(), BlurredPlace::Group));
        }
        let spreads =
            matches!(self.how, How::Blurred(_)) && making.frame() != FrameKind::Rotated;
        for (name, origin) in &order.published {
            match (number(name), origin) {
                (Some(column), _) => {
                    columns.push((name.clone(), BlurredPlace::Number(column)));
                    if spreads {
                        let spread = BlurredPlace::Spread(column);
                        columns.push((spread_column(name), spread));
                    }
                }
                (None, Origin::Other(place)) => {
                    columns.push((name.clone(), BlurredPlace::Plain(*place)));
                }
                (None, _) => {
                    let place = header.iter().position(|known| known == name);
                    let place = BlurredPlace::Plain(place.unwrap_or_default());
                    columns.push((name.clone(), place));
                }
            }
        }
        if let How::Blurred(blurred) = &self.how
            && making.expected.strict
        {
            if blurred.frames.len() > 1 || making.frame() == FrameKind::Rotated {
                columns.push((FRAME_COLUMN.to_owned(), BlurredPlace::Frame));
            }
            columns.push((LEVEL_COLUMN.to_owned(), BlurredPlace::Level));
        }
        columns
    }
}
