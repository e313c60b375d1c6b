use super::*;

/// The source's five men (docs/methods.md, "Shifted weights"): occupation, country; the
/// last is not present.
fn men() -> PdfGroup {
    PdfGroup {
        codes: [[1, 1, 0, 0], [1, 0, 1, 0]].map(Code::of).into(),
        rows: vec![2, 1, 1, 0],
        people: vec![2, 1, 1, 1],
    }
}

/// A group with some people for each of 2 x 3 x 2 tuples.
fn crowd() -> PdfGroup {
    let tuples: Vec<[Code; 3]> = (0..12)
        .map(|place| [place % 2, place / 2 % 3, place / 6].map(Code::new))
        .collect();
    let people: Vec<u64> = (0..12).map(|place| 5 + place * place % 7).collect();
    let rows = people.iter().enumerate().map(|(place, n)| n * (place as u64 % 3) / 4);
    PdfGroup {
        codes: (0..3).map(|a| tuples.iter().map(|tuple| tuple[a]).collect()).collect(),
        rows: rows.collect(),
        people,
    }
}

fn projection(part: &PdfGroup, columns: &[usize]) -> Projection {
    let tallies: Vec<Vec<ValueTally>> =
        columns.iter().map(|column| part.tally(*column)).collect();
    let (mut projection, _) = Projection::new(part, columns, &tallies);
    projection.settle();
    projection
}

#[test]
fn the_sources_own_example_has_one_world() {
    let found = presence(&men(), &[0, 1], &mut 1000);
    let always = Chance::ALWAYS;
    assert_eq!(found, Some(vec![always, always, always, Chance::NEVER]));
}

#[test]
fn one_column_tells_its_own_ratio() {
    let half = Chance::Exact { part: 1, whole: 2 };
    let sure = Chance::Exact { part: 3, whole: 3 };
    assert_eq!(presence(&men(), &[0], &mut 0), Some(vec![sure, sure, half, half]));
    let all = Chance::Exact { part: 4, whole: 5 };
    assert_eq!(presence(&men(), &[], &mut 0), Some(vec![all; 4]));
}

#[test]
fn too_much_work_is_not_known() {
    let mut work = 40;
    assert_eq!(presence(&crowd(), &[0, 1, 2], &mut work), None);
    assert_eq!(work, 0);
}

#[test]
fn both_scales_agree() {
    for columns in [&[0, 1][..], &[1, 2], &[0, 2], &[2, 1, 0]] {
        let projection = projection(&crowd(), columns);
        let found = [WorldScale::Plain, WorldScale::Expected]
            .map(|scale| projection.chances(scale, &mut 1_000_000).unwrap());
        for (plain, scaled) in found[0].iter().zip(&found[1]) {
            let gap = (plain.to_f64() - scaled.to_f64()).abs();
            assert!(gap < 1e-12, "{plain:?} and {scaled:?}");
        }
    }
}

#[test]
fn few_worlds_are_counted_exactly() {
    let part = PdfGroup {
        codes: [[0, 0, 1, 1], [0, 1, 0, 1]].map(Code::of).into(),
        rows: vec![1, 0, 0, 1],
        people: vec![1, 1, 1, 1],
    };
    let half = Chance::Exact { part: 1, whole: 2 };
    assert_eq!(presence(&part, &[0, 1], &mut 1000), Some(vec![half; 4]));
}

/// Two by two: the worlds are told apart by one number, so the sum is over one index.
#[test]
fn a_large_group_agrees_with_a_sum_over_one_number() {
    let people = [9_000u64, 12_000, 4_222, 20_000];
    let rows = [700u64, 400, 257, 800];
    let part = PdfGroup {
        codes: [[0, 0, 1, 1], [0, 1, 0, 1]].map(Code::of).into(),
        rows: rows.to_vec(),
        people: people.to_vec(),
    };
    let found = presence(&part, &[0, 1], &mut 10_000_000).unwrap();
    // With x present in the first tuple, the others are a - x, b - x, d + x.
    let (a, b) = (rows[0] + rows[1], rows[0] + rows[2]);
    let d = rows[3] - rows[0];
    let others = |x: u64| [x, a - x, b - x, d + x];
    // The ratio of the weights of two neighbours, exact but for rounding.
    let ratio = |x: u64| {
        let up = |m: u64, x: u64| (m - x) as f64 / (x + 1) as f64;
        let [p, q, r, s] = others(x);
        up(people[0], p) * up(people[3], s)
            / (up(people[1], q - 1) * up(people[2], r - 1))
    };
    let most = a.min(b);
    let start = rows[0];
    let mut weights = vec![1.0; most as usize + 1];
    for x in start..most {
        weights[x as usize + 1] = weights[x as usize] * ratio(x);
    }
    for x in (0..start).rev() {
        weights[x as usize] = weights[x as usize + 1] / ratio(x);
    }
    let all: f64 = weights.iter().sum();
    for tuple in 0..4 {
        let present: f64 = weights
            .iter()
            .zip(0..)
            .map(|(weight, x)| weight * others(x)[tuple] as f64)
            .sum();
        let expected = present / all / people[tuple] as f64;
        let gap = (found[tuple].to_f64() - expected).abs();
        assert!(gap < 1e-12, "{gap}");
    }
}
