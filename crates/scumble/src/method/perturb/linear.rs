//! A general solver for linear programs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use clarabel::algebra::CscMatrix;
use clarabel::solver::{
    DefaultSettings, DefaultSolver, IPSolver, NonnegativeConeT, SolverStatus, ZeroConeT,
};

use crate::watch::Watch;

/// How often somebody looks whether the work is still wanted.
const PATIENCE: Duration = Duration::from_millis(20);

/// A sum of terms, each a variable and its factor, and its bound.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) terms: Vec<(usize, f64)>,
    pub(super) bound: f64,
}

/// A linear program.
#[derive(Debug, Clone, Default)]
pub(super) struct Program {
    /// Each variable's factor in the sum to be made large.
    pub(super) factors: Vec<f64>,
    /// Sums that are their bound.
    pub(super) equal: Vec<Row>,
    /// Sums that are at most their bound.
    pub(super) at_most: Vec<Row>,
}

impl Program {
    /// The best variables, up to about 1e-9; nothing if none meet the rows, or the work is
    /// no longer wanted.
    pub(super) fn solve(&self, watch: &dyn Watch) -> Option<Vec<f64>> {
        let n = self.factors.len();
        let rows = || self.equal.iter().chain(&self.at_most);
        let (mut at_row, mut at_column, mut values) = (vec![], vec![], vec![]);
        for (index, row) in rows().enumerate() {
            for (variable, factor) in &row.terms {
                at_row.push(index);
                at_column.push(*variable);
                values.push(*factor);
            }
        }
        let height = self.equal.len() + self.at_most.len();
        let matrix = CscMatrix::new_from_triplets(height, n, at_row, at_column, values);
        let costs: Vec<f64> = self.factors.iter().map(|factor| -factor).collect();
        let bounds: Vec<f64> = rows().map(|row| row.bound).collect();
        let settings = DefaultSettings {
            verbose: false,
            max_threads: 1,
            tol_gap_abs: 1e-11,
            tol_gap_rel: 1e-11,
            tol_feas: 1e-11,
            ..DefaultSettings::default()
        };
        let none = CscMatrix::zeros((n, n));
        let cones = [ZeroConeT(self.equal.len()), NonnegativeConeT(self.at_most.len())];
        let mut solver =
            DefaultSolver::new(&none, &costs, &matrix, &bounds, &cones, settings)
                .ok()?;
        // The solver keeps what it asks between its steps, and may outlive the watch: so it
        // asks a flag, and somebody else the watch.
        let unwanted = Arc::new(AtomicBool::new(false));
        let flag = unwanted.clone();
        solver.set_termination_callback(move |_: &_| flag.load(Ordering::Relaxed));
        thread::scope(|scope| {
            let (done, waiting) = channel::<()>();
            let ask = move || {
                while waiting.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    unwanted.fetch_or(watch.is_cancelled(), Ordering::Relaxed);
                }
            };
            // Where no thread can be started, nobody asks.
            let _ = thread::Builder::new().spawn_scoped(scope, ask);
            solver.solve();
            drop(done);
        });
        // One that can do no better is near enough: what it finds is repaired.
        let found = matches!(
            solver.solution.status,
            SolverStatus::Solved
                | SolverStatus::AlmostSolved
                | SolverStatus::InsufficientProgress
        );
        found.then_some(solver.solution.x)
    }
}
