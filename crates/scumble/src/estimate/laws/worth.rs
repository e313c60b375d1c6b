//! What a row is worth for a question: the mean over all that its cells may stand for.

use hashbrown::HashMap;

use crate::error::{Error, Result};
use crate::estimate::evidence::cells::ColumnCells;
use crate::estimate::laws::effects::Effect;
use crate::estimate::laws::joint::Joint;
use crate::estimate::laws::moments::{RowMoments, add_times};
use crate::estimate::laws::valuation::{Added, Given, Valuation};
use crate::estimate::query::Truth;
use crate::estimate::query::facets::{Facet, Odd};
use crate::estimate::query::question::digits;

/// The most combinations of values that are looked at for one combination of cells.
const MOST_COMBINATIONS: usize = 1 << 20;

/// What rows of a class are worth, for each combination of true randomized values.
#[derive(Clone)]
pub(crate) struct Worth {
    pub(crate) key: Vec<u32>,
    pub(crate) moments: Vec<RowMoments>,
    /// Whether there is a combination of values for which they do not count.
    pub(crate) open: bool,
    /// Whether something was taken from other rows.
    pub(crate) guessed: bool,
    /// How that depends on columns whose values are counted.
    pub(crate) effects: Vec<Effect>,
    /// The combinations that count, by the place of the odd of each facet; only where they
    /// are asked for.
    pub(crate) combinations: Vec<Vec<usize>>,
}

impl Valuation<'_, '_> {
    /// Tries all combinations of values that the question tells apart.
    pub(crate) fn enumerate(
        &self,
        entry: usize,
        subtables: &[u32],
        joint: &Joint,
        given: Given<'_>,
    ) -> Result<Vec<Worth>> {
        let mut worths: Vec<Worth> = Vec::new();
        let question = self.question;
        let columns = &question.evidence.columns;
        let (size, sizes) = (joint.size(), joint.sizes());
        // Of cells of the row itself; of a range that was drawn, of each that may be true.
        let odds_of = |values: Option<&[usize]>| -> Vec<&[Odd]> {
            let of_facets = self.facets.iter().map(|facet| {
                let place = facet.place;
                let drawn = values.and_then(|v| question.code(place, subtables, v));
                let code = drawn.unwrap_or_else(|| columns[place].codes[entry]);
                facet.odds[code as usize].as_deref().unwrap_or_default()
            });
            of_facets.collect()
        };
        let odds = odds_of(None);
        let most = |(facet, odds): (&Facet, &&[Odd])| match columns[facet.place].within
        {
            Some(_) => facet.odds.iter().flatten().map(Vec::len).max().unwrap_or(0),
            None => odds.len(),
        };
        let mut each = self.facets.iter().zip(&odds).map(most);
        let n = each.try_fold(size, |n, odds| n.checked_mul(odds));
        if n.is_none_or(|n| n > MOST_COMBINATIONS) {
            return Err(Error::recipe(
                "the question tells too many combinations of values apart",
            )
            .with_hint("ask about fewer columns at once"));
        }
        if n == Some(0) {
            return Ok(worths);
        }
        let counted: Vec<usize> = match self.group(entry) {
            Some(group) => (0..odds.len())
                .filter(|f| self.facets[*f].cells.counted[group])
                .collect(),
            None => Vec::new(),
        };
        let having = |has: fn(&ColumnCells, u32) -> bool| -> Vec<usize> {
            let own =
                |facet: &Facet| has(facet.cells, columns[facet.place].codes[entry]);
            (0..odds.len()).filter(|facet| own(&self.facets[*facet])).collect()
        };
        let guessed = having(ColumnCells::is_guess);
        let missing = having(ColumnCells::may_be_missing);
        let (mut matters, mut limits) = (false, false);
        let mut places: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut truths = self.truths(entry, given);
        let mut open = false;
        for cell in 0..size {
            let values = digits(cell, &sizes);
            let odds = odds_of(Some(&values));
            let mut chosen = vec![0; odds.len()];
            // A range that nothing is possible in has no combinations.
            let mut is_next = odds.iter().all(|odds| !odds.is_empty());
            while is_next {
                let (mut chance, mut first, mut second) = (1.0, 1.0, 1.0);
                for (number, (facet, odds)) in self.facets.iter().zip(&odds).enumerate()
                {
                    let odd = odds[chosen[number]];
                    for (test, truth) in
                        facet.tests.iter().zip(&facet.truths[odd.label as usize])
                    {
                        truths[*test] = *truth;
                    }
                    chance *= odd.chance;
                    let own = matches!(self.added, Added::Cells(own) if own == number);
                    first *= if own { odd.first } else { odd.chance };
                    second *= if own { odd.second } else { odd.chance };
                }
                matters |= self.matters(&guessed, &truths);
                limits |= self.matters(&missing, &truths);
                if !question.satisfied_drawn(&truths, subtables, &values) {
                    open = true;
                    is_next = next(&mut chosen, &odds);
                    continue;
                }
                let code = |place: usize| {
                    let own = question.code(place, subtables, &values);
                    let apart = self.apart.iter().position(|a| a.place == place);
                    own.or_else(|| given.codes.get(apart?).copied())
                        .unwrap_or_else(|| columns[place].codes[entry])
                };
                let key = question.group_by.iter().map(|place| {
                    let facet = self.facets.iter().position(|f| f.place == *place);
                    let facet = facet.filter(|_| columns[*place].within.is_none());
                    facet.map_or_else(|| code(*place), |f| odds[f][chosen[f]].label)
                });
                let key: Vec<u32> = key.collect();
                let place = *places.entry(key).or_insert_with_key(|key| {
                    worths.push(Worth::zero(key.clone(), size));
                    worths.len() - 1
                });
                let worth = &mut worths[place];
                if given.lists {
                    worth.combinations.push(chosen.clone());
                }
                let number = match &self.added {
                    Added::Numbers(own, numbers) => Some(numbers[code(*own) as usize]),
                    _ => None,
                };
                let sum = number.map_or(first, |number| chance * number);
                worth.effects.resize_with(counted.len(), Vec::new);
                for (effect, facet) in worth.effects.iter_mut().zip(&counted) {
                    effect.resize(odds[*facet].len(), [0.0; 2]);
                    let own = matches!(self.added, Added::Cells(own) if own == *facet);
                    let odd = odds[*facet][chosen[*facet]].chance;
                    let first = [chance / odd, if own { chance } else { sum } / odd];
                    add_times(&mut effect[chosen[*facet]], 1.0, first);
                }
                let moments = &mut worth.moments[cell];
                moments.count += chance;
                moments.sum += sum;
                moments.square += number.map_or(second, |n| chance * n * n);
                is_next = next(&mut chosen, &odds);
            }
        }
        open |= worths.len() > 1;
        if matters || limits {
            // Nothing is certain of what was taken from other rows or may be missing.
            open = true;
            if worths.is_empty() && question.group_by.is_empty() {
                worths.push(Worth::zero(Vec::new(), size));
            }
            worths.iter_mut().for_each(|worth| worth.guessed = matters);
        }
        for worth in &mut worths {
            worth.open = open;
            if !open {
                // What is certain is so, whatever rounding says.
                worth.moments.iter_mut().for_each(|moments| moments.count = 1.0);
            }
        }
        Ok(worths)
    }

    /// Whether it makes a difference what these columns have, given the truth of tests of
    /// others.
    fn matters(&self, guessed: &[usize], truths: &[Truth]) -> bool {
        let apart = |facet: &usize| {
            let place = self.facets[*facet].place;
            let added = matches!(self.added, Added::Cells(own) if own == *facet);
            added || self.question.group_by.contains(&place)
        };
        let own = |test: &usize| {
            guessed.iter().any(|facet| self.facets[*facet].tests.contains(test))
        };
        let open = |test: usize| if own(&test) { None } else { truths[test] };
        match self.question.truth_by(&open) {
            Some(false) => false,
            Some(true) => guessed.iter().any(apart),
            None => !guessed.is_empty(),
        }
    }
}

/// Goes on to the next combination of odds, if there is one.
fn next(chosen: &mut [usize], odds: &[&[Odd]]) -> bool {
    let place = (0..odds.len()).rev().find(|p| chosen[*p] + 1 < odds[*p].len());
    if let Some(place) = place {
        chosen[place] += 1;
        chosen[place + 1..].fill(0);
    }
    place.is_some()
}

impl Worth {
    fn zero(key: Vec<u32>, size: usize) -> Self {
        let (moments, effects) = (vec![RowMoments::default(); size], Vec::new());
        let (open, guessed, combinations) = (false, false, Vec::new());
        Self { key, moments, open, guessed, effects, combinations }
    }

    /// Whether it is the same as another.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        self.moments == other.moments && self.open == other.open
    }

    /// Whether the true randomized values make no difference.
    pub(crate) fn is_even(&self) -> bool {
        self.moments.iter().all(|moments| *moments == self.moments[0])
    }
}
