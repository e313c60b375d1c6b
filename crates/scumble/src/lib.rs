//! scumble publishes tables about people.
//!
//! Give it a table and say what must be promised to the people in it: it finds the most
//! useful release that keeps the promise, proves it from the published files, attacks it,
//! and lets analysts work with the result as what it is: uncertain data.
//!
//! ```
//! use scumble::{Evidence, Input, Query, Request, Spec, Unwatched, Way, publish};
//!
//! # fn main() -> scumble::Result<()> {
//! let recipe = Spec::parse(
//!     r#"
//!     [input]
//!     table = "people.csv"
//!     [columns]
//!     age = { role = "quasi", type = "number", hierarchy = { widths = [10, 20] } }
//!     sex = "quasi"
//!     illness = "sensitive"
//!     [promise]
//!     k-anonymity = 2
//!     "#,
//!     "recipe.toml",
//! )?;
//! let table = "age,sex,illness\n31,f,flu\n32,f,cough\n58,m,flu\n57,m,ulcer\n";
//! let given = [("people.csv".to_owned(), Input::Bytes(table.into()))];
//!
//! // Nothing is written: the release stays in memory, and was audited before it appeared.
//! let published = publish(Request::in_memory(&recipe, given), &Unwatched)?;
//! assert!(published.audit.holds());
//!
//! let evidence = Evidence::read(&published.release, &Unwatched)?;
//! let query = Query::parse("SELECT COUNT(*) FROM release WHERE illness = 'flu'")?;
//! assert_eq!(evidence.answer(&query, Way::Inverse)?[0].count, 2.0);
//! # Ok(())
//! # }
//! ```
//!
//! What a program needs is here; the folders behind it stand in the order data flows, and
//! have everything else: `table` → `hierarchy` → `promise` → `loss` → `method` → [`release`]
//! → [`mod@audit`]; [`estimate`] says what can be learned from a release, [`recipe`] ties them
//! together, [`inspect`] proposes a recipe. The library has no terminal, no clock and no
//! environment, and files only at its edge.

pub mod audit;
#[doc(hidden)]
pub mod decimal;
pub mod error;
pub mod estimate;
#[doc(hidden)]
pub mod hierarchy;
pub mod inspect;
mod learn;
#[doc(hidden)]
pub mod loss;
#[doc(hidden)]
pub mod method;
#[doc(hidden)]
pub mod picture;
#[doc(hidden)]
pub mod promise;
#[doc(hidden)]
pub mod random;
pub mod recipe;
pub mod release;
mod seam;
#[doc(hidden)]
pub mod space;
pub mod table;
#[doc(hidden)]
pub mod text;
#[doc(hidden)]
pub mod watch;
mod words;

pub use audit::{Audit, Given, Knowledge, Original, Report, audit};
pub use error::{Error, ErrorKind, Result};
pub use estimate::{Estimate, Evidence, Query, Way};
pub use method::Plan;
pub use random::Randomness;
pub use recipe::{METHODS, Method, Published, Request, Spec, publish};
pub use release::{Applier, Manifest, Release, Store, Treatment};
pub use table::{Input, Inputs, ReadOptions, Schema, Source};
pub use watch::{Stage, Unwatched, Watch};
