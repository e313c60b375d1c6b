//! An answer, and how far it may be off.

/// How many standard errors an interval of 95 % reaches to either side.
pub(crate) const NORMAL_95: f64 = 1.959_963_984_540_054;

/// How many rows of the table have something, or the sum or mean of their numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Estimate {
    /// The values of the columns that are counted apart.
    pub values: Vec<String>,
    /// The estimate; of a sum or mean, that.
    pub count: f64,
    /// The estimate by the inverse, whatever the way; nothing if a matrix cannot be inverted.
    pub unbiased: Option<f64>,
    /// The standard error of that; nothing if a matrix cannot be inverted.
    pub standard_error: Option<f64>,
    /// As many rows as have it for certain, as far as that is known.
    pub at_least: f64,
    /// As many rows as could have it.
    pub at_most: f64,
    /// How many rows may count: those that a sum or mean may be of.
    pub rows: f64,
    /// What its error rests on.
    pub basis: Basis,
}

/// What the error of an estimate rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Basis {
    /// The law of the release alone: nothing is open, noise whose law is known, or values
    /// that are taken as even and independent because nobody measured how they lie.
    #[default]
    Law,
    /// The law, and how far answers were off when the publisher asked.
    Calibrated,
    /// Nothing: the truth is within the limits, and nobody knows where.
    Limits,
}

impl Estimate {
    /// Where the true count lies with 95 %: around the unbiased estimate, also below zero.
    /// Where nothing but limits is known, these.
    pub fn interval(&self) -> Option<(f64, f64)> {
        if self.basis == Basis::Limits {
            return self.limits();
        }
        let (middle, reach) = (self.unbiased?, NORMAL_95 * self.standard_error?);
        Some((middle - reach, middle + reach))
    }

    /// The same within what is possible.
    ///
    /// If the unbiased estimate is not possible itself, the interval begins at the nearest
    /// count that is, and if the estimate lies outside, it reaches to it: both make it
    /// longer, so that it covers the truth no less often and never looks certain.
    pub fn possible_interval(&self) -> Option<(f64, f64)> {
        if self.basis == Basis::Limits {
            return self.limits();
        }
        let possible = |count: f64| count.clamp(self.at_least, self.at_most);
        let (middle, reach) = (self.unbiased?, NORMAL_95 * self.standard_error?);
        let (middle, count) = (possible(middle), possible(self.count));
        let (low, high) = (possible(middle - reach), possible(middle + reach));
        Some((low.min(count), high.max(count)))
    }

    /// What the truth cannot leave, if there is such a thing.
    pub fn limits(&self) -> Option<(f64, f64)> {
        let limited = self.at_least.is_finite() && self.at_most.is_finite();
        limited.then_some((self.at_least, self.at_most))
    }

    /// Whether the error is so large that the estimate tells nothing: a standard error of
    /// more than a quarter of the rows that are open, so that the interval would be as long
    /// as all there is.
    pub fn tells_nothing(&self) -> bool {
        let open = self.at_most;
        self.at_least == 0.0
            && self.standard_error.is_some_and(|error| error > open / 4.0)
    }
}
