//! Whether a group keeps everything it must.

use crate::method::robust::RobustTask;
use crate::promise::{Group, Scratch};
use crate::table::{EntryId, Histogram, Of, TupleId};

/// Judges groups; has room to work in.
pub(super) struct Judge<'a> {
    task: &'a RobustTask<'a>,
    /// The tuple of each entry.
    tuple_of: &'a Of<EntryId, TupleId>,
    /// All rows.
    whole: &'a [Histogram; 1],
    scratch: Scratch,
    values: [Histogram; 1],
    priors: Vec<f64>,
    /// For each set of columns, how many groups it broke.
    pub(super) broken: Vec<u64>,
}

/// What is found of a group that keeps everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum KeptGroup {
    /// In all possible worlds.
    Exactly,
    /// For some set only against who tells each value from all others.
    Binary,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        task: &'a RobustTask<'a>,
        tuple_of: &'a Of<EntryId, TupleId>,
        whole: &'a [Histogram; 1],
    ) -> Self {
        Self {
            task,
            tuple_of,
            whole,
            scratch: Scratch::default(),
            values: [Histogram::new(whole[0].counts().len())],
            priors: Vec::new(),
            broken: vec![0; task.priors.sets.len()],
        }
    }

    /// Of a group whose values differ; nothing if it breaks something.
    pub(super) fn of(&mut self, group: &[EntryId]) -> Option<KeptGroup> {
        let values = &self.task.data.census.sensitive[0];
        let n = group.len();
        let r = self.task.robustness.r();
        if r.exceeds(n as u128, 1) || (n as u64) < self.task.parts {
            return None;
        }
        self.values[0].clear();
        for row in group {
            self.values[0].add(values[*row], 1);
        }
        let all = self.whole[0].total();
        let whole = Group { rows: all, people: all, values: self.whole };
        let (rows, values_of) = (n as u64, &self.values);
        let seen = Group { rows, people: rows, values: values_of };
        if self.values[0].n_present() < n || !self.task.promises.hold(seen, whole) {
            return None;
        }
        let mut kept = KeptGroup::Exactly;
        for (at, set) in self.task.priors.sets.iter().enumerate() {
            self.priors.clear();
            for row in group {
                let beliefs = set.of(self.tuple_of[*row]);
                let of_group = group.iter().map(|at| values[*at].index());
                self.priors.extend(of_group.map(|value| beliefs[value]));
            }
            let verdict =
                self.task.robustness.judge(&self.priors, n, &mut self.scratch);
            if !verdict.holds {
                self.broken[at] += 1;
                return None;
            }
            if !verdict.exact {
                kept = KeptGroup::Binary;
            }
        }
        Some(kept)
    }
}
