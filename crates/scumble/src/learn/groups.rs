//! Who and what is in each group: of rows whose values are known together only.

/// Groups with more pairs of kinds of rows and values are not weighed.
const LARGEST: u64 = 1 << 19;

/// People and values of groups. Nothing says who has which value.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    members: Vec<(u32, u64)>,
    values: Vec<(u32, u64)>,
    // Group `g` has the members `starts[g].0..starts[g + 1].0`, and so on.
    starts: Vec<(usize, usize)>,
}

impl Groups {
    /// Without any group.
    pub(crate) fn new() -> Self {
        Self { starts: vec![(0, 0)], ..Self::default() }
    }

    /// Adds a group: tuples and how many of its people have each, values and how many of its
    /// rows have each. Both are as many.
    pub(crate) fn push(
        &mut self,
        members: impl IntoIterator<Item = (u32, u64)>,
        values: impl IntoIterator<Item = (u32, u64)>,
    ) {
        self.members.extend(members);
        self.values.extend(values);
        self.starts.push((self.members.len(), self.values.len()));
    }

    /// How many groups there are.
    pub(crate) fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// The tuples of a group's people.
    pub(crate) fn members(&self, group: usize) -> &[(u32, u64)] {
        &self.members[self.starts[group].0..self.starts[group + 1].0]
    }

    /// The values of a group.
    pub(crate) fn values(&self, group: usize) -> &[(u32, u64)] {
        &self.values[self.starts[group].1..self.starts[group + 1].1]
    }

    /// How many rows a group has.
    pub(crate) fn size(&self, group: usize) -> u64 {
        self.values(group).iter().map(|(_, n)| n).sum()
    }

    /// Whether a group has so many pairs of rows and values that it is not weighed.
    pub(crate) fn is_too_large(&self, group: usize) -> bool {
        self.pairs(group) > LARGEST
    }

    /// The kinds of rows of a group times its values.
    pub(crate) fn pairs(&self, group: usize) -> u64 {
        self.members(group).len() as u64 * self.values(group).len() as u64
    }

    /// How many rows each group has.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = u64> {
        (0..self.len()).map(|group| self.size(group))
    }

    /// How many rows have the commonest value of a group.
    pub(crate) fn most(&self, group: usize) -> u64 {
        self.values(group).iter().map(|(_, n)| *n).max().unwrap_or(0)
    }
}
