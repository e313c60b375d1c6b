//! Rows that are known from counts: their classes are given, not found.

use rand_chacha::ChaCha20Rng;
use rayon::prelude::*;

use crate::error::Result;
use crate::hierarchy::Microdata;
use crate::method::FoundGroup;
use crate::release::apply::{BoundPlan, BoundStep, Decided, Hand, misfit};
use crate::table::{ClassId, Code, GroupId, Of, TupleId};

/// Rows that are known from counts.
impl BoundPlan<'_> {
    /// For each tuple of the census the number of its group, if it is published.
    pub(in crate::release) fn numbers(
        &self,
        data: &Microdata,
    ) -> Result<Of<TupleId, Option<ClassId>>> {
        let group = self.steps.iter().find_map(|step| match step {
            BoundStep::Group(group) => Some(group),
            _ => None,
        });
        let Some(group) = group else { return Err(misfit("rows")) };
        let census = &data.census;
        // The codes of the census are those of other domains.
        let codes = data.quasi.iter().enumerate().map(|(place, column)| {
            let mut bound: Of<Code, Option<Code>> =
                Of::repeat(None, column.domain.len());
            for (raw, code) in data.raw_codes(place) {
                bound[code] = group.bound.code(place, raw).or(bound[code]);
            }
            bound
        });
        let codes: Vec<Of<Code, Option<Code>>> = codes.collect();
        let tuples = (0..census.n_tuples()).into_par_iter();
        let of_tuple = tuples.map_init(Vec::new, |key: &mut Vec<Code>, tuple| {
            let tuple = TupleId::from_index(tuple);
            // Of a population, most tuples have no rows.
            if census.rows[tuple] == 0 {
                return None;
            }
            key.clear();
            for (own, codes) in census.quasi.iter().zip(&codes) {
                key.push(codes[own[tuple]]?);
            }
            match group.bound.find(key)? {
                FoundGroup::Planned(found) => group.cells[found].as_ref()?.number,
                FoundGroup::New(_) => None,
            }
        });
        Ok(of_tuple.collect::<Vec<_>>().into())
    }

    /// The rows that follow are those of the class with this number.
    pub(in crate::release) fn enter_class(&self, hand: &mut Hand, class: ClassId) {
        for (place, step) in self.steps.iter().enumerate() {
            match step {
                BoundStep::Group(group) => {
                    if let Some(cells) = group.by_number.at(class) {
                        hand.decided[place] = Decided::Group(cells.clone());
                    }
                }
                BoundStep::Apart { .. } => {
                    hand.decided[place] = Decided::Apart(class);
                }
                BoundStep::Draw(_)
                | BoundStep::Blur { .. }
                | BoundStep::Redraw { .. } => {}
            }
        }
    }

    /// The place in the plan of the group with this number.
    pub(in crate::release) fn place(&self, class: ClassId) -> usize {
        let group = self.steps.iter().find_map(|step| match step {
            BoundStep::Group(group) => group.by_number.at(class),
            _ => None,
        });
        let planned = group.and_then(|group| group.group);
        planned.map_or(class.index(), GroupId::index)
    }

    /// Draws the values of a row that stands alone.
    pub(in crate::release) fn draw_alone(
        &self,
        hand: &mut Hand,
        cells: &[&str],
        generator: &mut ChaCha20Rng,
    ) -> Result<()> {
        for (place, step) in self.steps.iter().enumerate() {
            if let BoundStep::Draw(draw) = step {
                hand.decided[place] = draw.draw_value(draw.value(cells)?, generator);
            }
        }
        Ok(())
    }
}
