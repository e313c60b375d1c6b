//! Invented people: a city, and those of it who were in hospital.

mod places;

use std::fmt::Write;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::city::places::{
    COUNTRIES, DISEASES, DISTRICTS, Disease, FAMILIES, MEN, TRADES, WOMEN,
};

/// Makes the city that everybody gets who does not ask for another.
pub const SEED: u64 = 0x5c0b1e;

const PEOPLE: usize = 60_000;

/// How many of a thousand people are in each five years of age, from 0 to 99.
const PYRAMID: [u32; 20] =
    [46, 45, 46, 48, 58, 68, 72, 69, 64, 58, 62, 72, 70, 58, 48, 42, 38, 24, 9, 3];

/// The tables and hierarchies of a city: names of files and their texts.
pub fn files(seed: u64) -> Vec<(&'static str, String)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut city = String::from(
        "id,name,age,sex,zip,nationality,education,marital_status,occupation\n",
    );
    let mut patients =
        String::from("id,age,sex,zip,nationality,admission,ward,disease,days,cost\n");
    // Who was there once may come again.
    let mut visits = patients.clone();
    let mut again = ChaCha8Rng::seed_from_u64(seed ^ 1);
    for place in 0..PEOPLE {
        let person = Person::new(place, &mut rng);
        person.write(&mut city, &mut rng);
        if rng.random_bool(person.risk()) {
            let first = patients.len();
            person.admit(&mut patients, &mut rng);
            visits.push_str(&patients[first..]);
            while again.random_bool(0.3) {
                person.admit(&mut visits, &mut again);
            }
        }
    }
    let country = |(name, region, continent, _): &(&str, &str, &str, u32)| {
        format!("{name};{region};{continent};*\n")
    };
    let disease =
        |disease: &Disease| format!("{};{};*\n", disease.name, disease.system);
    vec![
        ("city.csv", city),
        ("depression.csv", with_disease(&patients, "depression")),
        ("patients.csv", patients),
        ("nationality.csv", COUNTRIES.iter().map(country).collect()),
        ("disease.csv", DISEASES.iter().map(disease).collect()),
        ("zip.csv", DISTRICTS.iter().map(|(zip, ..)| format!("{zip}\n")).collect()),
        ("visits.csv", visits),
    ]
}

/// The text of one of the files, for the city that everybody gets; empty if there is no such
/// file.
pub(crate) fn sample(name: &str) -> String {
    let mut files = files(SEED).into_iter();
    files.find(|(known, _)| *known == name).map(|(_, text)| text).unwrap_or_default()
}

/// Those of the hospital's list with one disease, which need not be said then.
fn with_disease(patients: &str, disease: &str) -> String {
    let mut lines = patients.lines().map(|line| line.split(',').collect::<Vec<&str>>());
    let header = lines.next().unwrap_or_default();
    let kept = lines.filter(|cells| cells.get(7) == Some(&disease));
    let columns = [0, 1, 2, 3, 4, 8];
    let short = |cells: Vec<&str>| {
        let texts: Vec<&str> =
            columns.iter().filter_map(|c| cells.get(*c).copied()).collect();
        texts.join(",") + "\n"
    };
    std::iter::once(header).chain(kept).map(short).collect()
}

struct Person {
    id: usize,
    age: u32,
    woman: bool,
    zip: &'static str,
    nationality: &'static str,
}

impl Person {
    fn new(place: usize, rng: &mut ChaCha8Rng) -> Self {
        let band = pick(rng, &PYRAMID);
        let age = band as u32 * 5 + rng.random_range(0..5);
        // Women live longer.
        let woman = rng.random_bool(if age < 65 { 0.495 } else { 0.57 });
        let district = &DISTRICTS[pick(rng, &DISTRICTS.map(|district| district.1))];
        // The old have lived here for long.
        let foreign = f64::from(district.2) / if age < 65 { 100.0 } else { 250.0 };
        let country = if rng.random_bool(foreign) {
            pick(rng, &COUNTRIES.map(|country| country.3))
        } else {
            0
        };
        // Below this prime no two places have the same remainder: ids tell no order.
        let id = 100_000 + place * 48_271 % 899_981;
        Self { id, age, woman, zip: district.0, nationality: COUNTRIES[country].0 }
    }

    fn sex(&self) -> &'static str {
        if self.woman { "female" } else { "male" }
    }

    /// The line of the city's register.
    fn write(&self, city: &mut String, rng: &mut ChaCha8Rng) {
        let first = if self.woman { &WOMEN } else { &MEN };
        let first = first[rng.random_range(0..first.len())];
        let family = FAMILIES[rng.random_range(0..FAMILIES.len())];
        let degree = match self.age {
            0..=17 => 0,
            18..=24 => pick(rng, &[35, 55, 10]),
            25..=44 => pick(rng, &[14, 50, 36]),
            45..=64 => pick(rng, &[18, 57, 25]),
            _ => pick(rng, &[34, 52, 14]),
        };
        let education = match self.age {
            0..=5 => "none",
            6..=17 => "school",
            _ => ["basic", "vocational", "academic"][degree],
        };
        let marital = match self.age {
            0..=17 => [100, 0, 0, 0],
            18..=29 => [84, 15, 1, 0],
            30..=44 => [38, 53, 9, 0],
            45..=64 => [18, 60, 19, 3],
            65..=79 => [7, 62, 13, 18],
            _ => [5, 36, 6, 53],
        };
        let marital = ["single", "married", "divorced", "widowed"][pick(rng, &marital)];
        let occupation = match self.age {
            0..=5 => "child",
            6..=17 => "pupil",
            18..=25 if rng.random_bool(0.4) => "student",
            67.. => "retired",
            60..=66 if rng.random_bool(0.35) => "retired",
            _ => TRADES[degree][rng.random_range(0..6)],
        };
        let Self { id, age, zip, nationality, .. } = self;
        let sex = self.sex();
        // Writing to a text cannot fail.
        let _ = writeln!(
            city,
            "{id},{first} {family},{age},{sex},{zip},{nationality},{education},{marital},{occupation}"
        );
    }

    /// How likely a stay in hospital is.
    fn risk(&self) -> f64 {
        match self.age {
            0..=4 => 0.34,
            5..=17 => 0.17,
            18..=44 if self.woman => 0.32,
            18..=44 => 0.19,
            45..=64 => 0.36,
            65..=79 => 0.58,
            _ => 0.72,
        }
    }

    /// The line of the hospital's list.
    fn admit(&self, patients: &mut String, rng: &mut ChaCha8Rng) {
        let stage = match self.age {
            0..=17 => 0,
            18..=44 => 1,
            45..=64 => 2,
            _ => 3,
        };
        let weights = DISEASES.map_weights(|disease| {
            let weights = if self.woman { &disease.women } else { &disease.men };
            weights[stage]
        });
        let disease = &DISEASES[pick(rng, &weights)];
        // More come in winter.
        let month = pick(rng, &[110, 102, 98, 88, 82, 76, 72, 72, 78, 86, 94, 106]);
        let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let day = rng.random_range(1..=lengths[month]);
        // A waiting time: many stay short, few stay long.
        let wait = -(1.0 - rng.random::<f64>()).ln();
        let frailty = if self.age >= 75 { 1.3 } else { 1.0 };
        let days = 1 + (wait * (disease.days - 1.0) * frailty) as u32;
        let cost = days.min(200) * disease.price + rng.random_range(300..1500);
        let Self { id, age, zip, nationality, .. } = self;
        let (sex, ward, name) = (self.sex(), disease.ward, disease.name);
        let month = month + 1;
        let _ = writeln!(
            patients,
            "{id},{age},{sex},{zip},{nationality},2024-{month:02}-{day:02},{ward},{name},{days},{cost}"
        );
    }
}

trait MapWeights<const N: usize> {
    fn map_weights(&self, weight: impl Fn(&Disease) -> u32) -> [u32; N];
}

impl<const N: usize> MapWeights<N> for [Disease; N] {
    fn map_weights(&self, weight: impl Fn(&Disease) -> u32) -> [u32; N] {
        std::array::from_fn(|place| weight(&self[place]))
    }
}

/// A place, each as likely as its weight says.
fn pick(rng: &mut ChaCha8Rng, weights: &[u32]) -> usize {
    let mut left = rng.random_range(0..weights.iter().sum::<u32>());
    for (place, weight) in weights.iter().enumerate() {
        if left < *weight {
            return place;
        }
        left -= weight;
    }
    0
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;

    fn rows(text: &str) -> Vec<Vec<&str>> {
        text.lines().skip(1).map(|line| line.split(',').collect()).collect()
    }

    #[test]
    fn the_same_people_come_every_time() {
        assert_eq!(files(SEED), files(SEED));
        assert_ne!(files(SEED), files(1));
    }

    #[test]
    fn every_patient_is_one_of_the_city() {
        let files = files(SEED);
        let (city, patients) = (rows(&files[0].1), rows(&files[2].1));
        let depression = rows(&files[1].1);
        assert!((300..1_500).contains(&depression.len()), "{}", depression.len());
        for person in &depression {
            let stay = patients.iter().find(|row| row[0] == person[0]).unwrap();
            assert_eq!(stay[7], "depression");
            assert_eq!((&stay[1..5], stay[8]), (&person[1..5], person[5]));
        }
        assert_eq!(city.len(), PEOPLE);
        assert!((18_000..24_000).contains(&patients.len()), "{}", patients.len());
        let of_city: BTreeMap<&str, Vec<&str>> = city
            .iter()
            .map(|row| (row[0], vec![row[2], row[3], row[4], row[5]]))
            .collect();
        assert_eq!(of_city.len(), PEOPLE, "an identifier is repeated");
        let ids: BTreeSet<&str> = patients.iter().map(|row| row[0]).collect();
        assert_eq!(ids.len(), patients.len());
        for patient in &patients {
            assert_eq!(of_city[patient[0]], patient[1..5]);
        }
    }

    #[test]
    fn diseases_depend_on_age_and_sex_and_stays_on_diseases() {
        let files = files(SEED);
        let patients = rows(&files[2].1);
        let mean = |column: usize, disease: &str| {
            let found: Vec<f64> = patients
                .iter()
                .filter(|row| row[7] == disease)
                .map(|row| row[column].parse().unwrap())
                .collect();
            found.iter().sum::<f64>() / found.len() as f64
        };
        assert!(mean(1, "dementia") > 70.0 && mean(1, "appendicitis") < 40.0);
        assert!(mean(8, "depression") > 2.0 * mean(8, "hypertension"));
        assert!(
            patients.iter().all(|row| row[7] != "childbirth" || row[2] == "female")
        );
        let days = patients.iter().map(|row| row[8].parse::<u32>().unwrap());
        assert!(days.clone().min() == Some(1) && days.max() > Some(60));
    }

    #[test]
    fn some_nationalities_are_rare() {
        let files = files(SEED);
        let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
        for row in rows(&files[2].1) {
            *counts.entry(row[5 - 1]).or_default() += 1;
        }
        assert!(counts["Germany"] > 10_000);
        assert!(counts.values().any(|n| *n < 5), "{counts:?}");
    }
}
