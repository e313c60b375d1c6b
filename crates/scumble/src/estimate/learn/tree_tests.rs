use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

const SMALL: Growth = Growth { impurity: Impurity::Gini, depth: 8, leaf: 1 };

fn table(columns: &[&[u32]]) -> CodeTable {
    CodeTable::new(columns.iter().map(|codes| codes.to_vec()).collect()).unwrap()
}

fn row(table: &CodeTable, row: usize) -> Vec<u32> {
    table.columns().iter().map(|codes| codes[row]).collect()
}

/// How many rows a tree gets right.
fn right(tree: &DecisionTree, table: &CodeTable, class: usize) -> usize {
    let hit =
        |at: &usize| tree.classify(&row(table, *at)) == table.columns()[class][*at];
    (0..table.n_rows()).filter(hit).count()
}

#[test]
fn a_pure_table_is_one_leaf() {
    let table = table(&[&[1, 2, 3], &[7, 7, 7]]);
    let tree = DecisionTree::fit(&table, 1, &[ColumnScale::Words; 2], SMALL).unwrap();
    assert_eq!(tree.leaves(), [Leaf { class: 7, rows: 3 }]);
    assert_eq!(tree.classify(&[99, 0]), 7);
}

#[test]
fn what_two_columns_tell_together_is_found() {
    let table = table(&[&[0, 0, 1, 1], &[5, 9, 5, 9], &[0, 1, 1, 0]]);
    for scale in [ColumnScale::Words, ColumnScale::Ordered] {
        let tree = DecisionTree::fit(&table, 2, &[scale; 3], SMALL).unwrap();
        assert_eq!(right(&tree, &table, 2), 4);
        assert_eq!(tree.n_leaves(), 4);
        let mut leaves: Vec<usize> =
            (0..4).map(|at| tree.leaf_of(&row(&table, at))).collect();
        leaves.sort_unstable();
        assert_eq!(leaves, [0, 1, 2, 3]);
        let shallow = Growth { depth: 1, ..SMALL };
        let tree = DecisionTree::fit(&table, 2, &[scale; 3], shallow).unwrap();
        assert_eq!(tree.n_leaves(), 2);
        let large = Growth { leaf: 2, ..SMALL };
        let tree = DecisionTree::fit(&table, 2, &[scale; 3], large).unwrap();
        assert!(tree.leaves().iter().all(|leaf| leaf.rows >= 2));
    }
}

#[test]
fn numbers_are_cut_and_unseen_values_have_a_place() {
    let numbers = table(&[&[10, 20, 30, 40], &[0, 0, 1, 1]]);
    let scales = [ColumnScale::Ordered, ColumnScale::Words];
    let tree = DecisionTree::fit(&numbers, 1, &scales, SMALL).unwrap();
    assert_eq!(tree.n_leaves(), 2);
    assert_eq!(
        [0, 20, 29, 35, 1000].map(|code| tree.classify(&[code, 9])),
        [0, 0, 1, 1, 1]
    );
    // Three rows of five say yes, so whoever is not known does.
    let words = table(&[&[4, 4, 4, 6, 6], &[1, 1, 1, 0, 0]]);
    let tree = DecisionTree::fit(&words, 1, &[ColumnScale::Words; 2], SMALL).unwrap();
    assert_eq!([4, 6, 5].map(|code| tree.classify(&[code, 9])), [1, 0, 1]);
}

/// What is left of the impurity after a question, row by row.
fn left(table: &CodeTable, class: usize, impurity: Impurity, yes: &[bool]) -> f64 {
    let side = |wanted: bool| {
        let rows: Vec<u32> = table.columns()[class]
            .iter()
            .zip(yes)
            .filter(|(_, yes)| **yes == wanted)
            .map(|(class, _)| *class)
            .collect();
        let n = rows.len() as f64;
        let shares =
            (0..4).map(|class| rows.iter().filter(|c| **c == class).count() as f64 / n);
        let shares = shares.filter(|share| *share > 0.0);
        n * match impurity {
            Impurity::Gini => 1.0 - shares.map(|share| share * share).sum::<f64>(),
            Impurity::Entropy => shares.map(|share| -share * share.log2()).sum(),
        }
    };
    side(true) + side(false)
}

#[test]
fn the_first_question_is_the_best_of_all() {
    let random = &mut ChaCha8Rng::seed_from_u64(5);
    let mut asked = 0;
    for trial in 0..300 {
        let n_rows = random.random_range(2..25);
        let n_classes = if trial % 2 == 0 { 2 } else { 3 };
        let mut codes = |most: u32| {
            (0..n_rows).map(|_| random.random_range(0..most)).collect::<Vec<u32>>()
        };
        let columns = vec![codes(5), codes(n_classes), codes(4)];
        let table = CodeTable::new(columns).unwrap();
        let scales = [ColumnScale::Words, ColumnScale::Words, ColumnScale::Ordered];
        let mut present: Vec<u32> = table.columns()[1].clone();
        present.sort_unstable();
        present.dedup();
        // The best set of words is a beginning only if leaves may be small.
        let leaf = if present.len() > 2 { 1 + trial % 3 } else { 1 };
        let impurity = if trial % 5 < 2 { Impurity::Gini } else { Impurity::Entropy };
        let growth = Growth { impurity, depth: 1, leaf };
        let tree = DecisionTree::fit(&table, 1, &scales, growth).unwrap();

        // Every set of words, or every single one, and every threshold.
        let mut least = f64::INFINITY;
        let mut consider = |yes: Vec<bool>| {
            let n_yes = yes.iter().filter(|yes| **yes).count();
            if n_yes.min(n_rows - n_yes) >= leaf {
                least = least.min(left(&table, 1, impurity, &yes));
            }
        };
        for set in 0u32..32 {
            if present.len() <= 2 || set.count_ones() == 1 {
                consider(
                    table.columns()[0]
                        .iter()
                        .map(|code| set >> code & 1 == 1)
                        .collect(),
                );
            }
        }
        for most in 0..4 {
            consider(table.columns()[2].iter().map(|code| *code <= most).collect());
        }
        if present.len() < 2 || least.is_infinite() {
            assert_eq!(tree.n_leaves(), 1);
            continue;
        }
        assert_eq!(tree.n_leaves(), 2);
        let yes: Vec<bool> =
            (0..n_rows).map(|at| tree.leaf_of(&row(&table, at)) == 0).collect();
        let found = left(&table, 1, impurity, &yes);
        assert!((found - least).abs() < 1e-9, "{found} is not {least}");
        asked += 1;
    }
    assert!(asked > 150, "only {asked} questions were compared");
}

#[test]
fn deep_trees_keep_their_limits_and_are_the_same_again() {
    let random = &mut ChaCha8Rng::seed_from_u64(6);
    let column = |random: &mut ChaCha8Rng, most: u32| {
        (0..500).map(|_| random.random_range(0..most)).collect::<Vec<u32>>()
    };
    let columns = vec![column(random, 40), column(random, 9), column(random, 3)];
    let table = CodeTable::new(columns).unwrap();
    let scales = [ColumnScale::Ordered, ColumnScale::Words, ColumnScale::Words];
    let growth = Growth { depth: 4, leaf: 12, ..Growth::default() };
    let tree = DecisionTree::fit(&table, 2, &scales, growth).unwrap();
    assert!(tree.n_leaves() > 4 && tree.n_leaves() <= 16);
    let mut rows = vec![0; tree.n_leaves()];
    (0..500).for_each(|at| rows[tree.leaf_of(&row(&table, at))] += 1);
    let told: Vec<usize> = tree.leaves().iter().map(|leaf| leaf.rows).collect();
    assert_eq!(rows, told);
    assert!(rows.iter().all(|rows| *rows >= 12));
    assert_eq!(tree, DecisionTree::fit(&table, 2, &scales, growth).unwrap());
}

#[test]
fn a_tree_of_nothing_is_refused() {
    let message = |table: &CodeTable, class, scales: &[ColumnScale]| {
        DecisionTree::fit(table, class, scales, SMALL).unwrap_err().to_string()
    };
    let empty = table(&[&[], &[]]);
    assert_eq!(
        message(&empty, 1, &[ColumnScale::Words; 2]),
        "a tree needs at least one row"
    );
    assert!(
        message(&empty, 2, &[ColumnScale::Words; 2]).contains("the class is column 2")
    );
}
