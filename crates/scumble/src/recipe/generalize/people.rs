//! A population, where people of the table may have several rows.
//!
//! # Guarantee
//! All rows of a person have the quasi values of that person of the population, so nobody is
//! in two tuples, and people add up as rows do. Where coins decide, how many rows somebody has
//! has no say in what is looked at: the search sees people, and makes the groups that it makes
//! of the same table with one row of each person.
//!
//! # Limits
//! How many rows a group has is published, and how many people these are of is not. Somebody
//! who knows the promise, and no more of who has how many rows, believes a mean of shares that
//! all lie in the range; somebody who knows that a person has thirty rows knows that they are
//! not in a group of ten.

use crate::error::{Error, Result};
use crate::hierarchy::Microdata;
use crate::recipe::Looks;
use crate::recipe::generalize::looks::looks;
use crate::recipe::methods::Task;

/// People in the place of rows, if coins decide and somebody has several rows.
pub(super) fn people_for_coins(
    name: &str,
    data: &Microdata,
    task: &Task<'_>,
) -> Option<Microdata> {
    looks(name, task.spec).filter(|looks| *looks == Looks::Coins)?;
    let census = data.census.of_people()?;
    Some(Microdata { census, ..data.clone() })
}

/// That weights count people, as a promise about presence does.
pub(super) fn check_weights(data: &Microdata, task: &Task<'_>) -> Result<()> {
    let Some(pdf) = &task.spec.method.pdf else { return Ok(()) };
    if data.census.people.is_none() || data.census.persons.is_none() {
        return Ok(());
    }
    let error = Error::recipe(
        "pdf cells beside a population do not serve people with several rows: weights count \
         rows, and presence counts people",
    );
    let hint = "use other `cells`, or keep one row of each person";
    Err(task.spec.error_at(pdf.spot, error.with_hint(hint)))
}
