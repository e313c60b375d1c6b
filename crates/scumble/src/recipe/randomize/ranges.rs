//! Sensitive numbers that are randomized as ranges.

use crate::error::{Error, Result};
use crate::hierarchy::{Microdata, Ranges, Rule};
use crate::recipe::methods::Treats;
use crate::recipe::randomize::check::promise;
use crate::recipe::{ColumnSpec, DomainSpec, Spec};
use crate::release::PublishedRange;
use crate::table::{PublicDomain, Role};

/// What is published of numbers that are randomized as ranges.
pub(super) fn published(spec: &Spec) -> PublishedRange {
    spec.method.noise.publish.map_or(PublishedRange::Range, |(what, _)| what)
}

/// Whether a column is randomized. A sample of one row from each group has values only.
fn is_drawn(spec: &Spec, typed: &ColumnSpec) -> bool {
    let sampled = spec
        .method
        .name
        .is_some_and(|method| matches!(method.treats(), Treats::Everything));
    typed.role == Role::Sensitive && promise(spec).is_some() && !sampled
}

/// The level whose ranges are randomized instead of the values of a column: the first above
/// them, unless the recipe says another. Nothing if the values themselves are.
fn level(spec: &Spec, typed: &ColumnSpec, rule: &Rule) -> Option<usize> {
    let has_ranges = matches!(rule, Rule::Widths(_) | Rule::Cuts(_));
    let level = typed.lowest.unwrap_or(1);
    (has_ranges && is_drawn(spec, typed) && level > 0).then_some(level)
}

/// The ranges that are randomized instead of the numbers of a column, if it has any.
pub(in crate::recipe) fn ranges_of(
    spec: &Spec,
    typed: &ColumnSpec,
    rule: &Rule,
) -> Result<Option<Ranges>> {
    let name = &typed.name;
    let Some(level) = level(spec, typed, rule) else {
        return match typed.lowest {
            Some(1..) if is_drawn(spec, typed) => Err(spec.error_at(
                typed.spot,
                Error::recipe(format!(
                    "`lowest` says which ranges of `{name}` are randomized, but its \
                     hierarchy has no ranges of numbers"
                ))
                .with_hint(
                    "write `hierarchy = { cuts = [[...]] }` or `{ widths = [...] }`",
                ),
            )),
            _ => Ok(None),
        };
    };
    let ends = match &typed.domain {
        Some(DomainSpec::Given(PublicDomain::Numbers(ends))) => Some(*ends),
        _ => None,
    };
    let Some(ends) = ends else {
        let error = Error::recipe(format!(
            "`{name}` is randomized as ranges of numbers, but nobody knows where the first \
             one begins and the last one ends"
        ));
        let hint = "say what is possible, as in `domain = [0, 10000]`; or `lowest = 0` to \
                    randomize the numbers that occur, one by one";
        return Err(spec.error_at(typed.spot, error.with_hint(hint)));
    };
    let ranges = Ranges::new(rule.clone(), level, ends);
    ranges.map(Some).map_err(|error| spec.error_at(typed.spot, error))
}

/// That ranges are there if the recipe says what is published of them, and that every range
/// holds a number.
pub(super) fn check_numbers(spec: &Spec, data: &Microdata) -> Result<()> {
    let sensitive = data.specs.iter().filter(|column| column.role == Role::Sensitive);
    if let Some((_, spot)) = spec.method.noise.publish
        && sensitive.clone().all(|column| column.ranges.is_none())
    {
        let error = Error::recipe(
            "`publish` is about numbers that are randomized as ranges, and there are none",
        );
        let hint = "give the column `type = \"number\"`, a hierarchy of `cuts` or `widths` \
                    and a `domain`";
        return Err(spec.error_at(spot, error.with_hint(hint)));
    }
    for column in sensitive {
        let Some(ranges) = &column.ranges else { continue };
        let empty = |label: &&str| ranges.steps(label, column.decimals).is_none();
        if let Some(label) = ranges.labels().find(empty) {
            let decimals = match column.decimals {
                0 => "whole numbers".to_owned(),
                1 => "numbers with 1 decimal".to_owned(),
                n => format!("numbers with {n} decimals"),
            };
            let error = Error::recipe(format!(
                "column `{}` has {decimals}, and the range `{label}` holds none",
                column.name
            ));
            let spot = spec.column(&column.name).map(|column| column.spot);
            let error = error.with_hint("take other cut points, or wider ranges");
            return Err(match spot {
                Some(spot) => spec.error_at(spot, error),
                None => error,
            });
        }
    }
    Ok(())
}
