//! The sum over worlds, tuple by tuple: see `worlds` for the argument.

use hashbrown::HashMap;

use super::worlds::{MOST_STEPS, Tuple};

/// Where the count of each value stands in a state.
pub(super) struct Fields {
    /// For each column and value, how far to the left, and a mask of its width.
    places: Vec<Vec<(u32, u128)>>,
}

impl Fields {
    /// Room for counts up to `rows`, for each column and value; nothing if they do not fit
    /// into one word.
    pub(super) fn new(rows: &[Vec<u64>]) -> Option<Self> {
        let mut shift = 0;
        let mut place = |most: &u64| {
            let width = u64::BITS - most.leading_zeros();
            let place = (shift, (1 << width) - 1);
            shift += width;
            // A width of 0 at the very end would shift by the whole word.
            (shift < u128::BITS).then_some(place)
        };
        let places = rows.iter().map(|rows| rows.iter().map(&mut place).collect());
        Some(Self { places: places.collect::<Option<_>>()? })
    }
}

/// A tuple's states, and where each leads.
struct StateLayer {
    /// In how many ways each state is reached.
    before: Vec<f64>,
    /// For each state, the fewest people of the tuple who can be present and how many
    /// numbers from there on are possible.
    choices: Vec<(usize, usize)>,
    /// The states after each choice, in order.
    targets: Vec<u32>,
}

/// The sum over all worlds of the product of `weights`, by the number of people of each
/// tuple who are present; and for each tuple the same sum with each world as often as it
/// has people of the tuple. `rows` are the counts of each column and value.
pub(super) fn sum(
    tuples: &[&Tuple],
    rows: &[Vec<u64>],
    weights: &[Vec<f64>],
    work: &mut u64,
) -> Option<(f64, Vec<f64>)> {
    let fields = Fields::new(rows)?;
    // How many people with each value are still to come.
    let mut people: Vec<Vec<u64>> =
        rows.iter().map(|rows| vec![0; rows.len()]).collect();
    for tuple in tuples {
        for (value, people) in tuple.values.iter().zip(&mut people) {
            people[*value as usize] += tuple.people;
        }
    }
    let mut all = 0;
    for (rows, places) in rows.iter().zip(&fields.places) {
        for (rows, (shift, _)) in rows.iter().zip(places) {
            all |= u128::from(*rows) << shift;
        }
    }

    let mut steps = MOST_STEPS.min(*work);
    let granted = steps;
    let mut states = vec![all];
    let mut ways = vec![1.0];
    let mut layers = Vec::with_capacity(tuples.len());
    for (tuple, weights) in tuples.iter().zip(weights) {
        let mut known = Vec::with_capacity(rows.len());
        for (column, value) in tuple.values.iter().enumerate() {
            let value = *value as usize;
            people[column][value] -= tuple.people;
            let (shift, mask) = fields.places[column][value];
            known.push((shift, mask, people[column][value]));
        }
        let next = advance(states, ways, weights, &known, &mut steps);
        let Some((layer, next_states, next_ways)) = next else {
            *work -= granted;
            return None;
        };
        (states, ways) = (next_states, next_ways);
        layers.push(layer);
    }
    *work -= granted - steps;
    Some(complete(&layers, weights))
}

/// One tuple further: for each of its values the place of the count in a state and how
/// many people have it in tuples to come.
fn advance(
    states: Vec<u128>,
    ways: Vec<f64>,
    weights: &[f64],
    known: &[(u32, u128, u64)],
    steps: &mut u64,
) -> Option<(StateLayer, Vec<u128>, Vec<f64>)> {
    let unit: u128 = known.iter().map(|(shift, ..)| 1u128 << shift).sum();
    let mut layer = StateLayer {
        before: Vec::new(),
        choices: Vec::with_capacity(states.len()),
        targets: Vec::new(),
    };
    let mut place_of: HashMap<u128, u32> = HashMap::with_capacity(states.len());
    let mut next_states = Vec::new();
    let mut next_ways: Vec<f64> = Vec::new();
    for (state, ways) in states.iter().zip(&ways) {
        let (mut fewest, mut most) = (0, weights.len() as u64 - 1);
        for (shift, mask, to_come) in known {
            let rows = ((state >> shift) & mask) as u64;
            fewest = fewest.max(rows.saturating_sub(*to_come));
            most = most.min(rows);
        }
        let n_choices = (most + 1).saturating_sub(fewest);
        layer.choices.push((fewest as usize, n_choices as usize));
        *steps = steps.checked_sub(n_choices + 1)?;
        for present in fewest..fewest + n_choices {
            let next = state - unit * u128::from(present);
            let place = *place_of.entry(next).or_insert_with(|| {
                next_states.push(next);
                next_ways.push(0.0);
                next_states.len() as u32 - 1
            });
            next_ways[place as usize] += ways * weights[present as usize];
            layer.targets.push(place);
        }
    }
    layer.before = ways;
    Some((layer, next_states, next_ways))
}

/// From the last tuple back: in how many ways each state is completed.
fn complete(layers: &[StateLayer], weights: &[Vec<f64>]) -> (f64, Vec<f64>) {
    // After the last tuple nothing remains to be counted: there is one state, or none.
    let mut after = vec![1.0];
    let mut sums = vec![0.0; layers.len()];
    for (place, (layer, weights)) in layers.iter().zip(weights).enumerate().rev() {
        let mut targets = layer.targets.iter();
        let mut here = Vec::with_capacity(layer.before.len());
        for (before, (fewest, n_choices)) in layer.before.iter().zip(&layer.choices) {
            let (mut all, mut present) = (0.0, 0.0);
            for (choice, target) in targets.by_ref().take(*n_choices).enumerate() {
                let ways = weights[fewest + choice] * after[*target as usize];
                all += ways;
                present += (fewest + choice) as f64 * ways;
            }
            here.push(all);
            sums[place] += before * present;
        }
        after = here;
    }
    (after.first().copied().unwrap_or(0.0), sums)
}

/// The numbers of ways to choose 0, 1, ... `most` of `people`, as exact as floats are.
pub(super) fn binomials(people: u64, most: u64) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::with_capacity(most as usize + 1);
    let mut exact = 1u128;
    for chosen in 0..=most {
        let last = found.last().copied().unwrap_or(1.0);
        found.push(if chosen > people / 2 {
            found[(people - chosen) as usize]
        } else if chosen == 0 {
            1.0
        } else if exact < 1 << 60 {
            exact = exact * u128::from(people - chosen + 1) / u128::from(chosen);
            exact as f64
        } else {
            last * (people - chosen + 1) as f64 / chosen as f64
        });
    }
    found
}

/// Numbers in proportion to the probabilities that 0, 1, ... `most` of `people` are
/// present, at the same odds for each; their sum is 1.
pub(super) fn shares(people: u64, most: u64, odds: f64) -> Vec<f64> {
    let likeliest = ((people + 1) as f64 * odds / (1.0 + odds)) as u64;
    let start = likeliest.min(most) as usize;
    let mut found = vec![1.0; most as usize + 1];
    // From the likeliest number both ways, so that only what is negligible underflows.
    for chosen in start + 1..found.len() {
        let choices = (people - chosen as u64 + 1) as f64 / chosen as f64;
        found[chosen] = found[chosen - 1] * choices * odds;
    }
    for chosen in (0..start).rev() {
        let choices = (chosen + 1) as f64 / (people - chosen as u64) as f64;
        found[chosen] = found[chosen + 1] * choices / odds;
    }
    let sum: f64 = found.iter().sum();
    found.iter_mut().for_each(|share| *share /= sum);
    found
}
