//! Places as types, so that one thing's cannot be used for another's; the only file that
//! turns them into numbers and back.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Index, IndexMut, Range};

use serde::{Deserialize, Serialize};

/// The place of a column in the header of the [`Source`](crate::table::Source) that gave it,
/// which alone can make one: whoever has it need not look the column up again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColumnId(u32);

impl ColumnId {
    /// Nobody but a source knows that there is such a column.
    pub(super) fn from_index(index: usize) -> Self {
        Self(index as u32)
    }

    /// The place, from 0, in the order of the header.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// One of many things of a kind, by its place among them.
pub trait Id: Copy {
    /// The thing with this number, from 0.
    fn new(number: u32) -> Self;
    /// Its number.
    fn get(self) -> u32;
}

/// Makes kinds of things that are told apart by numbers.
macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        #[allow(unreachable_pub, reason = "a kind may be known in one folder only")]
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default,
            ::serde::Serialize, ::serde::Deserialize,
        )]
        pub struct $name(u32);

        #[allow(dead_code, unreachable_pub, reason = "a kind need not use all of it")]
        impl $name {
            /// The one with this number, from 0.
            #[inline]
            pub const fn new(number: u32) -> Self {
                Self(number)
            }

            /// The one at this place of a list, which has fewer than 2^32.
            #[inline]
            pub fn from_index(index: usize) -> Self {
                Self(u32::try_from(index).expect("lists have fewer than 2^32 places"))
            }

            /// Its number.
            #[inline]
            pub const fn get(self) -> u32 {
                self.0
            }

            /// Its place in a list.
            #[inline]
            pub const fn index(self) -> usize {
                self.0 as usize
            }

            /// Its number as people count, from 1.
            pub fn one_based(self) -> u64 {
                u64::from(self.0) + 1
            }

            /// The one after it, which need not exist.
            #[inline]
            #[must_use]
            pub const fn next(self) -> Self {
                Self(self.0 + 1)
            }

            /// Those with these numbers.
            pub fn of<const N: usize>(numbers: [u32; N]) -> Vec<Self> {
                numbers.map(Self).into()
            }

            /// The first `n`, in order.
            pub fn first(n: usize) -> $crate::table::Ids<Self> {
                $crate::table::Ids::between(Self(0), Self::from_index(n))
            }
        }

        impl $crate::table::Id for $name {
            #[inline]
            fn new(number: u32) -> Self {
                Self(number)
            }

            #[inline]
            fn get(self) -> u32 {
                self.0
            }
        }
    )*};
}

pub(crate) use ids;

ids! {
    /// A value of a column: its place in the column's domain or dictionary.
    Code
    /// A node of a hierarchy: its place on its level.
    NodeId
    /// A distinct tuple of quasi values.
    TupleId
    /// A quasi tuple together with sensitive values: all rows of an entry are alike.
    EntryId
    /// A group of rows, in the order in which a method made it.
    GroupId
    /// A class of rows as readers see it, in the order of the release.
    ClassId
    /// A row of the table.
    RowId
}

/// Two things as one number, in the order of the first and then of the second.
#[inline]
pub(crate) fn pair(first: impl Id, second: impl Id) -> u64 {
    u64::from(first.get()) << 32 | u64::from(second.get())
}

/// The two things that `pair` made one number of.
#[inline]
pub(crate) fn unpair<A: Id, B: Id>(pair: u64) -> (A, B) {
    (A::new((pair >> 32) as u32), B::new(pair as u32))
}

/// Things of a kind that follow each other.
#[derive(Debug, Clone)]
pub struct Ids<I> {
    left: Range<u32>,
    of: PhantomData<I>,
}

impl<I: Id> Ids<I> {
    /// From `first` on, up to the one before `end`.
    pub fn between(first: I, end: I) -> Self {
        Self { left: first.get()..end.get(), of: PhantomData }
    }
}

impl<I: Id> Iterator for Ids<I> {
    type Item = I;

    #[inline]
    fn next(&mut self) -> Option<I> {
        self.left.next().map(I::new)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.left.size_hint()
    }
}

impl<I: Id> DoubleEndedIterator for Ids<I> {
    fn next_back(&mut self) -> Option<I> {
        self.left.next_back().map(I::new)
    }
}

impl<I: Id> ExactSizeIterator for Ids<I> {}

/// A list with something of each thing of a kind, which is found by no other kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Of<I, T> {
    items: Vec<T>,
    of: PhantomData<I>,
}

impl<I: Id, T> Of<I, T> {
    /// An empty list.
    pub const fn new() -> Self {
        Self { items: Vec::new(), of: PhantomData }
    }

    /// The same for `n` things.
    pub fn repeat(item: T, n: usize) -> Self
    where
        T: Clone,
    {
        vec![item; n].into()
    }

    /// All things there are, in order.
    pub fn ids(&self) -> Ids<I> {
        Ids { left: 0..self.items.len() as u32, of: PhantomData }
    }

    /// Every thing with what the list has of it.
    pub fn pairs(
        &self,
    ) -> impl DoubleEndedIterator<Item = (I, &T)> + ExactSizeIterator {
        self.ids().zip(&self.items)
    }

    /// What the list has of a thing, if there is such a thing.
    pub fn at(&self, id: I) -> Option<&T> {
        self.items.get(id.get() as usize)
    }

    /// What the list has of things that follow each other.
    pub fn slice(&self, ids: &Ids<I>) -> &[T] {
        &self.items[ids.left.start as usize..ids.left.end as usize]
    }

    /// Adds a thing, and says which it is.
    pub fn push(&mut self, item: T) -> I {
        let number = u32::try_from(self.items.len());
        self.items.push(item);
        I::new(number.expect("lists have fewer than 2^32 places"))
    }

    /// The plain list, to change it.
    pub fn list(&mut self) -> &mut Vec<T> {
        &mut self.items
    }

    /// The plain list.
    pub fn into_vec(self) -> Vec<T> {
        self.items
    }
}

impl<I: Id, T> Default for Of<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Id, T> Index<I> for Of<I, T> {
    type Output = T;

    #[inline]
    fn index(&self, id: I) -> &T {
        &self.items[id.get() as usize]
    }
}

impl<I: Id, T> IndexMut<I> for Of<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.items[id.get() as usize]
    }
}

impl<I, T> Deref for Of<I, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.items
    }
}

impl<I, T> DerefMut for Of<I, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.items
    }
}

impl<I, T> From<Vec<T>> for Of<I, T> {
    fn from(items: Vec<T>) -> Self {
        Self { items, of: PhantomData }
    }
}

impl<I, T> FromIterator<T> for Of<I, T> {
    fn from_iter<A: IntoIterator<Item = T>>(items: A) -> Self {
        Vec::from_iter(items).into()
    }
}

impl<I, T> IntoIterator for Of<I, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.items.into_iter()
    }
}

impl<'a, I, T> IntoIterator for &'a Of<I, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter()
    }
}

impl<'a, I, T> IntoIterator for &'a mut Of<I, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> Self::IntoIter {
        self.items.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_plain_numbers() {
        let groups: Of<TupleId, Option<GroupId>> =
            Of::from(vec![Some(GroupId(7)), None]);
        assert_eq!(serde_json::to_string(&groups).unwrap(), "[7,null]");
        assert_eq!(serde_json::from_str::<Of<_, _>>("[7,null]").ok(), Some(groups));
    }

    #[test]
    fn a_pair_keeps_its_order() {
        let (small, large) =
            (pair(Code(1), TupleId(u32::MAX)), pair(Code(2), TupleId(0)));
        assert!(small < large);
        assert_eq!(unpair(small), (Code(1), TupleId(u32::MAX)));
    }
}
