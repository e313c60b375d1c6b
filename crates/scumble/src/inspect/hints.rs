//! What names of columns say, in a few languages.

/// Names of what names a person, whatever else is known.
pub(super) const NAMING: &[&str] = &[
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
pub(super) const NAMING_IF_MANY: &[&str] = &[
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
    "nbr",
    "code",
];

/// Names of whom a number is for, where it is one for each person.
pub(super) const WHOSE: &[&str] = &[
    "patient",
    "person",
    "subject",
    "client",
    "member",
    "participant",
    "pupil",
    "student",
    "employee",
    "customer",
    "respondent",
    "national",
    "insured",
    "beneficiary",
    "resident",
    "household",
];

/// Words for a number of somebody.
pub(super) const NUMBER_OF: &[&str] =
    &["id", "nr", "nbr", "no", "num", "number", "key", "code", "identifier", "ref"];

/// Words that make whole numbers codes.
pub(super) const CODED: &[&str] = &[
    "id", "code", "type", "cd", "kind", "category", "cat", "class", "grp", "group",
    "status",
];

/// What has no order, so that whole numbers for it are codes.
pub(super) const NOMINAL: &[&str] = &[
    "sex",
    "gender",
    "race",
    "ethnicity",
    "marital",
    "country",
    "nationality",
    "occupation",
    "state",
    "region",
    "workclass",
    "relation",
    "relationship",
    "religion",
    "language",
    "ward",
    "specialty",
    "department",
    "industry",
    "employment",
    "geschlecht",
    "sexe",
    "sexo",
];

/// Words for how often or how many.
pub(super) const COUNTS: &[&str] = &["num", "number", "count", "n", "nb", "anzahl"];

/// Weights of a sample survey.
pub(super) const SURVEY_WEIGHTS: &[&str] =
    &["fnlwgt", "pwgtp", "perwt", "hhwt", "wgt", "wgtp", "finalweight", "surveyweight"];

/// Stems of the international names of medicines, at the end of a word.
pub(super) const MEDICINES: &[&str] = &[
    "formin",
    "glinide",
    "gliptin",
    "glitazone",
    "gliflozin",
    "insulin",
    "glyburide",
    "glipizide",
    "glimepiride",
    "butamide",
    "propamide",
    "zamide",
    "hexamide",
    "carbose",
    "glitol",
    "statin",
    "sartan",
    "olol",
    "dipine",
    "prazole",
    "mycin",
    "cillin",
    "floxacin",
    "cycline",
    "conazole",
    "vir",
    "mab",
    "tinib",
    "zepam",
    "zolam",
    "barbital",
    "oxetine",
    "pramine",
    "triptan",
    "setron",
    "coxib",
    "profen",
    "codone",
    "morphone",
    "fentanil",
    "heparin",
    "warfarin",
    "xaban",
    "thiazide",
    "semide",
    "dronate",
    "lukast",
    "terol",
    "sone",
    "solone",
    "thyroxine",
    "aspirin",
    "ibuprofen",
    "paracetamol",
    "acetaminophen",
];

/// Names of parts of names, and of addresses.
pub(super) const NAME_PARTS: &[&str] = &[
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
pub(super) const NAMES: &[&str] = &["name", "nom", "nombre", "nome"];

/// Names of what an adversary may know from elsewhere.
pub(super) const KNOWN: &[&str] = &[
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
    "relation",
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
    "employment",
    "admission",
    "arrival",
    "discharge",
    "specialty",
    "payer",
    "insurance",
    "stay",
    "smoker",
    "ward",
    "hours",
];

/// Names of postal codes, which lose their last digits.
pub(super) const POSTAL: &[&str] =
    &["zip", "zipcode", "postcode", "postal", "plz", "postleitzahl", "cap", "cep"];

/// Names of what nobody should learn about a person.
pub(super) const PRIVATE: &[&str] = &[
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
    "diag",
    "dx",
    "comorbidity",
    "lab",
    "hba1c",
    "a1c",
    "glucose",
    "glu",
    "serum",
    "cholesterol",
    "creatinine",
    "viral",
    "genotype",
    "gene",
    "mutation",
    "biopsy",
    "result",
    "test",
    "insulin",
    "medicine",
    "med",
    "meds",
    "dose",
    "outcome",
    "readmitted",
    "readmission",
    "deceased",
    "death",
    "died",
    "mortality",
    "relapse",
    "suicide",
    "abuse",
    "alcohol",
    "capital",
    "wealth",
    "asset",
    "rent",
    "loan",
    "benefit",
    "welfare",
    "voted",
    "trust",
    "satisfaction",
    "attitude",
    "opinion",
    "health",
    "score",
    "grade",
];

/// Names of columns in which people write what they like.
pub(super) const NOTES: &[&str] = &[
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
