use super::*;

fn given(likelihoods: &[(f64, u64)]) -> Vec<Likelihood> {
    let one = |(p, people): &(f64, u64)| Likelihood { ln: p.ln(), people: *people };
    likelihoods.iter().map(one).collect()
}

fn floats(found: Option<Vec<Chance>>) -> Vec<f64> {
    found.unwrap().into_iter().map(Chance::to_f64).collect()
}

/// `nergiz2007pdf`, section V: five people, four present.
#[test]
fn the_sources_example() {
    let p = given(&[(3.0, 1), (9.0, 2), (3.0, 1), (1.0, 1)]);
    let found = floats(existence(&p, 4));
    for (found, expected) in found.iter().zip([14.0, 16.0, 14.0, 8.0]) {
        assert!((found - expected / 17.0).abs() < 1e-14);
    }
    let (least, most) = extremes(&p, 4).unwrap();
    assert_eq!((least.to_f64(), most.to_f64()), (found[3], found[1]));
    let (least, most) = bounds(&p, 4).unwrap();
    assert!((least.to_f64() - 4.0 / 13.0).abs() < 1e-15);
    assert!((most.to_f64() - 36.0 / 37.0).abs() < 1e-15);
}

#[test]
fn equal_people_are_equally_present() {
    let chance = Chance::Exact { part: 1957, whole: 45_222 };
    let found = existence(&given(&[(0.3, 45_000), (0.3, 222)]), 1957);
    assert_eq!(found, Some(vec![chance; 2]));
}

#[test]
fn who_cannot_be_present_is_not() {
    let p = given(&[(0.0, 3), (0.5, 1), (0.25, 2)]);
    assert_eq!(existence(&p, 4), None);
    let (never, always) = (Chance::NEVER, Chance::Exact { part: 3, whole: 3 });
    assert_eq!(existence(&p, 3), Some(vec![never, always, always]));
    assert_eq!(extremes(&p, 3), Some((never, always)));
    let none = Chance::Exact { part: 0, whole: 3 };
    assert_eq!(existence(&p, 0), Some(vec![never, none, none]));
    assert_eq!(bounds(&p, 2), Some((never, Chance::ALWAYS)));
}

#[test]
fn likelihoods_may_be_as_far_apart_as_floats_are() {
    let ln = [0.0, -700.0, -1400.0, -5000.0];
    let p = ln.map(|ln| Likelihood { ln, people: 2 });
    for (present, expected) in [(2, [1.0, 0.0, 0.0, 0.0]), (5, [1.0, 1.0, 0.5, 0.0])] {
        for (found, expected) in floats(existence(&p, present)).iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
        }
    }
}

/// The sum over how many of the first kind are present, term by term.
#[test]
fn two_kinds_of_people_agree_with_a_sum_over_one_number() {
    for (first, second, present, ratio) in [
        (20_000u64, 25_222u64, 1957u64, 3.7),
        (45_000, 222, 1957, 0.01),
        (30, 45_192, 1957, 900.0),
        (25_000, 25_000, 25_000, 1e-6),
    ] {
        let found =
            floats(existence(&given(&[(ratio, first), (1.0, second)]), present));
        // Logarithms of weights, from differences of neighbours.
        let from = present.saturating_sub(second);
        let mut ln = vec![0.0f64];
        for x in from..first.min(present) {
            let more = (first - x) as f64 / (x + 1) as f64;
            let fewer = (present - x) as f64 / (second + x + 1 - present) as f64;
            ln.push(ln.last().unwrap() + (more * fewer * ratio).ln());
        }
        let top = ln.iter().copied().fold(f64::MIN, f64::max);
        let (mut all, mut sum) = (0.0, 0.0);
        for (ln, x) in ln.iter().zip(from..) {
            all += (ln - top).exp();
            sum += x as f64 * (ln - top).exp();
        }
        let expected = sum / all / first as f64;
        assert!((found[0] - expected).abs() < 1e-10, "{} {expected}", found[0]);
        let total = found[0] * first as f64 + found[1] * second as f64;
        assert!((total - present as f64).abs() < 1e-7, "{total}");
    }
}

/// Independent people one by one, with and without the one who is asked for.
#[test]
fn thousands_of_likelihoods_agree_with_a_sum_over_people() {
    let (n_people, present) = (45_222u64, 1957usize);
    let people: Vec<Likelihood> = (0..n_people)
        .map(|place| {
            let unequal = (place * 7919 % n_people) as f64 / n_people as f64;
            Likelihood { ln: -12.0 * unequal, people: 1 }
        })
        .collect();
    let (least, most) = extremes(&people, present as u64).unwrap();
    let odds: Vec<f64> = people.iter().map(|one| (one.ln - 0.65).exp()).collect();
    let by = |a: &usize, b: &usize| odds[*a].total_cmp(&odds[*b]);
    let ends =
        [(0..odds.len()).min_by(by).unwrap(), (0..odds.len()).max_by(by).unwrap()];
    for (asked, found) in ends.into_iter().zip([least, most]) {
        let mut pmf = vec![0.0; present + 1];
        pmf[0] = 1.0;
        for (place, odds) in odds.iter().enumerate().filter(|one| one.0 != asked) {
            let q = odds / (1.0 + odds);
            for n in (1..=present.min(place + 1)).rev() {
                pmf[n] = pmf[n] * (1.0 - q) + pmf[n - 1] * q;
            }
            pmf[0] *= 1.0 - q;
        }
        let with = odds[asked] * pmf[present - 1];
        let expected = with / (with + pmf[present]);
        let gap = (found.to_f64() - expected).abs();
        assert!(pmf[present] > 1e-100 && gap < 1e-10, "{gap} {}", pmf[present]);
    }
}
