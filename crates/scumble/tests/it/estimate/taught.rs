//! What groups of values apart teach: answers come nearer to the truth, errors cover it, and
//! draws keep how values depend on other columns.

use std::collections::BTreeMap;

use nalgebra::{DMatrix, DVector};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rand_distr::{Distribution, StandardNormal};
use scumble::Unwatched;
use scumble::estimate::{DrawnTable, Evidence, Model};
use serde_json::json;

use crate::builder::{ByHand, ask, column};

const DISEASES: [&str; 6] = ["asthma", "cold", "flu", "gout", "mumps", "ulcer"];

/// Somebody: their town tells the disease for some, their age tells part of it, and how long
/// they stay follows from both.
#[derive(Debug, Clone)]
struct Person {
    age: u32,
    town: usize,
    days: f64,
    disease: usize,
}

/// What days are made of: the effects of age, of flu and of gout.
const DAYS: [f64; 3] = [0.1, 3.0, -2.0];

fn people(n: usize, told: f64, random: &mut ChaCha20Rng) -> Vec<Person> {
    let person = |random: &mut ChaCha20Rng| {
        let age = random.random_range(20..80u32);
        let old = f64::from(age - 20) / 60.0;
        // Gout is for the old.
        let disease = match random.random::<f64>() {
            gout if gout < told * 0.4 * old => 3,
            _ => random.random_range(0..6),
        };
        let town = match random.random::<f64>() < told {
            true => disease,
            false => random.random_range(0..6),
        };
        let noise: f64 = StandardNormal.sample(random);
        let is = |other: usize| f64::from(u8::from(disease == other));
        let days =
            20.0 + DAYS[0] * f64::from(age) + DAYS[1] * is(2) + DAYS[2] * is(3) + noise;
        Person { age, town, days, disease }
    };
    (0..n).map(|_| person(random)).collect()
}

/// Groups of three with different diseases: any of the three commonest that are left.
fn grouped(people: &[Person], random: &mut ChaCha20Rng) -> Vec<Vec<Person>> {
    let mut left: Vec<Vec<&Person>> = vec![Vec::new(); DISEASES.len()];
    people.iter().for_each(|person| left[person.disease].push(person));
    left.iter_mut().for_each(|people| people.shuffle(random));
    let mut groups = Vec::new();
    loop {
        let mut order: Vec<usize> = (0..left.len()).collect();
        order.sort_by_key(|disease| std::cmp::Reverse(left[*disease].len()));
        let group: Vec<Person> =
            order[..3].iter().filter_map(|own| left[*own].pop().cloned()).collect();
        if group.len() < 3 {
            return groups;
        }
        groups.push(group);
    }
}

fn evidence(groups: &[Vec<Person>]) -> Evidence {
    let (mut lines, mut values) = (Vec::new(), "group,value,count\n".to_owned());
    for (group, people) in (1..).zip(groups) {
        let mut own: Vec<&str> = people.iter().map(|p| DISEASES[p.disease]).collect();
        own.sort_unstable();
        for disease in own {
            values += &format!("{group},{disease},1\n");
        }
        let mut people = people.clone();
        people.sort_by_key(|person| (person.age, person.town));
        for Person { age, town, days, .. } in people {
            lines.push(format!("{group},{age},t{town},{days:.3}"));
        }
    }
    let columns = vec![
        column("age", "quasi", "number"),
        column("town", "quasi", "category"),
        column("days", "other", "number"),
        column("disease", "sensitive", "category"),
    ];
    let note =
        json!({ "file": "sensitive.csv", "column": "disease", "groups": groups.len() });
    let made = ByHand::new(columns).with("buckets", note);
    let made = made.rows("group,age,town,days", &lines).file("sensitive.csv", &values);
    made.evidence().unwrap()
}

fn release(n: usize, told: f64, seed: u64) -> (Vec<Person>, Evidence) {
    let mut random = ChaCha20Rng::seed_from_u64(seed);
    let groups = grouped(&people(n, told, &mut random), &mut random);
    let evidence = evidence(&groups);
    (groups.concat(), evidence)
}

/// Counts of towns, diseases and ages: what is asked, and who counts.
type Asked = (String, Box<dyn Fn(&Person) -> bool>);

fn questions() -> Vec<Asked> {
    let mut all: Vec<Asked> = Vec::new();
    for town in 0..6 {
        for (disease, name) in DISEASES.iter().enumerate() {
            all.push((
                format!("town = 't{town}' AND disease = '{name}'"),
                Box::new(move |p| p.town == town && p.disease == disease),
            ));
        }
    }
    for (disease, name) in DISEASES.iter().enumerate() {
        for from in [20, 35, 50, 65] {
            all.push((
                format!("age >= {from} AND age < {} AND disease = '{name}'", from + 15),
                Box::new(move |p| {
                    p.age >= from && p.age < from + 15 && p.disease == disease
                }),
            ));
        }
    }
    all
}

#[test]
fn what_groups_teach_makes_answers_better() {
    let (people, evidence) = release(6_000, 0.6, 1);
    assert!(evidence.teaches("disease", &Unwatched).unwrap());
    let mut off = [0.0; 2];
    let mut covered = [0; 2];
    let questions = questions();
    let both = [evidence, release(6_000, 0.6, 1).1.with_model(Model::Even)];
    for (what, counts) in &questions {
        let truth = people.iter().filter(|person| counts(person)).count() as f64;
        for (place, evidence) in both.iter().enumerate() {
            let found = &ask(evidence, &format!("SELECT COUNT(*) WHERE {what}"))[0];
            off[place] += (found.count - truth).abs() / truth;
            let (low, high) = found.possible_interval().unwrap();
            covered[place] += usize::from((low..=high).contains(&truth));
            assert!((found.at_least..=found.at_most).contains(&truth));
        }
    }
    let n = questions.len();
    assert!(off[0] < off[1] / 4.0, "{off:?}");
    assert!(covered[0] * 100 >= n * 75, "{covered:?} of {n}");
    assert!(covered[1] * 100 < n * 50, "{covered:?} of {n}");

    // Sums and means, too.
    let flu: Vec<f64> =
        people.iter().filter(|p| p.disease == 2).map(|p| p.days).collect();
    let mean = flu.iter().sum::<f64>() / flu.len() as f64;
    let asked = "SELECT AVG(days) WHERE disease = 'flu'";
    let [taught, even] = [0, 1].map(|place| ask(&both[place], asked).remove(0));
    let off = |found: f64| (found - mean).abs();
    assert!(off(taught.count) < off(even.count) / 2.0, "{mean}: {taught:?} {even:?}");
}

/// What was certain stays certain, and parts add up to the whole.
#[test]
fn what_is_certain_stays_so() {
    let (people, evidence) = release(3_000, 0.8, 2);
    let count = |question: &str| ask(&evidence, question).remove(0);
    let flu = people.iter().filter(|person| person.disease == 2).count() as f64;
    let all = count("SELECT COUNT(*) WHERE disease = 'flu'");
    assert_eq!((all.count, all.standard_error), (flu, Some(0.0)));
    let any = count("SELECT COUNT(*) WHERE town = 't1' AND disease <> 'none'");
    let town = people.iter().filter(|person| person.town == 1).count() as f64;
    assert_eq!((any.count, any.standard_error), (town, Some(0.0)));

    let parts = ask(&evidence, "SELECT town, disease, COUNT(*) GROUP BY town, disease");
    let mut sums: BTreeMap<&str, f64> = BTreeMap::new();
    for part in &parts {
        *sums.entry(&part.values[1]).or_default() += part.count;
    }
    assert!((sums["flu"] - flu).abs() < 1e-6, "{sums:?}");
    let alone = count("SELECT COUNT(*) WHERE town = 't1' AND disease = 'flu'");
    let part = parts.iter().find(|part| part.values == ["t1", "flu"]).unwrap();
    assert!((part.count - alone.count).abs() < 1e-9);
    assert!(
        (part.standard_error.unwrap() - alone.standard_error.unwrap()).abs() < 1e-9
    );
}

#[test]
fn where_groups_teach_nothing_answers_are_as_before() {
    let (_, evidence) = release(1_500, 0.0, 3);
    // Days tell the disease, and are no secret.
    assert!(evidence.teaches("disease", &Unwatched).unwrap());
    let mut random = ChaCha20Rng::seed_from_u64(4);
    let mut people = people(1_500, 0.0, &mut random);
    people.iter_mut().for_each(|person| person.days = 5.0);
    let groups = grouped(&people, &mut random);
    let evidence = self::evidence(&groups);
    assert!(!evidence.teaches("disease", &Unwatched).unwrap());
    let asked = "SELECT COUNT(*) WHERE town = 't1' AND disease = 'flu'";
    let found = ask(&evidence, asked);
    assert_eq!(found, ask(&self::evidence(&groups).with_model(Model::Even), asked));
    let draw = |evidence: &Evidence| evidence.draw(1).unwrap();
    assert_eq!(draw(&evidence), draw(&self::evidence(&groups).with_model(Model::Even)));
}

/// The rows of a design and what it is to explain.
type Design = (DMatrix<f64>, DVector<f64>);

/// Days by age, flu and gout.
fn of_days(people: &[Person]) -> Design {
    let row = |p: &Person| {
        let is = |other: usize| f64::from(u8::from(p.disease == other));
        [1.0, f64::from(p.age), is(2), is(3)]
    };
    let rows: Vec<f64> = people.iter().flat_map(row).collect();
    let days = people.iter().map(|p| p.days);
    (
        DMatrix::from_row_slice(people.len(), 4, &rows),
        DVector::from_iterator(people.len(), days),
    )
}

/// Whether it is gout, by age and the town of gout.
fn of_gout(people: &[Person]) -> Design {
    let row =
        |p: &Person| [1.0, f64::from(p.age) / 10.0, f64::from(u8::from(p.town == 3))];
    let rows: Vec<f64> = people.iter().flat_map(row).collect();
    let gout = people.iter().map(|p| f64::from(u8::from(p.disease == 3)));
    (
        DMatrix::from_row_slice(people.len(), 3, &rows),
        DVector::from_iterator(people.len(), gout),
    )
}

/// Coefficients and their squared standard errors.
fn linear((x, y): &Design) -> Vec<(f64, f64)> {
    let inverse = (x.transpose() * x).try_inverse().unwrap();
    let beta = &inverse * x.transpose() * y;
    let left = (y - x * &beta).norm_squared() / (x.nrows() - x.ncols()) as f64;
    (0..x.ncols()).map(|place| (beta[place], left * inverse[(place, place)])).collect()
}

fn logistic((x, y): &Design) -> Vec<(f64, f64)> {
    let mut beta = DVector::zeros(x.ncols());
    let mut inverse = DMatrix::zeros(x.ncols(), x.ncols());
    for _ in 0..30 {
        let p = (x * &beta).map(|score: f64| 1.0 / (1.0 + (-score).exp()));
        let weights = p.map(|p| p * (1.0 - p));
        let mut scaled = x.clone();
        for (mut row, weight) in scaled.row_iter_mut().zip(weights.iter()) {
            row *= *weight;
        }
        inverse = (x.transpose() * scaled).try_inverse().unwrap();
        beta += &inverse * x.transpose() * (y - p);
    }
    (0..x.ncols()).map(|place| (beta[place], inverse[(place, place)])).collect()
}

/// The people of a drawn table.
fn drawn_people(drawn: &DrawnTable) -> Vec<Person> {
    let text = |row: usize, name: &str| -> &str {
        let column = drawn.columns.iter().find(|column| column.name == name).unwrap();
        &column.texts[column.codes[row] as usize]
    };
    let person = |row: usize| Person {
        age: text(row, "age").parse().unwrap(),
        town: text(row, "town")[1..].parse().unwrap(),
        days: text(row, "days").parse().unwrap(),
        disease: DISEASES.iter().position(|own| *own == text(row, "disease")).unwrap(),
    };
    (0..drawn.n_rows()).map(person).collect()
}

/// How many slopes on draws, put together by Rubin's rules, have their value on the table
/// within 2.1 standard errors (Student's t, 20 draws), and how near they are to it, as a share.
fn covered(evidence: &Evidence, people: &[Person]) -> (usize, Vec<f64>) {
    const DRAWS: u64 = 20;
    let fits = |people: &[Person]| -> Vec<(f64, f64)> {
        let (days, gout) = (linear(&of_days(people)), logistic(&of_gout(people)));
        // Without the intercepts.
        days[1..].iter().chain(&gout[1..]).copied().collect()
    };
    let truth = fits(people);
    let draws: Vec<Vec<(f64, f64)>> = (0..DRAWS)
        .map(|seed| fits(&drawn_people(&evidence.draw(seed).unwrap())))
        .collect();
    let m = DRAWS as f64;
    let (mut right, mut kept) = (0, Vec::new());
    for (place, (truth, _)) in truth.iter().enumerate() {
        let mean = draws.iter().map(|draw| draw[place].0).sum::<f64>() / m;
        let within = draws.iter().map(|draw| draw[place].1).sum::<f64>() / m;
        let squares = draws.iter().map(|draw| (draw[place].0 - mean).powi(2));
        let between = squares.sum::<f64>() / (m - 1.0);
        let error = (within + (1.0 + 1.0 / m) * between).sqrt();
        right += usize::from((mean - truth).abs() < 2.1 * error);
        kept.push(mean / truth);
    }
    (right, kept)
}

/// A linear and a logistic regression on 20 draws each of six tables: most slopes are within
/// their errors of those of the table (of eight such tables 32 of 40), and hardly any is when
/// arrangements count alike (none of 40).
#[test]
fn draws_keep_what_groups_teach() {
    let (mut right, mut before, mut all) = (0, 0, 0);
    for seed in 0..6 {
        let (people, evidence) = release(3_000, 0.6, 50 + seed);
        let (found, kept) = covered(&evidence, &people);
        let (even, weakened) = covered(&evidence.with_model(Model::Even), &people);
        // Effects of diseases, and of age and town on gout, were much too weak.
        for place in 1..5 {
            let [kept, weak] = [kept[place], weakened[place]];
            assert!(kept > weak + 0.15 && weak < 0.5, "{place}: {kept} {weak}");
        }
        right += found;
        before += even;
        all += kept.len();
    }
    assert!(right * 100 >= all * 65, "{right} of {all}, before {before}");
    assert!(before * 100 < all * 20, "{before} of {all}");
}
