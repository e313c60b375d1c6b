//! Numbers of a lattice as codes: of all that could be drawn only those that were are listed.

/// Distinct numbers in their order, "not known" (NaN) last, and the code of each.
pub(crate) fn steps(
    steps: &[f64],
    text: impl Fn(f64) -> String,
    missing: &str,
) -> (Vec<Box<str>>, Vec<u32>) {
    let mut known: Vec<f64> = steps.iter().copied().filter(|s| !s.is_nan()).collect();
    known.sort_unstable_by(f64::total_cmp);
    known.dedup();
    let n_known = known.len() as u32;
    let code = |step: &f64| match step.is_nan() {
        true => n_known,
        false => known.partition_point(|other| other < step) as u32,
    };
    let codes: Vec<u32> = steps.iter().map(code).collect();
    let mut texts: Vec<Box<str>> =
        known.iter().map(|step| text(*step).into_boxed_str()).collect();
    if codes.contains(&n_known) {
        texts.push(missing.into());
    }
    (texts, codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_occurs_is_listed() {
        let found = steps(&[3.0, f64::NAN, -1.0, 3.0], |s| s.to_string(), "?");
        let texts: Vec<&str> = found.0.iter().map(|text| &**text).collect();
        assert_eq!(texts, ["-1", "3", "?"]);
        assert_eq!(found.1, [1, 2, 0, 1]);
        assert_eq!(steps(&[], |s| s.to_string(), "?"), (Vec::new(), Vec::new()));
    }
}
