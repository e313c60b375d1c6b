//! Countries and areas (ISO 3166-1) in the subregions and regions of the United Nations' M49.

use std::sync::OnceLock;

use hashbrown::HashMap;

/// A line for each subregion: `region/subregion:` and its countries, each with two letters,
/// three letters and its name.
const COUNTRIES: &str = include_str!("regions.txt");

/// Other names in use, as [`plain`] makes them.
const OTHER_NAMES: [(&str, &str); 36] = [
    ("brunei darussalam", "BN"),
    ("burma", "MM"),
    ("cape verde", "CV"),
    ("columbia", "CO"),
    ("congo republic", "CG"),
    ("czech republic", "CZ"),
    ("democratic republic of the congo", "CD"),
    ("england", "GB"),
    ("great britain", "GB"),
    ("holland", "NL"),
    ("holand netherlands", "NL"),
    ("holland netherlands", "NL"),
    ("hong", "HK"),
    ("iran islamic republic of", "IR"),
    ("ivory coast", "CI"),
    ("korea", "KR"),
    ("lao pdr", "LA"),
    ("macedonia", "MK"),
    ("northern ireland", "GB"),
    ("outlying us guam usvi etc", "UM"),
    ("people s republic of china", "CN"),
    ("republic of korea", "KR"),
    ("russian federation", "RU"),
    ("scotland", "GB"),
    ("swaziland", "SZ"),
    ("syrian arab republic", "SY"),
    ("the netherlands", "NL"),
    ("trinadad tobago", "TT"),
    ("trinidad tobago", "TT"),
    ("turkiye", "TR"),
    ("united kingdom of great britain and northern ireland", "GB"),
    ("united republic of tanzania", "TZ"),
    ("united states of america", "US"),
    ("uk", "GB"),
    ("vatican", "VA"),
    ("wales", "GB"),
];

/// Lines of the tree: country, subregion, region, root.
pub(super) fn lines() -> Vec<[String; 4]> {
    let line = |(region, sub, _, _, name): (&str, &str, &str, &str, &str)| {
        [name, sub, region, "*"].map(str::to_owned)
    };
    countries().map(line).collect()
}

/// Region, subregion, two letters, three letters and name of every country.
fn countries() -> impl Iterator<
    Item = (&'static str, &'static str, &'static str, &'static str, &'static str),
> {
    COUNTRIES.lines().flat_map(|line| {
        let (above, countries) = line.split_once(':').unwrap_or_default();
        let (region, sub) = above.split_once('/').unwrap_or_default();
        countries.split('|').map(move |country| {
            let mut parts = country.splitn(3, ' ');
            let mut next = || parts.next().unwrap_or_default();
            (region, sub, next(), next(), next())
        })
    })
}

/// The country that a text stands for.
pub(super) fn country(text: &str) -> Option<&'static str> {
    static NAMES: OnceLock<HashMap<String, &'static str>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let mut names = HashMap::new();
        for (_, _, two, three, name) in countries() {
            for key in [plain(two), plain(three), plain(name)] {
                names.insert(key.replace(' ', ""), name);
            }
            for (other, _) in OTHER_NAMES.iter().filter(|(_, code)| *code == two) {
                names.insert(other.replace(' ', ""), name);
            }
        }
        names
    });
    names.get(&plain(text).replace(' ', "")).copied()
}

/// Small letters without accents, with single blanks for all that is no letter.
fn plain(text: &str) -> String {
    let letter = |letter: char| match letter {
        'á' | 'à' | 'â' | 'ä' | 'ã' | 'å' => 'a',
        'é' | 'è' | 'ê' | 'ë' => 'e',
        'í' | 'ì' | 'î' | 'ï' => 'i',
        'ó' | 'ò' | 'ô' | 'ö' | 'õ' => 'o',
        'ú' | 'ù' | 'û' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        letter if letter.is_alphanumeric() => letter,
        _ => ' ',
    };
    let lower = text.chars().flat_map(char::to_lowercase).map(letter);
    let lower: String = lower.collect();
    lower.split_whitespace().collect::<Vec<_>>().join(" ")
}
