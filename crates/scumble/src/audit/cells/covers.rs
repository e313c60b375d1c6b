//! The published cells as sets of values of the original.

use std::borrow::Cow;

use hashbrown::HashMap;
use rayon::prelude::*;

use crate::audit::cells::{CellClasses, CellTexts};
use crate::error::{Error, Result};
use crate::hierarchy::{Cells, Column, Cover};
use crate::release::{Manifest, cell};
use crate::table::{Code, Ids, NodeId};

/// What the cells of every quasi column stand for.
#[derive(Debug)]
pub(crate) struct Covers {
    /// Those of each quasi column, in the order of the manifest.
    pub(crate) columns: Vec<ColumnCovers>,
}

/// What the cells of one column stand for.
#[derive(Debug)]
pub(crate) struct ColumnCovers {
    /// For each different cell its values.
    pub(crate) covers: Vec<Cover>,
    // The cells that contain value `v` are `cells[starts[v]..starts[v + 1]]`, ascending.
    starts: Vec<usize>,
    cells: Vec<u32>,
}

impl Covers {
    /// Reads every different cell once.
    pub(crate) fn read(
        manifest: &Manifest,
        view: &CellClasses,
        columns: &[Cow<'_, Column>],
    ) -> Result<Self> {
        let mut found = Vec::with_capacity(columns.len());
        for (column, published) in columns.iter().zip(&view.quasi) {
            let level = manifest.columns[published.place].level();
            let covers = match (&published.cells, column.cells) {
                (CellTexts::Texts(texts), Cells::Taxonomy) => {
                    nodes(column, level, texts)
                }
                (CellTexts::Texts(texts), _) => texts
                    .par_iter()
                    .map(|text| cell::parse(column, level, text))
                    .collect(),
                (CellTexts::Lists(lists), _) => sets(column, lists),
            };
            let covers: Vec<Cover> = covers.ok_or_else(|| {
                Error::input(format!(
                    "a cell of column `{}` cannot be read",
                    column.name
                ))
                .with_hint(
                    "it names a value that the given table does not have, or is not \
                         what the manifest says",
                )
            })?;
            found.push(ColumnCovers::of(column, covers));
        }
        Ok(Self { columns: found })
    }
}

impl ColumnCovers {
    fn of(column: &Column, covers: Vec<Cover>) -> Self {
        let n_values = column.domain.len();
        // Nodes of one level are looked up together: each value is below one of them.
        let mut by_level: Vec<HashMap<NodeId, u32>> =
            vec![HashMap::new(); column.hierarchy.levels().len()];
        let mut pairs: Vec<(Code, u32)> = Vec::new();
        for (id, cover) in (0u32..).zip(&covers) {
            match cover {
                Cover::Node { level, node } => {
                    by_level[*level].insert(*node, id);
                }
                Cover::Range { low, high, missing } => {
                    pairs
                        .extend(Ids::between(*low, high.next()).map(|code| (code, id)));
                    let missing = column
                        .domain
                        .missing()
                        .filter(|code| *missing && !(*low..=*high).contains(code));
                    pairs.extend(missing.map(|code| (code, id)));
                }
                Cover::Set(codes) => pairs.extend(codes.iter().map(|code| (*code, id))),
            }
        }
        for (level, ids) in column.hierarchy.levels().iter().zip(&by_level) {
            if ids.is_empty() {
                continue;
            }
            for (code, node) in level.node_of.pairs() {
                pairs.extend(ids.get(node).map(|id| (code, *id)));
            }
        }
        pairs.sort_unstable();
        let mut starts = vec![0; n_values + 1];
        for (code, _) in &pairs {
            starts[code.index() + 1] += 1;
        }
        for value in 0..n_values {
            starts[value + 1] += starts[value];
        }
        let cells = pairs.into_iter().map(|(_, id)| id).collect();
        Self { covers, starts, cells }
    }

    /// The cells that contain a value, ascending.
    pub(crate) fn containing(&self, code: Code) -> &[u32] {
        let code = code.index();
        &self.cells[self.starts[code]..self.starts[code + 1]]
    }

    /// Whether no value is in two cells.
    pub(crate) fn is_partition(&self) -> bool {
        self.starts.windows(2).all(|ends| ends[1] - ends[0] <= 1)
    }

    /// The share of all cells that a value is in, on average.
    pub(crate) fn overlap(&self) -> f64 {
        let n_pairs = (self.starts.len() - 1) * self.covers.len();
        self.cells.len() as f64 / n_pairs.max(1) as f64
    }
}

/// Looks labels up in an index. Of several nodes with the same label the highest is meant,
/// as a reader cannot tell which one is.
fn nodes(
    column: &Column,
    level: Option<usize>,
    texts: &[Box<str>],
) -> Option<Vec<Cover>> {
    let levels = column.hierarchy.levels();
    let wanted = match level {
        Some(level) => level..level.checked_add(1)?,
        None => 0..levels.len(),
    };
    let mut index: HashMap<&str, Cover> = HashMap::new();
    for level in wanted.rev() {
        for (node, known) in levels.get(level)?.nodes.pairs() {
            index.entry(&known.label).or_insert(Cover::Node { level, node });
        }
    }
    texts.iter().map(|text| index.get(&**text).cloned()).collect()
}

/// Looks up listed values.
fn sets(column: &Column, lists: &[Vec<Box<str>>]) -> Option<Vec<Cover>> {
    let index = column.domain.index();
    let set = |list: &Vec<Box<str>>| {
        let codes = list.iter().map(|text| index.get(&**text).copied());
        let mut codes: Vec<Code> = codes.collect::<Option<_>>()?;
        codes.sort_unstable();
        Some(Cover::Set(codes))
    };
    lists.iter().map(set).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hierarchy::Hierarchy;
    use crate::table::{Domain, Reading};

    fn column(cells: Cells) -> Column {
        let texts: Vec<Box<str>> = ["a", "b", "c", "x"].map(Into::into).into();
        let (domain, _) = Domain::of(&texts, &Reading::category()).unwrap();
        let level = |labels: [&str; 4]| labels.map(|label| (label.into(), None)).into();
        let hierarchy = Hierarchy::from_labels(vec![
            level(["a", "b", "c", "x"]),
            level(["x", "x", "y", "y"]),
        ]);
        let (name, rows) = ("column".into(), vec![1; 4].into());
        Column {
            name,
            domain,
            hierarchy,
            rows,
            lowest: 0,
            highest: 2,
            weight: 1.0,
            cells,
            grid: None,
        }
    }

    #[test]
    fn an_ambiguous_label_is_the_highest_node() {
        let column = column(Cells::Taxonomy);
        let read = |level| nodes(&column, level, &["x".into()]);
        let node =
            |level, node| Some(vec![Cover::Node { level, node: NodeId::new(node) }]);
        assert_eq!(read(None), node(1, 0));
        assert_eq!(read(Some(0)), node(0, 3));
        assert_eq!(read(Some(9)), None);
        assert_eq!(read(Some(usize::MAX)), None);
    }

    #[test]
    fn values_know_the_cells_that_contain_them() {
        let (low, high) = (Code::new(1), Code::new(2));
        let found = ColumnCovers::of(
            &column(Cells::Set),
            vec![
                Cover::Set(Code::of([0, 2])),
                Cover::Range { low, high, missing: true },
                Cover::Node { level: 1, node: NodeId::new(1) },
            ],
        );
        let lists: Vec<&[u32]> =
            Code::first(4).map(|code| found.containing(code)).collect();
        assert_eq!(lists, [&[0][..], &[1], &[0, 1, 2], &[2]]);
        assert!(!found.is_partition());
    }
}
