//! Cuts: of every cut that was not made, one side breaks the promise; or, where cuts were
//! looked at by coins, it may have been the one that was looked at and refused.

use rayon::prelude::*;

use crate::audit::attacks::reversal::{MOST_STEPS, SearchRule, Told, certainty, coins};
use crate::audit::cells::{People, ln_choose};
use crate::table::Code;

/// A step here takes a logarithm and an exponential; so many steps of a convolution, which
/// are done several at once, take no longer.
const STEP: u64 = 100;

/// How cuts were looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Looks {
    /// All of them, and each was refused for breaking a promise.
    Free,
    /// One, chosen by what is public, and refused by coins, too.
    Coins,
}

/// What follows from each group not having been cut.
pub(crate) fn tell(people: &People<'_>, rule: SearchRule, looks: Looks) -> Told {
    let tuples = people.tuples_of_groups();
    let cuts: Vec<Vec<Cut>> = tuples
        .par_iter()
        .map(|tuples| {
            let columns = 0..people.columns.len();
            columns.flat_map(|column| cuts_of(people, tuples, column)).collect()
        })
        .collect();
    let mut left = MOST_STEPS;
    let mut allowed = Vec::with_capacity(cuts.len());
    for (cuts, rows) in cuts.iter().zip(&people.inside.of_group) {
        let steps = (cuts.len() as u64).saturating_mul(rows + 1).saturating_mul(STEP);
        allowed.push(steps <= left);
        left = left.saturating_sub(if steps <= left { steps } else { 0 });
    }
    let groups: Vec<GroupTold> = (0..tuples.len())
        .into_par_iter()
        .map(|group| {
            let cuts = if allowed[group] { &cuts[group][..] } else { &[] };
            let (rows, n) = (people.inside.of_group[group], people.of_group[group]);
            tell_group(people, &tuples[group], cuts, (rows, n), rule, looks)
        })
        .collect();
    let mut told = Told::before(people);
    told.certainty = people.unpublished as f64;
    for (group, found) in groups.iter().enumerate() {
        told.certainty += found.certainty;
        told.events += found.events;
        told.impossible += found.impossible;
        told.skipped += if allowed[group] { 0 } else { cuts[group].len() as u64 };
        for (tuple, posteriors) in tuples[group].iter().zip(&found.posteriors) {
            told.add(*tuple, *posteriors);
        }
    }
    told
}

/// A cut before a value of a column.
#[derive(Debug, Clone, Copy)]
struct Cut {
    column: usize,
    code: Code,
    /// How many people of the group have smaller values.
    below: u64,
}

/// Every cut between values that occur, at lines of the grid if there is one.
fn cuts_of(people: &People<'_>, tuples: &[u32], column: usize) -> Vec<Cut> {
    let codes = people.known.tuples[column];
    let mut values: Vec<(Code, u64)> = tuples
        .iter()
        .map(|tuple| (codes[*tuple as usize], people.known.people[*tuple as usize]))
        .collect();
    values.sort_unstable();
    let mut cuts: Vec<Cut> = Vec::new();
    let mut below = 0;
    let mut last = None;
    for (code, n) in values {
        let parted =
            |last: Code| last != code && !people.columns[column].joins(last, code);
        if last.is_some_and(parted) {
            cuts.push(Cut { column, code, below });
        }
        below += n;
        last = Some(code);
    }
    cuts
}

/// What the cuts of one group told.
struct GroupTold {
    /// For each tuple the smallest and the largest posterior.
    posteriors: Vec<(f64, f64)>,
    certainty: f64,
    events: u64,
    impossible: u64,
}

/// Of a group with `rows` of `n` people. The cuts of a column stand together, ascending.
fn tell_group(
    people: &People<'_>,
    tuples: &[u32],
    cuts: &[Cut],
    (rows, n): (u64, u64),
    rule: SearchRule,
    looks: Looks,
) -> GroupTold {
    let prior = rows as f64 / n.max(1) as f64;
    let mut told = GroupTold {
        posteriors: vec![(prior, prior); tuples.len()],
        // The adversary uses the cut that tells most.
        certainty: n as f64 * certainty(prior),
        events: 0,
        impossible: 0,
    };
    for cuts in cuts.chunk_by(|one, other| one.column == other.column) {
        let mut sides: Vec<Sides> = Vec::with_capacity(cuts.len());
        for cut in cuts {
            if people.known.watch.is_cancelled() {
                break;
            }
            let rest = n - cut.below;
            let expected = match looks {
                Looks::Free => expected_below(cut.below, rest, rows, rule),
                Looks::Coins => coins::expected_below(cut.below, rest, rows, rule),
            };
            let Some(expected) = expected else {
                // At a cut that coins do not make safe nobody looks.
                told.impossible += u64::from(looks == Looks::Free);
                continue;
            };
            told.events += 1;
            let low = (expected / cut.below as f64).clamp(0.0, 1.0);
            let high = ((rows as f64 - expected) / rest as f64).clamp(0.0, 1.0);
            let sum = cut.below as f64 * certainty(low) + rest as f64 * certainty(high);
            told.certainty = told.certainty.max(sum);
            sides.push(Sides { code: cut.code, below: (low, low), from: (high, high) });
        }
        gather(&mut sides);
        let codes = people.known.tuples[cuts[0].column];
        for (tuple, held) in tuples.iter().zip(&mut told.posteriors) {
            let code = codes[*tuple as usize];
            let (from, below) =
                sides.split_at(sides.partition_point(|side| side.code <= code));
            let told = below.first().map(|side| side.below);
            for side in told.into_iter().chain(from.last().map(|side| side.from)) {
                *held = wider(*held, side);
            }
        }
    }
    told
}

/// The posteriors of both sides of a cut, smallest and largest.
struct Sides {
    code: Code,
    below: (f64, f64),
    from: (f64, f64),
}

/// Somebody below a cut is below all later ones, and somebody not below it not below any
/// earlier one: each side gets the posteriors of all of them.
fn gather(sides: &mut [Sides]) {
    for place in 1..sides.len() {
        sides[place].from = wider(sides[place].from, sides[place - 1].from);
    }
    for place in (1..sides.len()).rev() {
        sides[place - 1].below = wider(sides[place - 1].below, sides[place].below);
    }
}

fn wider(one: (f64, f64), other: (f64, f64)) -> (f64, f64) {
    (one.0.min(other.0), one.1.max(other.1))
}

/// How many of the `rows` are expected among the `below` people, if one of the sides breaks
/// the promise; nothing if neither can. Which of the people are in the table is a draw
/// without replacement: the number below is hypergeometric.
fn expected_below(below: u64, rest: u64, rows: u64, rule: SearchRule) -> Option<f64> {
    let least = rows.saturating_sub(rest);
    let most = below.min(rows);
    let mut ln_weight = ln_choose(below, least) + ln_choose(rest, rows - least);
    // Weights relative to the largest so far, which may be anywhere.
    let (mut largest, mut sum, mut rows_sum) = (f64::NEG_INFINITY, 0.0, 0.0);
    for x in least..=most {
        if !(rule.keeps(x, below) && rule.keeps(rows - x, rest)) {
            if ln_weight > largest {
                let shrink = (largest - ln_weight).exp();
                (sum, rows_sum) = (sum * shrink, rows_sum * shrink);
                largest = ln_weight;
            }
            let weight = (ln_weight - largest).exp();
            sum += weight;
            rows_sum += weight * x as f64;
        }
        if x < most {
            let up = (below - x) as f64 * (rows - x) as f64;
            let down = (x + 1) as f64 * (rest + x + 1 - rows) as f64;
            ln_weight += (up / down).ln();
        }
    }
    (sum > 0.0).then(|| rows_sum / sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::attacks::reversal::tests::{draws, rule};

    #[test]
    fn expected_rows_are_those_of_all_worlds() {
        for (below, rest, rows) in [(2, 8, 2), (1, 4, 3), (5, 5, 4), (3, 6, 9)] {
            for (min, max, k) in
                [(0.0, 0.3, 1), (0.4, 0.6, 1), (0.0, 0.9, 3), (0.0, 1.0, 2)]
            {
                let rule = rule(min, max, k);
                let (mut ways, mut sum) = (0.0, 0.0);
                for (drawn, n) in draws(&[below, rest], rows) {
                    if !(rule.keeps(drawn[0], below) && rule.keeps(drawn[1], rest)) {
                        ways += n;
                        sum += n * drawn[0] as f64;
                    }
                }
                let found = expected_below(below, rest, rows, rule);
                assert_eq!(found.is_some(), ways > 0.0);
                if let Some(found) = found {
                    assert!(
                        (found - sum / ways).abs() < 1e-12,
                        "{below} {rest} {rows}"
                    );
                }
            }
        }
    }
}
