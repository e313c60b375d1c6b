//! Masks: characters replaced by stars, from one end.

use serde::{Deserialize, Serialize};

use crate::hierarchy::Step;

/// Which end of a text is masked first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// `47906`, `*7906`, `**906`.
    Left,
    /// `47906`, `4790*`, `479**`.
    Right,
}

/// One more character masked on each level, until everything is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mask {
    /// Which end is masked first.
    pub side: Side,
    /// How many characters the longest value has, once that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<usize>,
}

/// Masks are for codes: a longer value would make a level for each of its characters.
pub(super) const LONGEST: usize = 64;

impl Mask {
    /// How many levels lie between the values and the root.
    pub(super) fn n_steps(&self) -> usize {
        self.length.unwrap_or(0).min(LONGEST).saturating_sub(1)
    }

    /// The text with one, two, ... characters masked. A text shorter than the level is
    /// masked altogether and keeps its length.
    pub(super) fn steps(&self, text: &str) -> Vec<Step> {
        (1..=self.n_steps()).map(|n| (self.masked(text, n).into(), None)).collect()
    }

    fn masked(&self, text: &str, n: usize) -> String {
        let length = text.chars().count();
        let masked = match self.side {
            Side::Left => 0..n,
            Side::Right => length.saturating_sub(n)..length,
        };
        let star = |(place, letter)| if masked.contains(&place) { '*' } else { letter };
        text.chars().enumerate().map(star).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(side: Side, text: &str) -> Vec<String> {
        let mask = Mask { side, length: Some(5) };
        mask.steps(text).into_iter().map(|(label, _)| label.into()).collect()
    }

    #[test]
    fn one_more_character_is_masked_on_each_level() {
        assert_eq!(steps(Side::Right, "47906"), ["4790*", "479**", "47***", "4****"]);
        assert_eq!(steps(Side::Left, "47906"), ["*7906", "**906", "***06", "****6"]);
    }

    #[test]
    fn short_values_keep_their_length() {
        assert_eq!(steps(Side::Right, "né"), ["n*", "**", "**", "**"]);
        assert_eq!(steps(Side::Left, "é"), ["*", "*", "*", "*"]);
    }
}
