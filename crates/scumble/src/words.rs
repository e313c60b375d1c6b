//! The nearest known word to one that is not known.

/// The nearest of `known` to `word`, if any is near enough to be a slip of the finger.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let distance = |other: &str| {
        strsim::damerau_levenshtein(&word.to_lowercase(), &other.to_lowercase())
    };
    let (best, distance) = known.map(|known| (known, distance(known))).min_by_key(|pair| pair.1)?;
    (distance <= 2.max(word.chars().count() / 3)).then_some(best)
}
