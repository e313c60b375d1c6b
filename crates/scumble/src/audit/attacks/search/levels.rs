//! Levels: of every node one level finer in one column some group breaks the promises.

use std::collections::BTreeMap;

use crate::audit::attacks::search::{Event, Placed, Seats, Side};
use crate::release::MethodNote;
use crate::table::NodeId;

/// The events of every finer node; nothing if the manifest does not say which was published.
pub(in crate::audit::attacks) fn events(
    method: &MethodNote,
    placed: &Placed<'_>,
    seats: &Seats,
    n_labels: usize,
) -> Option<Vec<Event>> {
    let levels = method.levels.as_ref()?;
    let mut events = Vec::new();
    for (place, column) in placed.columns.iter().enumerate() {
        let level = levels.get(&column.name)?.as_u64()? as usize;
        if level == 0 || level > column.hierarchy.height() {
            continue;
        }
        let mut parts: BTreeMap<(u32, NodeId), Vec<u32>> = BTreeMap::new();
        for (tuple, group) in (0u32..).zip(placed.group_of) {
            let Some(group) = group else { continue };
            let code = placed.codes[place][tuple as usize];
            let node = column.hierarchy.node(level - 1, code);
            parts.entry((*group, node)).or_default().push(tuple);
        }
        let side = |tuples: Vec<u32>| Side {
            base: vec![0; n_labels],
            people: placed.count(&tuples),
            members: placed.members(seats, &tuples),
        };
        events.push(Event { sides: parts.into_values().map(side).collect() });
    }
    Some(events)
}
