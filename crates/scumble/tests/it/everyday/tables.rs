//! Tables in the shape of real ones, for what a steward does every day: visits to hospitals
//! with 50 columns, a survey, a register. The same rows give the same table.

use std::fmt::Write as _;

/// A source of numbers that look random.
struct Dice(u64);

impl Dice {
    /// A number below `n`.
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let stirred = (self.0 ^ (self.0 >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (stirred >> 33) % n
    }

    /// One of these, by weight.
    fn pick<'a>(&mut self, from: &[(&'a str, u64)]) -> &'a str {
        let total = from.iter().map(|(_, weight)| weight).sum();
        let mut at = self.below(total);
        for (value, weight) in from {
            if at < *weight {
                return value;
            }
            at -= weight;
        }
        ""
    }

    /// One of these, the first the likeliest.
    fn one_of<'a>(&mut self, from: &[&'a str]) -> &'a str {
        let (one, other) =
            (self.below(from.len() as u64), self.below(from.len() as u64));
        from[one.min(other) as usize]
    }

    /// A small number: 0 mostly.
    fn few(&mut self, most: u64) -> u64 {
        let most = self.below(most + 1);
        let most = self.below(most + 1);
        self.below(most + 1)
    }
}

/// The medicines of the visits, with how many of 10,000 rows have them.
const MEDICINES: [(&str, u64); 23] = [
    ("metformin", 1960),
    ("repaglinide", 150),
    ("nateglinide", 70),
    ("chlorpropamide", 8),
    ("glimepiride", 510),
    ("acetohexamide", 0),
    ("glipizide", 1250),
    ("glyburide", 1050),
    ("tolbutamide", 2),
    ("pioglitazone", 720),
    ("rosiglitazone", 620),
    ("acarbose", 30),
    ("miglitol", 4),
    ("troglitazone", 0),
    ("tolazamide", 4),
    ("examide", 0),
    ("citoglipton", 0),
    ("insulin", 5300),
    ("glyburide-metformin", 70),
    ("glipizide-metformin", 1),
    ("glimepiride-pioglitazone", 0),
    ("metformin-rosiglitazone", 0),
    ("metformin-pioglitazone", 0),
];

/// Visits to hospitals, as in a public table of diabetics: codes that are numbers, ages in
/// ranges, diagnoses in ICD-9, columns that are constant or nearly empty, and people who come
/// back.
pub(crate) fn hospital(rows: u64) -> String {
    let mut text = String::from(
        "encounter_id,patient_nbr,race,gender,age,weight,admission_type_id,\
         discharge_disposition_id,admission_source_id,time_in_hospital,payer_code,\
         medical_specialty,num_lab_procedures,num_procedures,num_medications,\
         number_outpatient,number_emergency,number_inpatient,diag_1,diag_2,diag_3,\
         number_diagnoses,max_glu_serum,A1Cresult",
    );
    for (name, _) in MEDICINES {
        let _ = write!(text, ",{name}");
    }
    text.push_str(",change,diabetesMed,readmitted\n");
    let mut dice = Dice(7);
    let mut back: Vec<(u64, &str, &str, u64)> = Vec::new();
    for row in 0..rows {
        let (patient, race, sex, age) = match dice.below(10) {
            0..3 if !back.is_empty() => back[dice.below(back.len() as u64) as usize],
            _ => {
                let race = dice.pick(&[
                    ("Caucasian", 760),
                    ("AfricanAmerican", 190),
                    ("?", 22),
                    ("Hispanic", 20),
                    ("Other", 15),
                    ("Asian", 6),
                ]);
                let sex = dice.pick(&[("Female", 5370), ("Male", 4629)]);
                let age = 9 - dice.below(10).min(dice.below(10)).min(9);
                let person = (row * 1373 + dice.below(1000) + 135, race, sex, age);
                back.push(person);
                person
            }
        };
        let weight = match dice.below(100) {
            0..3 => ["[75-100)", "[50-75)", "[100-125)", ">200"]
                [dice.few(3) as usize],
            _ => "?",
        };
        let kind = dice.pick(&[
            ("1", 530),
            ("3", 185),
            ("2", 181),
            ("6", 52),
            ("5", 47),
            ("8", 3),
            ("7", 1),
        ]);
        let left =
            dice.pick(&[("1", 600), ("3", 140), ("6", 130), ("18", 37), ("2", 21), ("22", 20), ("11", 16), ("5", 12), ("25", 10), ("4", 8), ("7", 6), ("23", 4), ("13", 4)]);
        let source = dice.pick(&[("7", 565), ("1", 290), ("17", 67), ("4", 31), ("6", 22), ("2", 11), ("5", 8), ("3", 2)]);
        let days = 1 + dice.below(14).min(dice.below(14)).min(dice.below(20));
        let payer = dice.pick(&[
            ("?", 395),
            ("MC", 318),
            ("HM", 62),
            ("SP", 49),
            ("BC", 46),
            ("MD", 35),
            ("CP", 25),
            ("UN", 24),
            ("CM", 19),
            ("OG", 10),
            ("PO", 6),
            ("DM", 5),
        ]);
        let ward = dice.pick(&[
            ("?", 490),
            ("InternalMedicine", 144),
            ("Emergency/Trauma", 74),
            ("Family/GeneralPractice", 73),
            ("Cardiology", 52),
            ("Surgery-General", 31),
            ("Nephrology", 16),
            ("Orthopedics", 14),
            ("Radiologist", 11),
            ("Pulmonology", 9),
            ("Psychiatry", 8),
            ("Urology", 7),
            ("ObstetricsandGynecology", 7),
            ("Gastroenterology", 6),
        ]);
        let _ = write!(
            text,
            "{},{patient},{race},{sex},[{}-{}),{weight},{kind},{left},{source},{days},\
             {payer},{ward},{},{},{},{},{},{}",
            row * 1640 + 2_278_392 + dice.below(1600),
            age * 10,
            age * 10 + 10,
            1 + dice.below(60) + dice.below(40),
            dice.few(6),
            1 + dice.below(20) + dice.below(20),
            dice.few(30),
            dice.few(20),
            dice.few(15),
        );
        for _ in 0..3 {
            text.push(',');
            diagnosis(&mut text, &mut dice);
        }
        let _ = write!(
            text,
            ",{},{},{}",
            9 - dice.few(8),
            dice.pick(&[("None", 947), ("Norm", 26), (">200", 15), (">300", 12)]),
            dice.pick(&[("None", 833), (">8", 81), ("Norm", 49), (">7", 37)]),
        );
        let mut any = false;
        let mut changed = false;
        for (name, of_10_000) in MEDICINES {
            // One row alone has some of the rarest.
            let rare = of_10_000 == 0 && row == 77 && name.len() > 12;
            let has = dice.below(10_000) < of_10_000 || rare;
            let dose = match has {
                true => dice.pick(&[("Steady", 80), ("Up", 10), ("Down", 10)]),
                false => "No",
            };
            any |= has;
            changed |= has && dose != "Steady";
            let _ = write!(text, ",{dose}");
        }
        let _ = writeln!(
            text,
            ",{},{},{}",
            if changed { "Ch" } else { "No" },
            if any { "Yes" } else { "No" },
            dice.pick(&[("NO", 539), (">30", 349), ("<30", 112)]),
        );
    }
    text
}

/// A diagnosis in ICD-9, without its leading zeros, as such tables have them.
fn diagnosis(text: &mut String, dice: &mut Dice) {
    const COMMON: [&str; 24] = [
        "428", "414", "786", "410", "486", "427", "491", "715", "682", "434", "780",
        "996", "276", "38", "250.8", "599", "584", "V57", "250.6", "518", "820", "577",
        "493", "435",
    ];
    let _ = match dice.below(20) {
        0..13 => write!(text, "{}", dice.one_of(&COMMON)),
        13..18 => write!(text, "{}", 1 + dice.below(998)),
        18 => write!(text, "250.{:02}", dice.below(94)),
        _ => write!(text, "V{:02}", 1 + dice.below(86)),
    };
}

/// A survey of 24 columns: answers on scales, incomes, a weight for every row, and codes for
/// "did not say".
pub(crate) fn survey(rows: u64) -> String {
    let mut text = String::from(
        "respondent_id,interview_date,survey_weight,age,gender,marital_status,region,\
         education,education_code,employment,occupation,household_size,n_children,\
         net_income,religion,party_voted,trust_government,life_satisfaction,health_self,\
         smoker,hiv_test_result,country_iso2,interviewer_comment,wave\n",
    );
    const SCHOOL: [&str; 6] =
        ["none", "primary", "secondary", "vocational", "bachelor", "master or more"];
    const WORK: [&str; 14] = [
        "clerk", "teacher", "nurse", "driver", "cook", "engineer", "farmer", "sales",
        "cleaner", "manager", "builder", "soldier", "lawyer", "artist",
    ];
    const REGIONS: [&str; 16] = [
        "North", "South", "East", "West", "Coast", "Hills", "Lakes", "Plain", "Valley",
        "Forest", "Heath", "Islands", "Upper", "Lower", "Border", "Capital",
    ];
    let mut dice = Dice(11);
    for row in 0..rows {
        let age = match dice.below(200) {
            0 => "-1".to_owned(),
            1 => "999".to_owned(),
            _ => (18 + dice.below(50) + dice.below(25)).to_string(),
        };
        let school = dice.below(6) as usize;
        let children = dice.few(6);
        let income = match dice.below(12) {
            0 => "-9".to_owned(),
            1 => "0".to_owned(),
            _ => (600 + dice.below(900) * (1 + dice.below(5))).to_string(),
        };
        let date = match dice.below(150) {
            0 => "1900-01-01".to_owned(),
            _ => format!("2023-{:02}-{:02}", 1 + dice.below(12), 1 + dice.below(28)),
        };
        let scale = match dice.below(40) {
            0 => "refused".to_owned(),
            _ => dice.below(11).to_string(),
        };
        let _ = writeln!(
            text,
            "R{:06},{date},{}.{:04},{age},{},{},{},{},{school},{},{},{},{children},{income},\
             {},{},{},{scale},{},{},{},{},{},3",
            row * 7 + 100_000,
            dice.below(3),
            dice.below(10_000),
            dice.pick(&[("female", 51), ("male", 48), ("other", 1)]),
            dice.pick(&[("married", 50), ("single", 30), ("divorced", 12), ("widowed", 8)]),
            dice.one_of(&REGIONS),
            SCHOOL[school],
            dice.pick(&[("employed", 60), ("retired", 20), ("student", 10), ("none", 10)]),
            dice.one_of(&WORK),
            1 + children + dice.below(2),
            dice.pick(&[("none", 50), ("catholic", 25), ("protestant", 15), ("muslim", 8), ("jewish", 2)]),
            dice.pick(&[("A", 30), ("B", 25), ("C", 15), ("D", 10), ("none", 20)]),
            dice.below(5) + 1,
            dice.below(5) + 1,
            dice.pick(&[("yes", 25), ("no", 75)]),
            dice.pick(&[("negative", 985), ("positive", 15)]),
            dice.pick(&[("DE", 50), ("FR", 20), ("PL", 12), ("IT", 8), ("TR", 6), ("NG", 2), ("BR", 2)]),
            match dice.below(3) {
                0 => format!("talked for {} minutes about street {}", dice.below(90), row),
                _ => String::new(),
            },
        );
    }
    text
}

/// A register of 16 columns: a number for every person that two rows share, names, dates of
/// birth, postal codes with the town that they determine, and diagnoses in ICD-10.
pub(crate) fn register(rows: u64) -> String {
    let mut text = String::from(
        "national_no,first_name,last_name,date_of_birth,sex,plz,town,nationality,\
         arrival_date,hospital_code,main_icd10,second_icd10,lab_hba1c,outcome,\
         days_in_care,source_system\n",
    );
    const FIRST: [&str; 8] = ["Ana", "Ben", "Eva", "Jan", "Lea", "Max", "Mia", "Tom"];
    const CODES: [&str; 20] = [
        "I10", "E11.9", "I50.1", "J18.9", "F32.1", "I48.0", "N39.0", "I63.9", "J44.1",
        "K80.2", "C50.9", "S72.0", "A41.9", "F10.2", "C34.1", "M54.5", "G40.9", "B20",
        "O80", "Z38.0",
    ];
    const NATIONS: [&str; 10] = [
        "Germany", "Turkey", "Poland", "Syria", "Italy", "Romania", "Ukraine", "Greece",
        "Brazil", "Viet Nam",
    ];
    let mut dice = Dice(5);
    for row in 0..rows {
        let town = dice.few(60);
        let second = match dice.below(3) {
            0 => dice.one_of(&CODES),
            _ => "",
        };
        let stay = match dice.below(300) {
            0 => "unknown".to_owned(),
            _ => dice.below(40).to_string(),
        };
        let _ = writeln!(
            text,
            "{:08},{},Name{},{:02}.{:02}.{},{},{:05},Town{},{},2024-{:02}-{:02},H{:02},{},\
             {second},{}.{},{},{stay},KIS",
            (row - u64::from(row % 50 == 49)) * 37 + 1_000_000,
            dice.one_of(&FIRST),
            dice.below(rows / 2 + 1),
            1 + dice.below(28),
            1 + dice.below(12),
            1925 + dice.below(90),
            dice.pick(&[("f", 50), ("m", 50)]),
            1067 + town * 131 + dice.below(3),
            town,
            dice.one_of(&NATIONS),
            1 + dice.below(12),
            1 + dice.below(28),
            1 + dice.below(9),
            dice.one_of(&CODES),
            4 + dice.below(8),
            dice.below(10),
            dice.pick(&[("alive", 95), ("deceased", 5)]),
        );
    }
    text
}
