//! The balancing phase: groups of few values, each as common as another.

use std::cmp::Reverse;

use super::Entries;

/// Deals rows into groups: positions in `counts` with their rows, ascending.
///
/// With θ = ⌊rows / most rows of one value⌋, of protected rows, each group takes as many
/// rows as it can of each of the θ commonest values, such that what is left is θ-balanced:
/// no value has more than 1/θ of it. Unprotected values follow in proportion to the sizes,
/// commonest first, and the last group takes what remains of them.
pub fn initial_groups(counts: &[u64], protected: &[bool]) -> Vec<Entries> {
    let of = |wanted: bool| {
        let chosen = counts.iter().copied().enumerate();
        let mut chosen: Entries =
            chosen.filter(|(at, rows)| *rows > 0 && protected[*at] == wanted).collect();
        commonest_first(&mut chosen);
        chosen
    };
    let (mut groups, others) = (balanced(of(true)), of(false));
    if groups.is_empty() {
        groups.push(Vec::new());
    }
    deal(others, &mut groups);
    for group in &mut groups {
        group.sort_unstable();
    }
    groups.retain(|group| !group.is_empty());
    groups
}

fn commonest_first(entries: &mut Entries) {
    entries.sort_unstable_by_key(|(at, rows)| (Reverse(*rows), *at));
}

fn size(entries: &Entries) -> u64 {
    entries.iter().map(|(_, rows)| rows).sum()
}

/// Groups of the protected rows, given commonest first.
fn balanced(mut left: Entries) -> Vec<Entries> {
    let Some(&(_, most)) = left.first() else { return Vec::new() };
    let theta = size(&left) / most;
    let mut groups = Vec::new();
    while !left.is_empty() {
        let h = rows_of_each(&left, theta);
        if h == 0 {
            groups.push(left);
            break;
        }
        let taken = &mut left[..theta as usize];
        groups.push(taken.iter().map(|(at, _)| (*at, h)).collect());
        taken.iter_mut().for_each(|(_, rows)| *rows -= h);
        left.retain(|(_, rows)| *rows > 0);
        commonest_first(&mut left);
    }
    groups
}

/// The most rows of each of the `theta` commonest values that leave the rest balanced.
fn rows_of_each(left: &Entries, theta: u64) -> u64 {
    let rows = |place: u64| left.get(place as usize).map_or(0, |(_, rows)| *rows);
    let (first, last, next) = (rows(0), rows(theta - 1), rows(theta));
    let n_rows = size(left);
    // What is left is balanced before, so that neither difference is below 0.
    if n_rows >= theta * ((first - last).max(next) + last) {
        last
    } else {
        n_rows.saturating_sub(theta * next) / theta
    }
}

/// Adds the unprotected rows, given commonest first, to the groups of the protected ones.
fn deal(others: Entries, groups: &mut [Entries]) {
    let (n_protected, n_others) =
        (groups.iter().map(size).sum::<u64>().max(1), size(&others));
    let n_groups = groups.len();
    let mut others = others.into_iter();
    let mut current = others.next();
    for (place, group) in groups.iter_mut().enumerate() {
        let share = u128::from(size(group)) * u128::from(n_others);
        let mut room = (share / u128::from(n_protected)) as u64;
        if place + 1 == n_groups {
            room = n_others;
        }
        while let Some((at, rows)) = &mut current
            && room > 0
        {
            let taken = room.min(*rows);
            group.push((*at, taken));
            *rows -= taken;
            room -= taken;
            if *rows == 0 {
                current = others.next();
            }
        }
    }
}
