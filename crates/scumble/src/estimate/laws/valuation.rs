//! What a question makes of the columns it is about, each by what was done to it.

use crate::error::Result;
use crate::estimate::evidence::Nature;
use crate::estimate::evidence::cells::Meaning;
use crate::estimate::laws::effects::CountedColumn;
use crate::estimate::laws::moments::{no_numbers, numbers};
use crate::estimate::query::facets::Facet;
use crate::estimate::query::question::Question;
use crate::estimate::query::ranges::{ClassGrid, CutColumn};
use crate::estimate::query::{Measure, Truth};
use crate::table::Kind;

/// What is added up.
pub(crate) enum Added {
    /// Rows.
    Rows,
    /// The numbers of a column's values, by code.
    Numbers(usize, Vec<f64>),
    /// Those of the cells of a facet.
    Cells(usize),
    /// A number of the row itself, where rows have numbers one by one: that of a kept column,
    /// by code.
    OwnKept(usize, Vec<f64>),
    /// That of a cut column.
    OwnCut(usize),
}

/// A question, fitted to the columns of a release.
pub(crate) struct Valuation<'q, 'a> {
    pub(crate) question: &'q Question<'a>,
    /// Columns with cells that stand for several values.
    pub(crate) facets: Vec<Facet<'a>>,
    /// Columns of numbers that rows have one by one, cut into ranges.
    pub(crate) cuts: Vec<CutColumn>,
    pub(crate) grid: ClassGrid,
    /// The columns that stand apart.
    pub(crate) apart: Vec<ApartColumn>,
    pub(crate) added: Added,
    /// The column that is added up, if rows are sorted by its values.
    pub(crate) measured: Option<usize>,
    /// Whether rows of a group of people can differ in what is asked.
    pub(crate) varies: bool,
}

/// A column that stands apart, as a question sees it.
pub(crate) struct ApartColumn {
    pub(crate) place: usize,
    /// Values that the question treats alike have the same label.
    pub(crate) label_of: Vec<u32>,
    /// A value of each label.
    pub(crate) examples: Vec<u32>,
}

/// What is taken as given of a row: the cell of its numbers in the grid, and its values in the
/// columns that stand apart.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Given<'g> {
    pub(crate) cell: usize,
    pub(crate) codes: &'g [u32],
    /// Whether combinations are listed.
    pub(crate) lists: bool,
}

impl<'q, 'a> Valuation<'q, 'a> {
    pub(crate) fn new(question: &'q Question<'a>, measure: &Measure) -> Result<Self> {
        let evidence = question.evidence;
        let measured =
            measure.column().map(|name| evidence.column(name)).transpose()?;
        let places = question.asked(measured);
        let nature = |place: usize| evidence.columns[place].nature;
        let row_by_row =
            places.iter().any(|place| matches!(nature(*place), Nature::Number(_)));
        let (mut facets, mut cuts, mut apart) = (Vec::new(), Vec::new(), Vec::new());
        let mut added = Added::Rows;
        for place in &places {
            let (place, column) = (*place, &evidence.columns[*place]);
            let own = measured == Some(place);
            if let Some(number) = column.within.filter(|_| own || question.splits) {
                if own {
                    added = Added::Cells(facets.len());
                }
                facets.push(facet(question, place, number, own, measure)?);
                continue;
            }
            match column.nature {
                Nature::Kept if own && row_by_row => {
                    added = Added::OwnKept(place, numbers(column, measure)?);
                }
                Nature::Kept | Nature::Drawn(..) | Nature::Apart if own => {
                    added = Added::Numbers(place, numbers(column, measure)?);
                }
                Nature::Kept | Nature::Drawn(..) | Nature::Apart => {}
                Nature::Number(number) => {
                    if own {
                        added = Added::OwnCut(cuts.len());
                    }
                    let tests = question.tests_of(place).into_iter();
                    let tests = tests.map(|test| (test, &question.checks[test]));
                    let (lattice, tests) = (evidence.lattice(number), tests.collect());
                    cuts.push(CutColumn::new(number, lattice, &column.reading, tests));
                }
                Nature::Coarse(number) => {
                    if own {
                        added = Added::Cells(facets.len());
                    }
                    facets.push(facet(question, place, number, own, measure)?);
                }
            }
        }
        for place in places.iter().filter(|place| nature(**place) == Nature::Apart) {
            let n_codes = evidence.columns[*place].texts.len();
            let (label_of, examples) = match measured == Some(*place) {
                true => ((0..n_codes as u32).collect(), (0..n_codes as u32).collect()),
                false => question.labels(*place, n_codes),
            };
            apart.push(ApartColumn { place: *place, label_of, examples });
        }
        let varies = places.iter().any(|place| !evidence.columns[*place].shared);
        let grid = ClassGrid::new(&cuts)?;
        let measured = measured.filter(|_| !matches!(added, Added::OwnKept(..)));
        Ok(Self { question, facets, cuts, grid, apart, added, measured, varies })
    }

    /// What a value that is counted apart is called.
    pub(crate) fn name(&self, place: usize, code: u32) -> String {
        match self.facets.iter().find(|facet| facet.place == place) {
            Some(facet) if !facet.names.is_empty() => {
                facet.names[code as usize].clone()
            }
            _ => self.question.evidence.columns[place].text(code),
        }
    }

    /// The truth of each test of a row, but those of facets and drawn columns.
    pub(crate) fn truths(&self, entry: usize, given: Given<'_>) -> Vec<Truth> {
        let mut truths = self.question.truths(entry);
        if !self.cuts.is_empty() {
            for (cut, class) in self.cuts.iter().zip(self.grid.classes(given.cell)) {
                for (test, truth) in cut.tests.iter().zip(&cut.truths[class]) {
                    truths[*test] = *truth;
                }
            }
        }
        for (apart, code) in self.apart.iter().zip(given.codes) {
            for (truth, (place, known)) in truths.iter_mut().zip(&self.question.tests) {
                if *place == apart.place {
                    *truth = known[*code as usize];
                }
            }
        }
        truths
    }

    /// Whether counted weights are the only thing that columns asked about share: then it is
    /// known how often each value occurs (`effects.rs`). Beside other laws cells are taken
    /// as independent.
    fn deals(&self) -> bool {
        self.question.noises.is_empty() && self.apart.is_empty() && self.cuts.is_empty()
    }

    /// The group of a row, if the values of some column asked about are counted in it.
    pub(crate) fn group(&self, entry: usize) -> Option<usize> {
        let code = |facet: &Facet| {
            let code =
                self.question.evidence.columns[facet.place].codes[entry] as usize;
            facet.cells.counted[code].then_some(code)
        };
        self.facets.iter().find_map(code).filter(|_| self.deals())
    }

    /// The columns whose values are counted in a group.
    pub(crate) fn counted(&self, group: usize) -> Vec<CountedColumn<'_>> {
        let counted =
            self.facets.iter().enumerate().filter(|(_, f)| f.cells.counted[group]);
        let counted = counted.map(|(number, facet)| CountedColumn {
            odds: facet.odds[group].as_deref().unwrap_or_default(),
            added: matches!(self.added, Added::Cells(own) if own == number),
        });
        counted.collect()
    }

    /// How many rows each group has.
    pub(crate) fn sizes(&self) -> Vec<f64> {
        let evidence = self.question.evidence;
        let Some(facet) = self.facets.iter().find(|f| f.cells.counted.contains(&true))
        else {
            return Vec::new();
        };
        let mut sizes = vec![0.0; facet.cells.counted.len()];
        for (code, rows) in
            evidence.columns[facet.place].codes.iter().zip(&evidence.rows)
        {
            sizes[*code as usize] += *rows as f64;
        }
        sizes
    }
}

/// How a question sees the cells of a column.
fn facet<'a>(
    question: &Question<'a>,
    place: usize,
    number: usize,
    own: bool,
    measure: &Measure,
) -> Result<Facet<'a>> {
    let (column, cells) =
        (&question.evidence.columns[place], &question.evidence.cells[number]);
    let of_values = match own {
        true if cells.lattice.is_none() => Some(numbers(column, measure)?),
        true if column.reading.kind == Kind::Date => {
            return Err(no_numbers(&column.name, measure));
        }
        _ => None,
    };
    let facet = Facet::new(question, place, cells, of_values)?;
    // Which values an open cell has decides about sums, too.
    let open = |code: &&u32| {
        let code = **code as usize;
        facet.odds[code].is_none() || own && cells.meanings[code] == Meaning::Open
    };
    match column.codes.iter().find(open) {
        Some(code) => Err(facet.open(question, *code)),
        None => Ok(facet),
    }
}
