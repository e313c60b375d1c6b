//! What names of columns say.

use crate::inspect::names::{KNOWN, MEDICINES, NAME_PARTS, NAMES, POSTAL};

/// Whether the name says it is known from elsewhere.
pub(super) fn is_known(name: &str) -> bool {
    hinted(&words(name), KNOWN)
}

/// Whether the name says that it stays the same for a person.
pub(super) fn is_lasting(name: &str) -> bool {
    let lasting = [
        "sex",
        "gender",
        "race",
        "ethnicity",
        "birth",
        "birthday",
        "birthdate",
        "born",
        "dob",
        "yob",
        "geschlecht",
        "geburt",
        "geburtsdatum",
        "sexe",
        "sexo",
        "naissance",
    ];
    hinted(&words(name), &lasting)
}

/// Whether the name says that it is a part of people's names, or where they live.
pub(super) fn is_name(name: &str) -> bool {
    hinted(&words(name), NAMES) || hinted(&words(name), NAME_PARTS)
}

/// Whether the name says it is a postal code.
pub(super) fn is_postal(name: &str) -> bool {
    hinted(&words(name), POSTAL)
}

/// Whether the name says it is an age, whose usual ranges everybody knows.
pub(super) fn is_age(name: &str) -> bool {
    hinted(&words(name), &["age", "alter", "edad"])
}

/// Whether a word of the name is one of `hints`, or the whole name has a long one in it.
pub(super) fn hinted(words: &[String], hints: &[&str]) -> bool {
    let whole = words.concat();
    hints.iter().any(|hint| {
        words.iter().any(|word| word == hint)
            || (hint.len() >= 6 && whole.contains(hint))
    })
}

/// The words of a name: `birthDate`, `birth_date` and `Birth date` have the same.
pub(super) fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut after_small = false;
    for letter in name.chars() {
        let begins = letter.is_uppercase() && after_small;
        let within = letter.is_alphabetic();
        if (begins || !within) && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        after_small = letter.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| within) {
            word.extend(letter.to_lowercase().map(plain));
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// A letter without its accent, for the languages among the hints.
fn plain(letter: char) -> char {
    match letter {
        'á' | 'à' | 'â' | 'ä' | 'ã' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ó' | 'ò' | 'ô' | 'ö' => 'o',
        'ú' | 'ù' | 'û' | 'ü' => 'u',
        other => other,
    }
}

/// Whether a word of the name ends as medicines do.
pub(super) fn is_medicine(words: &[String]) -> bool {
    let ends = |word: &String| {
        MEDICINES
            .iter()
            .any(|stem| word.len() > stem.len().min(6) && word.ends_with(stem))
    };
    words.iter().any(|word| word.len() >= 7 && ends(word))
}
