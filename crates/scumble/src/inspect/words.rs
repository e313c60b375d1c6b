//! Groups of words that look alike: a proposal for a hierarchy, to be read by a steward.

use std::collections::BTreeMap;

/// More words than these are not compared with each other.
pub(super) const MOST_WORDS: usize = 600;

/// Words less alike than this stay apart, on the first and on the second level.
const ALIKE: [f64; 2] = [0.6, 0.3];

/// For each word, the names of its groups on two levels. Words of one group share parts,
/// as in `Surgery-General` and `Surgery-Thoracic`, or nearly all of their letters.
pub(super) fn groups(words: &[String]) -> Vec<[String; 2]> {
    let parts: Vec<Vec<String>> = words.iter().map(|word| parts_of(word)).collect();
    let likeness = |one: usize, other: usize| -> f64 {
        let shared =
            parts[one].iter().filter(|part| parts[other].contains(part)).count();
        let all = parts[one].len() + parts[other].len() - shared;
        let by_parts = shared as f64 / all.max(1) as f64;
        let by_letters = strsim::jaro_winkler(&words[one], &words[other]);
        // Letters count only where they are nearly the same: a slip, an ending.
        by_parts.max(if by_letters >= 0.92 { by_letters } else { 0.0 })
    };
    let mut clusters: Vec<Vec<usize>> =
        (0..words.len()).map(|word| vec![word]).collect();
    let mut levels = Vec::new();
    for least in ALIKE {
        join(&mut clusters, least, &likeness);
        let mut name_of = vec![String::new(); words.len()];
        for cluster in &clusters {
            let name = name(cluster, words, &parts);
            cluster.iter().for_each(|word| name_of[*word].clone_from(&name));
        }
        levels.push(name_of);
    }
    let (fine, coarse) = (&levels[0], &levels[1]);
    fine.iter().zip(coarse).map(|(a, b)| [a.clone(), b.clone()]).collect()
}

/// Joins the two clusters that are most alike on average, while any are.
fn join(
    clusters: &mut Vec<Vec<usize>>,
    least: f64,
    likeness: &impl Fn(usize, usize) -> f64,
) {
    let between = |one: &[usize], other: &[usize]| {
        let pairs =
            one.iter().flat_map(|a| other.iter().map(move |b| likeness(*a, *b)));
        pairs.sum::<f64>() / (one.len() * other.len()) as f64
    };
    // How alike a cluster is to each one behind it; only those with a new one are computed
    // again.
    let mut near: Vec<Vec<f64>> = clusters
        .iter()
        .enumerate()
        .map(|(at, one)| {
            clusters[..at].iter().map(|other| between(one, other)).collect()
        })
        .collect();
    loop {
        let mut best = (least, 0, 0);
        for (at, row) in near.iter().enumerate() {
            for (before, value) in row.iter().enumerate() {
                if *value > best.0 {
                    best = (*value, at, before);
                }
            }
        }
        let (_, later, first) = best;
        if later == 0 {
            return;
        }
        let gone = clusters.remove(later);
        near.remove(later);
        near[later..].iter_mut().for_each(|row| {
            row.remove(later);
        });
        clusters[first].extend(gone);
        for (other, cluster) in clusters.iter().enumerate() {
            let value = between(&clusters[first], cluster);
            match other.cmp(&first) {
                std::cmp::Ordering::Less => near[first][other] = value,
                std::cmp::Ordering::Greater => near[other][first] = value,
                std::cmp::Ordering::Equal => {}
            }
        }
    }
}

/// The words in a text, in small letters; endings of many and few aside.
fn parts_of(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut after_small = false;
    let mut open = false;
    for letter in text.chars() {
        let begins = letter.is_uppercase() && after_small;
        if letter.is_alphanumeric() {
            match parts.last_mut().filter(|_| open && !begins) {
                Some(part) => part.extend(letter.to_lowercase()),
                None => parts.push(letter.to_lowercase().collect()),
            }
        }
        open = letter.is_alphanumeric();
        after_small = letter.is_lowercase();
    }
    parts.retain(|part| part.chars().count() >= 3);
    parts.dedup();
    parts
}

/// What all words of a cluster share, or its first word and how many more.
fn name(cluster: &[usize], words: &[String], parts: &[Vec<String>]) -> String {
    let first = cluster.iter().copied().min().unwrap_or(0);
    if cluster.len() == 1 {
        return words[first].clone();
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for part in cluster.iter().flat_map(|word| &parts[*word]) {
        *counts.entry(part).or_default() += 1;
    }
    let shared =
        parts[first].iter().filter(|part| counts[part.as_str()] == cluster.len());
    let shared: Vec<&str> = shared.map(String::as_str).collect();
    match shared.is_empty() {
        false => format!("{} ({})", shared.join(" "), cluster.len()),
        true => format!("{} and {} like it", words[first], cluster.len() - 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_share_parts_are_together() {
        let words =
            ["Surgery-General", "Surgery-Thoracic", "Cardiology", "Cardiologie"]
                .map(str::to_owned);
        let found = groups(&words);
        assert_eq!(found[0][1], "surgery (2)");
        assert_eq!(found[0][1], found[1][1]);
        assert_eq!(found[2], found[3]);
        assert_eq!(found[2][0], "Cardiology and 1 like it");
        assert_ne!(found[0][1], found[2][1]);
    }

    #[test]
    fn groups_nest_and_words_without_likes_stay() {
        let words: Vec<String> = (0..40)
            .map(|n| {
                format!(
                    "{} {}",
                    ["north", "south", "east"][n % 3],
                    ["hill", "lake"][n % 2]
                )
            })
            .chain(["Zebra".to_owned()])
            .collect();
        let found = groups(&words);
        let mut above: BTreeMap<&str, &str> = BTreeMap::new();
        for [fine, coarse] in &found {
            assert_eq!(above.entry(fine).or_insert(coarse), coarse);
        }
        assert_eq!(found.last().unwrap(), &["Zebra".to_owned(), "Zebra".to_owned()]);
    }
}
