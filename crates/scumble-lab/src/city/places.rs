//! The city's lists: districts, countries, diseases, names, trades.

/// A postal code, how many of a thousand people live there, and how many of a hundred of
/// them come from elsewhere.
pub(super) const DISTRICTS: [(&str, u32, u32); 24] = [
    ("41001", 22, 38),
    ("41002", 31, 35),
    ("41005", 48, 30),
    ("41009", 40, 28),
    ("41101", 66, 18),
    ("41103", 71, 15),
    ("41104", 58, 16),
    ("41108", 52, 12),
    ("41110", 45, 14),
    ("41201", 80, 22),
    ("41203", 76, 24),
    ("41206", 69, 20),
    ("41209", 61, 19),
    ("41302", 55, 9),
    ("41303", 47, 8),
    ("41307", 39, 7),
    ("41309", 33, 6),
    ("41405", 28, 5),
    ("41406", 24, 5),
    ("41501", 19, 4),
    ("41503", 14, 4),
    ("41508", 11, 3),
    ("41602", 7, 3),
    ("41605", 4, 2),
];

/// A country, its region, its continent, and its weight among people from elsewhere.
pub(super) const COUNTRIES: [(&str, &str, &str, u32); 29] = [
    ("Germany", "Western Europe", "Europe", 0),
    ("Turkey", "Western Asia", "Asia", 160),
    ("Poland", "Eastern Europe", "Europe", 120),
    ("Italy", "Southern Europe", "Europe", 90),
    ("Romania", "Eastern Europe", "Europe", 85),
    ("Syria", "Western Asia", "Asia", 80),
    ("Greece", "Southern Europe", "Europe", 55),
    ("Croatia", "Southern Europe", "Europe", 50),
    ("Ukraine", "Eastern Europe", "Europe", 48),
    ("France", "Western Europe", "Europe", 40),
    ("Austria", "Western Europe", "Europe", 36),
    ("Spain", "Southern Europe", "Europe", 34),
    ("India", "Southern Asia", "Asia", 32),
    ("Vietnam", "Eastern Asia", "Asia", 26),
    ("China", "Eastern Asia", "Asia", 24),
    ("Netherlands", "Western Europe", "Europe", 22),
    ("Iran", "Southern Asia", "Asia", 20),
    ("Morocco", "Northern Africa", "Africa", 18),
    ("United States", "Northern America", "America", 16),
    ("Nigeria", "Western Africa", "Africa", 13),
    ("Brazil", "Southern America", "America", 12),
    ("Tunisia", "Northern Africa", "Africa", 10),
    ("Ghana", "Western Africa", "Africa", 9),
    ("Japan", "Eastern Asia", "Asia", 6),
    ("Mexico", "Central America", "America", 5),
    ("Canada", "Northern America", "America", 4),
    ("Peru", "Southern America", "America", 3),
    ("Cuba", "Central America", "America", 2),
    ("Senegal", "Western Africa", "Africa", 1),
];

/// A disease and whom it strikes.
pub(super) struct Disease {
    pub(super) name: &'static str,
    pub(super) system: &'static str,
    pub(super) ward: &'static str,
    /// Weights for women and men of these ages: under 18, 18 to 44, 45 to 64, 65 and over.
    pub(super) women: [u32; 4],
    pub(super) men: [u32; 4],
    /// Days in hospital on average, and the price of a day.
    pub(super) days: f64,
    pub(super) price: u32,
}

const fn disease(
    (name, system, ward): (&'static str, &'static str, &'static str),
    women: [u32; 4],
    men: [u32; 4],
    days: f64,
    price: u32,
) -> Disease {
    Disease { name, system, ward, women, men, days, price }
}

const HEART: &str = "circulation";
const BREATH: &str = "respiration";
const GUT: &str = "digestion";
const NERVES: &str = "nerves and mind";
const BONES: &str = "bones and joints";
const WOMB: &str = "reproduction";

pub(super) const DISEASES: [Disease; 21] = [
    disease(
        ("heart failure", HEART, "cardiology"),
        [0, 2, 18, 70],
        [0, 3, 28, 75],
        8.5,
        620,
    ),
    disease(
        ("heart attack", HEART, "cardiology"),
        [0, 1, 12, 30],
        [0, 5, 34, 42],
        6.5,
        980,
    ),
    disease(("stroke", HEART, "neurology"), [0, 2, 14, 48], [0, 3, 20, 46], 10.5, 760),
    disease(
        ("hypertension", HEART, "medicine"),
        [1, 6, 24, 30],
        [1, 8, 28, 26],
        3.0,
        410,
    ),
    disease(
        ("pneumonia", BREATH, "medicine"),
        [20, 8, 16, 44],
        [24, 9, 20, 48],
        7.5,
        520,
    ),
    disease(("asthma", BREATH, "medicine"), [30, 12, 10, 6], [36, 8, 8, 5], 3.5, 430),
    disease(
        ("bronchitis", BREATH, "medicine"),
        [44, 10, 14, 20],
        [48, 10, 16, 22],
        4.0,
        400,
    ),
    disease(
        ("lung cancer", BREATH, "oncology"),
        [0, 1, 14, 18],
        [0, 1, 18, 26],
        9.0,
        890,
    ),
    disease(
        ("appendicitis", GUT, "surgery"),
        [42, 30, 10, 4],
        [46, 32, 12, 5],
        3.5,
        700,
    ),
    disease(("gallstones", GUT, "surgery"), [1, 28, 34, 22], [0, 10, 20, 18], 4.0, 680),
    disease(
        ("gastritis", GUT, "medicine"),
        [18, 20, 18, 16],
        [16, 18, 18, 14],
        2.5,
        390,
    ),
    disease(
        ("bowel cancer", GUT, "oncology"),
        [0, 1, 14, 22],
        [0, 1, 18, 28],
        10.5,
        860,
    ),
    disease(
        ("fracture", BONES, "surgery"),
        [40, 20, 24, 66],
        [56, 36, 24, 34],
        6.0,
        640,
    ),
    disease(("arthrosis", BONES, "surgery"), [0, 3, 32, 58], [0, 4, 28, 40], 8.0, 720),
    disease(
        ("back pain", BONES, "medicine"),
        [2, 26, 36, 24],
        [2, 30, 38, 20],
        4.5,
        380,
    ),
    disease(("epilepsy", NERVES, "neurology"), [16, 8, 7, 9], [18, 10, 8, 9], 4.0, 560),
    disease(
        ("depression", NERVES, "psychiatry"),
        [14, 34, 28, 12],
        [8, 22, 20, 8],
        24.0,
        340,
    ),
    disease(
        ("addiction", NERVES, "psychiatry"),
        [3, 16, 12, 3],
        [5, 38, 30, 5],
        13.0,
        330,
    ),
    disease(
        ("dementia", NERVES, "psychiatry"),
        [0, 0, 3, 30],
        [0, 0, 3, 20],
        15.0,
        360,
    ),
    disease(("childbirth", WOMB, "obstetrics"), [1, 130, 1, 0], [0, 0, 0, 0], 3.5, 610),
    disease(
        ("breast cancer", WOMB, "oncology"),
        [0, 8, 30, 24],
        [0, 0, 0, 1],
        5.5,
        910,
    ),
];

pub(super) const WOMEN: [&str; 20] = [
    "Anna",
    "Maria",
    "Emma",
    "Sofia",
    "Lena",
    "Julia",
    "Laura",
    "Elif",
    "Katarzyna",
    "Giulia",
    "Sarah",
    "Nina",
    "Clara",
    "Ida",
    "Fatma",
    "Elena",
    "Helga",
    "Ursula",
    "Amira",
    "Olga",
];

pub(super) const MEN: [&str; 20] = [
    "Paul", "Jonas", "Leon", "Felix", "Max", "Peter", "Thomas", "Mehmet", "Piotr",
    "Marco", "David", "Jan", "Karl", "Emil", "Ali", "Andrei", "Hans", "Werner", "Omar",
    "Igor",
];

pub(super) const FAMILIES: [&str; 36] = [
    "Becker",
    "Yilmaz",
    "Schmidt",
    "Fischer",
    "Weber",
    "Meyer",
    "Wagner",
    "Schulz",
    "Hoffmann",
    "Koch",
    "Bauer",
    "Richter",
    "Klein",
    "Wolf",
    "Neumann",
    "Schwarz",
    "Kowalski",
    "Rossi",
    "Popescu",
    "Haddad",
    "Demir",
    "Horvat",
    "Papadopoulos",
    "Krause",
    "Lehmann",
    "Huber",
    "Maier",
    "Fuchs",
    "Lang",
    "Vogel",
    "Keller",
    "Winter",
    "Sommer",
    "Brandt",
    "Nguyen",
    "Kaya",
];

/// Trades by education: none or basic, vocational, academic.
pub(super) const TRADES: [[&str; 6]; 3] = [
    ["cleaner", "warehouse worker", "driver", "kitchen help", "guard", "unemployed"],
    ["nurse", "mechanic", "clerk", "electrician", "shop assistant", "carpenter"],
    ["engineer", "teacher", "physician", "lawyer", "programmer", "manager"],
];
