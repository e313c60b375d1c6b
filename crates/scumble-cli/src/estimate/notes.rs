//! What a reader of an answer must know.

use scumble::Unwatched;
use scumble::error::Result;
use scumble::estimate::{Basis, Check, Condition, Evidence, Measure, Model, Query};
use scumble::hierarchy::Cells;
use scumble::release::{Manifest, PublishedColumn, Treatment};

use crate::estimate::Answer;
use crate::estimate::about::Treatments;
use crate::estimate::show::amount;
use crate::output::{counted, grouped};

/// What a reader of the answer must know.
pub(super) fn notes(
    manifest: &Manifest,
    left_out: u64,
    evidence: &Evidence,
    answers: &[Answer],
) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    for answer in answers {
        for unknown in evidence.unknown(&answer.query)? {
            let mut text =
                format!("no row has `{}` in `{}`", unknown.value, unknown.column);
            if let Some(nearest) = unknown.nearest {
                text += &format!(": the release has `{nearest}`");
            }
            if !notes.contains(&text) {
                notes.push(text);
            }
        }
    }
    for answer in answers {
        for guessed in evidence.guessed(&answer.query)? {
            let (column, rows) = (&guessed.column, counted(guessed.rows, "row"));
            let text = format!(
                "{rows} have cells in `{column}` that list no values: they are taken to be \
                 as in the other rows, which may be wrong for all of them"
            );
            if !notes.contains(&text) {
                notes.push(text);
            }
        }
    }
    let counts = || answers.iter().filter(|a| a.query.measure == Measure::Count);
    let below = |answer: &Answer| {
        answer.estimates.iter().any(|e| amount(e.count).starts_with('-'))
    };
    if counts().any(below) {
        notes.push(
            "counts below 0 come from the noise: read them as small; `--way iterative` \
             keeps them possible"
                .to_owned(),
        );
    }
    let counted_ones = || counts().flat_map(|answer| &answer.estimates);
    let about = |answer: &Answer| Treatments::asked(manifest, &answer.query);
    let wild = counted_ones().filter(|estimate| estimate.tells_nothing()).count();
    if wild > 0 {
        let why = match counts().any(|answer| about(answer).drawn) {
            false => "few rows are asked about",
            true => {
                "their values are hardly ever published as they are, or few rows are \
                 asked about"
            }
        };
        notes.push(format!(
            "{} of {} have errors so large that they tell nothing: {why}",
            grouped(wild as u64),
            counted(counted_ones().count() as u64, "count")
        ));
    }
    let open = |answer: &&Answer| {
        answer.estimates.iter().any(|estimate| estimate.standard_error != Some(0.0))
    };
    let open = || answers.iter().filter(open);
    let shared =
        manifest.person.as_ref().is_some_and(|person| !person.shared.is_empty());
    let has_noise = |answer: &Answer| {
        about(answer).drawn || asks_of_numbers(manifest, &answer.query)
    };
    if shared && open().any(has_noise) {
        notes.push(
            "rows of a person with the same value share their noise: errors are widened by \
             how many rows do so on average, and are too small for questions that pick out \
             people with many rows"
                .to_owned(),
        );
    }
    even_ranges(manifest, answers, &mut notes);
    learned(manifest, answers, &mut notes);
    match manifest.calibration {
        None => assumed(manifest, evidence, answers, &mut notes)?,
        Some(_) => measured(answers, &mut notes),
    }
    if manifest.sampled.is_some() {
        let groups = counted(manifest.rows, "group");
        notes.push(format!(
            "the counts rest on one row of each of {groups}: it stands for all rows of \
             its group"
        ));
    }
    if left_out > 0 {
        let rows = counted(left_out, "row");
        notes.push(format!("{rows} of the table were left out and are not counted"));
    }
    if manifest.experiment {
        notes.push(
            "randomness was fixed by a seed: this release is not for publication"
                .to_owned(),
        );
    }
    Ok(notes)
}

/// That numbers are taken as even within ranges that were randomized.
fn even_ranges(manifest: &Manifest, answers: &[Answer], notes: &mut Vec<String>) {
    let open = |answer: &&Answer| {
        answer.estimates.iter().any(|estimate| estimate.standard_error != Some(0.0))
    };
    let asked = |column: &&PublishedColumn| {
        let own = |name: &str| column.name.eq_ignore_ascii_case(name);
        answers.iter().filter(open).any(|a| a.query.columns().into_iter().any(own))
    };
    let has_ranges = |column: &&PublishedColumn| {
        matches!(column.treatment, Treatment::Drawn { ranges: Some(_), .. })
    };
    for column in manifest.columns.iter().filter(asked).filter(has_ranges) {
        notes.push(format!(
            "numbers of `{}` are taken as evenly spread within their ranges, up to the ends \
             of its domain: where they are not, sums, means and comparisons within a range \
             lean towards even, and the error does not show it",
            column.name
        ));
    }
}

/// What answers were learned from, and where nothing was.
fn learned(manifest: &Manifest, answers: &[Answer], notes: &mut Vec<String>) {
    let open = |answer: &&Answer| {
        answer.estimates.iter().any(|estimate| estimate.standard_error != Some(0.0))
    };
    let learned = |answer: &Answer| answer.model == Some(Model::Learned);
    if !answers.iter().filter(open).any(learned) {
        return;
    }
    let error = match manifest.calibration {
        Some(_) => "",
        None => ": where they do within a class, the error does not show it",
    };
    notes.push(format!(
        "how values lie where the release leaves them open was learned from all its rows, in \
         classes within which columns do not depend on each other{error}; `--model even` \
         learns nothing"
    ));
    let wide = |column: &&PublishedColumn| {
        let nodes = Some(Cells::Taxonomy);
        let own = |name: &str| column.name.eq_ignore_ascii_case(name);
        let mut asked = answers.iter().filter(open).filter(|answer| learned(answer));
        column.cells() == nodes
            && column.level() != Some(0)
            && asked.any(|a| a.query.columns().into_iter().any(own))
    };
    for column in manifest.columns.iter().filter(wide) {
        notes.push(format!(
            "cells of `{}` are taken as even: nothing is learned from nodes of a hierarchy",
            column.name
        ));
    }
}

/// What answers take for granted if nobody measured how far they are off, and nothing was
/// learned.
fn assumed(
    manifest: &Manifest,
    evidence: &Evidence,
    answers: &[Answer],
    notes: &mut Vec<String>,
) -> Result<()> {
    let open = |answer: &&Answer| {
        answer.model != Some(Model::Learned)
            && answer.estimates.iter().any(|e| e.standard_error != Some(0.0))
    };
    let open = || answers.iter().filter(open);
    let about = |answer: &Answer| Treatments::asked(manifest, &answer.query);
    let asked = |column: &&PublishedColumn| {
        let own = |name: &str| column.name.eq_ignore_ascii_case(name);
        open().any(|answer| answer.query.columns().into_iter().any(own))
    };
    let asked = || manifest.columns.iter().filter(asked);
    let apart: Vec<&PublishedColumn> =
        asked().filter(|column| column.treatment == Treatment::Apart).collect();
    // Several at once are taken as independent, whatever their groups teach.
    let alone = apart.len() == 1;
    for column in &apart {
        let name = &column.name;
        notes.push(match alone && evidence.teaches(name, &Unwatched)? {
            true => format!(
                "values of `{name}` are shared out within each group by how all groups \
                 together show them to depend on other columns, one by one: what only two \
                 columns together tell is not in it, and the error does not show that"
            ),
            false => format!(
                "within a group every arrangement of `{name}` is taken as equally likely: \
                 where it depends on the columns asked about, estimates lean towards \
                 independence, and the error does not show it"
            ),
        });
    }
    if open().any(|answer| asks_of_numbers(manifest, &answer.query)) {
        notes.push(
            "true numbers are taken as evenly spread within their blur: where they are \
             much more concentrated, estimates lean towards even, and the error does not \
             show it"
                .to_owned(),
        );
    }
    if open().any(|answer| about(answer).redrawn) {
        notes.push(
            "rows were drawn anew, group by group: the error is that of rows that are \
             spread alike within their group"
                .to_owned(),
        );
    }
    let shared = manifest.shares.iter().flat_map(|note| &note.columns);
    let shared: Vec<&String> = shared.collect();
    let is_even = |column: &PublishedColumn| {
        matches!(column.treatment, Treatment::Coarse { .. })
            && !shared.contains(&&column.name)
    };
    let values = match open().any(|answer| about(answer).weighted) {
        true => Some("columns are taken as independent within a group"),
        false if !open().any(|answer| about(answer).coarse) => None,
        false if asked().any(is_even) => Some(
            "a cell is taken as even over the values it stands for, and columns as \
             independent within their cells",
        ),
        false => Some(
            "a cell is taken as even over the values it stands for as the shares of values \
             allow, and columns as independent within their cells",
        ),
    };
    if let Some(values) = values {
        notes.push(format!(
            "{values}: where that is not so, estimates lean towards it, and the error does \
             not show it"
        ));
    }
    Ok(())
}

/// What errors rest on that the publisher measured.
fn measured(answers: &[Answer], notes: &mut Vec<String>) {
    let rests_on = |basis: Basis| {
        answers.iter().any(|answer| answer.estimates.iter().any(|e| e.basis == basis))
    };
    if rests_on(Basis::Calibrated) {
        notes.push(
            "errors as the publisher measured them: of questions like this one 95 of 100 \
             intervals cover the truth"
                .to_owned(),
        );
    }
    if rests_on(Basis::Limits) {
        notes.push(
            "nobody measured errors of questions like this one: only the limits are certain"
                .to_owned(),
        );
    }
}

/// Whether a question has conditions on blurred columns.
fn asks_of_numbers(manifest: &Manifest, query: &Query) -> bool {
    let part = match &query.measure {
        Measure::Share(Some(part)) => tests_numbers(manifest, part),
        _ => false,
    };
    part || tests_numbers(manifest, &query.condition)
}

fn tests_numbers(manifest: &Manifest, condition: &Condition) -> bool {
    let blurred = |name: &str| {
        manifest.columns.iter().any(|column| {
            let noisy = matches!(column.treatment, Treatment::Noisy { .. });
            noisy && column.name.eq_ignore_ascii_case(name)
        })
    };
    match condition {
        Condition::And(parts) | Condition::Or(parts) => {
            parts.iter().any(|part| tests_numbers(manifest, part))
        }
        Condition::Not(part) | Condition::NotTrue(part) => {
            tests_numbers(manifest, part)
        }
        Condition::Test(test) => test.check != Check::Missing && blurred(&test.column),
    }
}
