//! Points arranged so that those near a place are found quickly, and shapes of noise.
//!
//! # Guarantee
//! A visit sees every living point within reach once, unless it is told to stop; those in
//! nearer boxes come first. The order of visits depends on the points alone.
//!
//! # Limits
//! With many dimensions most boxes are near to everything, and a visit looks at most points.
//! No library is used: those for such trees fix the number of dimensions when they are
//! compiled, and ours comes from a recipe.
//!
//! # Cost
//! O(n log n) to arrange n points; a visit takes time for the points near it and, in few
//! dimensions, little more.
//!
//! # Source
//! `bentley1975multidimensional`.

mod shape;

pub use shape::{Ball, Cube, Metric, Shape};

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

/// Which way noise is scaled and turned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FrameKind {
    /// By the standard deviations of the whole table.
    Global,
    /// By those of a part of it.
    Local,
    /// Along the principal axes of a part of it.
    Rotated,
}

impl FrameKind {
    /// Its name in recipes and manifests.
    pub fn name(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Local => "local",
            Self::Rotated => "rotated",
        }
    }
}

/// Boxes with at most so many points are not divided: looking at all of them is faster.
pub const LEAF: usize = 24;

/// Points in a tree of boxes, each halved along its widest side.
#[derive(Debug)]
pub struct Space {
    dims: usize,
    /// Coordinates, point by point, in the order of the tree.
    coordinates: Vec<f64>,
    /// The same leaf by leaf, axis after axis, so that a leaf is measured in one sweep; a
    /// removed point is infinitely far.
    columns: Vec<f64>,
    /// The row of each point of the tree.
    rows: Vec<u32>,
    /// Where in the tree each row is.
    places: Vec<u32>,
    living: Vec<bool>,
    nodes: Vec<KdNode>,
    /// Lowest and highest coordinates of each node, `2 * dims` numbers a node.
    boxes: Vec<f64>,
}

#[derive(Debug)]
struct KdNode {
    start: u32,
    end: u32,
    /// The first half; the second follows it. Zero for a leaf.
    left: u32,

    living: u32,
}

/// A leaf of the tree.
#[derive(Debug, Clone, Copy)]
pub struct Leaf<'a> {
    /// The rows of its points, removed ones included.
    pub rows: &'a [u32],
    columns: &'a [f64],
    start: usize,
}

impl<'a> Leaf<'a> {
    /// Coordinates along an axis, point by point; infinite for removed ones.
    pub fn column(&self, axis: usize) -> &'a [f64] {
        &self.columns[axis * self.rows.len()..][..self.rows.len()]
    }

    /// How far the points from `first` on are, as the metric adds it up: at most [`LEAF`] of
    /// them, and how many.
    #[inline]
    pub fn distances<M: Metric>(
        &self,
        centre: &[f64],
        first: usize,
    ) -> ([f64; LEAF], usize) {
        let mut distances = [0.0; LEAF];
        let len = LEAF.min(self.rows.len() - first);
        for (axis, value) in centre.iter().enumerate() {
            let column = &self.column(axis)[first..first + len];
            for (distance, other) in distances.iter_mut().zip(column) {
                *distance = M::add(*distance, other - value);
            }
        }
        (distances, len)
    }
}

impl Space {
    /// Arranges points; `coordinates` holds `dims` numbers, none of them NaN, for each row.
    pub fn new(dims: usize, coordinates: &[f64]) -> Self {
        let n_rows = coordinates.len().checked_div(dims).unwrap_or(0);
        let mut space = Self {
            dims,
            coordinates: Vec::with_capacity(coordinates.len()),
            columns: vec![0.0; coordinates.len()],
            rows: (0..n_rows as u32).collect(),
            places: vec![0; n_rows],
            living: vec![true; n_rows],
            nodes: vec![KdNode {
                start: 0,
                end: n_rows as u32,
                left: 0,
                living: n_rows as u32,
            }],
            boxes: Vec::new(),
        };
        let mut next = 0;
        while next < space.nodes.len() {
            space.divide(next, coordinates);
            next += 1;
        }
        for (place, row) in space.rows.iter().enumerate() {
            space.places[*row as usize] = place as u32;
            let start = *row as usize * dims;
            space.coordinates.extend(&coordinates[start..start + dims]);
        }
        for node in space.nodes.iter().filter(|node| node.left == 0) {
            let (start, len) = (node.start as usize, (node.end - node.start) as usize);
            for place in 0..len {
                for axis in 0..dims {
                    space.columns[start * dims + axis * len + place] =
                        space.coordinates[(start + place) * dims + axis];
                }
            }
        }
        space
    }

    /// Measures the box of a node, and halves it if it has many points.
    fn divide(&mut self, number: usize, coordinates: &[f64]) {
        let dims = self.dims;
        let (start, end) = (self.nodes[number].start, self.nodes[number].end);
        let rows = &mut self.rows[start as usize..end as usize];
        let mut low = vec![f64::INFINITY; dims];
        let mut high = vec![f64::NEG_INFINITY; dims];
        for row in rows.iter() {
            let point = &coordinates[*row as usize * dims..][..dims];
            for (axis, value) in point.iter().enumerate() {
                low[axis] = low[axis].min(*value);
                high[axis] = high[axis].max(*value);
            }
        }
        let width = |axis: &usize| high[*axis] - low[*axis];
        let widest = (0..dims).max_by(|a, b| width(a).total_cmp(&width(b)));
        if let Some(widest) = widest
            && rows.len() > LEAF
            && width(&widest) > 0.0
        {
            let half = rows.len() / 2;
            let key = |row: &u32| coordinates[*row as usize * dims + widest];
            rows.select_nth_unstable_by(half, |a, b| {
                key(a).total_cmp(&key(b)).then(a.cmp(b))
            });
            let middle = start + half as u32;
            self.nodes[number].left = self.nodes.len() as u32;
            for (start, end) in [(start, middle), (middle, end)] {
                let living = end - start;
                self.nodes.push(KdNode { start, end, left: 0, living });
            }
        }
        self.boxes.extend(low);
        self.boxes.extend(high);
    }

    /// How many points there are, living or not.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// How many dimensions it has.
    pub fn dims(&self) -> usize {
        self.dims
    }

    /// The coordinates of a row.
    pub fn point(&self, row: usize) -> &[f64] {
        &self.coordinates[self.places[row] as usize * self.dims..][..self.dims]
    }

    /// Whether a row has not been removed.
    pub fn lives(&self, row: usize) -> bool {
        self.living[self.places[row] as usize]
    }

    /// How many points have not been removed.
    pub fn n_living(&self) -> usize {
        self.nodes[0].living as usize
    }

    /// Rows in an order in which neighbours stand together, for work in parallel.
    pub fn in_order(&self) -> &[u32] {
        &self.rows
    }

    /// Removes a row, so that visits pass it over.
    pub fn remove(&mut self, row: usize) {
        let place = self.places[row];
        if !std::mem::replace(&mut self.living[place as usize], false) {
            return;
        }
        let mut number = 0;
        loop {
            let node = &mut self.nodes[number];
            node.living -= 1;
            if node.left == 0 {
                let (start, len) =
                    (node.start as usize, (node.end - node.start) as usize);
                for axis in 0..self.dims {
                    let at = start * self.dims + axis * len + (place as usize - start);
                    self.columns[at] = f64::INFINITY;
                }
                return;
            }
            let left = node.left as usize;
            number = if place < self.nodes[left].end { left } else { left + 1 };
        }
    }

    /// Visits the living points within a distance of `centre`: row, coordinates, and how far
    /// it is, as the metric adds it up.
    pub fn within<M: Metric>(
        &self,
        centre: &[f64],
        distance: f64,
        mut visit: impl FnMut(usize, &[f64], f64) -> ControlFlow<()>,
    ) {
        let limit = M::added(distance);
        self.leaves_within::<M>(centre, limit, |leaf| {
            for first in (0..leaf.rows.len()).step_by(LEAF) {
                let (distances, len) = leaf.distances::<M>(centre, first);
                for (place, distance) in distances[..len].iter().enumerate() {
                    if *distance <= limit {
                        let place = leaf.start + first + place;
                        let point = &self.coordinates[place * self.dims..][..self.dims];
                        visit(self.rows[place] as usize, point, *distance)?;
                    }
                }
            }
            ControlFlow::Continue(())
        });
    }

    /// Visits leaves of the tree that may hold living points within a distance, given as the
    /// metric adds it up.
    pub fn leaves_within<M: Metric>(
        &self,
        centre: &[f64],
        limit: f64,
        mut visit: impl FnMut(Leaf<'_>) -> ControlFlow<()>,
    ) {
        let _ = self.walk::<M, _>(centre, limit, 0, &mut visit);
    }

    fn walk<M: Metric, V>(
        &self,
        centre: &[f64],
        limit: f64,
        number: usize,
        visit: &mut V,
    ) -> ControlFlow<()>
    where
        V: FnMut(Leaf<'_>) -> ControlFlow<()>,
    {
        let node = &self.nodes[number];
        if node.living == 0 {
            return ControlFlow::Continue(());
        }
        if node.left == 0 {
            let (start, end) = (node.start as usize, node.end as usize);
            return visit(Leaf {
                rows: &self.rows[start..end],
                columns: &self.columns[start * self.dims..end * self.dims],
                start,
            });
        }
        let left = node.left as usize;
        let near = self.distance_to::<M>(centre, left);
        let far = self.distance_to::<M>(centre, left + 1);
        let mut halves = [(near, left), (far, left + 1)];
        if far < near {
            halves.swap(0, 1);
        }
        for (distance, half) in halves {
            if distance <= limit {
                self.walk::<M, V>(centre, limit, half, visit)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// How far the box of a node is.
    fn distance_to<M: Metric>(&self, centre: &[f64], number: usize) -> f64 {
        let bounds = &self.boxes[number * 2 * self.dims..][..2 * self.dims];
        let (low, high) = bounds.split_at(self.dims);
        let mut distance = 0.0;
        for ((value, low), high) in centre.iter().zip(low).zip(high) {
            distance = M::add(distance, (low - value).max(value - high).max(0.0));
        }
        distance
    }

    /// The living points nearest to `centre`, at most `count`: the square of the distance,
    /// and the row, in ascending order.
    pub fn nearest(&self, centre: &[f64], count: usize) -> Vec<(f64, usize)> {
        // Whoever asks for more gets all there are.
        let count = count.min(self.rows.len());
        let mut found = Vec::with_capacity(count + 1);
        if count > 0 {
            self.gather(centre, count, 0, &mut found);
        }
        found
    }

    fn gather(
        &self,
        centre: &[f64],
        count: usize,
        number: usize,
        found: &mut Vec<(f64, usize)>,
    ) {
        let node = &self.nodes[number];
        if node.living == 0 {
            return;
        }
        if node.left == 0 {
            for place in node.start as usize..node.end as usize {
                if !self.living[place] {
                    continue;
                }
                let point = &self.coordinates[place * self.dims..][..self.dims];
                let distance = point.iter().zip(centre).map(|(a, b)| (a - b) * (a - b));
                let item = (distance.sum::<f64>(), self.rows[place] as usize);
                let less = |known: &(f64, usize)| {
                    known.0.total_cmp(&item.0).then(known.1.cmp(&item.1)).is_lt()
                };
                let at = found.partition_point(less);
                if at < count {
                    found.insert(at, item);
                    found.truncate(count);
                }
            }
            return;
        }
        let left = node.left as usize;
        let mut halves =
            [left, left + 1].map(|half| (self.distance_to::<Ball>(centre, half), half));
        if halves[1].0 < halves[0].0 {
            halves.swap(0, 1);
        }
        for (distance, half) in halves {
            let full = found.len() == count;
            // A box as far as the last one found may hold an equally far row with a
            // smaller number, which comes first.
            if !full || found.last().is_some_and(|(last, _)| distance <= *last) {
                self.gather(centre, count, half, found);
            }
        }
    }
}

#[cfg(test)]
mod tests;
