//! Numbers of ways: exact as long as they fit, then floats that never overflow.

/// A number of ways to do something.
pub(crate) trait Ways: Copy {
    /// No way.
    const NONE: Self;
    /// One way.
    const ONE: Self;

    /// A small number.
    fn of(n: u64) -> Self;

    /// The sum; nothing if it is too large.
    fn plus(self, other: Self) -> Option<Self>;

    /// The product; nothing if it is too large.
    fn times(self, other: Self) -> Option<Self>;

    /// The ratio, which is a whole number.
    fn over(self, n: u64) -> Self;
}

impl Ways for u128 {
    const NONE: Self = 0;
    const ONE: Self = 1;

    fn of(n: u64) -> Self {
        n.into()
    }

    fn plus(self, other: Self) -> Option<Self> {
        self.checked_add(other)
    }

    fn times(self, other: Self) -> Option<Self> {
        self.checked_mul(other)
    }

    fn over(self, n: u64) -> Self {
        self / u128::from(n)
    }
}

/// `number * 2^(512 blocks)`. The number is zero, or between 2^-256 and 2^256, so that
/// products of two are floats.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scaled {
    number: f64,
    blocks: i64,
}

/// 2^256.
const HALF: f64 = f64::from_bits((1023 + 256) << 52);

impl Scaled {
    fn new(mut number: f64, mut blocks: i64) -> Self {
        if number >= HALF {
            number = number / HALF / HALF;
            blocks += 1;
        } else if number != 0.0 && number < 1.0 / HALF {
            number = number * HALF * HALF;
            blocks -= 1;
        }
        Self { number, blocks }
    }

    /// The natural logarithm.
    pub(crate) fn ln(self) -> f64 {
        self.number.ln() + self.blocks as f64 * 512.0 * std::f64::consts::LN_2
    }

    /// The ratio of two numbers that is not far from 1.
    pub(crate) fn ratio(self, other: Self) -> f64 {
        let blocks = (self.blocks - other.blocks).clamp(-2, 2) as i32;
        self.number / other.number * HALF.powi(2 * blocks)
    }
}

impl Ways for Scaled {
    const NONE: Self = Self { number: 0.0, blocks: 0 };
    const ONE: Self = Self { number: 1.0, blocks: 0 };

    fn of(n: u64) -> Self {
        Self { number: n as f64, blocks: 0 }
    }

    fn plus(self, other: Self) -> Option<Self> {
        let (large, small) = match self.number != 0.0
            && (other.number == 0.0 || self.blocks >= other.blocks)
        {
            true => (self, other),
            false => (other, self),
        };
        // What is a block below is 2^-512 of it, give or take 2^512.
        let lost = match large.blocks - small.blocks {
            _ if small.number == 0.0 => 0.0,
            0 => 1.0,
            1 => 1.0 / HALF / HALF,
            _ => 0.0,
        };
        Some(Self::new(large.number + small.number * lost, large.blocks))
    }

    fn times(self, other: Self) -> Option<Self> {
        Some(Self::new(self.number * other.number, self.blocks + other.blocks))
    }

    fn over(self, n: u64) -> Self {
        Self::new(self.number / n as f64, self.blocks)
    }
}

/// The ways to choose each number from `low` to `high` of `n`; nothing if there are too
/// many.
pub(crate) fn choices<W: Ways>(n: u64, low: u64, high: u64) -> Option<Vec<W>> {
    let mut ways = W::ONE;
    let mut all = Vec::with_capacity((high - low + 1) as usize);
    for k in 0..=high {
        if k >= low {
            all.push(ways);
        }
        if k < high {
            ways = ways.times(W::of(n - k))?.over(k + 1);
        }
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_agree_with_whole_numbers() {
        let exact: Vec<u128> = choices(90, 3, 80).unwrap();
        let scaled: Vec<Scaled> = choices(90, 3, 80).unwrap();
        for (exact, scaled) in exact.iter().zip(&scaled) {
            assert!((scaled.ln() - (*exact as f64).ln()).abs() < 1e-12);
        }
        assert!(choices::<u128>(1000, 0, 500).is_none());
    }

    #[test]
    fn nothing_overflows() {
        let ways: Vec<Scaled> = choices(40_000, 20_000, 20_000).unwrap();
        let wanted = crate::audit::cells::draws::ln_choose(40_000, 20_000);
        assert!((ways[0].ln() - wanted).abs() < 1e-8);
        let doubled = ways[0].plus(ways[0]).unwrap();
        assert!((doubled.ratio(ways[0]) - 2.0).abs() < 1e-15);
        let small = Scaled::NONE.plus(Scaled::ONE).unwrap();
        assert_eq!(small, Scaled::ONE);
        assert_eq!(doubled.plus(small), Some(doubled));
    }
}
