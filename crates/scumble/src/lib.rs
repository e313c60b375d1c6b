//! scumble publishes tables about people.
//!
//! Give it a table and say what must be promised to the people in it: it finds the most
//! useful release that keeps the promise, proves it from the published files, and attacks
//! it.
//!
//! The folders stand in the order data flows:
//! [`table`] → [`hierarchy`] → [`promise`] → [`loss`] → [`method`] → [`release`] →
//! [`audit`]; [`estimate`] says what can be learned from a release, [`recipe`] ties them
//! together. The library reads and writes files, but has no terminal, no clock and no
//! environment.

pub mod audit;
pub mod decimal;
pub mod error;
pub mod estimate;
pub mod hierarchy;
pub mod inspect;
pub mod loss;
pub mod method;
pub mod promise;
pub mod random;
pub mod recipe;
pub mod release;
pub mod space;
pub mod table;
mod words;
