//! What shares of values tell of single columns, and of rows that were left out.

use std::sync::OnceLock;

use hashbrown::HashMap;

use crate::estimate::evidence::cells::Margin;
use crate::estimate::evidence::{Column, Evidence, Nature};
use crate::estimate::model::Model;

impl Evidence {
    /// Takes up how often the values of columns occur in the table.
    pub(super) fn share(&mut self, margins: Vec<(String, Margin)>) {
        let mut left = Vec::new();
        for (name, Margin { cells, rows, left: code }) in margins {
            let place = self.columns.iter().position(|column| column.name == name);
            let Some(place) = place else { continue };
            let codes = (0..rows.len() as u32).collect();
            let own = Column {
                codes,
                nature: Nature::Coarse(0),
                ..self.columns[place].clone()
            };
            self.margins.push(Self::bare(vec![own], rows, vec![cells]));
            left.extend(code.map(|code| (place, code)));
        }
        let plain = self.groups.is_empty()
            && self.noises.is_empty()
            && self.blurred.is_none()
            && self.stands_for.is_none();
        if plain && !left.is_empty() {
            self.left = Some(Box::new(self.left_out_rows(&left)));
        }
    }

    /// Rows and cells alone.
    fn bare(
        columns: Vec<Column>,
        rows: Vec<u64>,
        cells: Vec<crate::estimate::evidence::ColumnCells>,
    ) -> Self {
        Self {
            table: (0..columns.len()).collect(),
            columns,
            noises: Vec::new(),
            rows,
            stands_for: None,
            groups: Vec::new(),
            blurred: None,
            cells,
            shared: Default::default(),
            left_out: 0.0,
            calibration: None,
            coarsened: Vec::new(),
            model: Model::Even,
            learned: OnceLock::new(),
            margins: Vec::new(),
            left: None,
        }
    }

    /// The published rows with the cell of left-out rows in these columns: in all others these
    /// are taken to be like the published ones.
    fn left_out_rows(&self, left: &[(usize, u32)]) -> Self {
        let names: Vec<String> = left
            .iter()
            .map(|(place, _)| format!("CELL({})", self.columns[*place].name))
            .collect();
        let code = |place: usize, entry: usize| {
            let column = &self.columns[place];
            let own = left.iter().find(|(own, _)| *own == place);
            match own {
                Some((_, code)) => *code,
                // Which cell they would have had is not asked of them.
                None if names.contains(&column.name) => 0,
                None => column.codes[entry],
            }
        };
        let mut places: HashMap<Vec<u32>, usize> = HashMap::new();
        let mut rows: Vec<u64> = Vec::new();
        let mut codes: Vec<Vec<u32>> = vec![Vec::new(); self.columns.len()];
        for (entry, own) in self.rows.iter().enumerate() {
            let key: Vec<u32> =
                (0..self.columns.len()).map(|place| code(place, entry)).collect();
            let place = *places.entry(key).or_insert_with_key(|key| {
                codes.iter_mut().zip(key).for_each(|(codes, code)| codes.push(*code));
                rows.push(0);
                rows.len() - 1
            });
            rows[place] += own;
        }
        let columns = self.columns.iter().zip(codes);
        let columns = columns.map(|(column, codes)| Column { codes, ..column.clone() });
        Self::bare(columns.collect(), rows, self.cells.clone())
    }
}
