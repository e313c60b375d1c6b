//! Background knowledge against a generalized release: rows with the same cells are a group,
//! the people who fit into it are known with all their quasi values, and the group's
//! sensitive values are published.

use crate::audit::apart::{
    Believers, RowGroups, RowMembers, about, bound, has_file_promise,
};
use crate::audit::attacks::background_knowledge::Target;
use crate::audit::attacks::homogeneity::commonest;
use crate::audit::case::Linked;
use crate::audit::cells::CellClasses;
use crate::audit::{Attacked, Case, Knowledge};
use crate::error::{Error, Result};

/// Tries the attack on every sensitive column that is meant and something is known of.
pub(super) fn attack(
    case: &Case<'_>,
    view: &CellClasses,
    linked: &Linked<'_>,
    knowledge: &Knowledge,
    is_meant: impl Fn(&str) -> bool,
) -> Result<Vec<Attacked>> {
    let manifest = case.manifest;
    let promised = has_file_promise(manifest);
    if matches!(knowledge, Knowledge::Stated(_))
        && view.sensitive.len() > 1
        && !promised
    {
        return Err(Error::input(
            "what is known is about one sensitive column, but the release has several",
        )
        .with_hint("`--knowledge table` looks at each of them"));
    }
    let members = RowMembers::of(view, linked)?;
    let mut attacks = Vec::new();
    for published in view.columns() {
        let column = published.column();
        if !is_meant(&column.name) {
            continue;
        }
        if let Knowledge::Stated(stated) = knowledge
            && about(stated, manifest, &column.name).is_none()
        {
            continue;
        }
        let rows = RowGroups::of(manifest, published, linked, &members)?;
        let believers = Believers::in_rows(case, &rows);
        let blind = commonest(&published.whole());
        let target = Target {
            column: &column.name,
            groups: &rows.groups,
            n_tuples: linked.table.census.n_tuples(),
            n_values: column.domain.len(),
            blind: (blind.value, blind.support as f64 / view.rows.max(1) as f64),
            bound: bound(manifest, &column.name),
            left_aside: members.left_aside,
            watch: case.watch,
        };
        let known = believers.known(Some(knowledge))?;
        attacks.extend(target.attack(&known, believers.truth)?);
    }
    Ok(attacks)
}
