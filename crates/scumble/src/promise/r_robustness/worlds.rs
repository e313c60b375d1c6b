//! Possible worlds of a group: who may have which value, and how likely that is.
//!
//! A group has N rows and N values, each value once. A world gives each row a value; its
//! weight is the product of the rows' probabilities. The posterior of row t and value x is
//! the weight of the worlds in which t has x, over the weight of all.
//!
//! # Guarantee
//! Posteriors are those of all N! worlds, up to rounding.
//!
//! *Proof.* Rows with equal probabilities form a class; class c has k(c) rows, each with
//! w(c, x) for value x. A way to send values to classes, k(c) values to each, stands for
//! prod k(c)! worlds, all of the same weight prod w(c(x), x): the same number for every
//! way. So ways may be weighed in place of worlds. By symmetry, x goes to each row of its
//! class equally often: the posterior of a row is that of its class over k(c).
//!
//! Draw for every value a class on its own, class c with probability
//! q(c, x) = k(c) w(c, x) / sum over d of k(d) w(d, x). A way has probability
//! prod q(c(x), x), which is its weight times a factor that is the same for all ways. So
//! the posterior of a class is the probability that x went to c, given that every class got
//! as many values as it has rows. Values are drawn one after the other, and all that
//! matters of the past is how many went to each class: `ahead[s]` is the probability to
//! come to the state s, `behind[s]` to reach the end from it, and
//! sum over s of `ahead[s] q(c, x) behind[s + c]` is the joint probability of "x to c" and
//! the condition. ∎
//!
//! A value may also occur several times: occurrences are told apart, which multiplies every
//! world by the same number of orders, and the posterior of the value is the sum over its
//! occurrences. A world is a way to pair rows with values, so that both can change places:
//! rows one after the other draw values, and the state is how often each value was drawn.
//! Groups that are told by counts take the way with fewer states (`Scratch::weigh`).
//!
//! Every number is a probability, and they are only added, multiplied and divided: nothing
//! overflows or cancels. An operation errs by a factor of at most 1 + 2^-53. A path through
//! the states has for each value a product and a sum over classes, and at most 65,536 states
//! are added in the end. With 16 values and classes, or at the other end 32,767 values and two
//! classes, that is an error below 1e-10 in all. What falls below the smallest float is lost
//! for good, at most 1e-300 in all; so a group whose worlds weigh less than `LEAST` in all is
//! not judged.
//!
//! # Limits
//! The number of states is bounded by `MOST_STATES`: 16 rows that all differ, more if some
//! are alike or have the same value.
//!
//! # Cost
//! prod (k(c) + 1) states, each with a step to each class: O(2^N N) if all rows differ,
//! O(N) if all are alike. No memory is claimed once the buffers have grown.
//!
//! # Source
//! `wong2010inference` defines the worlds; docs/methods.md, "Exact posteriors",
//! says how to sum them.

use crate::promise::r_robustness::counts::{GroupBeliefs, one_by_one};

/// The most states of a group that is summed.
pub const MOST_STATES: usize = 1 << 16;

/// Worlds that weigh less in all cannot be told from no world.
const LEAST: f64 = 1e-250;

/// Buffers used again from one group to the next.
#[derive(Debug, Clone, Default)]
pub struct Scratch {
    /// For each row its class.
    of_row: Vec<usize>,
    /// For each class its first row.
    first: Vec<usize>,
    /// For each class its number of rows.
    sizes: Vec<usize>,
    /// For each class how far its next state is.
    strides: Vec<usize>,
    /// For each value and class, class after class, the probability to go there.
    steps: Vec<f64>,
    /// The same, given that every class gets as many values as it has rows.
    joint: Vec<f64>,
    /// For each state, the probability to come to it.
    ahead: Vec<f64>,
    /// For each state, the probability to reach the end from it.
    behind: Vec<f64>,
    /// For each class, how many of its rows have a value.
    used: Vec<usize>,
    /// Of a group told by counts: for each kind of rows and value, the posterior.
    pub(super) beliefs: Vec<f64>,
}

/// What the worlds of a group say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Worlds {
    /// All rows are alike: every posterior is 1/N.
    Alike,
    /// The largest posterior.
    Largest(f64),
    /// No world is possible, or hardly any.
    None,
    /// There are too many states.
    TooMany,
}

/// The posterior of every row and value, row after row, where `priors[row * n + value]` is
/// what is believed before; nothing if there are too many states or no world is possible.
pub fn posteriors(priors: &[f64], n: usize, scratch: &mut Scratch) -> Option<Vec<f64>> {
    match scratch.sum(priors, n) {
        Worlds::Alike => Some(vec![1.0 / n as f64; n * n]),
        Worlds::Largest(_) => {
            let n_classes = scratch.sizes.len();
            let of_row = |class: &usize| {
                let class = *class;
                let share = scratch.sizes[class] as f64;
                (0..n).map(move |x| (x * n_classes + class, share))
            };
            let places = scratch.of_row.iter().flat_map(of_row);
            Some(places.map(|(place, share)| scratch.joint[place] / share).collect())
        }
        Worlds::None | Worlds::TooMany => None,
    }
}

impl Scratch {
    /// Sums the worlds of a group. If there is a largest posterior, `joint` has those of
    /// the classes.
    pub(super) fn sum(&mut self, priors: &[f64], n: usize) -> Worlds {
        if n == 0 {
            return Worlds::None;
        }
        self.classify(priors, n);
        if let [_] = self.first[..] {
            let possible = priors[..n].iter().all(|share| *share > 0.0);
            return if possible { Worlds::Alike } else { Worlds::None };
        }
        let Some(n_states) = self.lay_out() else {
            return Worlds::TooMany;
        };
        if !self.prepare(priors, n) {
            return Worlds::None;
        }
        // Where all rows differ, a state is a set of rows: that is quicker.
        let all_differ = self.sizes.len() == n;
        if all_differ {
            self.sets_ahead(n, n_states);
        } else {
            self.walk_ahead(n_states);
        }
        let total = self.ahead[n_states - 1];
        if total < LEAST {
            return Worlds::None;
        }
        if all_differ {
            self.sets_behind(n, n_states);
        } else {
            self.walk_behind(n, n_states);
        }
        let n_classes = self.sizes.len();
        let mut largest = 0f64;
        for of_value in self.joint.chunks_exact_mut(n_classes) {
            for (joint, size) in of_value.iter_mut().zip(&self.sizes) {
                *joint /= total;
                largest = largest.max(*joint / *size as f64);
            }
        }
        Worlds::Largest(largest)
    }

    /// The same of a group that is told by counts, whose values may occur several times. If
    /// there is a largest posterior, `beliefs` has those of all kinds and values.
    pub(super) fn weigh(&mut self, group: &GroupBeliefs) -> Worlds {
        let GroupBeliefs { sizes, counts, priors } = group;
        let (n_kinds, n_values) = (sizes.len(), counts.len());
        if n_kinds == 0 || n_values == 0 {
            return Worlds::None;
        }
        if n_kinds == 1 {
            let possible = priors.iter().all(|share| *share > 0.0);
            return if possible { Worlds::Alike } else { Worlds::None };
        }
        // Values go to kinds of rows, or rows to values.
        let states =
            |numbers: &[u64]| numbers.iter().map(|n| *n as f64 + 1.0).product::<f64>();
        let to_kinds = states(sizes) <= states(counts);
        let (bins, items) = if to_kinds { (sizes, counts) } else { (counts, sizes) };
        self.sizes.clear();
        self.sizes.extend(bins.iter().map(|size| *size as usize));
        let Some(n_states) = self.lay_out() else { return Worlds::TooMany };
        let Some(evened) = group.evened() else { return Worlds::None };
        let prior = |item: usize, bin: usize| match to_kinds {
            true => evened[bin * n_values + item],
            false => evened[item * n_values + bin],
        };
        let items = one_by_one(items);
        self.steps.clear();
        for item in &items {
            let start = self.steps.len();
            let weights = self.sizes.iter().enumerate();
            self.steps
                .extend(weights.map(|(bin, size)| prior(*item, bin) * *size as f64));
            let sum: f64 = self.steps[start..].iter().sum();
            if sum <= 0.0 {
                return Worlds::None;
            }
            self.steps[start..].iter_mut().for_each(|step| *step /= sum);
        }
        self.walk_ahead(n_states);
        let total = self.ahead[n_states - 1];
        if total < LEAST {
            return Worlds::None;
        }
        self.walk_behind(items.len(), n_states);
        self.beliefs.clear();
        self.beliefs.resize(n_kinds * n_values, 0.0);
        for (item, joint) in items.iter().zip(self.joint.chunks_exact(bins.len())) {
            for (bin, joint) in joint.iter().enumerate() {
                let (kind, value) = if to_kinds { (bin, *item) } else { (*item, bin) };
                // Rows of a kind are alike: each has its share of what goes to the kind.
                self.beliefs[kind * n_values + value] +=
                    joint / total / sizes[kind] as f64;
            }
        }
        Worlds::Largest(self.beliefs.iter().copied().fold(0.0, f64::max))
    }

    /// Finds the classes: rows with equal probabilities.
    fn classify(&mut self, priors: &[f64], n: usize) {
        self.of_row.clear();
        self.first.clear();
        self.sizes.clear();
        let of = |row: usize| &priors[row * n..(row + 1) * n];
        for row in 0..n {
            match self.first.iter().position(|first| of(*first) == of(row)) {
                Some(class) => {
                    self.sizes[class] += 1;
                    self.of_row.push(class);
                }
                None => {
                    self.of_row.push(self.first.len());
                    self.first.push(row);
                    self.sizes.push(1);
                }
            }
        }
    }

    /// Numbers the states; nothing if they are too many.
    fn lay_out(&mut self) -> Option<usize> {
        self.strides.clear();
        let mut n_states = 1usize;
        for size in &self.sizes {
            self.strides.push(n_states);
            n_states = n_states.checked_mul(size + 1)?;
            if n_states > MOST_STATES {
                return None;
            }
        }
        Some(n_states)
    }

    /// The probability of each value to go to each class; false if some value goes nowhere.
    fn prepare(&mut self, priors: &[f64], n: usize) -> bool {
        self.steps.clear();
        for x in 0..n {
            let start = self.steps.len();
            let mut most = 0f64;
            for first in &self.first {
                most = most.max(priors[first * n + x]);
            }
            if most <= 0.0 {
                return false;
            }
            let mut sum = 0.0;
            for (first, size) in self.first.iter().zip(&self.sizes) {
                let weight = priors[first * n + x] / most * *size as f64;
                sum += weight;
                self.steps.push(weight);
            }
            for step in &mut self.steps[start..] {
                *step /= sum;
            }
        }
        true
    }

    /// The probability to come to each state. The number of a state is larger than those of
    /// the states it is reached from.
    fn walk_ahead(&mut self, n_states: usize) {
        let n_classes = self.sizes.len();
        self.ahead.clear();
        self.ahead.resize(n_states, 0.0);
        self.ahead[0] = 1.0;
        self.used.clear();
        self.used.resize(n_classes, 0);
        let mut value = 0;
        for state in 0..n_states - 1 {
            let here = self.ahead[state];
            if here > 0.0 {
                let steps = &self.steps[value * n_classes..][..n_classes];
                for (class, step) in steps.iter().enumerate() {
                    if self.used[class] < self.sizes[class] {
                        self.ahead[state + self.strides[class]] += here * step;
                    }
                }
            }
            // Counts up, as an odometer does.
            for (used, size) in self.used.iter_mut().zip(&self.sizes) {
                if *used < *size {
                    *used += 1;
                    value += 1;
                    break;
                }
                value -= *used;
                *used = 0;
            }
        }
    }

    /// The probability to reach the end from each state, and the joint probabilities.
    fn walk_behind(&mut self, n: usize, n_states: usize) {
        let n_classes = self.sizes.len();
        self.behind.clear();
        self.behind.resize(n_states, 0.0);
        self.behind[n_states - 1] = 1.0;
        self.joint.clear();
        self.joint.resize(n * n_classes, 0.0);
        self.used.clone_from(&self.sizes);
        let mut value = n;
        for state in (0..n_states - 1).rev() {
            // Counts down.
            for (used, size) in self.used.iter_mut().zip(&self.sizes) {
                if *used > 0 {
                    *used -= 1;
                    value -= 1;
                    break;
                }
                value += size;
                *used = *size;
            }
            let here = self.ahead[state];
            if here > 0.0 {
                let steps = &self.steps[value * n_classes..][..n_classes];
                let joint = &mut self.joint[value * n_classes..][..n_classes];
                let mut sum = 0.0;
                for class in 0..n_classes {
                    if self.used[class] < self.sizes[class] {
                        let next = state + self.strides[class];
                        let way = steps[class] * self.behind[next];
                        sum += way;
                        joint[class] += here * way;
                    }
                }
                self.behind[state] = sum;
            }
        }
    }
    /// The same as `walk_ahead` where every class has one row: the bits of a state are the
    /// rows that have a value.
    fn sets_ahead(&mut self, n: usize, n_states: usize) {
        self.ahead.clear();
        self.ahead.resize(n_states, 0.0);
        self.ahead[0] = 1.0;
        for state in 0..n_states - 1 {
            let here = self.ahead[state];
            if here > 0.0 {
                let value = state.count_ones() as usize;
                let steps = &self.steps[value * n..(value + 1) * n];
                let mut free = !state & (n_states - 1);
                while free != 0 {
                    let row = free.trailing_zeros() as usize;
                    self.ahead[state | 1 << row] += here * steps[row];
                    free &= free - 1;
                }
            }
        }
    }

    /// The same as `walk_behind` where every class has one row.
    fn sets_behind(&mut self, n: usize, n_states: usize) {
        self.behind.clear();
        self.behind.resize(n_states, 0.0);
        self.behind[n_states - 1] = 1.0;
        self.joint.clear();
        self.joint.resize(n * n, 0.0);
        for state in (0..n_states - 1).rev() {
            let here = self.ahead[state];
            if here > 0.0 {
                let value = state.count_ones() as usize;
                let steps = &self.steps[value * n..(value + 1) * n];
                let joint = &mut self.joint[value * n..(value + 1) * n];
                let mut sum = 0.0;
                let mut free = !state & (n_states - 1);
                while free != 0 {
                    let row = free.trailing_zeros() as usize;
                    let way = steps[row] * self.behind[state | 1 << row];
                    sum += way;
                    joint[row] += here * way;
                    free &= free - 1;
                }
                self.behind[state] = sum;
            }
        }
    }
}
