//! A hole in MPALM: boxes around the table's rows give presence away.
//!
//! The source publishes the smallest box around the rows of the *table* in a part. Who
//! holds the population sees who stands in the part but outside the box. This is the only
//! place where such boxes can be made; no recipe can ask for them.

use scumble::error::Result;
use scumble::hierarchy::{
    Cells, Column, ColumnSpec, Cover, Microdata, Population, Rule, Tree,
};
use scumble::method::{ColumnChoice, Grouping, Mondrian, ValueChoice, cover};
use scumble::release::cell;
use scumble::table::{
    Census, Code, GroupId, Of, ReadOptions, Reading, Role, Source, TupleId,
};
use scumble::watch::Unwatched;

use crate::adult::{Adult, NINE, Subset};
use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::delta::Delta;
use crate::outcome::{Cell, Claim, Outcome};
use crate::private::How;
use crate::{Data, Experiment, RequiredData};

pub(super) const EXPERIMENT: Experiment = Experiment {
    name: "mpalm-boxes",
    source: "nergiz2007presence, section 6; a hole",
    about: "MPALM's boxes give presence away; what an adversary computes from them, and from ours",
    needs: RequiredData::Nothing,
    run,
};

const COLUMNS: &str = "table,delta_min,delta_max,boxes,groups,presence_min,\
    presence_max,too_likely,too_unlikely,certainly_in";

/// The nine people of the source; everybody with a 1 has the condition.
const NINE_PEOPLE: &str = "zip,age,nation,in
47906,35,USA,0
47903,59,Canada,1
47906,42,USA,1
47630,18,Brazil,0
47630,22,Brazil,0
47633,63,Peru,1
48973,33,Spain,0
48972,47,Bulgaria,1
48970,52,France,1
";

const NATIONS: &str = "USA;N. America;America;*
Canada;N. America;America;*
Brazil;S. America;America;*
Peru;S. America;America;*
Spain;W. Europe;Europe;*
France;W. Europe;Europe;*
Bulgaria;E. Europe;Europe;*
";

const RANGES: [Delta; 4] = [
    Delta { min: 0.0, max: 0.1 },
    Delta { min: 0.0, max: 0.3 },
    Delta { min: 0.0, max: 0.5 },
    Delta { min: 0.02, max: 0.1 },
];

/// Whose values make the cells of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Boxes {
    /// Everybody's in the population.
    Population,
    /// Only those of the table, as the source has it: who stands in the part but outside the
    /// box is known to be absent.
    Table,
}

/// What somebody who holds the population learns from published boxes.
#[derive(Debug, Clone, Copy)]
struct Learned {
    groups: u64,
    smallest: f64,
    largest: f64,
    too_likely: u64,
    too_unlikely: u64,
    certainly_in: u64,
}

/// A private table with its range, and what both kinds of boxes show of it.
struct ShownBoxes {
    table: &'static str,
    delta: Delta,
    people: u64,
    /// The source's and ours.
    seen: [Learned; 2],
}

fn run(data: &Data) -> Result<Outcome> {
    let small = Delta { min: 0.5, max: 0.67 };
    let nine = nine_people()?;
    let mut shown = vec![show("nine people", &nine, small)?];
    let examples = [
        example("the source's boxes", &nine, small, Boxes::Table)?,
        example("ours", &nine, small, Boxes::Population)?,
    ];
    if data.if_any()?.is_some() {
        let adult = Adult::read(data)?;
        let specs = adult.specs(&NINE)?;
        for (name, subset) in
            [("adult, random", Subset::Random), ("adult, diabetes", Subset::Diabetes)]
        {
            let within = adult.count_within(&adult.subset(subset)?, &specs)?;
            for delta in RANGES {
                shown.push(show(name, &within, delta)?);
            }
        }
    }
    Ok(Outcome::new(
        COLUMNS,
        shown.iter().flat_map(rows).collect(),
        claims(&shown),
        figure(&shown),
    )
    .noting(examples.to_vec()))
}

/// MPALM by the strategy n1 with either kind of boxes.
fn cut(
    data: &Microdata,
    delta: Delta,
    boxes: Boxes,
) -> Result<Option<(Vec<Column>, Grouping)>> {
    let how = How::Mondrian(Mondrian {
        column: ColumnChoice::Next,
        value: ValueChoice::Balanced,
    });
    let columns = how.columns(data);
    let grouping = how.hide(&columns, &data.census, delta)?;
    Ok(grouping.map(|mut grouping| {
        if boxes == Boxes::Table {
            shrink(&columns, &data.census, &mut grouping);
        }
        (columns, grouping)
    }))
}

/// Makes the cells of each group as small as its rows of the table allow.
fn shrink(columns: &[Column], census: &Census, grouping: &mut Grouping) {
    let mut inside: Of<GroupId, Vec<TupleId>> =
        Of::repeat(Vec::new(), grouping.covers.len());
    for tuple in census.tuples().filter(|tuple| census.rows[*tuple] > 0) {
        if let Some(group) = grouping.group_of[tuple] {
            inside[group].push(tuple);
        }
    }
    let groups = grouping.covers.iter_mut().zip(inside);
    for (covers, tuples) in groups.filter(|(_, tuples)| !tuples.is_empty()) {
        for ((column, codes), cell) in columns.iter().zip(&census.quasi).zip(covers) {
            let mut present: Vec<Code> =
                tuples.iter().map(|tuple| codes[*tuple]).collect();
            present.sort_unstable();
            present.dedup();
            *cell = cover(column, &present, None);
        }
    }
}

fn show(table: &'static str, data: &Microdata, delta: Delta) -> Result<ShownBoxes> {
    let look = |boxes| -> Result<Learned> {
        let cut = cut(data, delta, boxes)?;
        Ok(cut.map_or(Learned::NOTHING, |(columns, grouping)| {
            Learned::of(&columns, &data.census, &grouping, delta)
        }))
    };
    let seen = [look(Boxes::Table)?, look(Boxes::Population)?];
    Ok(ShownBoxes { table, delta, people: data.census.n_people(), seen })
}

impl Learned {
    const NOTHING: Self = Self {
        groups: 0,
        smallest: 0.0,
        largest: 0.0,
        too_likely: 0,
        too_unlikely: 0,
        certainly_in: 0,
    };

    /// From the published boxes, their numbers of rows, and the population alone. Who fits
    /// no box is absent, since no row is left out.
    fn of(
        columns: &[Column],
        census: &Census,
        grouping: &Grouping,
        delta: Delta,
    ) -> Self {
        let shape = grouping.shape(census);
        let boxes: Vec<Vec<(Code, Code)>> =
            shape.groups.iter().map(|(_, covers)| ends(columns, covers)).collect();
        let mut fits: Vec<Vec<usize>> = Vec::with_capacity(census.n_tuples());
        let mut people = vec![0u64; boxes.len()];
        for tuple in census.tuples() {
            let inside =
                |ends: &[(Code, Code)]| {
                    census.quasi.iter().zip(ends).all(|(codes, (low, high))| {
                        (*low..=*high).contains(&codes[tuple])
                    })
                };
            let found: Vec<usize> =
                (0..boxes.len()).filter(|group| inside(&boxes[*group])).collect();
            for group in &found {
                people[*group] += census.people()[tuple];
            }
            fits.push(found);
        }
        let mut seen =
            Self { groups: boxes.len() as u64, smallest: 1.0, ..Self::NOTHING };
        for (groups, n) in fits.iter().zip(census.people()) {
            let share =
                |group: &usize| shape.groups[*group].0 as f64 / people[*group] as f64;
            let presence = groups
                .iter()
                .map(share)
                .fold(0.0, |sum: f64, share| sum + share)
                .min(1.0);
            seen.smallest = seen.smallest.min(presence);
            seen.largest = seen.largest.max(presence);
            seen.too_likely += if presence > delta.max + 1e-12 { *n } else { 0 };
            seen.too_unlikely += if presence < delta.min - 1e-12 { *n } else { 0 };
            seen.certainly_in += if presence >= 1.0 { *n } else { 0 };
        }
        seen
    }
}

/// First and last code of each range.
fn ends(columns: &[Column], covers: &[Cover]) -> Vec<(Code, Code)> {
    let pairs = columns.iter().zip(covers);
    pairs
        .map(|(column, cover)| match cover {
            Cover::Range { low, high, .. } => (*low, *high),
            other => {
                let codes = other.codes(&column.domain, &column.hierarchy);
                let ends = codes.first().zip(codes.last());
                let all = (Code::new(0), Code::new(u32::MAX));
                ends.map_or(all, |(low, high)| (*low, *high))
            }
        })
        .collect()
}

fn nine_people() -> Result<Microdata> {
    let part = |inside: bool| {
        let lines = NINE_PEOPLE.lines();
        let kept = lines.filter(|line| !inside || !line.ends_with(",0"));
        let text: String = kept.map(|line| format!("{line}\n")).collect();
        Source::from_bytes("people.csv", text.into_bytes(), &ReadOptions::default())
    };
    let spec = |name: &str, reading: Reading, rule: Rule| ColumnSpec {
        cells: Cells::Interval,
        ..ColumnSpec::new(name, Role::Quasi, reading, rule)
    };
    let specs = [
        spec("zip", Reading::category(), Rule::Plain),
        spec("age", Reading::number(), Rule::Plain),
        spec(
            "nation",
            Reading::category(),
            Rule::Tree(Tree::parse(NATIONS, "nations")?),
        ),
    ];
    let everyone = part(false)?;
    let population = Population { source: &everyone, key: &[] };
    Microdata::read_within(&part(true)?, Some(population), &specs, &Unwatched)
}

/// The published rows of the small example.
fn example(
    title: &str,
    data: &Microdata,
    delta: Delta,
    boxes: Boxes,
) -> Result<String> {
    let Some((columns, grouping)) = cut(data, delta, boxes)? else {
        return Ok(String::new());
    };
    let shape = grouping.shape(&data.census);
    let mut lines: Vec<String> = shape
        .groups
        .iter()
        .map(|(rows, covers)| {
            let cells: Vec<String> = columns
                .iter()
                .zip(*covers)
                .map(|(c, cover)| cell::text(c, cover))
                .collect();
            format!("    {rows} x {}\n", cells.join("  "))
        })
        .collect();
    lines.sort();
    Ok(format!("nine people with {title}:\n{}", lines.concat()))
}

fn rows(shown: &ShownBoxes) -> Vec<Vec<Cell>> {
    let names = ["source", "ours"];
    let both = names.iter().zip(&shown.seen);
    both.map(|(name, seen)| {
        vec![
            shown.table.into(),
            shown.delta.min.into(),
            shown.delta.max.into(),
            (*name).into(),
            seen.groups.into(),
            seen.smallest.into(),
            seen.largest.into(),
            seen.too_likely.into(),
            seen.too_unlikely.into(),
            seen.certainly_in.into(),
        ]
    })
    .collect()
}

fn claims(shown: &[ShownBoxes]) -> Vec<Claim> {
    let outside = |seen: &Learned| seen.too_likely + seen.too_unlikely;
    let mut claims = Vec::new();
    for ShownBoxes { table, delta, people, seen: [source, ours] } in shown {
        claims.push(Claim::new(
            format!("{table}, delta {delta}: MPALM keeps presence in the range"),
            format!(
                "with the source's boxes presence from {:.3} to {:.3}, {} of {people} people \
                 outside the range, {} certainly in the table; with ours from {:.3} to {:.3}, \
                 {} outside",
                source.smallest,
                source.largest,
                outside(source),
                source.certainly_in,
                ours.smallest,
                ours.largest,
                outside(ours),
            ),
            outside(source) == 0,
        ));
    }
    claims
}

fn figure(shown: &[ShownBoxes]) -> Figure {
    let panel = |title: &str, measure: fn(&Learned) -> u64| {
        Panel::new(
            title,
            (
                "private table and delta",
                shown
                    .iter()
                    .map(|shown| format!("{} {}", letter(shown), shown.delta))
                    .collect(),
            ),
            ("people", Scale::Linear, Form::Bars),
            (0..2)
                .map(|kind| {
                    shown
                        .iter()
                        .map(|shown| Some(measure(&shown.seen[kind]) as f64))
                        .collect()
                })
                .collect(),
        )
    };
    let series = Series::each(["the source's boxes", "ours"], [1, 0], Mark::Square);
    Figure::new(
        "MPALM: people whose presence leaves the range (9: nine people, r: random, d: diabetes)",
        series,
        vec![
            panel("outside the range", |seen| seen.too_likely + seen.too_unlikely),
            panel("known to be in the table", |seen| seen.certainly_in),
        ],
    )
}

fn letter(shown: &ShownBoxes) -> &'static str {
    match shown.table {
        "nine people" => "9",
        "adult, random" => "r",
        _ => "d",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sources_boxes_give_people_away_and_ours_do_not() {
        let nine = nine_people().unwrap();
        let delta = Delta { min: 0.5, max: 0.67 };
        let shown = show("nine people", &nine, delta).unwrap();
        let [source, ours] = shown.seen;
        assert!(source.certainly_in > 0 && source.too_unlikely > 0, "{source:?}");
        assert_eq!((ours.too_likely, ours.too_unlikely), (0, 0));
        assert!(ours.smallest >= 0.5 && ours.largest <= 0.67);
    }
}
