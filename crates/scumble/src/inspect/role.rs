//! What a column is probably for, by its name and by how unique it is.

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
}

/// A guess and its reason.
pub(super) type Guess = (Role, &'static str);

/// Names of what names a person, whatever else is known.
const NAMING: &[&str] = &[
    "ssn",
    "email",
    "mail",
    "phone",
    "telephone",
    "tel",
    "telefon",
    "mobile",
    "passport",
    "iban",
    "firstname",
    "lastname",
    "surname",
    "fullname",
    "username",
    "forename",
    "vorname",
    "nachname",
    "prenom",
    "cognome",
    "apellido",
    "apellidos",
    "insee",
    "nhs",
    "mrn",
    "socialsecurity",
];

/// Names of what names a person if it has many values.
const NAMING_IF_MANY: &[&str] = &[
    "id",
    "uuid",
    "guid",
    "identifier",
    "key",
    "number",
    "no",
    "nr",
    "num",
    "name",
    "nom",
    "nombre",
    "nome",
    "account",
    "address",
    "adresse",
    "street",
    "strasse",
    "direccion",
    "pid",
    "ip",
    "url",
    "rowid",
    "index",
];

/// Names of parts of names, and of addresses.
const NAME_PARTS: &[&str] = &[
    "surname",
    "forename",
    "firstname",
    "lastname",
    "fullname",
    "vorname",
    "nachname",
    "prenom",
    "cognome",
    "apellido",
    "apellidos",
    "address",
    "adresse",
    "street",
    "strasse",
    "direccion",
    "ip",
    "url",
];

/// Names of names.
const NAMES: &[&str] = &["name", "nom", "nombre", "nome"];

/// Names of what an adversary may know from elsewhere.
const KNOWN: &[&str] = &[
    "age",
    "alter",
    "edad",
    "eta",
    "birth",
    "birthday",
    "birthdate",
    "birthyear",
    "born",
    "dob",
    "yob",
    "geburt",
    "geburtsdatum",
    "geburtsjahr",
    "naissance",
    "nacimiento",
    "sex",
    "gender",
    "geschlecht",
    "sexe",
    "sexo",
    "sesso",
    "zip",
    "zipcode",
    "postcode",
    "postal",
    "plz",
    "postleitzahl",
    "city",
    "town",
    "stadt",
    "ville",
    "ciudad",
    "citta",
    "district",
    "county",
    "state",
    "region",
    "country",
    "land",
    "pays",
    "pais",
    "nationality",
    "nationalitat",
    "nationalite",
    "citizenship",
    "race",
    "ethnicity",
    "education",
    "bildung",
    "school",
    "degree",
    "marital",
    "familienstand",
    "relationship",
    "occupation",
    "profession",
    "beruf",
    "job",
    "workclass",
    "employer",
    "language",
    "height",
    "weight",
    "children",
    "household",
    "residence",
    "neighborhood",
];

/// Names of postal codes, which lose their last digits.
const POSTAL: &[&str] =
    &["zip", "zipcode", "postcode", "postal", "plz", "postleitzahl", "cap", "cep"];

/// Names of what nobody should learn about a person.
const PRIVATE: &[&str] = &[
    "diagnosis",
    "diagnose",
    "diagnostic",
    "disease",
    "illness",
    "condition",
    "symptom",
    "icd",
    "krankheit",
    "maladie",
    "enfermedad",
    "malattia",
    "medication",
    "drug",
    "treatment",
    "therapy",
    "hiv",
    "cancer",
    "pregnancy",
    "disability",
    "income",
    "salary",
    "wage",
    "earnings",
    "einkommen",
    "gehalt",
    "revenu",
    "salaire",
    "ingreso",
    "ingresos",
    "salario",
    "reddito",
    "religion",
    "belief",
    "party",
    "vote",
    "political",
    "union",
    "orientation",
    "crime",
    "offence",
    "offense",
    "conviction",
    "debt",
    "credit",
    "balance",
];

/// Longer texts are sentences rather than names of things.
const SENTENCE: f64 = 18.0;

/// Names of columns in which people write what they like.
const NOTES: &[&str] = &[
    "note",
    "notes",
    "remark",
    "remarks",
    "comment",
    "comments",
    "text",
    "description",
    "bemerkung",
    "bemerkungen",
    "kommentar",
    "notiz",
    "anmerkung",
    "observaciones",
];

/// Guesses a role. When in doubt the column is quasi: that protects, at a cost.
pub(super) fn guess(name: &str, traits: &Traits) -> Guess {
    let words = words(name);
    let share = traits.distinct as f64 / traits.rows.max(1) as f64;
    let words_only = traits.kind == Kind::Category;
    let (known, private) = (hinted(&words, KNOWN), hinted(&words, PRIVATE));
    if words_only && traits.mean_length >= SENTENCE && share >= 0.05 {
        return (Role::Drop, "long texts, may say anything");
    }
    if words_only && hinted(&words, NOTES) && traits.distinct > 40 {
        return (Role::Drop, "named like free text, may say anything");
    }
    if hinted(&words, NAMING) {
        return (Role::Identifier, "named like an identifier");
    }
    // Names repeat in a large table, but no list of things has so many.
    let names = hinted(&words, NAMES) && traits.distinct > 100;
    let many = names || share >= 0.2;
    if hinted(&words, NAMING_IF_MANY) && many && !known && !private {
        return (Role::Identifier, "named like an identifier, many values");
    }
    if traits.distinct <= 1 {
        return (Role::Other, "one value: says nothing");
    }
    if private {
        return (Role::Sensitive, "named like a private fact");
    }
    if known {
        return (Role::Quasi, "named like a known fact");
    }
    // Uniqueness means little in a handful of rows.
    let unique = traits.rows >= 20 && traits.unique_share >= 0.9;
    if unique && (words_only || traits.whole) {
        return (Role::Identifier, "nearly every row has its own");
    }
    (Role::Quasi, "in doubt: the safe choice")
}

/// Whether the name says it is known from elsewhere.
pub(super) fn is_known(name: &str) -> bool {
    hinted(&words(name), KNOWN)
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
fn hinted(words: &[String], hints: &[&str]) -> bool {
    let whole = words.concat();
    hints.iter().any(|hint| {
        words.iter().any(|word| word == hint)
            || (hint.len() >= 6 && whole.contains(hint))
    })
}

/// The words of a name: `birthDate`, `birth_date` and `Birth date` have the same.
fn words(name: &str) -> Vec<String> {
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
    fn long_texts_are_dropped_and_constants_stay() {
        let notes = Traits { distinct: 900, mean_length: 80.0, ..PLAIN };
        assert_eq!(role("diagnosis notes", notes), Role::Drop);
        assert_eq!(role("foo", Traits { distinct: 1, ..PLAIN }), Role::Other);
    }

    #[test]
    fn in_doubt_a_column_is_quasi() {
        assert_eq!(guess("foo", &PLAIN), (Role::Quasi, "in doubt: the safe choice"));
    }
}
