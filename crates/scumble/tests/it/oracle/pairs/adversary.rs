//! An adversary for each promise.

use std::collections::BTreeMap;

use crate::oracle::pairs::files::Files;
use crate::oracle::pairs::recipe::{
    BETA, BREACH, Case, DELTA, ENTROPY, FACTOR, K, KNOWN, L, LISTED, PRESENT, Person,
    R, RECURSIVE, SUPPORT, T, TOWNS,
};
use crate::oracle::pairs::{Place, Promise, What, noise, worlds};

type Judged = Result<(), String>;

fn must(holds: bool, why: impl FnOnce() -> String) -> Judged {
    if holds { Ok(()) } else { Err(why()) }
}

/// Somebody who holds the files, and what the adversaries of promises know.
pub(super) struct Adversary<'a> {
    case: &'a Case,
    files: &'a Files,
    levels: Vec<noise::Level>,
    /// For each person and row, what worlds weigh in which the row is theirs.
    whose: Vec<Vec<u128>>,
}

impl<'a> Adversary<'a> {
    pub(super) fn of(case: &'a Case, files: &'a Files) -> Result<Self, String> {
        must(files.rows.len() == case.values.len(), || "rows are missing".to_owned())?;
        let noisy = files.rows[0].contains_key("age.spread");
        let levels = if noisy { noise::levels(case, files)? } else { Vec::new() };
        let whose = whose_row(case, files, &levels)?;
        Ok(Self { case, files, levels, whose })
    }

    /// Whether a promise of a column holds, with the numbers of a strength.
    pub(super) fn judge(
        &self,
        promise: Promise,
        column: &str,
        strength: usize,
    ) -> Judged {
        let Self { case, files, levels, whose } = self;
        match promise.place {
            Place::Cells => of_cells(case, files, promise.what, strength),
            Place::Drawn => of_draws(case, files, promise.what, column, strength),
            Place::Noise => {
                noise::judge(case, levels, strength, promise.what == What::BestGuess)
            }
            Place::Rows | Place::Apart if promise.what == What::Robustness => {
                robust(case, files, promise.place, column, strength)
            }
            Place::Rows | Place::Apart => {
                of_values(files, promise, column, whose, strength)
            }
        }
        .map_err(|why| format!("{promise} {column}: {why}"))
    }
}

/// For each person and row, what worlds weigh in which the row is theirs: cells must fit, and
/// numbers with noise weigh by how well they do.
fn whose_row(
    case: &Case,
    files: &Files,
    levels: &[noise::Level],
) -> Result<Vec<Vec<u128>>, String> {
    let people = case.people();
    let weights = people.iter().enumerate().map(|(place, person)| {
        let level = levels.iter().find(|level| level.people.contains(&place));
        let weight = |row: &BTreeMap<String, String>| match level {
            _ if !files.fits(&files.cells(row), person) => 0,
            None => 1,
            Some(own) if own.level.to_string() != row["level"] => 0,
            Some(_) => {
                let spread = row["age.spread"].parse().unwrap();
                noise::weight(case, spread, row["age"].parse().unwrap(), person.age)
            }
        };
        files.rows.iter().map(weight).collect()
    });
    let (ways, all) = worlds::matchings(&weights.collect::<Vec<Vec<u128>>>());
    must(all > 0, || "no world fits the release".to_owned())?;
    Ok(ways)
}

/// Groups of cells, against whoever holds table and population.
fn of_cells(case: &Case, files: &Files, what: What, strength: usize) -> Judged {
    let classes = files.classes();
    let k = K[strength] as usize;
    for (cells, rows) in &classes {
        let crowd =
            case.everyone.iter().filter(|person| files.fits(cells, person)).count();
        match what {
            What::KAnonymity => {
                must(rows.len() >= k, || format!("{cells:?}: {rows:?}"))?
            }
            What::KMap => must(crowd >= k, || format!("{cells:?}: {crowd}"))?,
            _ => {}
        }
    }
    if what != What::Presence {
        return Ok(());
    }
    let class =
        |person: &Person| classes.keys().position(|cells| files.fits(cells, person));
    let class: Vec<Option<usize>> = case.everyone.iter().map(class).collect();
    let sizes: Vec<usize> = classes.values().map(Vec::len).collect();
    let (present, all) = worlds::tables(&class, &sizes);
    let (above, below) = PRESENT[strength];
    let fine = |present: &u128| present * below <= all * above;
    must(all > 0 && present.iter().all(fine), || format!("{present:?} of {all}"))
}

/// Chances, as whole numbers with a sum.
fn bounded(
    prior: (u128, u128),
    posterior: (u128, u128),
) -> impl Fn(u128, u128) -> bool {
    // Of somebody who gives the value `prior`, and all the rest to the least likely other:
    // prior a / (prior a + (1 - prior) b) <= posterior.
    let (p, n) = prior;
    let (q, m) = posterior;
    move |a, b| p * a * (m - q) <= (n - p) * b * q
}

/// Drawn values, whatever was believed before and is known beside them.
fn of_draws(
    case: &Case,
    files: &Files,
    what: What,
    column: &str,
    strength: usize,
) -> Judged {
    let matrix = files.matrix(column);
    let truth = case.truth(column);
    for value in 0..3 {
        let bound = match what {
            What::Breach => Some(BREACH[strength]),
            _ if case.bounds_in_file() => LISTED[strength].get(value).copied(),
            _ => {
                let n = truth.len() as u128;
                let own = truth.iter().filter(|known| **known == value).count() as u128;
                let (above, below) = FACTOR[strength];
                let posterior = (own * above, n * below);
                (own > 0 && posterior.0 < posterior.1).then_some(((own, n), posterior))
            }
        };
        let Some((prior, posterior)) = bound else { continue };
        let holds = bounded(prior, posterior);
        for published in &matrix {
            for other in (0..3).filter(|other| *other != value) {
                let (a, b) = (published[value], published[other]);
                must(holds(a, b), || format!("value {value}, {prior:?}: {matrix:?}"))?;
                // The other way, the belief is in all other values.
                let back = !case.both_ways() || holds(b, a);
                must(back, || format!("not value {value}, {prior:?}: {matrix:?}"))?;
            }
        }
    }
    Ok(())
}

/// Values in the rows or apart: shares in every group, and what everybody's value is believed
/// to be by somebody who weighs all worlds.
fn of_values(
    files: &Files,
    promise: Promise,
    column: &str,
    whose: &[Vec<u128>],
    strength: usize,
) -> Judged {
    let n = files.rows.len();
    let mut whole = [0u128; 3];
    // What the value of a row may be, with the same sum for all rows.
    const SUM: u128 = 360_360;
    let mut cells: Vec<[u128; 3]> = vec![[0; 3]; n];
    let mut groups: Vec<[u128; 3]> = Vec::new();
    match promise.place {
        Place::Apart => {
            let own = files.groups(column);
            for (row, (_, counts)) in own.iter().enumerate() {
                let size: u128 = counts.iter().sum();
                cells[row] = counts.map(|count| count * (SUM / size));
            }
            let own: BTreeMap<String, [u128; 3]> = own.into_iter().collect();
            groups.extend(own.into_values());
        }
        _ => {
            let values = files.values(column);
            values.iter().enumerate().for_each(|(row, value)| cells[row][*value] = SUM);
            for rows in files.classes().values() {
                let mut counts = [0; 3];
                rows.iter().for_each(|row| counts[values[*row]] += 1);
                groups.push(counts);
            }
        }
    }
    for counts in &groups {
        (0..3).for_each(|value| whole[value] += counts[value]);
    }
    for counts in &groups {
        holds(strength, promise, counts, &whole)
            .map_err(|why| format!("{why} in a group of {counts:?}"))?;
    }
    for (person, ways) in whose.iter().enumerate() {
        let mut believed = [0; 3];
        for (ways, cell) in ways.iter().zip(&cells) {
            (0..3).for_each(|value| believed[value] += ways * cell[value]);
        }
        holds(strength, promise, &believed, &whole)
            .map_err(|why| format!("{why} of person {person}: {believed:?}"))?;
    }
    Ok(())
}

/// Whether weights of values keep a promise about them.
fn holds(at: usize, promise: Promise, q: &[u128; 3], p: &[u128; 3]) -> Judged {
    let (sum, n) = (q.iter().sum::<u128>(), p.iter().sum::<u128>());
    let each = || q.iter().zip(p);
    let mut sorted = *q;
    sorted.sort_unstable_by(|a, b| b.cmp(a));
    let share = |above: u128, below: u128| above as f64 / below as f64;
    let fine = match promise.what {
        What::Distinct => q.iter().filter(|q| **q > 0).count() as u128 >= L[at],
        What::Entropy => {
            let (above, below) = ENTROPY[at];
            match u32::try_from(sum) {
                // sum^sum / (the product of q^q) is at least l^sum, in whole numbers.
                Ok(small @ ..=14) => {
                    let powers = q.iter().map(|q| q.pow(*q as u32)).product::<u128>();
                    sum.pow(small) * below.pow(small) >= above.pow(small) * powers
                }
                _ => {
                    let parts = q.iter().filter(|q| **q > 0).map(|q| share(*q, sum));
                    let entropy: f64 = parts.map(|q| -q * q.ln()).sum();
                    entropy >= share(above, below).ln() - 1e-12
                }
            }
        }
        What::Recursive => {
            let (above, below) = RECURSIVE[at];
            let rest: u128 = sorted[L[at] as usize - 1..].iter().sum();
            sorted[0] * below < above * rest
        }
        What::Closeness => {
            let (above, below) = T[at];
            let apart: u128 = each().map(|(q, p)| (q * n).abs_diff(p * sum)).sum();
            apart * below <= 2 * above * sum * n
        }
        What::Likeness | What::EnhancedLikeness => {
            let (above, below) = BETA[at];
            each().all(|(q, p)| {
                let basic = q * n * below <= (below + above) * p * sum;
                let (q, p) = (share(*q, sum), share(*p, n));
                let enhanced = q == 0.0 || q <= p - p * p.ln() + 1e-12;
                basic && (promise.what == What::Likeness || enhanced)
            })
        }
        What::Disclosure => each().filter(|(_, p)| **p > 0).all(|(q, p)| {
            *q > 0 && (share(*q, sum) / share(*p, n)).ln().abs() <= DELTA[at] + 1e-12
        }),
        _ => panic!("{promise} is not about shares"),
    };
    must(fine, || "shares are too far off".to_owned())?;
    // Of values apart, no value has more than its part of a group.
    let strong = promise.place == Place::Apart && promise.what == What::Distinct;
    must(!strong || sorted[0] * L[at] <= sum, || "a value is too common".to_owned())
}

/// Exact posteriors of somebody who knows how values depend on the town.
fn robust(
    case: &Case,
    files: &Files,
    place: Place,
    column: &str,
    strength: usize,
) -> Judged {
    let truth = case.truth(column);
    let known = |town: &str| {
        if case.knows_from_file() {
            return KNOWN[TOWNS.iter().position(|known| *known == town).unwrap()];
        }
        let of = |all: bool| {
            let mut counts = [0u128; 3];
            for (person, value) in case.people().iter().zip(&truth) {
                counts[*value] += u128::from(all || person.town == town);
            }
            counts
        };
        let own = of(false);
        if own.iter().sum::<u128>() < SUPPORT as u128 { of(true) } else { own }
    };
    let mut groups: Vec<(Vec<&str>, [u128; 3])> = Vec::new();
    match place {
        Place::Apart => {
            let mut rows: BTreeMap<String, Vec<&str>> = BTreeMap::new();
            let own = files.groups(column);
            for (row, (group, _)) in files.rows.iter().zip(&own) {
                rows.entry(group.clone()).or_default().push(&row["town"]);
            }
            let counts: BTreeMap<String, [u128; 3]> = own.into_iter().collect();
            groups.extend(rows.into_values().zip(counts.into_values()));
        }
        _ => {
            let values = files.values(column);
            for (cells, rows) in files.classes() {
                let people = case.people().iter();
                let people = people.filter(|person| files.fits(&cells, person));
                let mut counts = [0; 3];
                rows.iter().for_each(|row| counts[values[*row]] += 1);
                groups.push((people.map(|person| person.town).collect(), counts));
            }
        }
    }
    let (above, below) = R[strength];
    for (towns, counts) in groups {
        let same = towns.len() as u128 == counts.iter().sum::<u128>();
        must(same, || format!("{towns:?} do not have {counts:?}"))?;
        let beliefs: Vec<[u128; 3]> = towns.iter().map(|town| known(town)).collect();
        let (sums, all) = worlds::arrangements(&beliefs, counts);
        let fine = sums.iter().flatten().all(|sum| sum * above <= all * below);
        must(all > 0 && fine, || format!("{towns:?} {counts:?}: {sums:?} of {all}"))?;
    }
    Ok(())
}
