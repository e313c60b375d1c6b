//! Noise that hides people who may have several rows, against sums over all pairs.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use scumble::method::{
    BlurTask, ClassRules, Frame, RowNeeds, blur, draw_noise, largest_set, need,
};
use scumble::promise::Law;
use scumble::random::Randomness;
use scumble::space::{FrameKind, Shape};
use scumble::table::Numbers;
use scumble::watch::Unwatched;

/// Rows of people, each with one to four; some of a person's are equal, some of others, too.
fn numbers(n_people: usize, dims: usize, seed: u64) -> Numbers {
    let mut random = ChaCha20Rng::seed_from_u64(seed);
    let mut rows: Vec<(usize, Vec<f64>)> = Vec::new();
    for person in 0..n_people {
        let own: Vec<f64> =
            (0..dims).map(|_| random.random_range(0..30) as f64).collect();
        for again in 0..random.random_range(1..5) {
            let moved = if again > 1 { random.random_range(0..9) as f64 } else { 0.0 };
            rows.push((person, own.iter().map(|x| x + moved).collect()));
        }
    }
    // Rows of a person do not stand together.
    let n = rows.len();
    for place in (1..n).rev() {
        rows.swap(place, random.random_range(0..=place));
    }
    let mut first = BTreeMap::new();
    let persons = rows.iter().enumerate();
    let persons =
        persons.map(|(row, (person, _))| *first.entry(*person).or_insert(row as u32));
    Numbers {
        n_rows: n,
        decimals: vec![0; dims],
        persons: persons.collect(),
        values: rows.iter().flat_map(|(_, x)| x.clone()).collect(),
        kinds: vec![0; n],
        kind_cells: vec![Vec::new()],
        wishes: Vec::new(),
    }
}

/// The company of a row among others: everybody once, with the row that fits best.
fn company(numbers: &Numbers, law: &Law, rows: &[u32], row: u32) -> f64 {
    let mut best: BTreeMap<u32, f64> = BTreeMap::new();
    for other in rows {
        let pairs = numbers.row(*other as usize).iter().zip(numbers.row(row as usize));
        let w: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
        let known = best.entry(numbers.persons[*other as usize]).or_insert(0.0);
        *known = known.max(law.count(&w));
    }
    best.values().sum()
}

/// The rule as it is written: drop whoever falls short, one at a time, until nobody does.
fn plain_set(numbers: &Numbers, law: &Law, needs: &[f64]) -> Vec<u32> {
    let mut rows: Vec<u32> = (0..numbers.n_rows as u32).collect();
    loop {
        let short = rows
            .iter()
            .position(|row| company(numbers, law, &rows, *row) < needs[*row as usize]);
        match short {
            Some(place) => rows.remove(place),
            None => return rows,
        };
    }
}

fn task<'a>(numbers: &'a Numbers, wishes: &'a [f64], shape: Shape) -> BlurTask<'a> {
    BlurTask {
        numbers,
        decimals: &numbers.decimals,
        shape,
        frame: FrameKind::Global,
        wishes,
        strict: true,
        best_guess: None,
        levels: 3,
        parts: None,
        limit: 0,
        classes: ClassRules::default(),
    }
}

#[test]
fn the_largest_set_counts_everybody_once() {
    let mut partial = 0;
    for seed in 0..40 {
        let dims = 1 + seed as usize % 3;
        let numbers = numbers(40, dims, seed);
        for shape in [Shape::Gaussian, Shape::Uniform] {
            let spread = [0.0, 3.0, 5.0, 9.0, 15.0][seed as usize % 5];
            let spreads = vec![spread; dims];
            let law = Law { shape, spreads, cuts: vec![0.0; dims] };
            let frame = Frame {
                rows: (0..numbers.n_rows as u32).collect(),
                dims,
                coordinates: numbers.values.clone(),
                scales: vec![1.0; dims],
                steps: vec![1.0; dims],
                cuts: vec![0.0; dims],
                shape,
                people: numbers.persons.clone(),
            };
            let k = [1.5, 2.0, 3.0, 4.5][seed as usize % 4];
            // Half a step between, so that no verdict rests on the last digits.
            let needs = vec![need(k) + 1e-7; numbers.n_rows];
            let all: Vec<u32> = frame.rows.clone();
            let asked =
                RowNeeds { company: &needs, best_guess: None, watch: &Unwatched };
            let found = largest_set(&frame, &law, &all, asked, all.len()).unwrap();
            let wanted = plain_set(&numbers, &law, &needs);
            assert_eq!(found, wanted, "{shape:?} {seed}");
            partial += usize::from(!found.is_empty() && found.len() < all.len());
        }
    }
    assert!(partial > 10, "{partial}");
}

#[test]
fn everybody_published_has_company_of_people_and_a_fact_is_drawn_once() {
    let mut short_by_rows = 0;
    for seed in 0..12 {
        let shape = [Shape::Gaussian, Shape::Uniform][seed as usize % 2];
        let numbers = numbers(80, 1 + seed as usize % 2, seed + 100);
        let k = 5.0;
        let wishes = vec![k; numbers.n_rows];
        let task = task(&numbers, &wishes, shape);
        let blurred = blur(&task).unwrap();
        let law_of = |(frame, level): (u32, u32)| Law {
            shape,
            spreads: blurred.frames[frame as usize].levels[level as usize].clone(),
            cuts: vec![0.0; numbers.n_columns()],
        };
        let rows: Vec<u32> = (0..numbers.n_rows as u32).collect();
        let place = |row: u32| blurred.places[row as usize].unwrap();
        for row in &rows {
            let law = law_of(place(*row));
            let same =
                rows.iter().copied().filter(|other| place(*other) == place(*row));
            let same: Vec<u32> = same.collect();
            assert!(
                company(&numbers, &law, &same, *row) >= k,
                "{shape:?} {seed} {row}"
            );
        }
        // Noise for rows that are taken for people leaves some with too few people.
        let strangers = Numbers { persons: Vec::new(), ..numbers.clone() };
        let by_rows = blur(&BlurTask { numbers: &strangers, ..task.clone() }).unwrap();
        short_by_rows += rows
            .iter()
            .filter(|row| {
                let own = by_rows.places[**row as usize].unwrap();
                let spreads = &by_rows.frames[own.0 as usize].levels[own.1 as usize];
                let cuts = vec![0.0; numbers.n_columns()];
                let law = Law { shape, spreads: spreads.clone(), cuts };
                let same = rows.iter().copied();
                let same = same.filter(|o| by_rows.places[*o as usize] == Some(own));
                company(&numbers, &law, &same.collect::<Vec<u32>>(), **row) < k
            })
            .count();
        // Equal numbers of a person are one fact, drawn once; others are drawn apart.
        let drawn = draw_noise(&task, &blurred, &Randomness::of_seed(seed)).unwrap();
        let dims = numbers.n_columns();
        let mut facts: BTreeMap<(u32, Vec<u64>), Vec<Vec<f64>>> = BTreeMap::new();
        for row in 0..numbers.n_rows {
            let bits = numbers.row(row).iter().map(|x| x.to_bits()).collect();
            let own = facts.entry((numbers.persons[row], bits)).or_default();
            own.push(drawn[row * dims..][..dims].to_vec());
        }
        let several = facts.values().filter(|rows| rows.len() > 1).count();
        assert!(several > 20, "{several}");
        for rows in facts.values() {
            assert!(rows.windows(2).all(|pair| pair[0] == pair[1]));
        }
    }
    assert!(short_by_rows > 100, "{short_by_rows}");
}

#[test]
fn ten_rows_of_a_person_average_to_what_one_tells() {
    // Everybody has ten equal rows; whoever averages a person's rows is as far off as with
    // one: the variance of the mean is that of the noise.
    let n_people = 400;
    let values: Vec<f64> =
        (0..10 * n_people).map(|row| (row % n_people * 37 % 101) as f64).collect();
    let numbers = Numbers {
        n_rows: values.len(),
        decimals: vec![0],
        persons: (0..values.len() as u32).map(|row| row % n_people as u32).collect(),
        kinds: vec![0; values.len()],
        values,
        kind_cells: vec![Vec::new()],
        wishes: Vec::new(),
    };
    let wishes = vec![8.0; numbers.n_rows];
    let task = BlurTask { levels: 1, ..task(&numbers, &wishes, Shape::Gaussian) };
    let blurred = blur(&task).unwrap();
    let spread = blurred.frames[0].levels[0][0];
    let drawn = draw_noise(&task, &blurred, &Randomness::of_seed(5)).unwrap();
    let mut squares = 0.0;
    for person in 0..n_people {
        let rows = (0..10).map(|again| drawn[again * n_people + person]);
        let mean = rows.sum::<f64>() / 10.0;
        squares += (mean - numbers.values[person]).powi(2);
    }
    let ratio = squares / n_people as f64 / (spread * spread + 1.0 / 12.0);
    // A mean of 400 squares: standard deviation 0.0707; 4.5 of them.
    assert!((ratio - 1.0).abs() < 0.32, "{ratio}");
}
