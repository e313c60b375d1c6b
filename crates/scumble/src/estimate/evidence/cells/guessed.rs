//! Cells whose values no file lists: what they stand for is taken from other rows.

use crate::estimate::evidence::cells::Meaning;
use crate::hierarchy::ROOT_LABEL;

/// Gives ranges that are open at one end the width of the widest that is not.
pub(super) fn close(meanings: &mut [Meaning]) {
    let widths = meanings.iter().filter_map(|meaning| match meaning {
        Meaning::Numbers { low, high, .. } => Some(high - low),
        _ => None,
    });
    let widest = widths.filter(|width| width.is_finite()).reduce(f64::max);
    for meaning in meanings {
        let Meaning::Numbers { low, high, .. } = meaning else { continue };
        match (widest, low.is_finite(), high.is_finite()) {
            (_, true, true) => {}
            (Some(width), true, false) => *high = *low + width,
            (Some(width), false, true) => *low = *high - width,
            _ => *meaning = Meaning::Open,
        }
    }
}

/// Lets `*` stand for what others have, and masks for what others have that they would hide,
/// where nothing lists their values.
pub(super) fn like_others(meanings: &mut [Meaning], texts: &[Box<str>], rows: &[u64]) {
    let others: Vec<(u32, f64)> = meanings
        .iter()
        .zip(rows)
        .zip(0u32..)
        .filter(|((meaning, rows), _)| **meaning != Meaning::Open && **rows > 0)
        .map(|((_, rows), place)| (place, *rows as f64))
        .collect();
    for (meaning, mask) in meanings.iter_mut().zip(texts) {
        if *meaning != Meaning::Open {
            continue;
        }
        let hidden = |(place, _): &&(u32, f64)| hides(mask, &texts[*place as usize]);
        let own: Vec<&(u32, f64)> = others.iter().filter(hidden).collect();
        let total: f64 = own.iter().map(|(_, rows)| rows).sum();
        if total > 0.0 {
            let share = |(place, rows): &(u32, f64)| (*place, rows / total);
            *meaning = Meaning::Like(own.into_iter().map(share).collect());
        }
    }
}

/// Whether a mask could hide a text; nothing else but `*` hides texts of another length.
pub(crate) fn hides(mask: &str, text: &str) -> bool {
    mask == ROOT_LABEL
        || mask.chars().count() == text.chars().count()
            && mask
                .chars()
                .zip(text.chars())
                .all(|(shown, own)| shown == '*' || shown == own)
}
