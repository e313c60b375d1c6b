//! A recipe in parts: which method does what to which columns, and what goes together.
//!
//! # Guarantee
//! Every promise of a mixture is kept by one part, on columns that no other part changes,
//! and what each promises holds beside the others:
//!
//! - Promises about groups of cells (k-anonymity, k-map, presence) count people of equal
//!   coarse and kept quasi cells. Values that are drawn or stand apart tell nothing of cells.
//! - l-diversity, r-robustness and the like of values that stay in the rows hold in these
//!   groups; drawn columns beside them are noise that depends on nothing else.
//! - Of values that stand apart the adversary knows already whose row is whose: coarser
//!   cells only withhold. Their groups are formed without looking at columns that are made
//!   coarser or blurred: rows that share a group would tell what cells and noise hide.
//! - Bounds on draws hold whatever else is known: noise is independent of all else.
//! - Noise of numbers counts only people who share the cells of all other quasi columns.
//! - Rows that a part leaves out no later part sees: cells leave out first, then noise within
//!   them, which takes no class below the people that are promised; others leave nobody out.
//!
//! # Limits
//! Presence, and values that stay in the rows, are not promised beside noise of numbers:
//! somebody who knows the numbers weighs the rows of a group by how well they fit, and
//! nothing bounds what that tells. Several sensitive columns each keep their promise on
//! their own; how they depend on each other is not hidden.
//!
//! # Cost
//! Each part reads what it needs.
//!
//! # Source
//! docs/methods.md, "Mixtures".

mod check;
mod family;
mod places;

use std::borrow::Cow;

use crate::error::{Error, Result};
use crate::promise::About;
use crate::random::Randomness;
use crate::recipe::methods::{Keeps, METHODS, Method, Treats, methods};
use crate::recipe::parts::check::check_columns;
use crate::recipe::parts::family::{Family, sets_apart};
use crate::recipe::{MethodSpec, PromiseSpec, Spec};
use crate::table::{Kind, Role};

/// A part of a recipe: columns, the promises about them, and the methods that may keep these.
#[derive(Debug)]
pub(super) struct Part {
    /// What it would be as a recipe of its own.
    pub(super) spec: Spec,
    /// The methods to try.
    pub(super) methods: Vec<&'static dyn Method>,
    /// The columns whose treatment it decides.
    pub(super) columns: Vec<String>,
    /// Whether it is one of several that toss coins for groups.
    is_one_of_several: bool,
}

impl Part {
    /// Whether it decides about all columns of a recipe.
    pub(super) fn is_whole(&self, spec: &Spec) -> bool {
        self.columns.len() == spec.columns.len()
    }

    /// Its randomness. What a column's groups are made by must have nothing to do with what
    /// those of another are made by: else a value that is exchanged would change both.
    pub(super) fn coins<'r>(&self, all: &'r Randomness) -> Cow<'r, Randomness> {
        match self.columns.first() {
            Some(column) if self.is_one_of_several => {
                Cow::Owned(all.narrowed(&format!("groups of {column}")))
            }
            _ => Cow::Borrowed(all),
        }
    }

    /// Whether its numbers are blurred within the groups of another part.
    pub(super) fn is_within(&self, cells: &Self) -> bool {
        let treats = |part: &Self, what| {
            part.methods.first().is_some_and(|method| method.treats() == what)
        };
        treats(self, Treats::Numbers) && treats(cells, Treats::Cells)
    }
}

/// The parts of a recipe: itself, if one method keeps all its promises of all columns.
pub(super) fn parts(spec: &Spec) -> Result<Vec<Part>> {
    if is_whole(spec) {
        let columns = spec.columns.iter().map(|column| column.name.clone()).collect();
        return Ok(vec![Part {
            methods: methods(spec)?,
            spec: spec.clone(),
            columns,
            is_one_of_several: false,
        }]);
    }
    let mixture = Mixture::of(spec)?;
    mixture.check()?;
    mixture.parts()
}

/// Whether there is nothing to divide.
fn is_whole(spec: &Spec) -> bool {
    let divided = !spec.more_methods.is_empty()
        || spec.method.columns.is_some()
        || spec.promises.iter().any(|promise| promise.columns.is_some());
    if divided {
        return false;
    }
    let promises = || spec.promises.iter().map(|typed| typed.kind.promise());
    let keeps_all =
        |method: &dyn Method| promises().all(|p| method.keeps(p) != Keeps::No);
    let kept = match spec.method.name {
        Some(method) => keeps_all(method),
        None => METHODS.iter().any(|method| {
            keeps_all(*method) && promises().any(|p| method.keeps(p) == Keeps::First)
        }),
    };
    // Values in rows are judged in groups of cells, unless they stand apart from them.
    let apart = spec.method.name.is_some_and(|method| method.treats() == Treats::Apart);
    let family = |typed: &PromiseSpec| match Family::within(spec, typed) {
        Family::Values if !apart => Family::Cells,
        family => family,
    };
    // Each column that stands apart has groups of its own.
    let sensitive = spec.columns.iter().filter(|c| c.role == Role::Sensitive);
    let stands = |typed: &PromiseSpec| Family::within(spec, typed) == Family::Apart;
    let apart = apart || spec.promises.iter().any(stands);
    if apart && sensitive.count() > 1 {
        return false;
    }
    let mut families = spec.promises.iter().map(family);
    let first = families.next();
    kept || families.all(|family| Some(family) == first)
}

/// A recipe whose promises have found their columns.
struct Mixture<'a> {
    spec: &'a Spec,
    /// The promises, what each is about, and of which columns.
    promises: Vec<(&'a PromiseSpec, Family, Vec<&'a str>)>,
    /// The methods that somebody typed.
    typed: Vec<&'a MethodSpec>,
}

/// A part that is wanted.
struct Wanted<'a> {
    treats: Treats,
    /// The columns whose treatment it decides.
    columns: Vec<&'a str>,
    /// Columns it must know beside them.
    known: Vec<&'a str>,
    promises: Vec<PromiseSpec>,
}

impl<'a> Mixture<'a> {
    fn of(spec: &'a Spec) -> Result<Self> {
        let mut promises = Vec::with_capacity(spec.promises.len());
        for typed in &spec.promises {
            let family = Family::within(spec, typed);
            if let Some(columns) = &typed.columns {
                check_columns(spec, typed, columns, family)?;
            }
            promises.push((typed, family));
        }
        let own = |typed: &'a PromiseSpec, family: Family| -> Vec<&'a str> {
            if let Some(columns) = &typed.columns {
                return columns.iter().map(|(name, _)| name.as_str()).collect();
            }
            // All columns of the role that no other promise takes by name.
            let taken = |name: &str| {
                promises.iter().any(|(other, others)| {
                    let named = other.columns.iter().flatten();
                    !family.shares_columns(*others)
                        && named.into_iter().any(|(known, _)| known == name)
                })
            };
            let columns = spec.columns.iter();
            let columns =
                columns.filter(|c| c.role == family.role() && !taken(&c.name));
            columns.map(|column| column.name.as_str()).collect()
        };
        let promises = promises.iter().flat_map(|(typed, family)| {
            let columns = own(typed, *family);
            let (apart, in_rows) = match family.is_of_rows(spec, typed) {
                true => columns.into_iter().partition(|name| sets_apart(spec, name)),
                false => (columns, Vec::new()),
            };
            let rows =
                (!in_rows.is_empty()).then_some((*typed, Family::Values, in_rows));
            [(*typed, *family, apart)].into_iter().chain(rows)
        });
        let typed = [&spec.method].into_iter().chain(&spec.more_methods);
        Ok(Self {
            spec,
            promises: promises.collect(),
            typed: typed.filter(|method| method.spot.is_some()).collect(),
        })
    }

    /// The columns of promises of a family, in the order of the recipe.
    fn columns(&self, wanted: Family) -> Vec<&'a str> {
        let of = |name: &str| {
            self.promises.iter().any(|(_, family, columns)| {
                *family == wanted && columns.contains(&name)
            })
        };
        let columns = self.spec.columns.iter().map(|column| column.name.as_str());
        columns.filter(|name| of(name)).collect()
    }

    fn has(&self, wanted: Family) -> bool {
        self.promises.iter().any(|(_, family, _)| *family == wanted)
    }

    fn of_role(&self, role: Role) -> Vec<&'a str> {
        let columns = self.spec.columns.iter().filter(|column| column.role == role);
        columns.map(|column| column.name.as_str()).collect()
    }

    /// Sensitive columns whose values stand apart.
    fn apart(&self) -> Vec<&'a str> {
        let mut apart = self.columns(Family::Apart);
        for method in &self.typed {
            if method.name.is_some_and(|method| method.treats() == Treats::Apart) {
                let named = method.columns.iter().flatten().map(|(name, _)| &**name);
                match method.columns {
                    Some(_) => apart.extend(named),
                    None if apart.is_empty() => apart = self.columns(Family::Values),
                    None => {}
                }
            }
        }
        apart.sort_unstable();
        apart.dedup();
        apart
    }

    /// Quasi columns that become cells of groups.
    fn coarse(&self) -> Vec<&'a str> {
        let apart = self.apart();
        let in_rows = self.columns(Family::Values);
        let grouped =
            self.has(Family::Cells) || in_rows.iter().any(|name| !apart.contains(name));
        if !grouped {
            return Vec::new();
        }
        let numbers = self.columns(Family::Numbers);
        let mut quasi = self.of_role(Role::Quasi);
        quasi.retain(|name| !numbers.contains(name));
        quasi
    }

    /// The promises of a family, of some of their columns. What they are about of quasi
    /// columns is the same for all.
    fn narrowed(
        &self,
        family: Family,
        wanted: impl Fn(&str) -> bool,
    ) -> Vec<PromiseSpec> {
        let own = self.promises.iter().filter(|(_, known, _)| *known == family);
        let own = own.filter(|(_, _, columns)| columns.iter().any(|name| wanted(name)));
        let spot = |name: &str| self.spec.column(name).map(|column| column.spot);
        own.map(|(typed, _, columns)| {
            let named = columns.iter().filter(|name| wanted(name));
            let named = named
                .map(|name| ((*name).to_owned(), spot(name).unwrap_or(typed.spot)));
            let columns = (family == Family::Values).then(|| named.collect());
            PromiseSpec { columns, ..(*typed).clone() }
        })
        .collect()
    }

    /// What is to be done, in the order of work: cells first, because the company of numbers
    /// is counted within them.
    fn wanted(&self) -> Vec<Wanted<'a>> {
        let mut all = Vec::new();
        let (apart, coarse) = (self.apart(), self.coarse());
        let in_rows = |name: &str| !apart.contains(&name);
        let quasi = self.of_role(Role::Quasi);
        if !coarse.is_empty() {
            let mut promises = self.narrowed(Family::Cells, |_| true);
            promises.extend(self.narrowed(Family::Values, in_rows));
            let mut columns = coarse.clone();
            let values = self.columns(Family::Values);
            columns.extend(values.into_iter().filter(|name| in_rows(name)));
            let treats = Treats::Cells;
            all.push(Wanted { treats, columns, known: Vec::new(), promises });
        }
        if self.has(Family::Numbers) {
            // Without groups of cells, other quasi columns are kept, and only people who
            // share them are company.
            let columns = match coarse.is_empty() {
                true => quasi.clone(),
                false => self.columns(Family::Numbers),
            };
            let promises = self.narrowed(Family::Numbers, |_| true);
            let (treats, known) = (Treats::Numbers, coarse.clone());
            all.push(Wanted { treats, columns, known, promises });
        }
        for (typed, family, columns) in &self.promises {
            if *family == Family::Draws {
                let promises = vec![PromiseSpec { columns: None, ..(*typed).clone() }];
                let (treats, columns) = (Treats::Draws, columns.clone());
                all.push(Wanted { treats, columns, known: Vec::new(), promises });
            }
        }
        // Who shares a group is published, so groups must not follow from values that are
        // not: they would tell which row of a cell is whose.
        let numbers = self.columns(Family::Numbers);
        let mut known = quasi;
        known.retain(|name| !coarse.contains(name) && !numbers.contains(name));
        for column in &apart {
            let own = |name: &str| name == *column;
            let mut promises = self.narrowed(Family::Apart, own);
            promises.extend(self.narrowed(Family::Values, own));
            let (treats, columns) = (Treats::Apart, vec![*column]);
            all.push(Wanted { treats, columns, known: known.clone(), promises });
        }
        all
    }

    fn parts(&self) -> Result<Vec<Part>> {
        let wanted = self.wanted();
        let mut methods_of: Vec<Option<&MethodSpec>> = vec![None; wanted.len()];
        for method in &self.typed {
            for place in self.places(method, &wanted)? {
                if methods_of[place].replace(method).is_some() {
                    let error = Error::recipe("two methods are for the same columns");
                    let hint = "give each its `columns`, or leave one out";
                    return Err(self.error_of(method, error.with_hint(hint)));
                }
            }
        }
        let both = wanted.into_iter().zip(methods_of);
        both.map(|(wanted, method)| self.part(wanted, method)).collect()
    }

    fn error_of(&self, method: &MethodSpec, error: Error) -> Error {
        let spot = method.spot.unwrap_or(self.spec.input.table_spot);
        self.spec.error_at(spot, error)
    }

    /// A part as a recipe of its own.
    fn part(&self, wanted: Wanted<'a>, method: Option<&MethodSpec>) -> Result<Part> {
        let Wanted { columns, known, promises, treats } = wanted;
        let mut spec = self.spec.clone();
        let (coarse, numbers) = (self.coarse(), self.columns(Family::Numbers));
        let beside = spec.columns.iter().map(|column| {
            let name = column.name.as_str();
            let changed = coarse.contains(&name) || numbers.contains(&name);
            (column.clone(), !changed)
        });
        spec.beside = beside.collect();
        spec.columns.retain(|column| match column.role {
            Role::Quasi | Role::Sensitive => {
                columns.contains(&&*column.name) || known.contains(&&*column.name)
            }
            Role::Other => false,
            Role::Identifier | Role::Drop => true,
        });
        let mut beside = std::mem::take(&mut spec.beside);
        beside.retain(|(column, _)| spec.column(&column.name).is_none());
        spec.beside = beside;
        if treats == Treats::Numbers {
            // What is kept is told apart by its texts.
            let numbers = self.columns(Family::Numbers);
            for column in &mut spec.columns {
                if !numbers.contains(&&*column.name) {
                    column.kind = Some(Kind::Category);
                    column.format = None;
                    (column.hierarchy, column.domain) = (None, None);
                    (column.lowest, column.highest, column.weight) = (None, None, None);
                }
            }
        }
        spec.promises = promises;
        spec.method =
            MethodSpec { columns: None, ..method.cloned().unwrap_or_default() };
        spec.more_methods = Vec::new();
        let counts_people = spec.promises.iter().any(|typed| {
            matches!(typed.kind.promise().about(), About::Groups(p) if p.needs_population())
        });
        if !counts_people {
            spec.input.population = None;
            spec.input.population_spot = None;
            spec.input.key = Vec::new();
        }
        let mut methods = methods(&spec)?;
        methods.retain(|method| method.treats() == treats);
        let columns = columns.into_iter().map(str::to_owned).collect();
        let is_one_of_several = treats == Treats::Apart && self.apart().len() > 1;
        Ok(Part { spec, methods, columns, is_one_of_several })
    }
}
