//! r-robustness of values in the rows against all arrangements: somebody who has the published
//! file, everybody's quasi values and the knowledge that was asked for lists every way to give
//! the values of a group to its people, in whole numbers.
//!
//! The adversary shares nothing with the library: cells are read from their texts. The same
//! tables cut for k-anonymity alone are the broken twin.

use std::collections::BTreeMap;
use std::fs;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;

use crate::builder::{Record, folder, records, run};

const DISEASES: [&str; 3] = ["flu", "cold", "ulcer"];

/// A person's ward, age and disease.
type Person = ([u32; 2], usize);

/// For each set of columns and signature, how likely each disease is, as whole numbers with
/// the same sum for all diseases of a signature.
struct Knowledge {
    sets: Vec<Vec<usize>>,
    likely: BTreeMap<(usize, Vec<u32>), [u128; 3]>,
}

impl Knowledge {
    fn of(&self, set: usize, person: &Person) -> [u128; 3] {
        let signature = self.sets[set].iter().map(|column| person.0[*column]).collect();
        self.likely[&(set, signature)]
    }

    /// Counted from a table; signatures with fewer rows than the support are the whole table.
    fn counted(people: &[Person], support: usize) -> Self {
        let sets = vec![vec![0], vec![1], vec![0, 1]];
        let mut likely = BTreeMap::new();
        for (set, columns) in sets.iter().enumerate() {
            let key = |person: &Person| -> Vec<u32> {
                columns.iter().map(|column| person.0[*column]).collect()
            };
            for person in people {
                let own: Vec<&Person> =
                    people.iter().filter(|other| key(other) == key(person)).collect();
                let rows =
                    if own.len() < support { people.iter().collect() } else { own };
                let mut counts = [0; 3];
                rows.iter().for_each(|person| counts[person.1] += 1);
                likely.insert((set, key(person)), counts);
            }
        }
        Self { sets, likely }
    }

    /// By ward, from a file that lists thousandths.
    fn stated(rng: &mut ChaCha20Rng) -> (Self, String) {
        let mut likely = BTreeMap::new();
        let mut file = "ward,disease,probability\n".to_owned();
        for ward in 1..=3 {
            let first = rng.random_range(50..600u128);
            let second = rng.random_range(50..900 - first);
            let shares = [first, second, 1000 - first - second];
            for (disease, share) in DISEASES.iter().zip(shares) {
                file += &format!("{ward},{disease},{}\n", share as f64 / 1000.0);
            }
            likely.insert((0, vec![ward]), shares);
        }
        (Self { sets: vec![vec![0]], likely }, file)
    }
}

/// Whether a cell such as `[2, 5)` covers a number.
fn covers(cell: &str, number: u32) -> bool {
    let ends = cell.trim_matches(['[', ')']);
    let ends: Vec<u32> = ends.split(", ").map(|end| end.parse().unwrap()).collect();
    ends[0] <= number && number < ends[1]
}

/// Adds up all arrangements: for each person and disease, what those weigh that give it to
/// them.
fn arrange(
    beliefs: &[[u128; 3]],
    left: &mut [usize; 3],
    given: &mut Vec<usize>,
    weight: u128,
    sums: &mut [[u128; 3]],
) -> u128 {
    let Some(own) = beliefs.get(given.len()) else {
        for (sums, disease) in sums.iter_mut().zip(given.iter()) {
            sums[*disease] += weight;
        }
        return weight;
    };
    let mut total = 0;
    for disease in 0..3 {
        if left[disease] > 0 && own[disease] > 0 {
            left[disease] -= 1;
            given.push(disease);
            total += arrange(beliefs, left, given, weight * own[disease], sums);
            given.pop();
            left[disease] += 1;
        }
    }
    total
}

/// Whether somebody is surer than den/num of anybody's disease.
fn too_sure(
    rows: &[Record],
    people: &[Person],
    knowledge: &Knowledge,
    (num, den): (u128, u128),
) -> bool {
    let mut groups: BTreeMap<[&str; 2], [usize; 3]> = BTreeMap::new();
    for row in rows {
        let disease = DISEASES.iter().position(|name| *name == row["disease"]).unwrap();
        groups.entry([&row["ward"], &row["age"]]).or_default()[disease] += 1;
    }
    let mut found = 0;
    let mut broken = false;
    for (cells, mut values) in groups {
        let fits = |person: &&Person| {
            cells.iter().zip(person.0).all(|(cell, number)| covers(cell, number))
        };
        let members: Vec<&Person> = people.iter().filter(fits).collect();
        assert_eq!(
            members.len(),
            values.iter().sum::<usize>(),
            "nobody fits two groups"
        );
        found += members.len();
        for set in 0..knowledge.sets.len() {
            let beliefs: Vec<[u128; 3]> =
                members.iter().map(|person| knowledge.of(set, person)).collect();
            let mut sums = vec![[0; 3]; members.len()];
            let total = arrange(&beliefs, &mut values, &mut Vec::new(), 1, &mut sums);
            assert!(total > 0, "the truth is one of the arrangements");
            broken |= sums.iter().flatten().any(|sum| sum * num > total * den);
        }
    }
    assert_eq!(found, rows.len());
    broken
}

#[test]
fn every_group_of_cells_passes_enumeration() {
    let mut rng = ChaCha20Rng::seed_from_u64(23);
    let (mut published, mut refused, mut left_out, mut twins) = (0, 0, 0, 0);
    for round in 0..80 {
        let n = rng.random_range(6..=11);
        let people: Vec<Person> = (0..n)
            .map(|_| {
                let ward = rng.random_range(1..=3);
                // Wards have their diseases.
                let disease = (rng.random_range(0..4) + ward as usize) % 4 % 3;
                ([ward, rng.random_range(1..=6)], disease)
            })
            .collect();
        let mut table = "ward,age,disease\n".to_owned();
        for ([ward, age], disease) in &people {
            table += &format!("{ward},{age},{}\n", DISEASES[*disease]);
        }
        let support = rng.random_range(1..=6);
        let (knowledge, file, said) = match round % 2 {
            0 => {
                let said = format!(
                    "support = {support}, signatures = [[\"ward\"], [\"age\"], \
                     [\"age\", \"ward\"]]"
                );
                (Knowledge::counted(&people, support), String::new(), said)
            }
            _ => {
                let (knowledge, file) = Knowledge::stated(&mut rng);
                (knowledge, file, "knowledge = \"known.csv\"".to_owned())
            }
        };
        let (r, bound) = [("1.25", (5, 4)), ("1.5", (3, 2)), ("2", (2, 1))][round % 3];
        let home = folder(&[("table.csv", &table), ("known.csv", &file)]);
        let number = "{ role = \"quasi\", step = 1 }";
        let recipe = |robust: &str, method: &str| {
            format!(
                "[columns]\nward = {number}\nage = {number}\ndisease = \"sensitive\"\n\
                 [promise]\nk-anonymity = 2\n{robust}\n\
                 [method]\nname = \"mondrian\"\n{method}\n"
            )
        };
        let rows = || records(&home.path().join("release/data.csv"));
        let robust = format!("r-robustness = {{ r = {r}, {said} }}");
        let choice = ["", "strategy = \"search\"", "suppression = 0.5"][round % 7 % 3];
        match run(home.path(), &recipe(&robust, choice), 1) {
            Ok(made) => {
                published += 1;
                left_out += u32::from(made.manifest.left_out > 0);
                assert!(made.manifest.promises.iter().all(|promise| promise.holds));
                let rows = rows();
                let all = rows.len() as u64 + made.manifest.left_out;
                assert_eq!(all, people.len() as u64);
                assert!(!too_sure(&rows, &people, &knowledge, bound), "{table}{file}");
            }
            Err(error) => {
                refused += 1;
                let said = error.to_string();
                assert!(
                    said.contains("cannot be met: no group was found for"),
                    "{said}"
                );
                assert!(!home.path().join("release").exists());
            }
        }
        let _ = fs::remove_dir_all(home.path().join("release"));
        run(home.path(), &recipe("", "cells = \"interval\""), 1).unwrap();
        twins += u32::from(too_sure(&rows(), &people, &knowledge, bound));
    }
    assert!(published > 20 && refused > 5, "{published} {refused}");
    assert!(left_out > 0 && twins > 20, "{left_out} {twins}");
}
