//! All worlds that a release allows: whose row is whose, and who has which value of a group.

/// For each person and row, how many (weighed) ways there are to give every person a row of
/// their own in which this person has this row; and all ways.
pub(super) fn matchings(weights: &[Vec<u128>]) -> (Vec<Vec<u128>>, u128) {
    let n = weights.len();
    let sets = 1usize << n;
    // The first people have the rows of a set; the others have the rest.
    let mut before = vec![0u128; sets];
    let mut after = vec![0u128; sets];
    before[0] = 1;
    after[sets - 1] = 1;
    let free = |set: usize| (0..n).filter(move |row| set & (1 << row) == 0);
    for set in 0..sets - 1 {
        let person = set.count_ones() as usize;
        for row in free(set) {
            before[set | 1 << row] += before[set] * weights[person][row];
        }
    }
    for set in (0..sets - 1).rev() {
        let person = set.count_ones() as usize;
        let ways = free(set).map(|row| weights[person][row] * after[set | 1 << row]);
        after[set] = ways.sum();
    }
    let mut ways = vec![vec![0; n]; n];
    for set in 0..sets - 1 {
        let person = set.count_ones() as usize;
        for row in free(set) {
            let rest = weights[person][row] * after[set | 1 << row];
            ways[person][row] += before[set] * rest;
        }
    }
    (ways, after[0])
}

/// For each person and value, what those arrangements of a group's values weigh in which the
/// person has it, if everybody has a value with the chances believed; and all of them.
pub(super) fn arrangements(
    beliefs: &[[u128; 3]],
    counts: [u128; 3],
) -> (Vec<[u128; 3]>, u128) {
    fn go(
        beliefs: &[[u128; 3]],
        left: &mut [u128; 3],
        given: &mut Vec<usize>,
        weight: u128,
        sums: &mut [[u128; 3]],
    ) -> u128 {
        let Some(own) = beliefs.get(given.len()) else {
            for (sums, value) in sums.iter_mut().zip(given.iter()) {
                sums[*value] += weight;
            }
            return weight;
        };
        let mut total = 0;
        for value in 0..3 {
            if left[value] > 0 && own[value] > 0 {
                left[value] -= 1;
                given.push(value);
                total += go(beliefs, left, given, weight * own[value], sums);
                given.pop();
                left[value] += 1;
            }
        }
        total
    }
    let mut sums = vec![[0; 3]; beliefs.len()];
    let total = go(beliefs, &mut counts.clone(), &mut Vec::new(), 1, &mut sums);
    (sums, total)
}

/// For each person of a population, in how many tables they are that have so many people in
/// each class and nobody else; and how many such tables there are. `class` says in which class
/// a person would be.
pub(super) fn tables(class: &[Option<usize>], sizes: &[usize]) -> (Vec<u128>, u128) {
    let n = class.len();
    let (mut present, mut all) = (vec![0; n], 0);
    for table in 0..1usize << n {
        let members = || (0..n).filter(|person| table & (1 << person) != 0);
        let mut left = sizes.to_vec();
        let fits = members().all(|person| match class[person] {
            Some(class) if left[class] > 0 => {
                left[class] -= 1;
                true
            }
            _ => false,
        });
        if fits && left.iter().all(|left| *left == 0) {
            all += 1;
            members().for_each(|person| present[person] += 1);
        }
    }
    (present, all)
}
