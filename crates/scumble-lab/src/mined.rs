//! What is still learned from a release: rules of tables drawn from it.

use scumble::error::{Error, Result};
use scumble::estimate::{CodeTable, Distribution, Mining, Rules, UncertainGroup, draw};
use scumble::hierarchy::Microdata;
use scumble::method::Grouping;
use scumble::table::{Census, Code, GroupId, Of, TupleId};

use crate::adult::age_class;

/// The columns that rules are about, besides the class: all quasi columns but those in
/// which nearly everybody has the same value, as `nergiz2007pdf` says.
pub(crate) const LEFT_OUT: [&str; 3] = ["workclass", "race", "native-country"];

/// As many tables are drawn as the source draws.
const DRAWS: u64 = 5;

/// A cell as values and weights.
pub(crate) type WeightedCell = Vec<(u32, f64)>;

/// Compares tables drawn from releases with the original.
pub(crate) struct Miner {
    /// The places of the mined quasi columns.
    places: Vec<usize>,
    /// For each of them the code that a code is mined as: that of its age class, or itself.
    mined_as: Vec<Vec<u32>>,
    original: [Rules; 2],
}

/// How far rules are from the original's, on average over draws.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Errors {
    pub(crate) association: f64,
    pub(crate) class: f64,
}

impl Miner {
    /// Mines the original, whose one sensitive column is the class.
    pub(crate) fn new(data: &Microdata) -> Result<Self> {
        let columns = data.quasi.iter().enumerate();
        let (places, mined_as) = columns
            .filter(|(_, column)| !LEFT_OUT.contains(&column.name.as_str()))
            .map(|(place, column)| {
                let texts = (0..).zip(column.domain.texts().iter().map(|text| &**text));
                let code = |(code, text): (u32, &str)| match text.parse() {
                    Ok(age) if column.name == "age" => age_class(age) as u32,
                    _ => code,
                };
                (place, texts.map(code).collect())
            })
            .unzip();
        let mut miner = Self { places, mined_as, original: Default::default() };
        miner.original = miner.rules(&miner.original_table(data)?)?;
        Ok(miner)
    }

    /// How many association and class rules the original has.
    pub(crate) fn n_rules(&self) -> [usize; 2] {
        [self.original[0].len(), self.original[1].len()]
    }

    /// The groups of a release with the cells of the mined columns. `cell` says what is
    /// published for a group and a quasi column.
    pub(crate) fn groups(
        &self,
        data: &Microdata,
        grouping: &Grouping,
        cell: impl Fn(GroupId, usize) -> WeightedCell,
    ) -> Result<Vec<UncertainGroup>> {
        let census = &data.census;
        let mut classes: Of<GroupId, Vec<u32>> =
            Of::repeat(Vec::new(), grouping.covers.len());
        for (tuple, group) in grouping.group_of.pairs() {
            let Some(group) = group else { continue };
            classes[*group].extend(classes_of(census, tuple));
        }
        let mut groups = Vec::new();
        for (group, classes) in classes.ids().zip(classes) {
            if classes.is_empty() {
                continue;
            }
            let cells = self.places.iter();
            let cells = cells.map(|place| Distribution::new(&cell(group, *place)));
            groups.push(UncertainGroup {
                rows: classes.len(),
                cells: cells.collect::<Result<_>>()?,
                kept: vec![classes],
            });
        }
        Ok(groups)
    }

    /// Draws tables and compares their rules with the original's.
    pub(crate) fn errors(&self, groups: &[UncertainGroup]) -> Result<Errors> {
        let mut sums = [0.0; 2];
        for seed in 1..=DRAWS {
            let drawn = self.rules(&draw(groups, seed)?)?;
            for (sum, (original, drawn)) in
                sums.iter_mut().zip(self.original.iter().zip(&drawn))
            {
                *sum += Mining::usual().error(original, drawn);
            }
        }
        let [association, class] = sums.map(|sum| sum / DRAWS as f64);
        Ok(Errors { association, class })
    }

    /// Association rules, and class rules.
    fn rules(&self, table: &CodeTable) -> Result<[Rules; 2]> {
        let class = self.places.len();
        let mut columns = table.columns().to_vec();
        for (column, mined_as) in columns.iter_mut().zip(&self.mined_as) {
            for code in column {
                *code = mined_as[*code as usize];
            }
        }
        let table = CodeTable::new(columns)?;
        let usual = Mining::usual();
        Ok([usual.rules(&table), usual.of_class(class).rules(&table)])
    }

    /// The rows of the original, mined columns and class.
    fn original_table(&self, data: &Microdata) -> Result<CodeTable> {
        let census = &data.census;
        if census.sensitive.len() != 1 {
            return Err(Error::input(
                "rules are mined from tables with one class column",
            ));
        }
        let mut columns = vec![Vec::new(); self.places.len() + 1];
        for tuple in census.tuples() {
            for class in classes_of(census, tuple) {
                let codes = self.places.iter();
                let codes = codes.map(|place| census.quasi[*place][tuple].get());
                for (column, code) in columns.iter_mut().zip(codes.chain([class])) {
                    column.push(code);
                }
            }
        }
        CodeTable::new(columns)
    }
}

/// The class of every row that has a tuple.
fn classes_of(census: &Census, tuple: TupleId) -> impl Iterator<Item = u32> {
    census.entries_of(tuple).flat_map(|entry| {
        let class = census.sensitive[0][entry].get();
        std::iter::repeat_n(class, census.entries[entry] as usize)
    })
}

/// Every value as likely as any other.
pub(crate) fn even(codes: impl IntoIterator<Item = Code>) -> WeightedCell {
    codes.into_iter().map(|code| (code.get(), 1.0)).collect()
}
