//! Expected anonymity: among how many people somebody is hidden on average over the noise.
//!
//! # Guarantee
//! Somebody who holds the true table, knows how releases are made, and sees a published row
//! can rank the people of the table by how well they fit it. On average over the noise, at
//! least k of them, the true one included, fit at least as well as the true one. Only
//! people count who are published in the same frame and at the same level, because frame
//! and level can be computed from the table; unless `strict` is off.
//! With `best-guess`, the one who fits best is the true one with at most that probability,
//! on average over the noise, for everybody.
//!
//! # Limits
//! It is an average: a row far from all others may be hidden among thousands of people once
//! in a hundred times, and among nobody otherwise. `best-guess` bounds that.
//! Each published row is looked at alone. Somebody who matches all rows to all people at
//! once may do better.
//! Without `strict` the published spreads tell who is who (`reproduce calibration`).
//!
//! # Cost
//! Method and audit say.
//!
//! # Source
//! `aggarwal2008unifying`, definitions 2.4 and 2.5; docs/methods.md, "Expected anonymity".

pub(crate) mod shape;

pub use shape::Law;

use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::promise::{About, Promise};

/// How many people everybody is hidden among.
#[derive(Debug, Clone, PartialEq)]
pub enum Wish {
    /// As many for everybody.
    Same(f64),
    /// As many as a column of the table says.
    Column(String),
}

/// At least so many people fit as well as the true one, on average.
#[derive(Debug, Clone, PartialEq)]
pub struct ExpectedAnonymity {
    /// How many people.
    pub wish: Wish,
    /// Whether only people in the same frame and at the same level count. For comparison
    /// only: `false`.
    pub strict: bool,
    /// How often the best guess may be right.
    pub best_guess: Option<f64>,
}

impl ExpectedAnonymity {
    /// The promise. A `k` must be above 1, `best_guess` above 0 and below 1.
    pub fn new(wish: Wish, strict: bool, best_guess: Option<f64>) -> Result<Self> {
        if let Wish::Same(k) = wish
            && !(k > 1.0 && k.is_finite())
        {
            return Err(Error::out_of_range("k", k, "above 1")
                .with_hint("k = 1 asks for no protection"));
        }
        if let Some(share) = best_guess
            && !(share > 0.0 && share < 1.0)
        {
            return Err(Error::out_of_range(
                "best-guess",
                share,
                "above 0 and below 1",
            )
            .with_hint("it is how often the best guess may be right, such as 0.1"));
        }
        Ok(Self { wish, strict, best_guess })
    }
}

impl Promise for ExpectedAnonymity {
    fn name(&self) -> &'static str {
        "expected-anonymity"
    }

    fn asked(&self) -> Value {
        let mut asked = match &self.wish {
            Wish::Same(k) => json!({ "k": k }),
            Wish::Column(name) => json!({ "k": name }),
        };
        asked["strict"] = self.strict.into();
        if let Some(share) = self.best_guess {
            asked["best-guess"] = share.into();
        }
        asked
    }

    fn title(&self) -> String {
        match &self.wish {
            Wish::Same(k) => format!("expected {k}-anonymity"),
            Wish::Column(name) => format!("expected anonymity by `{name}`"),
        }
    }

    fn about(&self) -> About<'_> {
        About::Company(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_ask_for_nothing_are_refused() {
        let refused = |k, share| {
            ExpectedAnonymity::new(Wish::Same(k), true, share).unwrap_err().to_string()
        };
        assert_eq!(refused(1.0, None), "`k` is 1, but must be above 1");
        assert_eq!(
            refused(5.0, Some(1.0)),
            "`best-guess` is 1, but must be above 0 and below 1"
        );
    }

    #[test]
    fn what_was_asked_is_said() {
        let promise =
            ExpectedAnonymity::new(Wish::Column("k".to_owned()), true, Some(0.1));
        assert_eq!(
            promise.unwrap().asked(),
            json!({ "k": "k", "strict": true, "best-guess": 0.1 })
        );
    }
}
