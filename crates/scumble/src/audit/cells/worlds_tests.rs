use super::*;
use crate::watch::Unwatched;

const MOST_STEPS: usize = 1 << 20;

/// Small random numbers, the same in every run.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % sides
    }
}

/// People with values in some columns, some of them present: types, counts, and for each
/// type its people as bits.
fn puzzle(dice: &mut Dice) -> (Vec<PersonType>, Vec<u64>, Vec<u32>) {
    let n_people = dice.roll(9) + 2;
    let n_columns = dice.roll(3) + 1;
    let n_values = dice.roll(3) + 1;
    let mut types: Vec<PersonType> = Vec::new();
    let mut bits: Vec<u32> = Vec::new();
    let mut counts = vec![0; (n_columns * n_values) as usize];
    for person in 0..n_people {
        let values: Vec<u32> = (0..n_columns)
            .map(|column| (column * n_values + dice.roll(n_values)) as u32)
            .collect();
        if dice.roll(2) == 1 {
            values.iter().for_each(|count| counts[*count as usize] += 1);
        }
        match types.iter().position(|kind| kind.counts == values) {
            Some(place) => {
                types[place].people += 1;
                bits[place] |= 1 << person;
            }
            None => {
                types.push(PersonType { people: 1, counts: values });
                bits.push(1 << person);
            }
        }
    }
    (types, counts, bits)
}

/// How many worlds there are, and the sum of the people of each type over them.
fn brute_force(
    types: &[PersonType],
    counts: &[u64],
    bits: &[u32],
) -> (u128, Vec<u128>) {
    let everybody: u32 = bits.iter().sum();
    let (mut all, mut sums) = (0, vec![0; types.len()]);
    for world in 0..=everybody {
        let mut found = vec![0; counts.len()];
        for (kind, bits) in types.iter().zip(bits) {
            let present = u64::from((world & bits).count_ones());
            kind.counts.iter().for_each(|count| found[*count as usize] += present);
        }
        if found == counts {
            all += 1;
            for (sum, bits) in sums.iter_mut().zip(bits) {
                *sum += u128::from((world & bits).count_ones());
            }
        }
    }
    (all, sums)
}

#[test]
fn shares_are_those_of_all_worlds() {
    let mut dice = Dice::new(7);
    for _ in 0..3000 {
        let (types, counts, bits) = puzzle(&mut dice);
        let (all, sums) = brute_force(&types, &counts, &bits);
        let Worlds::Counted { shares, ln_ways } =
            worlds(&types, &counts, MOST_STEPS, &Unwatched)
        else {
            panic!("the people who are present are a world");
        };
        assert!((ln_ways - (all as f64).ln()).abs() < 1e-9);
        for ((share, sum), kind) in shares.iter().zip(&sums).zip(&types) {
            let wanted = Share::ratio(*sum, all * u128::from(kind.people));
            let Share::Exact(a, b) = wanted else { panic!("small numbers") };
            let Share::Exact(c, d) = *share else { panic!("small numbers") };
            assert_eq!(a * d, c * b, "{types:?} {counts:?}");
        }
    }
}

#[test]
fn counts_that_nobody_can_have_have_no_world() {
    let mut dice = Dice::new(11);
    let mut impossible = 0;
    for _ in 0..3000 {
        let (types, mut counts, bits) = puzzle(&mut dice);
        let place = dice.roll(counts.len() as u64) as usize;
        counts[place] += dice.roll(3);
        let (all, _) = brute_force(&types, &counts, &bits);
        let found = worlds(&types, &counts, MOST_STEPS, &Unwatched);
        assert_eq!(matches!(found, Worlds::None), all == 0, "{types:?} {counts:?}");
        impossible += u32::from(all == 0);
    }
    assert!(impossible > 100);
}

#[test]
fn floats_take_over_where_whole_numbers_end() {
    // Two columns of two values: x of the first type decides all others.
    let kind = |people, a, b| PersonType { people, counts: vec![a, b] };
    let types = [kind(300, 0, 2), kind(200, 0, 3), kind(250, 1, 2), kind(150, 1, 3)];
    let counts = [250, 100, 210, 140];
    let Worlds::Counted { shares, .. } =
        worlds(&types, &counts, MOST_STEPS, &Unwatched)
    else {
        panic!("few states");
    };
    let weight = |x: u64| {
        ln_choose(300, x)
            + ln_choose(200, 250 - x)
            + ln_choose(250, 210 - x)
            + ln_choose(150, x - 110)
    };
    let (mut all, mut sum) = (0.0, 0.0);
    for x in 110..=210 {
        all += (weight(x) - weight(150)).exp();
        sum += x as f64 * (weight(x) - weight(150)).exp();
    }
    let Share::Near(share) = shares[0] else { panic!("more than 2^128 worlds") };
    assert!((share - sum / all / 300.0).abs() < 1e-11);
}

#[test]
fn what_takes_too_long_is_settled_only() {
    let kind = |people, a, b| PersonType { people, counts: vec![a, b] };
    let mut types =
        vec![kind(3, 0, 2), kind(2, 0, 3), kind(2, 1, 2), kind(2, 1, 3), kind(2, 4, 5)];
    types.push(kind(1, 6, 7));
    let counts = [3, 2, 3, 2, 2, 2, 0, 0];
    let Worlds::Unknown { settled } = worlds(&types, &counts, 1, &Unwatched) else {
        panic!("one step is too few");
    };
    assert_eq!(settled, [None, None, None, None, Some(2), Some(0)]);
}
