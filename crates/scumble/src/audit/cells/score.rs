//! How good guesses about rows and values are. Only here, and in `members` for guesses about
//! presence, is the truth known.

use serde_json::{Map, Value, json};

use crate::audit::apart::codes_of;
use crate::audit::attacks::homogeneity::{ValueGuess, commonest};
use crate::audit::attacks::linkage::LinkageGuesses;
use crate::audit::cells::{CellClasses, ValueColumn};
use crate::audit::given::{sensitive_place, values_of};
use crate::audit::{Attacked, detail};
use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::table::{Code, Of, TupleId};

/// The original, and how its sensitive values are called in the release.
#[derive(Debug)]
pub(crate) struct TrueRows<'a> {
    original: &'a Microdata,
    columns: Vec<TrueColumn>,
}

#[derive(Debug)]
struct TrueColumn {
    /// Its place among the original's sensitive columns.
    place: usize,
    /// For each published value the original's code, if it has the value.
    codes: Of<Code, Option<Code>>,
}

impl<'a> TrueRows<'a> {
    /// Finds the published sensitive columns in the original.
    pub(crate) fn of(original: &'a Microdata, view: &CellClasses) -> Result<Self> {
        let column = |published: &ValueColumn| {
            let place = sensitive_place(original, &published.name)?;
            let codes = codes_of(&published.domain, &original.sensitive[place].domain);
            Ok(TrueColumn { place, codes: codes.into() })
        };
        let columns = view.sensitive.iter().map(column).collect::<Result<_>>()?;
        Ok(Self { original, columns })
    }

    /// How often the right row is picked, and how few candidates people have.
    pub(crate) fn linkage(
        &self,
        guesses: &LinkageGuesses,
        rows: u64,
        k: Option<u64>,
    ) -> Attacked {
        let (mut people, mut success) = (0u64, 0.0);
        let (mut alone, mut below_k, mut nowhere) = (0u64, 0u64, 0u64);
        let mut smallest: Option<u64> = None;
        for ((_, n), candidates) in guesses.tuples.iter().zip(&guesses.candidates) {
            people += n;
            if *candidates == 0 {
                nowhere += n;
                continue;
            }
            success += *n as f64 / *candidates as f64;
            alone += if *candidates == 1 { *n } else { 0 };
            below_k += if k.is_some_and(|k| *candidates < k) { *n } else { 0 };
            smallest = Some(smallest.map_or(*candidates, |held| held.min(*candidates)));
        }
        let share = |n: u64| n as f64 / people.max(1) as f64;
        let mut detail = detail(json!({
            "alone": share(alone), "below_k": share(below_k),
            "no_candidates": share(nowhere), "smallest": smallest, "people": people,
            "sampled": guesses.people_of_group.is_none(),
        }));
        if k.is_none() {
            detail.shift_remove("below_k");
        }
        Attacked {
            name: "linkage".into(),
            success: success / people.max(1) as f64,
            chance: 1.0 / rows.max(1) as f64,
            worst: smallest.map_or(0.0, |smallest| 1.0 / smallest as f64),
            detail,
        }
    }

    /// How often the sensitive value is guessed; the numbers are those of the column where
    /// the release helps most. Nothing without sensitive columns.
    pub(crate) fn homogeneity(
        &self,
        guesses: &LinkageGuesses,
        view: &CellClasses,
    ) -> Option<Attacked> {
        let columns = self.columns.iter().zip(&guesses.values).zip(view.columns());
        let scores: Vec<Score> = columns
            .map(|((column, values), published)| {
                self.score(column, guesses, values, commonest(&published.whole()))
            })
            .collect();
        let gain = |score: &Score| score.success - score.chance;
        let best = scores
            .iter()
            .zip(&view.sensitive)
            .max_by(|a, b| gain(a.0).total_cmp(&gain(b.0)))?;
        let largest =
            |of: fn(&Score) -> f64| scores.iter().map(of).fold(0.0, |a, b| b.max(a));
        let by_column: Map<String, Value> = view
            .sensitive
            .iter()
            .zip(&scores)
            .map(|(column, score)| {
                let numbers = json!({
                    "success": score.success, "chance": score.chance,
                    "worst": score.worst, "certain": score.certain,
                });
                (column.name.clone(), numbers)
            })
            .collect();
        let people: u64 = guesses.tuples.iter().map(|(_, n)| n).sum();
        Some(Attacked {
            name: "homogeneity".into(),
            success: best.0.success,
            chance: best.0.chance,
            worst: largest(|score| score.worst),
            detail: detail(json!({
                "column": best.1.name, "certain": largest(|score| score.certain),
                "columns": by_column, "people": people,
                "sampled": guesses.people_of_group.is_none(),
            })),
        })
    }

    /// Scores the guesses about one column. `blind` is the guess without quasi values.
    fn score(
        &self,
        column: &TrueColumn,
        guesses: &LinkageGuesses,
        values: &[ValueGuess],
        blind: ValueGuess,
    ) -> Score {
        let census = &self.original.census;
        let code = |guess: ValueGuess| {
            column.codes.at(Code::new(guess.value)).copied().flatten()
        };
        let blind = code(blind);
        let (mut people, mut right, mut blindly) = (0u64, 0.0, 0.0);
        let (mut certain, mut worst) = (0u64, 0.0f64);
        let found = guesses.tuples.iter().zip(&guesses.candidates).zip(values);
        for (((tuple, n), candidates), guess) in found {
            people += n;
            let guessed = code(*guess);
            let tuple = TupleId::new(*tuple);
            let (mut n_right, mut n_blindly) = (0u64, 0u64);
            for (value, n) in values_of(census, column.place, tuple) {
                n_right += if Some(value) == guessed { n } else { 0 };
                n_blindly += if Some(value) == blind { n } else { 0 };
            }
            // All of a tuple's people, or as many as were sampled.
            let weight = *n as f64 / census.rows[tuple].max(1) as f64;
            right += weight * n_right as f64;
            blindly += weight * n_blindly as f64;
            if *candidates > 0 {
                worst = worst.max(guess.support as f64 / *candidates as f64);
                certain += if guess.support == *candidates { *n } else { 0 };
            }
        }
        let all = people.max(1) as f64;
        let (success, chance) = (right / all, blindly / all);
        Score { success, chance, worst, certain: certain as f64 / all }
    }
}

/// How guesses about one column went.
struct Score {
    success: f64,
    chance: f64,
    worst: f64,
    certain: f64,
}
