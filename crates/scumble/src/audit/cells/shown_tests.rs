//! What cells cost by themselves, worked by hand.

use super::*;

fn column(treatment: serde_json::Value, cells: &[&str]) -> ShownColumn {
    let listed = serde_json::json!({
        "name": "age", "role": "quasi", "type": "number", "missing": [""],
        "decimals": 0, "treatment": treatment,
        "hierarchy": { "rule": "cuts", "cuts": [[20, 40, 60], [40]] },
    });
    let listed: PublishedColumn = serde_json::from_value(listed).unwrap();
    let texts = cells.iter().map(|text| (*text).into()).collect();
    ShownColumn::read(&listed, &CellTexts::Texts(texts)).expect("readable")
}

#[test]
fn open_ends_reach_as_far_as_the_widest_range() {
    let nodes = serde_json::json!({ "kind": "coarse", "cells": "taxonomy" });
    let cells = ["(-inf, 20)", "[20, 40)", "[40, inf)", "*", ""];
    let found = column(nodes.clone(), &cells);
    // From 0 to 60.
    assert_eq!(found.shares, [1.0 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0, 0.0]);
    assert_eq!(found.heights, [1.0 / 3.0, 1.0 / 3.0, 2.0 / 3.0, 1.0, 0.0]);
    let halves = column(nodes, &["(-inf, 40)", "[40, inf)"]);
    assert_eq!(halves.shares, [0.5, 0.5]);
}

#[test]
fn numbers_of_a_range_are_counted() {
    let ranges = serde_json::json!({ "kind": "coarse", "cells": "interval" });
    let found = column(ranges, &["[20, 30)", "[20, 40]", "25", "[30, 40) or missing"]);
    let (values, all) = found.values.unwrap();
    assert_eq!((values, all), (vec![10.0, 21.0, 1.0, 11.0], 22.0));
    assert_eq!(found.shares[..3], [0.5, 1.0, 0.0]);
}
