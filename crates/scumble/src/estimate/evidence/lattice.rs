//! Numbers with a fixed number of decimals, counted in steps.

/// The numbers that a column can have.
#[derive(Debug, Clone)]
pub(crate) struct Lattice {
    pub(crate) name: String,
    /// Steps in one.
    pub(crate) scale: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

impl Lattice {
    pub(crate) fn new(name: &str, decimals: u32, domain: [f64; 2]) -> Self {
        // As numbers are rounded when they are published.
        let scale = 10f64.powi(decimals.min(22) as i32);
        let mut lattice = Self { name: name.to_owned(), scale, low: 0.0, high: 0.0 };
        lattice.low = lattice.around(domain[0]).0 + 1.0;
        lattice.high = lattice.around(domain[1]).1 - 1.0;
        lattice
    }

    /// The last number below a value and the first above it, in steps.
    pub(crate) fn around(&self, value: f64) -> (f64, f64) {
        let steps = value * self.scale;
        let nearest = steps.round();
        // What was written with these decimals is on the lattice.
        if (steps - nearest).abs() <= 1e-9 * steps.abs().max(1.0) {
            (nearest - 1.0, nearest + 1.0)
        } else {
            (steps.floor(), steps.ceil())
        }
    }
}
