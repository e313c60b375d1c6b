//! What is believed of a row, in a few numbers: rows with near numbers can share a group.

use crate::hierarchy::Microdata;
use crate::promise::{PriorSet, Priors, SignatureId};
use crate::table::{Code, Of, TupleId};

/// How many numbers stand for the beliefs of a set of columns.
const FOR_EACH_SET: usize = 3;

/// How many steps lead to a direction: it need not be exact.
const STEPS: usize = 25;

/// A few numbers for each tuple.
pub(super) struct Features {
    /// How many.
    pub(super) n: usize,
    /// Tuple after tuple.
    all: Vec<f32>,
}

impl Features {
    /// The logarithms of beliefs, because posteriors depend on ratios, along the directions
    /// in which rows differ most. A value counts as much as it is common.
    pub(super) fn of(data: &Microdata, priors: &Priors) -> Self {
        let census = &data.census;
        let mut shares: Of<Code, f64> = Of::repeat(0.0, census.sensitive_sizes[0]);
        for (value, rows) in census.sensitive[0].iter().zip(&census.entries) {
            shares[*value] += *rows as f64;
        }
        let n_rows = (census.n_rows() as f64).max(1.0);
        shares.iter_mut().for_each(|share| *share /= n_rows);
        let columns: Vec<Of<TupleId, f32>> = priors
            .sets
            .iter()
            .flat_map(|set| directions(set, &shares, &census.rows))
            .collect();
        let n = columns.len();
        let tuples = census.tuples();
        let all =
            tuples.flat_map(|tuple| columns.iter().map(move |of| of[tuple])).collect();
        Self { n, all }
    }

    /// The numbers of a tuple.
    pub(super) fn tuple(&self, tuple: TupleId) -> &[f32] {
        &self.all[tuple.index() * self.n..][..self.n]
    }
}

/// For each direction of a set, a number for each tuple.
fn directions(set: &PriorSet, shares: &[f64], rows: &[u64]) -> Vec<Of<TupleId, f32>> {
    let n_values = set.n_values;
    if n_values == 0 {
        return Vec::new();
    }
    let mut weights: Of<SignatureId, f64> =
        Of::repeat(0.0, set.shares.len() / n_values);
    for (signature, rows) in set.of_tuple.iter().zip(rows) {
        weights[*signature] += *rows as f64;
    }
    let mut beliefs: Vec<Vec<f64>> = set
        .shares
        .chunks_exact(n_values)
        .map(|beliefs| {
            let scaled = |(belief, share): (&f64, &f64)| match *share > 0.0 {
                true => share.sqrt() * (belief / share + 0.1).ln(),
                false => 0.0,
            };
            beliefs.iter().zip(shares).map(scaled).collect()
        })
        .collect();
    let total: f64 = weights.iter().sum();
    let mut mean = vec![0.0; n_values];
    for (beliefs, weight) in beliefs.iter().zip(&weights) {
        add(&mut mean, beliefs, weight / total.max(1.0));
    }
    beliefs.iter_mut().for_each(|beliefs| add(beliefs, &mean, -1.0));
    let mut found = Vec::new();
    for _ in 0..FOR_EACH_SET {
        let Some(direction) = direction(&beliefs, &weights, n_values) else { break };
        let along: Of<SignatureId, f64> =
            beliefs.iter().map(|beliefs| dot(beliefs, &direction)).collect();
        for (beliefs, along) in beliefs.iter_mut().zip(&along) {
            add(beliefs, &direction, -along);
        }
        let of_tuple = set.of_tuple.iter();
        found.push(of_tuple.map(|at| along[*at] as f32).collect());
    }
    found
}

/// The direction of the largest variance, by repeated multiplication; nothing if there is
/// next to none.
fn direction(
    beliefs: &[Vec<f64>],
    weights: &[f64],
    n_values: usize,
) -> Option<Vec<f64>> {
    let farthest = beliefs.iter().zip(weights).map(|(beliefs, weight)| {
        let spread = dot(beliefs, beliefs);
        (spread * weight, spread, beliefs)
    });
    let (_, spread, start) = farthest.max_by(|a, b| a.0.total_cmp(&b.0))?;
    if spread < 1e-12 {
        return None;
    }
    let mut direction = start.clone();
    for _ in 0..STEPS {
        let length = dot(&direction, &direction).sqrt();
        direction.iter_mut().for_each(|x| *x /= length);
        let mut next = vec![0.0; n_values];
        for (beliefs, weight) in beliefs.iter().zip(weights) {
            add(&mut next, beliefs, weight * dot(beliefs, &direction));
        }
        if dot(&next, &next) <= 0.0 {
            break;
        }
        direction = next;
    }
    let length = dot(&direction, &direction).sqrt();
    direction.iter_mut().for_each(|x| *x /= length);
    Some(direction)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn add(to: &mut [f64], from: &[f64], factor: f64) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += factor * from);
}
