//! What several tests here need.

use rand::RngExt;
use rand_chacha::ChaCha20Rng;

use crate::promise::amplification;

/// The gammas and weights of the worked example: 4, 4, 3, 2, 1 of 14, at most three times
/// as likely after.
pub(super) fn worked() -> (Vec<f64>, Vec<f64>) {
    let weights = vec![4.0, 4.0, 3.0, 2.0, 1.0];
    let gamma = |count: &f64| amplification(count / 14.0, 3.0 * count / 14.0);
    (weights.iter().map(gamma).collect(), weights)
}

/// Gammas from little above 1 to thousands, some equal, some infinite; weights, some
/// zero, not all.
pub(super) fn random_limits(rng: &mut ChaCha20Rng, m: usize) -> (Vec<f64>, Vec<f64>) {
    let common = 1.05 + 8.0 * rng.random::<f64>();
    let spread = 8.0 * rng.random::<f64>();
    let infinite = rng.random_range(0..4u8) == 0;
    let gammas = (0..m)
        .map(|_| match rng.random_range(0..5u8) {
            0 => common,
            1 if infinite => f64::INFINITY,
            _ => 1.05 + (spread * rng.random::<f64>()).exp_m1(),
        })
        .collect();
    let mut weights: Vec<f64> = (0..m)
        .map(|_| match rng.random_range(0..4u8) {
            0 => 0.0,
            _ => rng.random::<f64>().powi(3),
        })
        .collect();
    weights[rng.random_range(0..m)] = 1.0;
    (gammas, weights)
}
