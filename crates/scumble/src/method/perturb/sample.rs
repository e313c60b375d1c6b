//! Drawing the published value.
//!
//! # Guarantee
//! A value is published as another with exactly the probability the operator says, if the
//! words are even and independent: there is no rounding, and no remainder of a division.
//!
//! Draws by a clock ([`Sampler::draw_by_clock`]) are nested: if the same words are used for
//! several operators that keep every value alike ([`Operator::Uniform`]), all that is
//! published tells what the operator that keeps most tells alone.
//!
//! *Proof.* A clock runs down from 2^40. Each of its stops is an even draw from the numbers
//! below the one before, and at each stop the value is drawn anew from the whole domain. An
//! operator that keeps a value with probability b / 2^40 publishes what the value was when
//! the clock passed b: after all stops from b on, and before those below it. No stop is at b
//! or later with probability b / 2^40, since the first is even among 2^40 numbers and every
//! other one is below it; otherwise the value is one that was drawn. Given what happened
//! down to b, the next stop is even among the numbers below b: it does not depend on what
//! happened before. So what an operator with b' below b publishes is made from what the one
//! with b published and from draws that depend on nothing else. ∎
//!
//! # Limits
//! Not of constant time: how long a draw takes depends on what is drawn.
//! Where values are kept with probabilities of their own, the second of two operators adds
//! what the ratio of the two probabilities of a value tells, and nothing if it is the same
//! for all values. Two different general operators share their words and are not nested.
//!
//! # Cost
//! One or two words a draw on average; by a clock, two for every stop, of which there are
//! ln(1 / p) on average for a value that is kept with probability p, at most 28. A general
//! operator needs a table of O(m²) for m values.
//!
//! # Source
//! Walker's alias tables, made as Vose does, here in integers; `walker1977alias`. The clock
//! is ours: in continuous time it is a Poisson process of redraws, looked at when it is as
//! old as minus the logarithm of p.

use rand::Rng;

use super::Operator;
use super::verify::ONE;

/// Draws published values.
#[derive(Debug, Clone)]
pub struct Sampler {
    size: u32,
    table: DrawTable,
}

#[derive(Debug, Clone)]
enum DrawTable {
    /// For each value, below which number of 40 bits it is kept; one number if it is the
    /// same for all.
    Keep(Vec<u64>),
    /// For each value, the alias table of its column.
    Alias(Vec<Vec<AliasSlot>>),
}

/// One of m equally likely slots: below the bound its own value, else the alias.
#[derive(Debug, Clone, Copy)]
struct AliasSlot {
    bound: u64,
    alias: u32,
}

/// In multiples of the grain.
fn count(share: f64) -> u64 {
    (share * ONE as f64).round() as u64
}

impl Sampler {
    /// For an operator, each probability of which is a multiple of the grain.
    pub fn new(operator: &Operator) -> Self {
        let table = match operator {
            Operator::Uniform { keep, .. } => DrawTable::Keep(vec![count(*keep)]),
            Operator::FineGrain { keep } => {
                DrawTable::Keep(keep.iter().map(|p| count(*p)).collect())
            }
            Operator::General { columns } => DrawTable::Alias(
                columns.iter().map(|column| alias_table(column)).collect(),
            ),
        };
        Self { size: operator.size() as u32, table }
    }

    /// What `original` is published as.
    pub fn draw(&self, original: u32, words: &mut impl Rng) -> u32 {
        match &self.table {
            DrawTable::Keep(bounds) => {
                if words.next_u64() >> 24 < bound_of(bounds, original) {
                    return original;
                }
                self.any(words)
            }
            DrawTable::Alias(tables) => {
                let own = self.any(words);
                let slot = tables[original as usize][own as usize];
                if words.next_u64() >> 24 < slot.bound { own } else { slot.alias }
            }
        }
    }

    /// The same, with words that are used again for other operators on the same domain: how
    /// many words are used before a stop of the clock, and for what, is the same for all.
    pub fn draw_by_clock(&self, original: u32, words: &mut impl Rng) -> u32 {
        let DrawTable::Keep(bounds) = &self.table else {
            return self.draw(original, words);
        };
        let bound = bound_of(bounds, original);
        let (mut value, mut clock) = (original, ONE);
        while clock > bound {
            clock = below(clock, words);
            if clock < bound {
                break;
            }
            value = self.any(words);
        }
        value
    }

    /// Any value of the domain, each as likely.
    fn any(&self, words: &mut impl Rng) -> u32 {
        below(u64::from(self.size), words) as u32
    }
}

/// Below which number of 40 bits a value is kept.
fn bound_of(bounds: &[u64], original: u32) -> u64 {
    match bounds {
        [one] => *one,
        each => each[original as usize],
    }
}

/// Any number below `size`, each as likely: the high half of a product, drawn again where
/// some would have one chance more.
pub fn below(size: u64, words: &mut impl Rng) -> u64 {
    let surplus = size.wrapping_neg() % size;
    loop {
        let product = u128::from(words.next_u64()) * u128::from(size);
        if product as u64 >= surplus {
            return (product >> 64) as u64;
        }
    }
}

/// Each slot holds the m-th part of 1, in units of the m-th part of a grain: what a value
/// has too little is filled up by one that has too much. As the units are integers that
/// sum to m slots exactly, nothing is left over.
fn alias_table(column: &[f64]) -> Vec<AliasSlot> {
    let m = column.len() as u64;
    let mut left: Vec<u64> = column.iter().map(|p| count(*p) * m).collect();
    let mut slots: Vec<AliasSlot> =
        (0..m).map(|own| AliasSlot { bound: ONE, alias: own as u32 }).collect();
    let (mut small, mut large): (Vec<usize>, Vec<usize>) =
        (0..column.len()).partition(|code| left[*code] < ONE);
    while let (Some(poor), Some(rich)) = (small.pop(), large.last().copied()) {
        slots[poor] = AliasSlot { bound: left[poor], alias: rich as u32 };
        left[rich] -= ONE - left[poor];
        if left[rich] < ONE {
            large.pop();
            small.push(rich);
        }
    }
    slots
}

#[cfg(test)]
#[path = "sample_tests.rs"]
mod tests;
