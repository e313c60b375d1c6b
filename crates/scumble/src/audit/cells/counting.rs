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

use crate::audit::cells::worlds::{PersonType, Worlds, worlds};
use crate::audit::cells::{
    CellClasses, People, Share, Shares, WeightedCells, WeightsByCode, Whose,
};
use crate::table::Code;
use crate::watch::Watch;

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
pub(crate) struct CountedPresence {
    pub(crate) shares: Shares,
    /// Groups solved exactly, groups where only bounds were followed, and groups whose
    /// weights cannot be what the manifest says.
    pub(crate) solved: u64,
    pub(crate) bounded: u64,
    pub(crate) wrong: u64,
}

/// A column that is counted: how many rows have each code, ascending.
type CodeCounts = Vec<(Code, u64)>;

/// What is found out about one group.
enum ToldOfGroup {
    /// For each of its tuples a share; whether the group is solved.
    Shares(Vec<Share>, bool),
    /// The weights cannot be what the manifest says.
    Wrong,
}

/// Looks at every group.
pub(crate) fn count(
    view: &CellClasses,
    people: &People<'_>,
    weights: &WeightedCells,
    bound: &WeightsByCode,
) -> CountedPresence {
    let tuples = people.tuples_of_groups();
    let told: Vec<ToldOfGroup> = (0..view.n_groups())
        .into_par_iter()
        .map(|group| {
            if people.known.watch.is_cancelled() {
                return ToldOfGroup::Wrong;
            }
            let group = CountedGroup {
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
    let (mut solved, mut bounded, mut wrong) = (0, 0, 0);
    let shares = told.into_iter().enumerate().map(|(group, told)| match told {
        ToldOfGroup::Shares(shares, exact) => {
            *(if exact { &mut solved } else { &mut bounded }) += 1;
            shares
        }
        ToldOfGroup::Wrong => {
            wrong += 1;
            let share = view.sizes[group] as f64 / people.of_group[group] as f64;
            vec![Share::Guess(share); tuples[group].len()]
        }
    });
    let shares = Shares::by_tuple(people, &tuples, shares);
    CountedPresence { shares, solved, bounded, wrong }
}

impl CountedPresence {
    /// The most certain that is known about anybody; guesses do not count.
    pub(crate) fn worst(&self) -> f64 {
        let known = self.shares.all().filter(|share| !matches!(share, Share::Guess(_)));
        let shares = known.map(Share::to_f64);
        shares.fold(0.0, |worst, share| worst.max(share).max(1.0 - share))
    }
}

/// One group and everything that is known about it.
struct CountedGroup<'a> {
    people: &'a People<'a>,
    tuples: &'a [u32],
    rows: u64,
    n_people: u64,
    weights: &'a [Vec<(Code, f64)>],
    whose: &'a [Whose],
}

impl CountedGroup<'_> {
    fn tell(&self) -> ToldOfGroup {
        let mut counted: Vec<(usize, CodeCounts)> = Vec::new();
        let mut shifted: Vec<usize> = Vec::new();
        for (column, whose) in self.whose.iter().enumerate() {
            match whose {
                Whose::Population if self.is_populations(column) => {}
                Whose::Population => return ToldOfGroup::Wrong,
                Whose::Table => match self.counts(column) {
                    Some(counts) => counted.push((column, counts)),
                    None => return ToldOfGroup::Wrong,
                },
                Whose::Shifted => shifted.push(column),
            }
        }
        if !shifted.is_empty() {
            return self.tell_shifted(&shifted);
        }
        match &counted[..] {
            [] => ToldOfGroup::Shares(vec![self.plain(); self.tuples.len()], true),
            [(column, counts)] => {
                let people = self.people_of(*column);
                let share = |tuple: &u32| {
                    let code = self.people.known.tuples[*column][*tuple as usize];
                    Share::of(count_of(counts, code), count_of(&people, code))
                };
                ToldOfGroup::Shares(self.tuples.iter().map(share).collect(), true)
            }
            _ => {
                let puzzle = self.puzzle(&counted);
                match puzzle.worlds(self.steps(CHECKED), self.people.known.watch) {
                    Worlds::None => ToldOfGroup::Wrong,
                    Worlds::Counted { shares, .. } => puzzle.told(&shares, true),
                    Worlds::Unknown { settled } => {
                        puzzle.told(&puzzle.guesses(&settled), false)
                    }
                }
            }
        }
    }

    /// All sets that fit any shift that gives whole numbers.
    fn tell_shifted(&self, columns: &[usize]) -> ToldOfGroup {
        let plain = || vec![self.plain(); self.tuples.len()];
        let capacity: Vec<CodeCounts> =
            columns.iter().map(|column| self.people_of(*column)).collect();
        let weights: Vec<&[(Code, f64)]> =
            columns.iter().map(|column| &self.weights[*column][..]).collect();
        let Some(shifts) = shift::recover(&weights, &capacity, self.rows) else {
            // Even weights tell nothing.
            return ToldOfGroup::Shares(plain(), true);
        };
        let unsolved = || {
            let share = self.plain().to_f64();
            ToldOfGroup::Shares(vec![Share::Guess(share); self.tuples.len()], false)
        };
        if shifts.len() > MOST_SHIFTS {
            return unsolved();
        }
        let mut mixed: Vec<(Vec<Share>, f64)> = Vec::new();
        let mut last = None;
        for counts in &shifts {
            let counted: Vec<(usize, CodeCounts)> =
                columns.iter().copied().zip(counts.iter().cloned()).collect();
            let puzzle = self.puzzle(&counted);
            let steps = self.steps(TRIED) / shifts.len();
            match puzzle.worlds(steps, self.people.known.watch) {
                Worlds::None => {}
                Worlds::Counted { shares, ln_ways } => mixed.push((shares, ln_ways)),
                Worlds::Unknown { settled } if shifts.len() == 1 => {
                    return puzzle.told(&puzzle.guesses(&settled), false);
                }
                Worlds::Unknown { .. } => return unsolved(),
            }
            last = Some(puzzle);
        }
        match (&mixed[..], last) {
            ([], _) | (_, None) => unsolved(),
            ([(shares, _)], Some(puzzle)) => puzzle.told(shares, true),
            (_, Some(puzzle)) => puzzle.told(&mixture(&mixed), true),
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
    fn people_of(&self, column: usize) -> CodeCounts {
        let codes = self.people.known.tuples[column];
        let mut values: Vec<(Code, u64)> = self
            .tuples
            .iter()
            .map(|tuple| {
                (codes[*tuple as usize], self.people.known.people[*tuple as usize])
            })
            .collect();
        values.sort_unstable();
        let mut sums: CodeCounts = Vec::new();
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
            let share = count_of(&people, *code) as f64 / self.n_people as f64;
            (weight - share).abs() <= 1e-9 * share
        })
    }

    /// How many rows have each value of a column, if the weights say that in whole numbers
    /// and there are as many people.
    fn counts(&self, column: usize) -> Option<CodeCounts> {
        let rows = self.rows as f64;
        let exact = |(code, weight): &(Code, f64)| {
            let count = (weight * rows).round();
            let near = (weight * rows - count).abs() <= ROUNDING;
            near.then_some((*code, count as u64))
        };
        let counts: CodeCounts =
            self.weights[column].iter().map(exact).collect::<Option<_>>()?;
        let people = self.people_of(column);
        let enough = counts.iter().all(|(code, n)| *n <= count_of(&people, *code));
        let sum: u64 = counts.iter().map(|(_, n)| n).sum();
        (enough && sum == self.rows).then_some(counts)
    }

    /// The people of the group by their values in the counted columns.
    fn puzzle(&self, counted: &[(usize, CodeCounts)]) -> Puzzle {
        let mut index: HashMap<Vec<u32>, u32> = HashMap::new();
        let (mut types, mut type_of) = (Vec::new(), Vec::new());
        for tuple in self.tuples {
            let mut start = 0;
            let key = counted.iter().map(|(column, counts)| {
                let code = self.people.known.tuples[*column][*tuple as usize];
                // Everybody who fits the group has listed values only.
                let place = counts.binary_search_by_key(&code, |(code, _)| *code);
                let here = start + place.unwrap_or(0);
                start += counts.len();
                here as u32
            });
            let key: Vec<u32> = key.collect();
            let place = *index.entry(key).or_insert_with_key(|key| {
                types.push(PersonType { people: 0, counts: key.clone() });
                types.len() as u32 - 1
            });
            types[place as usize].people += self.people.known.people[*tuple as usize];
            type_of.push(place);
        }
        let counts = counted.iter().flat_map(|(_, counts)| counts);
        Puzzle { types, type_of, counts: counts.map(|(_, n)| *n).collect() }
    }
}

/// How many there are of a code.
fn count_of(counts: &[(Code, u64)], code: Code) -> u64 {
    let place = counts.binary_search_by_key(&code, |(code, _)| *code);
    place.map_or(0, |place| counts[place].1)
}

/// Which people of a group together have the counts of all columns.
struct Puzzle {
    types: Vec<PersonType>,
    /// The type of each tuple.
    type_of: Vec<u32>,
    /// The counts of all columns, one after the other.
    counts: Vec<u64>,
}

impl Puzzle {
    fn worlds(&self, most_steps: usize, watch: &dyn Watch) -> Worlds {
        worlds(&self.types, &self.counts, most_steps, watch)
    }

    /// The share of each tuple from those of the types.
    fn told(&self, shares: &[Share], exact: bool) -> ToldOfGroup {
        let shares = self.type_of.iter().map(|place| shares[*place as usize]);
        ToldOfGroup::Shares(shares.collect(), exact)
    }

    /// What is settled is known; the others are guessed from the column that tells most.
    fn guesses(&self, settled: &[Option<u64>]) -> Vec<Share> {
        let mut rows = self.counts.clone();
        let mut people = vec![0u64; rows.len()];
        for (kind, settled) in self.types.iter().zip(settled) {
            for count in &kind.counts {
                match settled {
                    Some(n) => rows[*count as usize] -= n,
                    None => people[*count as usize] += kind.people,
                }
            }
        }
        let guess = |kind: &PersonType| {
            let shares = kind.counts.iter().map(|count| {
                rows[*count as usize] as f64 / people[*count as usize].max(1) as f64
            });
            let far = |share: &f64| (share - 0.5).abs();
            shares.max_by(|a, b| far(a).total_cmp(&far(b))).unwrap_or(0.5)
        };
        let types = self.types.iter().zip(settled);
        types
            .map(|(kind, settled)| match settled {
                Some(n) => Share::of(*n, kind.people),
                None => Share::Guess(guess(kind)),
            })
            .collect()
    }
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
