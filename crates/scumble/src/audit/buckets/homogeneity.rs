//! Homogeneity: the commonest value of a group.
//!
//! # Guarantee
//! Without further knowledge no other guess is right more often: all ways to give a group's
//! values to its members are equally likely.
//!
//! # Limits
//! See `background` and `corruption` for those who know more.
//!
//! # Cost
//! O(values) for each tuple of a group.
//!
//! # Source
//! `machanavajjhala2006ldiversity`, section 2; METHODS G.

use serde_json::{Map, json};

use crate::audit::Attack;
use crate::audit::buckets::guesses::{Gathered, Guesses};
use crate::audit::buckets::original::Original;
use crate::audit::buckets::view::View;
use crate::audit::homogeneity::commonest;

/// Guesses everybody's value.
fn guess(view: &View, gathered: &Gathered<'_>) -> Guesses {
    let groups = &view.groups;
    let mut found = Vec::new();
    for group in 0..groups.len() {
        let (values, size) = (groups.values(group), groups.size(group) as f64);
        gathered.add(group, |_, place| values[place].1 as f64 / size, &mut found);
    }
    gathered.guesses(found, blind(view))
}

/// The commonest value of the whole release, and its share.
pub(super) fn blind(view: &View) -> (u32, f64) {
    let guess = commonest(&view.whole());
    (guess.value, guess.support as f64 / view.rows.max(1) as f64)
}

/// Tries the attack.
pub(super) fn attack(view: &View, original: Option<&Original<'_>>) -> Attack {
    let gathered = Gathered::new(&view.groups, view.tuples.len());
    let guesses = guess(view, &gathered);
    let (blindly, share) = blind(view);
    let (success, chance) = match original {
        Some(original) => (
            original.score(&guesses.values, blindly),
            original.score(&vec![blindly; guesses.values.len()], blindly),
        ),
        None => (gathered.expected(&guesses.beliefs), share),
    };
    let groups = &view.groups;
    let (mut certain, mut worst) = (0u64, 0.0f64);
    for group in 0..groups.len() {
        let (most, size) = (groups.most(group), groups.size(group));
        worst = worst.max(most as f64 / size.max(1) as f64);
        certain += if most == size { size } else { 0 };
    }
    let mut detail = Map::new();
    detail.insert("column".into(), json!(view.column.name));
    let certain = certain as f64 / view.rows.max(1) as f64;
    detail.insert("certain".into(), json!(certain));
    detail.insert("expected".into(), json!(original.is_none()));
    detail.insert("people".into(), json!(view.rows));
    Attack { name: "homogeneity".into(), success, chance, worst, detail }
}
