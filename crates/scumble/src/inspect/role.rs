//! What a column is probably for, by its name, its values and how unique it is.

use crate::hierarchy::Template;
use crate::inspect::Sureness;
use crate::inspect::hints::{
    CODED, COUNTS, KNOWN, NAMES, NAMING, NAMING_IF_MANY, NOMINAL, NOTES, NUMBER_OF,
    PRIVATE, SURVEY_WEIGHTS, WHOSE, hinted, is_age, is_medicine, words,
};
use crate::table::{Kind, Role};

/// What is known about a column when its role is guessed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Traits {
    pub(super) kind: Kind,
    /// Whether all values are whole numbers.
    pub(super) whole: bool,
    pub(super) rows: u64,
    pub(super) distinct: u64,
    /// The share of rows whose value no other row has.
    pub(super) unique_share: f64,
    /// How long values are on average.
    pub(super) mean_length: f64,
    /// The share of rows without a value.
    pub(super) missing: f64,
    /// The share of rows with the most common value, or without one.
    pub(super) top_share: f64,
    /// The classification that nearly all values are codes of.
    pub(super) codes: Option<Template>,
    /// The share of values that are answers of tests, such as "positive".
    pub(super) findings: f64,
}

/// A guess, its reason, and how sure it is.
pub(super) type Guess = (Role, &'static str, Sureness);

/// Longer texts are sentences rather than names of things.
const SENTENCE: f64 = 18.0;

/// A column where fewer rows have a value is nearly empty.
const NEARLY_EMPTY: f64 = 0.9;

/// A column where so many rows have one value hardly says anything, and what it says is about
/// few.
const NEARLY_CONSTANT: f64 = 0.995;

/// Guesses a role. When in doubt the column is quasi: that protects, at a cost.
pub(super) fn guess(name: &str, traits: &Traits) -> Guess {
    use Sureness::{Guess, Likely, Sure};
    let words = words(name);
    let share = traits.distinct as f64 / traits.rows.max(1) as f64;
    let words_only = traits.kind == Kind::Category;
    let known = hinted(&words, KNOWN);
    // How many is another thing than what.
    let count = traits.whole && hinted(&words, COUNTS);
    let private = hinted(&words, PRIVATE) && !count;
    if traits.distinct <= 1 {
        return (Role::Drop, "constant: says nothing", Sure);
    }
    if words_only && traits.mean_length >= SENTENCE && share >= 0.05 {
        return (Role::Drop, "long texts, may say anything", Likely);
    }
    if words_only && hinted(&words, NOTES) && traits.distinct > 40 {
        return (Role::Drop, "named like free text, may say anything", Likely);
    }
    if hinted(&words, NAMING) {
        return (Role::Identifier, "named like an identifier", Sure);
    }
    // Names repeat in a large table, but no list of things has so many.
    let names = hinted(&words, NAMES) && traits.distinct > 100;
    let many = names || share >= 0.2;
    // Rows of a person repeat the number of that person.
    let of_somebody =
        hinted(&words, WHOSE) && hinted(&words, NUMBER_OF) && traits.distinct > 100;
    if of_somebody && share >= 0.01 {
        return (Role::Identifier, "named like a number of a person", Sure);
    }
    if hinted(&words, NAMING_IF_MANY) && many && !known && !private {
        let sure = if traits.unique_share >= 0.99 { Sure } else { Likely };
        return (Role::Identifier, "named like an identifier, many values", sure);
    }
    if hinted(&words, SURVEY_WEIGHTS) {
        return (Role::Drop, "weights of a survey: nearly one for each person", Likely);
    }
    if traits.missing >= NEARLY_EMPTY {
        return (Role::Drop, "nearly empty: says something of few", Likely);
    }
    if traits.rows >= 200 && traits.top_share >= NEARLY_CONSTANT {
        return (Role::Drop, "nearly constant: says something of few", Likely);
    }
    if traits.codes.is_some_and(|codes| codes != Template::UnRegion) {
        return (Role::Sensitive, "codes of diagnoses", Sure);
    }
    if private {
        return (Role::Sensitive, "named like a private fact", Likely);
    }
    if traits.findings >= 0.5 {
        return (Role::Sensitive, "values are findings of tests", Likely);
    }
    if is_medicine(&words) {
        return (Role::Sensitive, "named like a medicine", Likely);
    }
    if known {
        return (Role::Quasi, "named like a known fact", Likely);
    }
    // Uniqueness means little in a handful of rows.
    let unique = traits.rows >= 20 && traits.unique_share >= 0.9;
    if unique && (words_only || traits.whole) {
        return (Role::Identifier, "nearly every row has its own", Likely);
    }
    (Role::Quasi, "in doubt: the safe choice", Guess)
}

/// Whether whole numbers are codes, by the name of their column.
pub(super) fn is_coded(name: &str, distinct: u64) -> bool {
    let words = words(name);
    let few = distinct <= 100 && !is_age(name) && !hinted(&words, COUNTS);
    few && (words.iter().any(|word| CODED.contains(&&**word))
        || hinted(&words, NOMINAL))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Traits = Traits {
        kind: Kind::Category,
        whole: false,
        rows: 1000,
        distinct: 20,
        unique_share: 0.0,
        mean_length: 6.0,
        missing: 0.0,
        top_share: 0.3,
        codes: None,
        findings: 0.0,
    };

    fn role(name: &str, traits: Traits) -> Role {
        guess(name, &traits).0
    }

    #[test]
    fn names_of_columns_tell_their_role() {
        let quasi =
            ["age", "Birth date", "zipCode", "native-country", "Geschlecht", "PLZ"];
        for name in quasi {
            assert_eq!(role(name, PLAIN), Role::Quasi, "{name}");
        }
        for name in ["disease", "salary-class", "Nettoeinkommen", "main diagnosis"] {
            assert_eq!(role(name, PLAIN), Role::Sensitive, "{name}");
        }
        for name in ["email", "Phone 1", "lastName", "prénom"] {
            assert_eq!(role(name, PLAIN), Role::Identifier, "{name}");
        }
    }

    #[test]
    fn what_has_many_values_may_be_an_identifier() {
        let many = Traits { distinct: 990, unique_share: 0.98, ..PLAIN };
        assert_eq!(role("patient_id", many), Role::Identifier);
        assert_eq!(role("department_id", PLAIN), Role::Quasi);
        assert_eq!(role("name", PLAIN), Role::Quasi);
        assert_eq!(role("name", Traits { distinct: 150, ..PLAIN }), Role::Identifier);
        assert_eq!(role("foo", many), Role::Identifier);
        let numbers = Traits { kind: Kind::Number, whole: true, ..many };
        assert_eq!(role("foo", numbers), Role::Identifier);
        assert_eq!(role("foo", Traits { whole: false, ..numbers }), Role::Quasi);
        assert_eq!(role("birthday", many), Role::Quasi);
    }

    #[test]
    fn long_texts_and_constants_are_dropped() {
        let notes = Traits { distinct: 900, mean_length: 80.0, ..PLAIN };
        assert_eq!(role("diagnosis notes", notes), Role::Drop);
        for (traits, reason) in [
            (Traits { distinct: 1, ..PLAIN }, "constant: says nothing"),
            (Traits { missing: 0.95, ..PLAIN }, "nearly empty: says something of few"),
            (
                Traits { top_share: 0.999, ..PLAIN },
                "nearly constant: says something of few",
            ),
        ] {
            let (role, why, _) = guess("insulin", &traits);
            assert_eq!((role, why), (Role::Drop, reason));
        }
        assert_eq!(role("fnlwgt", PLAIN), Role::Drop);
    }

    #[test]
    fn in_doubt_a_column_is_quasi() {
        let found = guess("foo", &PLAIN);
        assert_eq!(found, (Role::Quasi, "in doubt: the safe choice", Sureness::Guess));
    }

    #[test]
    fn what_is_sensitive_is_found_by_name_and_by_values() {
        let names = [
            "max_glu_serum",
            "A1Cresult",
            "metformin",
            "glyburide-metformin",
            "readmitted",
            "hiv_status",
            "capital-gain",
            "diag_1",
            "net income",
            "outcome",
        ];
        for name in names {
            assert_eq!(role(name, PLAIN), Role::Sensitive, "{name}");
        }
        let codes = Traits { codes: Some(Template::Icd10), ..PLAIN };
        assert_eq!(role("foo", codes), Role::Sensitive);
        assert_eq!(role("foo", Traits { findings: 1.0, ..PLAIN }), Role::Sensitive);
        let count = Traits { kind: Kind::Number, whole: true, ..PLAIN };
        for name in ["num_medications", "number_diagnoses", "num_lab_procedures"] {
            assert_eq!(role(name, count), Role::Quasi, "{name}");
        }
    }

    #[test]
    fn numbers_of_people_repeat() {
        let repeated = Traits { distinct: 700, unique_share: 0.4, ..PLAIN };
        for name in ["patient_nbr", "person id", "respondentNo"] {
            assert_eq!(role(name, repeated), Role::Identifier, "{name}");
        }
    }

    #[test]
    fn codes_are_no_numbers() {
        for name in ["admission_type_id", "payer_code", "Gender", "Occupation"] {
            assert!(is_coded(name, 20), "{name}");
        }
        for name in ["age", "num_procedures", "weight", "hours", "number_of_types"] {
            assert!(!is_coded(name, 20), "{name}");
        }
    }
}
