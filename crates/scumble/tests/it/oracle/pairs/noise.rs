//! What noise leaves of somebody who holds the table: company, and the best guess. One column
//! of whole numbers, so that noise has whole steps.

use statrs::function::erf::erfc;

use crate::oracle::pairs::files::Files;
use crate::oracle::pairs::recipe::{COMPANY, Case, GUESS, TOO_STRICT};

/// The people of a class and level, and the width of their noise.
pub(super) struct Level {
    pub(super) level: usize,
    spread: f64,
    /// The people at it.
    pub(super) people: Vec<usize>,
}

/// Who is at which level of which class: it follows from the table, by the rule of the format.
pub(super) fn levels(case: &Case, files: &Files) -> Result<Vec<Level>, String> {
    let mut all = Vec::new();
    for (cells, rows) in files.classes() {
        let people = case.people().iter().enumerate();
        let mut left: Vec<usize> = people
            .filter(|(_, person)| files.fits(&cells, person))
            .map(|(place, _)| place)
            .collect();
        let mut found: Vec<(usize, f64, usize)> = Vec::new();
        for row in rows {
            let row = &files.rows[row];
            let level: usize = row["level"].parse().unwrap();
            let spread: f64 = row["age.spread"].parse().unwrap();
            match found.iter_mut().find(|(known, ..)| *known == level) {
                Some((_, known, n)) => {
                    *n += 1;
                    assert_eq!(*known, spread, "{files}");
                }
                None => found.push((level, spread, 1)),
            }
        }
        found.sort_by_key(|(level, ..)| *level);
        let single = case.recipe.contains("levels = 1");
        for (level, spread, n) in found {
            let people = match single {
                true => left.clone(),
                false => largest(case, &left, spread),
            };
            if people.len() != n {
                return Err(format!(
                    "{n} rows at level {level} of {cells:?}: {people:?}"
                ));
            }
            left.retain(|person| !people.contains(person));
            all.push(Level { level, spread, people });
        }
        if !left.is_empty() {
            return Err(format!("{left:?} of {cells:?} are at no level"));
        }
    }
    Ok(all)
}

/// The largest set in which everybody has company: whoever falls short is dropped.
fn largest(case: &Case, people: &[usize], spread: f64) -> Vec<usize> {
    let (above, below) = COMPANY[case.strength];
    let k = above as f64 / below as f64;
    let age = |person: usize| case.people()[person].age as f64;
    let count = |one: usize, other: usize| {
        let w = (age(one) - age(other)).abs();
        match case.shape {
            _ if w == 0.0 => 1.0,
            _ if spread == 0.0 => 0.0,
            "uniform" => ((spread - w) / spread).max(0.0),
            _ if w / spread / 2.0 > 3.5 => 0.0,
            _ => 0.5 * erfc(w / spread / 2.0 / 2f64.sqrt()),
        }
    };
    let mut left = people.to_vec();
    loop {
        let short = left.iter().position(|one| {
            let equal = left.iter().filter(|other| age(**other) == age(*one)).count();
            let sum: f64 = left.iter().map(|other| count(*one, *other)).sum();
            sum < k * (1.0 + 1e-9) && (equal as f64) < k
        });
        match short {
            Some(place) => left.remove(place),
            None => return left,
        };
    }
}

/// The noise that somebody may get, in steps, with its chance; exact for uniform noise.
fn noise(case: &Case, spread: f64) -> Vec<(i64, f64)> {
    if spread == 0.0 {
        return vec![(0, 1.0)];
    }
    if case.shape == "uniform" {
        let most = ((spread - 1.0) / 2.0).floor() as i64;
        let n = 2 * most + 1;
        return (-most..=most).map(|z| (z, 1.0 / n as f64)).collect();
    }
    let below = |z: f64| 0.5 * erfc(-z / spread / 2f64.sqrt());
    let most = (12.0 * spread).ceil() as i64;
    let chance = |z: i64| below(z as f64 + 0.5) - below(z as f64 - 0.5);
    (-most..=most).map(|z| (z, chance(z))).collect()
}

/// How well a published number fits a true one: larger is better.
fn fit(case: &Case, spread: f64, published: i64, truth: i64) -> i64 {
    let off = (published - truth).abs();
    match case.shape {
        "uniform" => i64::from(off as f64 <= (spread - 1.0).max(0.0) / 2.0),
        _ => -off,
    }
}

/// What a person weighs for a published number, as a whole number.
pub(super) fn weight(case: &Case, spread: f64, published: i64, truth: i64) -> u128 {
    let off = (published - truth) as f64;
    match case.shape {
        _ if spread == 0.0 => u128::from(off == 0.0),
        "uniform" => fit(case, spread, published, truth) as u128,
        _ => 1 + (7.0 * (-0.5 * (off / spread).powi(2)).exp()).round() as u128,
    }
}

/// A multiple of all numbers up to 14.
const ALL: u64 = 360_360;

/// That everybody has the company that was asked for, on average over their noise, and is
/// seldom enough the best guess.
pub(super) fn judge(
    case: &Case,
    levels: &[Level],
    strength: usize,
    guess: bool,
) -> Result<(), String> {
    let (k_above, k_below) = COMPANY[strength];
    let (b_above, b_below) = GUESS[strength];
    for Level { spread, people, .. } in levels {
        let noise = noise(case, *spread);
        for person in people {
            let age = |person: usize| case.people()[person].age;
            // For each noise, how many fit as well as the right one, and how many equally.
            let ranks = noise.iter().map(|(z, chance)| {
                let published = age(*person) + z;
                let fits = |other: &usize| fit(case, *spread, published, age(*other));
                let own = fits(person);
                let as_well = people.iter().filter(|other| fits(other) >= own).count();
                let better = people.iter().any(|other| fits(other) > own);
                let ties = people.iter().filter(|other| fits(other) == own).count();
                (as_well as u64, if better { 0 } else { ALL / ties as u64 }, *chance)
            });
            let ranks: Vec<(u64, u64, f64)> = ranks.collect();
            let n = ranks.len() as u64;
            let (company, best) = match case.shape {
                "uniform" => (
                    ranks.iter().map(|(rank, ..)| rank).sum::<u64>() * k_below
                        >= k_above * n,
                    ranks.iter().map(|(_, best, _)| best).sum::<u64>() * b_below
                        <= b_above * n * ALL,
                ),
                _ => {
                    let company: f64 =
                        ranks.iter().map(|(r, _, p)| *r as f64 * p).sum();
                    let best: f64 = ranks.iter().map(|(_, b, p)| *b as f64 * p).sum();
                    (
                        company >= k_above as f64 / k_below as f64 - 1e-9,
                        best / ALL as f64 <= b_above as f64 / b_below as f64 + 1e-9,
                    )
                }
            };
            // A best guess is bounded beside company, and alone where that asks too much.
            if !company && (!guess || strength != TOO_STRICT) {
                return Err(format!(
                    "person {person} has too little company: {ranks:?}"
                ));
            }
            if guess && !best {
                return Err(format!("person {person} is guessed too often: {ranks:?}"));
            }
        }
    }
    Ok(())
}
