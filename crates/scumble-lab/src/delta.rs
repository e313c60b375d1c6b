//! Ranges of presence, as the figures of the sources vary them.

use std::fmt;

use crate::chart::{Form, Panel, Scale};

/// How sure anybody may be that a person is in the table, at least and at most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Delta {
    pub(crate) min: f64,
    pub(crate) max: f64,
}

impl Delta {
    /// Whether presence between these two is allowed.
    pub(crate) fn admits(self, lowest: f64, highest: f64) -> bool {
        self.min <= lowest && highest <= self.max
    }
}

/// As short as a place on an axis wants it: `0–.05`.
impl fmt::Display for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}–{}", bare(self.min), bare(self.max))
    }
}

/// A share without the zero before its point, and a very small one as a power of ten.
pub(crate) fn bare(share: f64) -> String {
    if share > 0.0 && share < 1e-4 {
        return format!("{share:e}");
    }
    let text = share.to_string();
    match text.strip_prefix("0.") {
        Some(rest) => format!(".{rest}"),
        None => text,
    }
}

/// The ranges over which `nergiz2007presence` compares its methods. Its figures, which the
/// text lacks, have the axis; the text itself names (0, .05), (.02, .05) and (.04, .07).
pub(crate) const DELTAS: [Delta; 10] = [
    Delta { min: 0.0, max: 0.05 },
    Delta { min: 0.0, max: 0.07 },
    Delta { min: 0.0, max: 0.1 },
    Delta { min: 0.0, max: 0.2 },
    Delta { min: 0.0, max: 0.5 },
    Delta { min: 0.01, max: 0.1 },
    Delta { min: 0.01, max: 0.5 },
    Delta { min: 0.02, max: 0.05 },
    Delta { min: 0.02, max: 0.1 },
    Delta { min: 0.04, max: 0.07 },
];

/// What an axis of ranges is called.
pub(crate) const AXIS: &str = "delta: presence allowed, from–to";

/// A panel over these ranges; lines do not reach from one lower end to the next.
pub(crate) fn panel(
    title: impl Into<String>,
    up: (&str, Scale, Form),
    values: Vec<Vec<Option<f64>>>,
) -> Panel {
    let places = DELTAS.iter().map(Delta::to_string).collect();
    Panel::new(title, (AXIS, places), up, values).apart(&[5, 7, 9])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_short_and_inclusive() {
        let delta = Delta { min: 0.0, max: 0.05 };
        assert_eq!(delta.to_string(), "0–.05");
        assert_eq!(Delta { min: 0.00001, max: 1.0 }.to_string(), "1e-5–1");
        assert!(delta.admits(0.0, 1.0 / 20.0));
        assert!(!delta.admits(0.0, 0.051));
    }
}
