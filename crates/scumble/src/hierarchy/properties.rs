//! What every rule owes: nodes nest, spans contain their values, and paths agree.

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use crate::hierarchy::{Grain, Rule, Side, Tree};
use crate::table::{Kind, NodeId, Of, Reading, format_date};

/// Nodes nest, spans contain their values, and `path` agrees with `bind`.
fn holds(rule: &Rule, kind: Kind, missing: &str, texts: &[String]) {
    let reading =
        Reading { kind, missing: vec![missing.to_owned()], ..Reading::category() };
    let mut texts: Vec<Box<str>> =
        texts.iter().map(|text| text.as_str().into()).collect();
    texts.push(missing.into());
    let (domain, codes) = rule.domain(&texts, &reading).expect("covered");
    let hierarchy = rule.bind(&domain, &reading);
    for pair in hierarchy.levels().windows(2) {
        let mut parents: Of<NodeId, _> = Of::repeat(None, pair[0].nodes.len());
        for (node, parent) in pair[0].node_of.iter().zip(&pair[1].node_of) {
            let known = parents[*node].get_or_insert(*parent);
            assert_eq!(known, parent, "a node has two parents");
        }
    }
    for code in domain.codes() {
        let Some(value) = domain.number(code) else { continue };
        for (place, level) in hierarchy.levels().iter().enumerate() {
            let node = &level.nodes[level.node_of[code]];
            let Some((low, high)) = node.span else { continue };
            let inside = low <= value && (value < high || place == 0);
            assert!(inside, "{value} is not in {}", node.label);
        }
    }
    let rule = rule.fixed(&domain);
    for (text, code) in texts.iter().zip(codes) {
        let all = (0..=hierarchy.height())
            .map(|level| hierarchy.label(level, code))
            .collect::<Vec<_>>();
        let path = rule.path(&reading, text).expect("covered");
        assert_eq!(path, all[1..hierarchy.height()]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn widths_hold(
        base in 1u32..50,
        decimals in 0i32..4,
        factors in vec(2u32..6, 0..4),
        origin in -30i32..30,
        texts in vec("-?[0-9]{1,4}(\\.[0-9]{1,5})?|[0-9]{14,15}|1e[0-9]{2}", 0..30),
    ) {
        // A quotient of integers is the float nearest to the decimal.
        let unit = 10f64.powi(decimals);
        let mut widths = vec![f64::from(base) / unit];
        let mut width = base;
        for factor in factors {
            width *= factor;
            widths.push(f64::from(width) / unit);
        }
        let rule = Rule::widths(widths, f64::from(origin) / unit).expect("nested");
        holds(&rule, Kind::Number, "[0, 1)", &texts);
    }

    #[test]
    fn cuts_hold(
        cuts in btree_set(-50i32..50, 2..9),
        texts in vec("-?[0-9]{1,2}(\\.[0-9])?", 0..30),
    ) {
        let fine: Vec<f64> = cuts.iter().map(|cut| f64::from(*cut) / 2.0).collect();
        let coarse = fine.iter().copied().step_by(2).collect();
        let rule = Rule::cuts(vec![fine, coarse]).expect("nested");
        holds(&rule, Kind::Number, "", &texts);
    }

    #[test]
    fn masks_hold(
        texts in vec("[ab*é]{0,5}", 0..20),
        missing in "[ab*]{0,3}",
        right in any::<bool>(),
    ) {
        let side = if right { Side::Right } else { Side::Left };
        holds(&Rule::mask(side), Kind::Category, &missing, &texts);
    }

    #[test]
    fn calendars_hold(
        // From the year 0 to the year 9999, which ISO 8601 writes without a sign.
        days in vec(-719_528i32..2_932_896, 0..30),
        skip in 0usize..5,
        missing in "|-|2024|2024-Q1|1970s",
    ) {
        let rule = Rule::calendar(Grain::ALL[skip..].to_vec()).expect("nested");
        let texts: Vec<String> =
            days.into_iter().map(|day| format_date(f64::from(day))).collect();
        holds(&rule, Kind::Date, &missing, &texts);
    }

    #[test]
    fn trees_hold(
        parents in vec(0usize..6, 1..12),
        tops in vec(0usize..3, 6),
        missing in "[0-9]|x[0-9]|z[0-9]|",
        numbers in any::<bool>(),
    ) {
        let line = |(leaf, parent): (usize, &usize)| {
            format!("{leaf};x{parent};z{}\n", tops[*parent])
        };
        let text: String = parents.iter().enumerate().map(line).collect();
        let tree = Tree::parse(&text, "tree.csv").expect("a tree");
        let texts: Vec<String> = (0..parents.len()).map(|n| n.to_string()).collect();
        let kind = if numbers { Kind::Number } else { Kind::Category };
        let leaves = tree.leaves().to_vec();
        holds(&Rule::Tree(tree), kind, &missing, &texts);
        // The leaves below a node stand together.
        let below = leaves.iter().map(|leaf| parents[leaf.parse::<usize>().unwrap()]);
        let tops = below.clone().map(|parent| tops[parent]).collect();
        for mut nodes in [below.collect::<Vec<_>>(), tops] {
            nodes.dedup();
            let n_runs = nodes.len();
            nodes.sort_unstable();
            nodes.dedup();
            prop_assert_eq!(nodes.len(), n_runs);
        }
    }

    #[test]
    fn no_text_breaks_the_tree_reader(text in "[ab;,\"\n\r é]{0,60}") {
        let _ = Tree::parse(&text, "tree.csv");
    }
}
