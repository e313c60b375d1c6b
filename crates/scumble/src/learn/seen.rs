//! What is seen of a column, coarse enough to be learned from.

/// Numbers with more values than this are taken by ranges, as many as that.
const RANGES: usize = 32;

/// As many words of a column are told apart.
const WORDS: usize = 255;

/// Words that fewer rows have are taken for one.
const RARE: usize = 5;

/// What is seen of tuples in a column: the code of each.
#[derive(Debug, Clone)]
pub(crate) struct SeenColumn {
    /// The code of each tuple.
    pub(crate) codes: Vec<u32>,
    /// How many codes there are.
    pub(crate) n_codes: usize,
}

/// The codes of a column's texts.
#[derive(Debug, Clone)]
pub(crate) struct SeenTexts {
    /// The code of each text.
    pub(crate) codes: Vec<u32>,
    /// How many codes there are.
    pub(crate) n_codes: usize,
    /// Whether neighbouring codes are likely to go together.
    pub(crate) ordered: bool,
}

impl SeenTexts {
    /// Of texts that are these numbers, if they are any, and as many rows have: ranges if
    /// they are many numbers, else the commonest and all others as one.
    pub(crate) fn of(numbers: &[Option<f64>], rows: &[u64]) -> Self {
        let ordered = numbers.iter().flatten().count() > RANGES;
        let (codes, n_codes) = match ordered {
            true => ranges(numbers, rows),
            false => words(rows),
        };
        Self { codes, n_codes, ordered }
    }

    /// What is seen of tuples with these texts.
    pub(crate) fn at(&self, texts: impl Iterator<Item = usize>) -> SeenColumn {
        let codes = texts.map(|text| self.codes[text]).collect();
        SeenColumn { codes, n_codes: self.n_codes }
    }
}

/// Ranges of numbers with about as many rows each; what is no number is a value of its own.
fn ranges(numbers: &[Option<f64>], rows: &[u64]) -> (Vec<u32>, usize) {
    let mut order: Vec<usize> =
        (0..numbers.len()).filter(|code| numbers[*code].is_some()).collect();
    order.sort_by(|a, b| {
        let number = |code: &usize| numbers[*code].unwrap_or(0.0);
        number(a).total_cmp(&number(b))
    });
    let total: u64 = order.iter().map(|code| rows[*code]).sum();
    let mut codes = vec![RANGES as u32; numbers.len()];
    let mut before = 0;
    for code in order {
        codes[code] = (before * RANGES as u64 / total.max(1)) as u32;
        before += rows[code];
    }
    (codes, RANGES + 1)
}

/// The commonest words, and all others as one.
fn words(rows: &[u64]) -> (Vec<u32>, usize) {
    let mut common: Vec<usize> =
        (0..rows.len()).filter(|code| rows[*code] >= RARE as u64).collect();
    common.sort_by_key(|code| (std::cmp::Reverse(rows[*code]), *code));
    common.truncate(WORDS);
    common.sort_unstable();
    let mut codes = vec![common.len() as u32; rows.len()];
    for (place, code) in common.iter().enumerate() {
        codes[*code] = place as u32;
    }
    (codes, common.len() + 1)
}
