//! Groups one by one, each with all refused cuts that divide it, its own and those of all
//! parts it was in: of other groups that such a cut divides, only between which numbers of rows
//! they may have below it is used, and that is narrowed as they are looked at.

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::audit::attacks::reversal::{SearchRule, Told, certainty};
use crate::audit::attacks::search::Placed;
use crate::audit::attacks::search::cuts::Recut;
use crate::audit::cells::{People, ln_choose};
use crate::table::Code;

/// Of a group no more ways to be in the table are gone through.
const MOST_WAYS: f64 = 200_000.0;

/// Times cuts, of all groups together.
const MOST_CHECKS: f64 = 1e9;

/// A cut that divides more groups tells hardly anything of any one of them.
const MOST_DIVIDED: usize = 6;

/// How often groups are looked at: what one tells narrows what others may have.
const ROUNDS: usize = 3;

/// A cut of a group, by where it lies.
#[derive(Debug)]
struct OwnCut {
    /// Which tuples of the group are below.
    below: Vec<bool>,
    /// How many rows there may be below, at least and at most.
    range: (u64, u64),
    /// For each number of rows below whether the refusals allow it.
    fits: Vec<bool>,
}

/// A cut that divides some groups, and what is known of it.
struct Refusal {
    /// The groups it divides, and which of their cuts it is.
    divided: Vec<(usize, usize)>,
    /// Rows of groups that are wholly below.
    known: u64,
    /// For each number of rows below, how many smaller ones are refused.
    refused_before: Vec<u64>,
}

struct GroupTuples {
    tuples: Vec<u32>,
    people: Vec<u64>,
    rows: u64,
    cuts: Vec<OwnCut>,
    /// For each tuple how likely somebody with it is in the table, once that is known.
    beliefs: Option<Vec<f64>>,
    impossible: bool,
}

pub(super) struct Groups {
    groups: Vec<GroupTuples>,
    refusals: Vec<Refusal>,
}

impl Groups {
    pub(super) fn of(
        placed: &Placed<'_>,
        recut: &Recut,
        people: &People<'_>,
        rule: SearchRule,
    ) -> Self {
        let tuples = people.tuples_of_groups().into_iter().zip(&people.inside.of_group);
        let mut groups: Vec<GroupTuples> = tuples
            .map(|(tuples, rows)| GroupTuples {
                people: tuples
                    .iter()
                    .map(|t| people.known.people[*t as usize])
                    .collect(),
                tuples,
                rows: *rows,
                cuts: Vec::new(),
                beliefs: None,
                impossible: false,
            })
            .collect();
        let mut known_cuts: HashMap<(u32, usize, Code), usize> = HashMap::new();
        let mut refusals = Vec::with_capacity(recut.refused.len());
        for refused in &recut.refused {
            if placed.watch.is_cancelled() {
                break;
            }
            let (column, code) = (refused.column, refused.code);
            let part = &recut.parts[refused.part];
            let (below, rest) = placed.sides(part, column, code);
            let sides = [placed.groups_of(&below), placed.groups_of(&rest)];
            let rows = |group: &u32| people.inside.of_group[*group as usize];
            let is_in =
                |side: usize, group: &u32| sides[side].binary_search(group).is_ok();
            let known = sides[0].iter().filter(|g| !is_in(1, g)).map(rows).sum();
            let after: u64 = sides[1].iter().filter(|g| !is_in(0, g)).map(rows).sum();
            let divided: Vec<u32> =
                sides[0].iter().filter(|g| is_in(1, g)).copied().collect();
            if divided.len() > MOST_DIVIDED {
                continue;
            }
            let all: u64 = known + after + divided.iter().map(rows).sum::<u64>();
            let (n_below, n_rest) = (placed.count(&below), placed.count(&rest));
            let mut refused_before = Vec::with_capacity(all as usize + 2);
            let mut sum = 0;
            for x in 0..=all {
                refused_before.push(sum);
                let keeps = rule.keeps(x, n_below) && rule.keeps(all - x, n_rest);
                sum += u64::from(!keeps);
            }
            refused_before.push(sum);
            let cut_of = |group: u32| {
                let own = &mut groups[group as usize];
                let place =
                    known_cuts.entry((group, column, code)).or_insert_with(|| {
                        own.add_cut(placed.codes[column], code);
                        own.cuts.len() - 1
                    });
                (group as usize, *place)
            };
            let divided = divided.into_iter().map(cut_of).collect();
            refusals.push(Refusal { divided, known, refused_before });
        }
        Self { groups, refusals }
    }

    pub(super) fn tell(mut self, people: &People<'_>, alone: &Told) -> Told {
        let mut checks = MOST_CHECKS;
        let may: Vec<bool> = self
            .groups
            .iter()
            .map(|group| {
                let ways = group.ways();
                let needed = ways * (1.0 + group.cuts.len() as f64);
                let enough = ways <= MOST_WAYS && needed <= checks;
                checks -= if enough { needed } else { 0.0 };
                enough
            })
            .collect();
        for _ in 0..ROUNDS {
            if people.known.watch.is_cancelled() {
                break;
            }
            let changed = self.narrow();
            let groups = self.groups.par_iter_mut().zip(&changed).zip(&may);
            groups.for_each(|((group, changed), may)| {
                if *changed && *may {
                    group.count();
                }
            });
        }
        let mut told = Told::before(people);
        told.certainty = people.unpublished as f64;
        told.events = self.refusals.len() as u64;
        for group in &self.groups {
            told.impossible += u64::from(group.impossible);
            let followed = group.cuts.is_empty() || group.beliefs.is_some();
            told.skipped += if followed { 0 } else { group.cuts.len() as u64 };
            for (place, tuple) in group.tuples.iter().enumerate() {
                let n = group.people[place] as f64;
                let beliefs = match &group.beliefs {
                    Some(beliefs) => (beliefs[place], beliefs[place]),
                    None => alone.posteriors[*tuple as usize],
                };
                told.certainty += n * certainty(beliefs.0).max(certainty(beliefs.1));
                told.add(*tuple, beliefs);
            }
        }
        told
    }

    /// Finds which numbers of rows below cuts the refusals allow; for each group whether that
    /// became less.
    fn narrow(&mut self) -> Vec<bool> {
        let mut changed = vec![false; self.groups.len()];
        for refusal in &self.refusals {
            let range =
                |(group, cut): &(usize, usize)| self.groups[*group].cuts[*cut].range;
            let (mut least, mut most) = (refusal.known, refusal.known);
            for (low, high) in refusal.divided.iter().map(range) {
                (least, most) = (least + low, most + high);
            }
            for (group, cut) in &refusal.divided {
                let own = &mut self.groups[*group].cuts[*cut];
                let (low, high) = own.range;
                let (least, most) = (least - low, most - high);
                for x in low..=high {
                    let refused = refusal.refused_before[(most + x) as usize + 1]
                        - refusal.refused_before[(least + x) as usize];
                    if refused == 0 && own.fits[x as usize] {
                        own.fits[x as usize] = false;
                        changed[*group] = true;
                    }
                }
            }
        }
        changed
    }
}

impl GroupTuples {
    fn add_cut(&mut self, codes: &[Code], code: Code) {
        let below: Vec<bool> =
            self.tuples.iter().map(|tuple| codes[*tuple as usize] < code).collect();
        let people = self.people.iter().zip(&below);
        let n_below: u64 = people.map(|(n, below)| if *below { *n } else { 0 }).sum();
        let rest = self.people.iter().sum::<u64>() - n_below;
        let range = (self.rows.saturating_sub(rest), self.rows.min(n_below));
        let fits = vec![true; self.rows as usize + 1];
        self.cuts.push(OwnCut { below, range, fits });
    }

    /// In how many ways its rows can be had by its people.
    fn ways(&self) -> f64 {
        ln_choose(self.people.iter().sum(), self.rows).exp()
    }

    /// Goes through all ways that fit, and finds beliefs and what may be below each cut.
    fn count(&mut self) {
        let counted: Vec<usize> = (0..self.cuts.len())
            .filter(|cut| self.cuts[*cut].fits.contains(&false))
            .collect();
        let mut walk = Walk {
            group: self,
            counted: &counted,
            drawn: vec![0; self.tuples.len()],
            below: vec![0; self.cuts.len()],
            weight: 0.0,
            sums: vec![0.0; self.tuples.len()],
            ranges: vec![None; self.cuts.len()],
        };
        walk.go(0, self.rows, 1.0);
        let Walk { weight, sums, ranges, .. } = walk;
        if weight == 0.0 {
            (self.impossible, self.beliefs) = (true, None);
            return;
        }
        let shares = sums.iter().zip(&self.people);
        self.beliefs = Some(shares.map(|(sum, n)| sum / weight / *n as f64).collect());
        for (cut, range) in self.cuts.iter_mut().zip(ranges) {
            cut.range = range.unwrap_or(cut.range);
        }
    }
}

/// Who of a group is drawn, tuple by tuple.
struct Walk<'a> {
    group: &'a GroupTuples,
    /// The cuts that exclude something.
    counted: &'a [usize],
    drawn: Vec<u64>,
    below: Vec<u64>,
    weight: f64,
    sums: Vec<f64>,
    ranges: Vec<Option<(u64, u64)>>,
}

impl Walk<'_> {
    /// Draws `left` more rows from the tuples from `place` on; so far in `ways` ways.
    fn go(&mut self, place: usize, left: u64, ways: f64) {
        if left == 0 {
            return self.add(ways);
        }
        let mut more: u64 = self.group.people[place..].iter().sum();
        for next in place..self.group.tuples.len() {
            if more < left {
                return;
            }
            let n = self.group.people[next];
            let mut choices = 1.0;
            for drawn in 1..=n.min(left) {
                choices *= (n - drawn + 1) as f64 / drawn as f64;
                self.turn(next, 1, true);
                self.go(next + 1, left - drawn, ways * choices);
            }
            self.turn(next, n.min(left), false);
            more -= n;
        }
    }

    /// Draws so many of a tuple, or puts them back.
    fn turn(&mut self, tuple: usize, n: u64, draw: bool) {
        let change = |number: &mut u64| {
            *number = if draw { *number + n } else { *number - n };
        };
        change(&mut self.drawn[tuple]);
        for (below, cut) in self.below.iter_mut().zip(&self.group.cuts) {
            if cut.below[tuple] {
                change(below);
            }
        }
    }

    fn add(&mut self, ways: f64) {
        let cuts = &self.group.cuts;
        let fits = |cut: &usize| cuts[*cut].fits[self.below[*cut] as usize];
        if !self.counted.iter().all(fits) {
            return;
        }
        self.weight += ways;
        for (sum, drawn) in self.sums.iter_mut().zip(&self.drawn) {
            *sum += ways * *drawn as f64;
        }
        for (range, x) in self.ranges.iter_mut().zip(&self.below) {
            *range = Some(range.map_or((*x, *x), |(a, b)| (a.min(*x), b.max(*x))));
        }
    }
}
