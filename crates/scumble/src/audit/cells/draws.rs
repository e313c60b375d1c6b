//! Probabilities of drawing people at random, without tables and for any size.

/// ln n!, by Stirling's series where that is exact to the last digits.
pub(crate) fn ln_factorial(n: u64) -> f64 {
    if n < 64 {
        return (2..=n).map(|factor| (factor as f64).ln()).sum();
    }
    let n = n as f64;
    let square = n * n;
    // The next term is 1 / (1680 n^7): below 10^-15 for 64.
    let series = (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / (1260.0 * square)) / square) / n;
    (n + 0.5) * n.ln() - n + 0.5 * std::f64::consts::TAU.ln() + series
}

/// ln of the number of ways to choose `k` of `n`, where `k` is at most `n`.
pub(crate) fn ln_choose(n: u64, k: u64) -> f64 {
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n.saturating_sub(k))
}

/// For each number up to `most`, and at most `n`: how likely so many of `n` are drawn if
/// each is with the probability `p`, which is neither 0 nor 1.
pub(crate) fn binomial(n: u64, p: f64, most: u64) -> Vec<f64> {
    let (ln_p, ln_rest) = (p.ln(), (-p).ln_1p());
    let ln_of = |x: u64| ln_choose(n, x) + x as f64 * ln_p + (n - x) as f64 * ln_rest;
    (0..=most.min(n)).map(|x| ln_of(x).exp()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factorials_are_those_of_multiplication() {
        let mut sum = 0.0;
        for n in 1..2000u64 {
            sum += (n as f64).ln();
            assert!((ln_factorial(n) - sum).abs() < 1e-11 * sum.max(1.0), "{n}");
        }
        assert!((ln_choose(52, 5) - 2_598_960f64.ln()).abs() < 1e-12);
        assert_eq!((ln_choose(7, 0), ln_choose(0, 0)), (0.0, 0.0));
    }

    #[test]
    fn probabilities_sum_to_one() {
        for (n, p) in [(1, 0.3), (40, 0.5), (3000, 0.01)] {
            let sum: f64 = binomial(n, p, n).iter().sum();
            assert!((sum - 1.0).abs() < 1e-11, "{n} {p}");
        }
    }
}
