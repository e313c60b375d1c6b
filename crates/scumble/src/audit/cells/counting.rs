//! Counting: who is in the table, if weights are taken for the counts they are.
//!
//! The adversary holds the population. Of the n rows of a group, n f(v) have the value v if
//! the weights are the table's own; so only those sets of n people remain that have these
//! counts (see `worlds`). Weights that the source shifts towards even ones hide nothing:
//! even weights are public, and the shift is found because counts are whole numbers.
//!
//! # Guarantee
//! Where a group is solved, presence is the exact share of the sets that fit everything
//! that is published about it. Weights of the population's own leave all sets: presence
//! stays n / N. That these weights *are* the population's is checked, and that counts are
//! whole numbers that people can have; a group where that fails is not certified.
//!
//! # Limits
//! Groups with too many partial decisions are not solved. There the adversary is certain
//! of those whose presence follows from bounds on the counts, and guesses the others from
//! their likeliest value. Which columns carry the table's weights is not held to tell
//! anything, though the publisher chose them with the table at hand. If several shifts
//! give whole numbers, all sets that fit any of them remain; past [`MOST_SHIFTS`] the
//! group is not solved.
//!
//! # Cost
//! One column: one division a value. Several: see `worlds`; at most [`CHECKED`] steps a
//! group to certify the table's own weights, and [`TRIED`] to undo a shift.
//!
//! # Source
//! docs/methods.md, "The counting adversary"; ours.

mod shift;

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::audit::cells::classes::CellClasses;
use crate::audit::cells::people::People;
use crate::audit::cells::shares::{Share, Shares};
use crate::audit::cells::weights::{Bound, Weights, Whose};
use crate::audit::cells::worlds::{Type, Worlds, worlds};
use crate::table::Code;

/// A count that is a float is off by no more than this.
const ROUNDING: f64 = 1e-6;

/// More shifts that could be the one are not followed.
const MOST_SHIFTS: usize = 64;

/// Steps for a group, and for each of its people, where a promise depends on it: sixteen
/// times what the publisher takes before it gives a set of columns up.
const CHECKED: (u64, u64) = (20_000, 400);

/// The same for shifted weights, of which nothing is certified.
const TRIED: (u64, u64) = (10_000, 50);

/// No group takes more than this: each step is remembered, in four bytes.
const MOST_STEPS: u64 = 1 << 24;

/// What a counting adversary finds.
#[derive(Debug)]
pub(crate) struct Counted {
    pub(crate) shares: Shares,
    /// Groups solved exactly, groups where only bounds were followed, and groups whose
    /// weights cannot be what the manifest says.
    pub(crate) solved: u64,
    pub(crate) bounded: u64,
    pub(crate) wrong: u64,
}

/// A column that is counted: how many rows have each code, ascending.
type Counts = Vec<(Code, u64)>;

/// What is found out about one group.
enum Told {
    /// For each of its tuples a share; whether the group is solved.
    Shares(Vec<Share>, bool),
    /// The weights cannot be what the manifest says.
    Wrong,
}

/// Looks at every group.
pub(crate) fn count(
    view: &CellClasses,
    people: &People<'_>,
    weights: &Weights,
    bound: &Bound,
) -> Counted {
    let tuples = people.tuples_of_groups();
    let told: Vec<Told> = (0..view.n_groups())
        .into_par_iter()
        .map(|group| {
            if people.known.watch.is_cancelled() {
                return Told::Wrong;
            }
            let group = Group {
                people,
                tuples: &tuples[group],
                rows: view.sizes[group],
                n_people: people.of_group[group],
                weights: &bound[group],
                whose: &weights.whose[group],
            };
            group.tell()
        })
        .collect();
    let mut distinct = vec![Share::of(people.left_out, people.unpublished)];
    let mut of_tuple = vec![0; people.group_of.len()];
    let (mut solved, mut bounded, mut wrong) = (0, 0, 0);
    for (group, (told, tuples)) in told.into_iter().zip(&tuples).enumerate() {
        let shares = match told {
            Told::Shares(shares, true) => {
                solved += 1;
                shares
            }
            Told::Shares(shares, false) => {
                bounded += 1;
                shares
            }
            Told::Wrong => {
                wrong += 1;
                let share = view.sizes[group] as f64 / people.of_group[group] as f64;
                vec![Share::Guess(share); tuples.len()]
            }
        };
        for (tuple, share) in tuples.iter().zip(shares) {
            if distinct.last() != Some(&share) {
                distinct.push(share);
            }
            of_tuple[*tuple as usize] = distinct.len() as u32 - 1;
        }
    }
    Counted { shares: Shares { distinct, of_tuple }, solved, bounded, wrong }
}

impl Counted {
    /// The most certain that is known about anybody; guesses do not count.
    pub(crate) fn worst(&self) -> f64 {
        let known = |tuple: &u32| match self.shares.distinct[*tuple as usize] {
            Share::Guess(_) => None,
            share => Some(share.to_f64()),
        };
        let shares = self.shares.of_tuple.iter().filter_map(known);
        shares.fold(0.0, |worst, share| worst.max(share).max(1.0 - share))
    }
}

/// One group and everything that is known about it.
struct Group<'a> {
    people: &'a People<'a>,
    tuples: &'a [u32],
    rows: u64,
    n_people: u64,
    weights: &'a [Vec<(Code, f64)>],
    whose: &'a [Whose],
}

impl Group<'_> {
    fn tell(&self) -> Told {
        let mut counted: Vec<(usize, Counts)> = Vec::new();
        let mut shifted: Vec<usize> = Vec::new();
        for (column, whose) in self.whose.iter().enumerate() {
            match whose {
                Whose::Population if self.is_populations(column) => {}
                Whose::Population => return Told::Wrong,
                Whose::Table => match self.counts(column) {
                    Some(counts) => counted.push((column, counts)),
                    None => return Told::Wrong,
                },
                Whose::Shifted => shifted.push(column),
            }
        }
        if !shifted.is_empty() {
            return self.tell_shifted(&shifted);
        }
        match &counted[..] {
            [] => Told::Shares(vec![self.plain(); self.tuples.len()], true),
            [(column, counts)] => {
                let people = self.people_of(*column);
                let share = |tuple: &u32| {
                    let code = self.people.known.tuples[*column][*tuple as usize];
                    let n = |held: &[(Code, u64)]| {
                        let place = held.binary_search_by_key(&code, |(code, _)| *code);
                        place.map_or(0, |place| held[place].1)
                    };
                    Share::of(n(counts), n(&people))
                };
                Told::Shares(self.tuples.iter().map(share).collect(), true)
            }
            _ => {
                let (types, type_of, places) = self.types(&counted);
                let counts = places.counts(&counted);
                let watch = self.people.known.watch;
                match worlds(&types, &counts, self.steps(CHECKED), watch) {
                    Worlds::None => Told::Wrong,
                    Worlds::Counted { shares, .. } => {
                        Told::Shares(spread(&shares, &type_of), true)
                    }
                    Worlds::Unknown { settled } => {
                        let shares = guesses(&types, &counts, &settled);
                        Told::Shares(spread(&shares, &type_of), false)
                    }
                }
            }
        }
    }

    /// All sets that fit any shift that gives whole numbers.
    fn tell_shifted(&self, columns: &[usize]) -> Told {
        let plain = || vec![self.plain(); self.tuples.len()];
        let capacity: Vec<Counts> =
            columns.iter().map(|column| self.people_of(*column)).collect();
        let weights: Vec<&[(Code, f64)]> =
            columns.iter().map(|column| &self.weights[*column][..]).collect();
        let Some(shifts) = shift::recover(&weights, &capacity, self.rows) else {
            // Even weights tell nothing.
            return Told::Shares(plain(), true);
        };
        let unsolved = || {
            let share = self.plain().to_f64();
            Told::Shares(vec![Share::Guess(share); self.tuples.len()], false)
        };
        if shifts.len() > MOST_SHIFTS {
            return unsolved();
        }
        let mut mixed: Vec<(Vec<Share>, f64)> = Vec::new();
        let mut type_of = Vec::new();
        for counts in &shifts {
            let counted: Vec<(usize, Counts)> =
                columns.iter().copied().zip(counts.iter().cloned()).collect();
            let (types, of, places) = self.types(&counted);
            let counts = places.counts(&counted);
            let steps = self.steps(TRIED) / shifts.len();
            match worlds(&types, &counts, steps, self.people.known.watch) {
                Worlds::None => {}
                Worlds::Counted { shares, ln_ways } => mixed.push((shares, ln_ways)),
                Worlds::Unknown { settled } if shifts.len() == 1 => {
                    let shares = guesses(&types, &counts, &settled);
                    return Told::Shares(spread(&shares, &of), false);
                }
                Worlds::Unknown { .. } => return unsolved(),
            }
            type_of = of;
        }
        match &mixed[..] {
            [] => unsolved(),
            [(shares, _)] => Told::Shares(spread(shares, &type_of), true),
            _ => Told::Shares(spread(&mixture(&mixed), &type_of), true),
        }
    }

    /// How many steps may be taken.
    fn steps(&self, (once, each): (u64, u64)) -> usize {
        let steps = self.n_people.saturating_mul(each).saturating_add(once);
        steps.min(MOST_STEPS) as usize
    }

    /// The share of everybody, if weights tell nothing.
    fn plain(&self) -> Share {
        Share::of(self.rows, self.n_people)
    }

    /// How many people of the group have each value of a column, ascending.
    fn people_of(&self, column: usize) -> Counts {
        let codes = self.people.known.tuples[column];
        let mut values: Vec<(Code, u64)> = self
            .tuples
            .iter()
            .map(|tuple| {
                (codes[*tuple as usize], self.people.known.people[*tuple as usize])
            })
            .collect();
        values.sort_unstable();
        let mut sums: Counts = Vec::new();
        for (code, n) in values {
            match sums.last_mut().filter(|last| last.0 == code) {
                Some(last) => last.1 += n,
                None => sums.push((code, n)),
            }
        }
        sums
    }

    /// Whether the weights of a column are the shares of the group's people.
    fn is_populations(&self, column: usize) -> bool {
        let people = self.people_of(column);
        self.weights[column].iter().all(|(code, weight)| {
            let place = people.binary_search_by_key(code, |(code, _)| *code);
            let n = place.map_or(0, |place| people[place].1);
            let share = n as f64 / self.n_people as f64;
            (weight - share).abs() <= 1e-9 * share
        })
    }

    /// How many rows have each value of a column, if the weights say that in whole numbers
    /// and there are as many people.
    fn counts(&self, column: usize) -> Option<Counts> {
        let rows = self.rows as f64;
        let exact = |(code, weight): &(Code, f64)| {
            let count = (weight * rows).round();
            let near = (weight * rows - count).abs() <= ROUNDING;
            near.then_some((*code, count as u64))
        };
        let counts: Counts =
            self.weights[column].iter().map(exact).collect::<Option<_>>()?;
        let people = self.people_of(column);
        let enough = counts.iter().all(|(code, n)| {
            let place = people.binary_search_by_key(code, |(code, _)| *code);
            *n <= place.map_or(0, |place| people[place].1)
        });
        let sum: u64 = counts.iter().map(|(_, n)| n).sum();
        (enough && sum == self.rows).then_some(counts)
    }

    /// The people of the group by their values in the counted columns: the types, and the
    /// type of each tuple.
    fn types(&self, counted: &[(usize, Counts)]) -> (Vec<Type>, Vec<u32>, Places) {
        let mut places = Places { starts: vec![0] };
        for (_, counts) in counted {
            let start = places.starts.last().copied().unwrap_or(0);
            places.starts.push(start + counts.len());
        }
        let mut index: HashMap<Vec<u32>, u32> = HashMap::new();
        let mut types: Vec<Type> = Vec::new();
        let mut type_of = Vec::with_capacity(self.tuples.len());
        for tuple in self.tuples {
            let key =
                counted.iter().zip(&places.starts).map(|((column, counts), start)| {
                    let code = self.people.known.tuples[*column][*tuple as usize];
                    // Who fits the group has listed values only.
                    let place = counts.binary_search_by_key(&code, |(code, _)| *code);
                    (start + place.unwrap_or(0)) as u32
                });
            let key: Vec<u32> = key.collect();
            let place = *index.entry(key).or_insert_with_key(|key| {
                types.push(Type { people: 0, counts: key.clone() });
                types.len() as u32 - 1
            });
            types[place as usize].people += self.people.known.people[*tuple as usize];
            type_of.push(place);
        }
        (types, type_of, places)
    }
}

/// Where the counts of each column begin.
struct Places {
    starts: Vec<usize>,
}

impl Places {
    /// The counts of all columns, one after the other.
    fn counts(&self, counted: &[(usize, Counts)]) -> Vec<u64> {
        let mut all = Vec::with_capacity(self.starts.last().copied().unwrap_or(0));
        for (_, counts) in counted {
            all.extend(counts.iter().map(|(_, n)| *n));
        }
        all
    }
}

/// The share of each tuple from those of the types.
fn spread(shares: &[Share], type_of: &[u32]) -> Vec<Share> {
    type_of.iter().map(|place| shares[*place as usize]).collect()
}

/// The shares if any of several numbers of worlds may be, all worlds being equally likely.
fn mixture(parts: &[(Vec<Share>, f64)]) -> Vec<Share> {
    let most = parts.iter().map(|(_, ln)| *ln).fold(f64::NEG_INFINITY, f64::max);
    let ways: Vec<f64> = parts.iter().map(|(_, ln)| (ln - most).exp()).collect();
    let all: f64 = ways.iter().sum();
    let n_types = parts.first().map_or(0, |(shares, _)| shares.len());
    let share = |place: usize| {
        let weighed = parts.iter().zip(&ways);
        let sum: f64 =
            weighed.map(|((shares, _), ways)| ways * shares[place].to_f64()).sum();
        Share::Near((sum / all).clamp(0.0, 1.0))
    };
    (0..n_types).map(share).collect()
}

/// Who is settled is known; the others are guessed from the column that tells most.
fn guesses(types: &[Type], counts: &[u64], settled: &[Option<u64>]) -> Vec<Share> {
    let mut rows = counts.to_vec();
    let mut people = vec![0u64; counts.len()];
    for (kind, settled) in types.iter().zip(settled) {
        for count in &kind.counts {
            match settled {
                Some(n) => rows[*count as usize] -= n,
                None => people[*count as usize] += kind.people,
            }
        }
    }
    let guess = |kind: &Type| {
        let shares = kind.counts.iter().map(|count| {
            rows[*count as usize] as f64 / people[*count as usize].max(1) as f64
        });
        shares.max_by(|a, b| (a - 0.5).abs().total_cmp(&(b - 0.5).abs())).unwrap_or(0.5)
    };
    let types = types.iter().zip(settled);
    types
        .map(|(kind, settled)| match settled {
            Some(n) => Share::of(*n, kind.people),
            None => Share::Guess(guess(kind)),
        })
        .collect()
}
