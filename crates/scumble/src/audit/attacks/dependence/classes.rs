//! Rows with the same quasi cells, and the values that they have together.

use hashbrown::HashMap;

use super::View;
use super::rows::Coded;
use crate::audit::Case;
use crate::audit::given::in_cell_classes;
use crate::error::Result;
use crate::release::GROUP_COLUMN;
use crate::table::ColumnId;

/// Values, ascending, and the share of each.
type Shares = Vec<(u32, f64)>;

impl View<'_> {
    /// The class of each row by its quasi cells, and which values the rows of each class have:
    /// all that are published, if these are a sample.
    pub(super) fn classes(
        &self,
        case: &Case<'_>,
        name: &str,
    ) -> Result<(Vec<u32>, Vec<Shares>)> {
        let by: Vec<&str> = match case.views.present.weighted {
            true => vec![GROUP_COLUMN],
            false => {
                let quasi = case.manifest.columns.iter().filter(|c| in_cell_classes(c));
                quasi.map(|column| &*column.name).collect()
            }
        };
        let columns: Vec<&Coded> = by.iter().map(|name| self.coded(name)).collect();
        let mut index: HashMap<Vec<&str>, u32> = HashMap::new();
        let mut of_row = Vec::with_capacity(self.rows.n);
        for row in 0..self.rows.n {
            let key: Vec<&str> =
                columns.iter().map(|column| column.text(row)).collect();
            let next = index.len() as u32;
            of_row.push(*index.entry(key).or_insert(next));
        }
        let coded = self.coded(name);
        let mut counts: HashMap<(u32, u32), f64> = HashMap::new();
        if self.rows.sampled {
            let codes: HashMap<&str, u32> =
                coded.texts.iter().map(|text| &**text).zip(0..).collect();
            let source = case.views.rows();
            let places = by.iter().chain([&name]).map(|name| source.column(name));
            let places: Vec<ColumnId> = places.collect::<Result<_>>()?;
            let count = |counts: &mut HashMap<(u32, u32), f64>, _, cells: &[&str]| {
                let (key, value) = cells.split_at(cells.len() - 1);
                // A value that the sample does not have is not guessed.
                if let (Some(class), Some(code)) = (index.get(key), codes.get(value[0]))
                {
                    *counts.entry((*class, *code)).or_default() += 1.0;
                }
                Ok(())
            };
            let folded = source.fold(&places, HashMap::new, count, case.watch)?;
            for (key, n) in folded.states.into_iter().flatten() {
                *counts.entry(key).or_default() += n;
            }
        } else {
            for (class, code) in of_row.iter().zip(&coded.of_row) {
                *counts.entry((*class, *code)).or_default() += 1.0;
            }
        }
        let mut priors: Vec<Shares> = vec![Vec::new(); index.len()];
        for ((class, code), n) in counts {
            priors[class as usize].push((code, n));
        }
        for prior in &mut priors {
            prior.sort_unstable_by_key(|(code, _)| *code);
            let total: f64 = prior.iter().map(|(_, n)| n).sum();
            prior.iter_mut().for_each(|(_, n)| *n /= total);
        }
        Ok((of_row, priors))
    }
}
