//! One look at a cut: when it is refused, so that a refusal tells nothing harmful.
//!
//! A part has `people` of whom `rows` are in the table; a cut puts `below` of its people on
//! one side. How many of the table are among them, X, is hypergeometric to whoever knows
//! only what is public. The cut is refused for certain if a side breaks the promises, and by
//! chance for some of the other X: the extreme ones on the other side, as few as possible,
//! so that the mean of X given a refusal leaves both sides within the range.
//!
//! # Guarantee
//! Let m be the mean of X given a refusal. Then `min <= m / below <= max`, and the same of
//! `(rows - m) / (people - below)`.
//!
//! *Proof.* The four inequalities are `lo <= m <= hi` with `hi` the smaller of `max below`
//! and `rows - min (people - below)`, and `lo` likewise. The mean is at most `hi` exactly if
//! the sum of `P(x) r(x) (x - hi)` over all x is not above 0, where r(x) is the chance that
//! x is refused. Over the x that break a promise it is [`HelpNeeded::high`] at most; each x that
//! breaks none is at most `hi`, so refusing it makes the sum smaller, and by as much as is
//! missing in sum. None of them makes the other sum larger, which is checked before. ∎
//!
//! Refusing the smallest x first takes the fewest refusals, since each helps by `hi - x`.
//!
//! *Rounding.* Weights are products of at most `n` factors away from the likeliest x, so
//! they are right up to a relative error that is bounded here; what harms is taken at its
//! most, what helps at its least, and the chance is rounded up. Weights below [`TINY`] are
//! taken for that where they harm and for nothing where they help. More refusals than are
//! needed do no harm: see the proof.
//!
//! # Cost
//! O(the likely X), no more than O(rows).

use crate::decimal::Decimal;

/// A share of one, as a [`Decimal`] counts.
const ONE: i128 = 1_000_000_000_000;

/// Weights below this, where the likeliest has 1, are bounded and not computed.
const TINY: f64 = 1e-60;

/// A part of the population: its people, and how many of them are in the table.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartSizes {
    pub(super) people: u64,
    pub(super) rows: u64,
}

/// When a look at a cut is refused although both sides keep the promises.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct LookRule {
    /// How likely it is that the cut is accepted.
    pub(super) accept: f64,
    refused: Refused,
}

/// Which numbers below the cut are refused for the sake of those that must be.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Refused {
    /// None.
    Nothing,
    /// All before this one, and this one by chance.
    Few(u64, CoinChance),
    /// All beyond this one, and this one by chance.
    Many(u64, CoinChance),
}

/// A probability: so many parts in 2^64.
pub(super) type CoinChance = u64;

/// What becomes of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fate {
    Accepted,
    Refused,
    /// Refused with this probability.
    Open(CoinChance),
}

impl LookRule {
    /// How to look at a cut of a part, from what is public. `keeps` says whether both sides
    /// keep the promises if so many of the table are below. Nothing if no look at it is
    /// harmless and may be accepted.
    pub(super) fn of(
        part: PartSizes,
        below: u64,
        (min, max): (Decimal, Decimal),
        keeps: impl Fn(u64) -> bool,
    ) -> Option<Self> {
        let range = MeanRange::of(part, below, min, max);
        let weights = Likelihoods::of(part, below);
        let kept: Vec<bool> = weights.of.iter().map(|(x, _)| keeps(*x)).collect();
        let needs = weights.needs(&kept, range);
        let refused = match (needs.high > 0.0, needs.low > 0.0) {
            (false, false) => Refused::Nothing,
            (true, false) => {
                let xs = weights.helpful(&kept, |x| range.high - x);
                let (x, chance) = least(needs.high, xs.into_iter())?;
                Refused::Few(x, chance)
            }
            (false, true) => {
                let xs = weights.helpful(&kept, |x| x - range.low);
                let (x, chance) = least(needs.low, xs.into_iter().rev())?;
                Refused::Many(x, chance)
            }
            // Both at once are a matter of rounding only.
            (true, true) => return None,
        };
        let mut look = Self { accept: 0.0, refused };
        let (mut all, mut accepted) = (0.0, 0.0);
        for ((x, weight), kept) in weights.of.iter().zip(kept) {
            all += weight;
            accepted += match look.fate(*x) {
                Fate::Accepted if kept => *weight,
                Fate::Open(chance) if kept => {
                    weight * (1.0 - chance as f64 * 0.5f64.powi(64))
                }
                _ => 0.0,
            };
        }
        look.accept = accepted / all;
        (look.accept > 0.0).then_some(look)
    }

    /// What becomes of a cut that keeps the promises with `x` of the table below.
    pub(super) fn fate(&self, x: u64) -> Fate {
        let (refused, edge) = match self.refused {
            Refused::Nothing => (false, None),
            Refused::Few(edge, chance) => (x < edge, Some((edge, chance))),
            Refused::Many(edge, chance) => (x > edge, Some((edge, chance))),
        };
        match edge {
            _ if refused => Fate::Refused,
            Some((edge, chance)) if edge == x => Fate::Open(chance),
            _ => Fate::Accepted,
        }
    }
}

/// Between which numbers below the cut the mean must lie, in units of 10^-12.
#[derive(Debug, Clone, Copy)]
struct MeanRange {
    low: i128,
    high: i128,
}

impl MeanRange {
    fn of(part: PartSizes, below: u64, min: Decimal, max: Decimal) -> Self {
        let [min, max] = [min, max].map(|share| share.trillionths() as i128);
        let below_cut = i128::from(below);
        let rest = i128::from(part.people - below);
        let rows = i128::from(part.rows) * ONE;
        Self {
            low: (min * below_cut).max(rows - max * rest),
            high: (max * below_cut).min(rows - min * rest),
        }
    }
}

/// How likely each number below a cut is, relative to about the likeliest.
struct Likelihoods {
    /// Numbers and their weights, ascending.
    of: Vec<(u64, f64)>,
    /// The least and the largest number there can be.
    ends: (u64, u64),
    /// A bound on the relative error of every sum of products with weights.
    error: f64,
}

/// How much a refusal must be helped, in units of 10^-12; not above 0 if it need not be.
struct HelpNeeded {
    high: f64,
    low: f64,
}

impl Likelihoods {
    fn of(part: PartSizes, below: u64) -> Self {
        let PartSizes { people, rows } = part;
        let rest = people - below;
        let ends = (rows.saturating_sub(rest), below.min(rows));
        let likeliest =
            u128::from(below + 1) * u128::from(rows + 1) / u128::from(people + 2);
        let start = (likeliest as u64).clamp(ends.0, ends.1);
        // P(x + 1) / P(x).
        let ratio = |x: u64| {
            let up = (below - x) as f64 * (rows - x) as f64;
            let down = (x + 1) as f64 * (rest + x + 1 - rows) as f64;
            up / down
        };
        let mut of = Vec::new();
        let (mut x, mut weight) = (start, 1.0);
        while x > ends.0 && weight >= TINY {
            x -= 1;
            weight /= ratio(x);
            of.push((x, weight));
        }
        of.reverse();
        of.push((start, 1.0));
        (x, weight) = (start, 1.0);
        while x < ends.1 && weight >= TINY {
            weight *= ratio(x);
            x += 1;
            of.push((x, weight));
        }
        // Four roundings a factor, three a term, one an addition; each is half of EPSILON.
        let error = 4.0 * (of.len() + 8) as f64 * f64::EPSILON;
        Self { of, ends, error }
    }

    /// What refusals of the numbers that break a promise lack, at most.
    fn needs(&self, kept: &[bool], range: MeanRange) -> HelpNeeded {
        let (mut high, mut low) = ((0.0, 0.0), (0.0, 0.0));
        let add = |sums: &mut (f64, f64), weight: f64, harm: i128| {
            *(if harm > 0 { &mut sums.0 } else { &mut sums.1 }) += weight * harm as f64;
        };
        for ((x, weight), kept) in self.of.iter().zip(kept) {
            let x = i128::from(*x) * ONE;
            if !kept {
                add(&mut high, *weight, x - range.high);
                add(&mut low, *weight, range.low - x);
            }
        }
        // Beyond the weights no number is as likely as the last of them. Those after them
        // are above the mean of X, which is not below `range.low`, and those before them
        // are not above `range.high`.
        let ends = self.of.first().zip(self.of.last());
        let (first, last) =
            ends.map_or(self.ends, |((first, _), (last, _))| (*first, *last));
        let harm = i128::from(self.ends.1) * ONE - range.high;
        if self.ends.1 > last && harm > 0 {
            add(&mut high, TINY * (self.ends.1 - last) as f64, harm);
        }
        let harm = range.low - i128::from(self.ends.0) * ONE;
        if first > self.ends.0 && harm > 0 {
            add(&mut low, TINY * (first - self.ends.0) as f64, harm);
        }
        let most = |(harm, help): (f64, f64)| match harm > 0.0 {
            true => harm * (1.0 + self.error) + help * (1.0 - self.error),
            false => 0.0,
        };
        HelpNeeded { high: most(high), low: most(low) }
    }

    /// The numbers that break no promise, with what refusing them helps at least.
    fn helpful(&self, kept: &[bool], help: impl Fn(i128) -> i128) -> Vec<(u64, f64)> {
        let kept = self.of.iter().zip(kept).filter(|(_, kept)| **kept);
        kept.map(|((x, weight), _)| {
            let help = help(i128::from(*x) * ONE) as f64;
            (*x, weight * help * (1.0 - self.error))
        })
        .collect()
    }
}

/// Up to which of the numbers all must be refused, and how likely that one, so that they
/// help as much as is needed; nothing if all of them do not.
fn least(
    need: f64,
    numbers: impl Iterator<Item = (u64, f64)>,
) -> Option<(u64, CoinChance)> {
    let mut helped = 0.0;
    for (x, help) in numbers {
        if help <= 0.0 {
            return None;
        }
        if helped + help > need {
            // The difference is wrong by no more than a rounding of the need.
            let missing = (need - helped).max(0.0) + 4.0 * f64::EPSILON * need;
            let share = missing / help * (1.0 + 4.0 * f64::EPSILON);
            let parts = (share * 2f64.powi(64)).ceil();
            // What does not fit is as good as certain: the next number takes its turn.
            if parts < 2f64.powi(64) {
                return Some((x, parts as u64));
            }
        }
        helped += help;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(value: f64) -> Decimal {
        Decimal::from_f64("share", value).unwrap()
    }

    fn range(min: f64, max: f64) -> (Decimal, Decimal) {
        (decimal(min), decimal(max))
    }

    /// Whether both sides keep the range and have no rows or at least `k`.
    fn keeps((min, max): (f64, f64), k: u64) -> impl Fn(u64, u64) -> bool {
        move |rows, people| {
            let share = rows as f64 / people as f64;
            share >= min && share <= max && (rows == 0 || rows >= k)
        }
    }

    fn look(
        part: PartSizes,
        below: u64,
        shares: (f64, f64),
        k: u64,
    ) -> Option<LookRule> {
        let keeps = keeps(shares, k);
        LookRule::of(part, below, range(shares.0, shares.1), |x| {
            keeps(x, below) && keeps(part.rows - x, part.people - below)
        })
    }

    /// One row, eleven people, at most one in ten: nine of ten other cases are refused.
    #[test]
    fn the_worked_example() {
        let part = PartSizes { people: 11, rows: 1 };
        let look = look(part, 1, (0.0, 0.1), 1).unwrap();
        let Fate::Open(chance) = look.fate(0) else { panic!("{look:?}") };
        assert!((chance as f64 / 2f64.powi(64) - 0.9).abs() < 1e-12);
        // 0.9 of 2^64, rounded up and never down.
        assert!(u128::from(chance) * 10 >= 9 << 64);
        assert!((look.accept - 1.0 / 11.0).abs() < 1e-12);
    }

    #[test]
    fn what_cannot_be_harmless_is_not_offered() {
        // The others alone break the range, too.
        assert!(look(PartSizes { people: 10, rows: 1 }, 1, (0.0, 0.1), 1).is_none());
        // Nothing can be refused: no coin.
        let free = look(PartSizes { people: 10, rows: 5 }, 4, (0.0, 1.0), 1).unwrap();
        assert_eq!((free.refused, free.accept), (Refused::Nothing, 1.0));
    }

    /// The mean given a refusal, from logarithms of factorials.
    fn refused_mean(
        part: PartSizes,
        below: u64,
        look: LookRule,
        kept: &dyn Fn(u64) -> bool,
    ) -> f64 {
        let rest = part.people - below;
        let ln_choose = |n: u64, k: u64| -> f64 {
            (1..=k).map(|i| ((n - k + i) as f64 / i as f64).ln()).sum()
        };
        let ln = |x: u64| ln_choose(below, x) + ln_choose(rest, part.rows - x);
        let chance = |x: u64| match look.fate(x) {
            _ if !kept(x) => 1.0,
            Fate::Accepted => 0.0,
            Fate::Refused => 1.0,
            Fate::Open(chance) => chance as f64 / 2f64.powi(64),
        };
        let xs = part.rows.saturating_sub(rest)..=below.min(part.rows);
        let refused: Vec<(u64, f64, f64)> =
            xs.map(|x| (x, ln(x), chance(x))).filter(|(.., r)| *r > 0.0).collect();
        let most = refused
            .iter()
            .map(|(_, ln, r)| ln + r.ln())
            .fold(f64::NEG_INFINITY, f64::max);
        let weight = |ln: f64, r: f64| (ln + r.ln() - most).exp();
        let all: f64 = refused.iter().map(|(_, ln, r)| weight(*ln, *r)).sum();
        refused.iter().map(|(x, ln, r)| *x as f64 * weight(*ln, *r)).sum::<f64>() / all
    }

    /// Small parts and large ones, with bounds that are near and far.
    #[test]
    fn the_mean_of_what_is_refused_stays_in_the_range() {
        let (mut offered, mut tight) = (0, 0);
        for (people, rows) in [(12, 3), (60, 5), (400, 20), (3_000, 130), (20_000, 900)]
        {
            for below in [people / 50, people / 9, people / 3, people / 2, people - 2] {
                for shares in [(0.0, 0.1), (0.0, 0.3), (0.01, 0.3), (0.03, 0.06)] {
                    for k in [1, 4] {
                        let part = PartSizes { people, rows };
                        let share = rows as f64 / people as f64;
                        let all = share >= shares.0 && share <= shares.1;
                        let found =
                            (below > 0 && all).then(|| look(part, below, shares, k));
                        let Some(found) = found.flatten() else { continue };
                        offered += 1;
                        let side = keeps(shares, k);
                        let kept =
                            |x: u64| side(x, below) && side(rows - x, people - below);
                        let mean = refused_mean(part, below, found, &kept);
                        if mean.is_nan() {
                            continue;
                        }
                        let (a, b) = (below as f64, (people - below) as f64);
                        let presences = [mean / a, (rows as f64 - mean) / b];
                        let slack = presences.map(|p| (p - shares.0).min(shares.1 - p));
                        let least = slack[0].min(slack[1]);
                        assert!(
                            least > -1e-9,
                            "{part:?} {below} {shares:?} {k}: {slack:?}"
                        );
                        tight += u64::from(
                            found.refused != Refused::Nothing && least < 1e-6,
                        );
                    }
                }
            }
        }
        assert!(offered > 60 && tight > 20, "{offered} offered, {tight} tight");
    }
}
