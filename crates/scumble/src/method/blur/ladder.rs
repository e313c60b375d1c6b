//! Which levels of noise a frame has, and who is at which.
//!
//! # Guarantee
//! [`Ladder::levels`] is what the public rule gives for [`Ladder::laws`]: nothing of the
//! search is left in it.
//!
//! # Limits
//! The search tries ladders; it does not prove that there is none with less noise.
//!
//! # Cost
//! A handful of looks at every row, more where rows are few.
//!
//! # Source
//! Ours.

use super::Frame;
use super::calibrate::rough_factors;
use super::core::{RowNeeds, falling_short, largest_set, need};
use crate::promise::Law;
use crate::promise::shape::hides_among_all;
use crate::watch::Watch;

/// The levels of a frame.
#[derive(Debug, Clone)]
pub struct Ladder {
    /// The law of each level, ascending.
    pub laws: Vec<Law>,
    /// The level of each row of the frame, from 0; nothing for rows left out.
    pub levels: Vec<Option<u32>>,
}

/// The public rule: levels are filled in turn, each with the largest set of the rows left
/// in which everybody has enough company.
pub fn peel(frame: &Frame, laws: Vec<Law>, needs: RowNeeds<'_>) -> Ladder {
    let mut levels = vec![None; frame.rows.len()];
    let mut left: Vec<u32> = (0..frame.rows.len() as u32).collect();
    for (level, law) in laws.iter().enumerate() {
        let kept =
            largest_set(frame, law, &left, needs, left.len()).unwrap_or_default();
        for row in &kept {
            levels[*row as usize] = Some(level as u32);
        }
        left.retain(|row| levels[*row as usize].is_none());
    }
    Ladder { laws, levels }
}

/// Chooses a ladder of at most `levels` levels that leaves out at most `spare` rows; nothing
/// if there is none.
pub fn ladder(
    frame: &Frame,
    needs: RowNeeds<'_>,
    levels: usize,
    spare: usize,
) -> Option<Ladder> {
    let Some(share) = needs.best_guess else {
        let laws = laws(frame, needs.company, levels, spare, needs.watch)?;
        return Some(peel(frame, laws, needs))
            .filter(|ladder| ladder.left_out() <= spare);
    };
    // Guesses take long to count, so ladders are looked for by company alone: more and more
    // of it, until the best guess is rare enough for everybody. A little more company may
    // even need less noise, where it has fewer people at the widest level.
    let mut wanted = 1.0 / share;
    let mut best: Option<(f64, Ladder)> = None;
    let mut further = FURTHER;
    while wanted < frame.n_all_people() as f64 && further > 0 {
        if needs.watch.is_cancelled() {
            return None;
        }
        let company: Vec<f64> =
            needs.company.iter().map(|company| company.max(need(wanted))).collect();
        if let Some(laws) = laws(frame, &company, levels, spare, needs.watch) {
            let ladder = peel(frame, laws, needs);
            let noise = ladder.noise(frame);
            if ladder.left_out() <= spare
                && best.as_ref().is_none_or(|(least, _)| noise < *least)
            {
                best = Some((noise, ladder));
            }
        }
        further -= usize::from(best.is_some());
        wanted *= 1.3;
    }
    if let Some((_, ladder)) = best {
        return Some(ladder);
    }
    // At last, noise as wide as it takes may hide everybody among all.
    let mut factor = 4.0;
    while hides_among_all(frame.shape) && factor < 1e6 {
        let ladder = peel(frame, vec![frame.law(factor)], needs);
        if ladder.left_out() <= spare {
            return Some(ladder);
        }
        factor *= 2.0;
    }
    None
}

/// How many ladders are tried once one keeps the best guess rare.
const FURTHER: usize = 4;

impl Ladder {
    /// The mean spread of rows, in standard deviations, over the axes that have any.
    fn noise(&self, frame: &Frame) -> f64 {
        let of = |law: &Law| -> f64 {
            let axes = law.spreads.iter().zip(&frame.scales);
            axes.filter(|(_, scale)| **scale > 0.0).map(|(s, scale)| s / scale).sum()
        };
        let spreads: Vec<f64> = self.laws.iter().map(of).collect();
        let levels = self.levels.iter().flatten();
        let sum: f64 = levels.map(|level| spreads[*level as usize]).sum();
        sum / (self.levels.len() - self.left_out()).max(1) as f64
    }

    fn left_out(&self) -> usize {
        self.levels.iter().filter(|level| level.is_none()).count()
    }
}

/// The laws of a ladder that gives everybody but `spare` rows enough company.
fn laws(
    frame: &Frame,
    company: &[f64],
    levels: usize,
    spare: usize,
    watch: &dyn Watch,
) -> Option<Vec<Law>> {
    let needs = RowNeeds { company, best_guess: None, watch };
    let search = LadderSearch { needs, frame };
    let all: Vec<u32> = (0..frame.rows.len() as u32).collect();
    let plan = search.with_free_level(&all, levels.max(1), spare)?;
    let mut laws: Vec<Law> =
        plan.factors.iter().map(|factor| frame.law(*factor)).collect();
    laws.dedup();
    Some(laws)
}

/// Factors of a ladder.
#[derive(Debug, Clone)]
struct Plan {
    factors: Vec<f64>,
    /// The sum over rows of their factors; rows left out cost what would have hidden them.
    cost: f64,
}

struct LadderSearch<'a> {
    frame: &'a Frame,
    needs: RowNeeds<'a>,
}

/// So many rows tell what the others need.
const SAMPLE: usize = 256;

impl LadderSearch<'_> {
    /// A first level without noise takes rows that have enough equals: they cost nothing.
    fn with_free_level(
        &self,
        rows: &[u32],
        levels: usize,
        spare: usize,
    ) -> Option<Plan> {
        let free = self.set(0.0, rows, rows.len()).unwrap_or_default();
        if free.is_empty() || levels == 1 && free.len() + spare < rows.len() {
            return self.plan(rows, levels, spare, 0);
        }
        let rest = without(rows, &free);
        let mut plan = self.plan(&rest, levels - 1, spare, 0).map(|mut plan| {
            plan.factors.insert(0, 0.0);
            plan
        });
        // A few equal rows may be worth more as company for the others.
        if plan.is_none() || free.len() < rows.len() / 2 {
            let other = self.plan(rows, levels, spare, 0);
            let cost =
                |plan: &Option<Plan>| plan.as_ref().map_or(f64::INFINITY, |p| p.cost);
            if cost(&other) < cost(&plan) {
                plan = other;
            }
        }
        plan
    }

    /// Tries ladders. The set of a level shrinks with its noise, and those of smaller noise
    /// are within those of larger: so the first level's noise is lowered step by step, each
    /// time from the set before, and the rows outside it get a ladder of their own.
    fn plan(
        &self,
        rows: &[u32],
        levels: usize,
        spare: usize,
        depth: u32,
    ) -> Option<Plan> {
        if rows.len() <= spare {
            return Some(Plan { factors: Vec::new(), cost: 0.0 });
        }
        if levels == 0 {
            return None;
        }
        let sample = self.sample(rows);
        if levels == 1 {
            return self.single(rows, &sample, spare);
        }
        // Which rows to leave out is decided at the last level.
        let mut best = self.single(rows, &sample, 0);
        let step = step(rows.len(), depth);
        let finite = sample.partition_point(|factor| factor.is_finite());
        let mut factor = sample[(finite.max(1) - 1) * 98 / 100];
        if let Some(plan) = &best {
            factor = factor.min(plan.factors.last().copied().unwrap_or(factor) / step);
        }
        let mut current = rows.to_vec();
        let mut least = f64::INFINITY;
        let mut rises = 0;
        let patience = if depth == 0 && rows.len() <= 5_000 { 2 } else { 1 };
        let mut found = None;
        let lowest = sample[0].max(factor * NARROWEST);
        while factor.is_finite() && factor > lowest && rises < patience {
            // Where a step loses this many, the next ones lose all: rows leave for want of
            // those that left.
            let most_lost = current.len() * 2 / 5;
            let Some(kept) = self.set(factor, &current, most_lost) else { break };
            if let Some((plan, rest)) =
                self.with_rest(rows, &kept, factor, levels, spare, depth)
            {
                rises = if plan.cost < least { 0 } else { rises + 1 };
                least = least.min(plan.cost);
                if best.as_ref().is_none_or(|best| plan.cost < best.cost) {
                    best = Some(plan);
                    found = Some((factor, rest));
                }
            }
            current = kept;
            factor /= step;
        }
        // Where rows stand far closer in some places than in others, a first level for these
        // alone may pay, although those between do not.
        let uneven =
            sample[(finite.max(1) - 1) * 9 / 10] > UNEVEN * sample[finite / 10];
        let probes = if depth == 0 && uneven { probes(rows.len()) } else { &[] };
        for share in probes {
            let lower = 1.2 * sample[(finite.max(1) - 1) * share / 100];
            if !(lower > 0.0 && lower < factor) {
                continue;
            }
            let Some(kept) = self.set(lower, rows, rows.len() * 19 / 20) else {
                continue;
            };
            if let Some((plan, rest)) =
                self.with_rest(rows, &kept, lower, levels, spare, depth)
                && best.as_ref().is_none_or(|best| plan.cost < best.cost)
            {
                best = Some(plan);
                found = Some((lower, rest));
            }
        }
        if best.is_none() {
            return self.single(rows, &sample, spare);
        }
        // The rest of the best one deserves a closer look.
        if depth == 0
            && let (Some((factor, rest)), Some(best)) = (found, &mut best)
            && let Some(plan) = self.plan(&rest, levels - 1, spare, 0)
        {
            let cost = factor * (rows.len() - rest.len()) as f64 + plan.cost;
            if cost < best.cost {
                let mut factors = vec![factor];
                factors.extend(plan.factors);
                *best = Plan { factors, cost };
            }
        }
        best
    }

    /// A ladder whose first level has these rows; and the rows outside it.
    fn with_rest(
        &self,
        rows: &[u32],
        kept: &[u32],
        factor: f64,
        levels: usize,
        spare: usize,
        depth: u32,
    ) -> Option<(Plan, Vec<u32>)> {
        let rest = without(rows, kept);
        // What the rest costs is found with few levels; that is near enough to compare.
        let few = (levels - 1).min(2u32.saturating_sub(depth).max(1) as usize);
        let mut plan = self.plan(&rest, few, spare, depth + 1)?;
        plan.factors.insert(0, factor);
        plan.cost += factor * kept.len() as f64;
        Some((plan, rest))
    }

    fn set(&self, factor: f64, rows: &[u32], spare: usize) -> Option<Vec<u32>> {
        largest_set(self.frame, &self.frame.law(factor), rows, self.needs, spare)
    }

    /// What some rows need if all of `rows` count, in ascending order.
    fn sample(&self, rows: &[u32]) -> Vec<f64> {
        let every = rows.len().div_ceil(SAMPLE).max(1);
        let some: Vec<u32> = (0..rows.len() as u32).step_by(every).collect();
        let (part, needs, some) = self.part(rows, &some);
        let mut factors = rough_factors(&part, &needs, &some, self.needs.watch);
        factors.sort_unstable_by(f64::total_cmp);
        factors
    }

    /// The rows as a frame of their own, what they need, and the places there of some of
    /// them. Of everybody one row stands for all, one of these if there is: what is found so
    /// proposes ladders, and is not what is published.
    fn part(&self, rows: &[u32], some: &[u32]) -> (Frame, Vec<f64>, Vec<u32>) {
        let needs = |rows: &[u32]| -> Vec<f64> {
            rows.iter().map(|row| self.needs.company[*row as usize]).collect()
        };
        if self.frame.people.is_empty() {
            return (self.frame.part(rows), needs(rows), some.to_vec());
        }
        let (chosen, n_asked) = self.frame.one_each(rows, some);
        let part = Frame { people: Vec::new(), ..self.frame.part(&chosen) };
        (part, needs(&chosen), (0..n_asked as u32).collect())
    }

    /// The best ladder of one level.
    fn single(&self, rows: &[u32], sample: &[f64], spare: usize) -> Option<Plan> {
        let all = self.hiding_all(rows, sample);
        let mut plan = all.map(|factor| Plan {
            factors: vec![factor],
            cost: factor * rows.len() as f64,
        });
        let mut share = spare;
        while share > 0 {
            let Some((factor, left_out)) = self.hiding_most(rows, sample, all, share)
            else {
                break;
            };
            let kept = (rows.len() - left_out) as f64;
            let cost = factor * kept + all.unwrap_or(factor) * left_out as f64;
            if plan.as_ref().is_none_or(|plan| cost < plan.cost) {
                plan = Some(Plan { factors: vec![factor], cost });
            }
            // Fewer rows may do.
            share = if rows.len() > 20_000 { 0 } else { left_out.min(share) / 4 };
        }
        plan
    }

    /// The least factor that hides all rows at one level.
    fn hiding_all(&self, rows: &[u32], sample: &[f64]) -> Option<f64> {
        let mut factor = sample.last().copied().filter(|factor| factor.is_finite())?;
        for _ in 0..2_000 {
            let law = self.frame.law(factor);
            let short = falling_short(self.frame, &law, rows, self.needs);
            if short.is_empty() {
                return Some(factor);
            }
            let every = short.len().div_ceil(SAMPLE);
            let some: Vec<u32> = short.iter().step_by(every).copied().collect();
            let (part, needs, some) = self.part(rows, &some);
            let found = rough_factors(&part, &needs, &some, self.needs.watch);
            let found = found.into_iter().fold(0.0, f64::max);
            if found.is_infinite() {
                return None;
            }
            factor = (factor * 1.005).max(found).max(NARROWEST);
        }
        None
    }

    /// The least factor that hides all but `spare` rows at one level, and how many it
    /// leaves out.
    fn hiding_most(
        &self,
        rows: &[u32],
        sample: &[f64],
        all: Option<f64>,
        spare: usize,
    ) -> Option<(f64, usize)> {
        // If only these rows fell short of their own needs, there would be few enough.
        let share = 0.98 - (2.0 * spare as f64 / rows.len() as f64).min(0.98);
        let place = (sample.len() as f64 * share) as usize;
        let mut low =
            Some(sample[place]).filter(|low| low.is_finite()).unwrap_or(0.0).max(1e-6);
        let finite = sample.iter().rev().find(|factor| factor.is_finite());
        let mut high = all.or(finite.copied()).unwrap_or(1.0).max(low);
        let mut kept = self.set(high, rows, spare);
        let mut raised = 0;
        while kept.is_none() {
            low = high;
            high *= 1.5;
            raised += 1;
            if raised > 40 {
                return None;
            }
            kept = self.set(high, rows, spare);
        }
        let mut kept = kept?;
        while high > low * 1.01 {
            let middle = (low * high).sqrt();
            match self.set(middle, &kept, spare - (rows.len() - kept.len())) {
                Some(fewer) => (high, kept) = (middle, fewer),
                None => low = middle,
            }
        }
        Some((high, rows.len() - kept.len()))
    }
}

/// Less noise than this is not looked for: where rows need none, there would be no end.
const NARROWEST: f64 = 1e-6;

/// Rows are unevenly close if the ninth tenth needs so many times the noise of the first.
const UNEVEN: f64 = 1.6;

/// Which shares of rows, in hundredths, a first level of its own is tried for.
fn probes(n_rows: usize) -> &'static [usize] {
    match n_rows {
        0..=50_000 => &[40, 15],
        50_001..=200_000 => &[40],
        _ => &[],
    }
}

/// By how much the noise of the first level is lowered from one trial to the next: the more
/// rows, the fewer trials.
fn step(n_rows: usize, depth: u32) -> f64 {
    if depth > 0 {
        return 1.2;
    }
    match n_rows {
        0..=5_000 => 1.05,
        5_001..=20_000 => 1.08,
        20_001..=200_000 => 1.2,
        _ => 1.3,
    }
}

/// The rows that are not among those of `others`, both ascending.
fn without(rows: &[u32], others: &[u32]) -> Vec<u32> {
    let mut others = others.iter().peekable();
    let mut left = Vec::with_capacity(rows.len());
    for row in rows {
        if others.next_if(|other| *other == row).is_none() {
            left.push(*row);
        }
    }
    left
}
