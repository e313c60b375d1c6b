//! What is taken for granted where a release leaves values open.

use std::sync::OnceLock;

use crate::error::Result;
use crate::estimate::evidence::{Evidence, Nature};
use crate::estimate::learn::latent::Learned;
use crate::estimate::query::Query;
use crate::estimate::query::question::Question;
use crate::watch::{Unwatched, Watch, Watched};

/// What is taken for granted where a release leaves values open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// Every value that a cell or a blur can stand for is as likely, and columns are
    /// independent.
    Even,
    /// Rows are of classes that all rows of the release teach, and columns are independent
    /// within a class.
    Learned,
}

impl Model {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Learned => "learned",
        }
    }
}

impl Evidence {
    /// What is taken for granted unless somebody asks for something else: even, unless the
    /// publisher measured what was learned.
    pub(in crate::estimate) fn own_model(&self) -> Model {
        match &self.calibration {
            Some(calibration) if calibration.learned => Model::Learned,
            _ => Model::Even,
        }
    }

    /// The same release, with something else taken for granted.
    #[must_use]
    pub fn with_model(mut self, model: Model) -> Self {
        self.model = model;
        if model == Model::Even {
            // Nor is anything learned of arrangements within groups.
            for groups in &mut self.groups {
                groups.taught = OnceLock::from(None);
            }
        }
        self
    }

    /// What the answer to a question takes for granted.
    pub fn model_of(&self, query: &Query) -> Result<Model> {
        let question = Question::new(self, Watched::from(query))?;
        let places = question.places(&query.measure)?;
        let learned = self.learned_for(&question, &places, &Unwatched)?;
        Ok(if learned.is_some() { Model::Learned } else { Model::Even })
    }

    /// Whether a question about columns at these places may be answered by what was learned:
    /// it is about a learned column, and about none whose noise is undone, whose numbers were
    /// turned or drawn anew, whose values are arranged within groups, or whose weights are
    /// counts.
    pub(in crate::estimate) fn learned_for(
        &self,
        question: &Question<'_>,
        places: &[usize],
        watch: &dyn Watch,
    ) -> Result<Option<&Learned>> {
        let nature = |place: &usize| self.columns[*place].nature;
        let beside = |place: &usize| match nature(place) {
            Nature::Kept => true,
            Nature::Number(_) => self.is_learnable(*place),
            Nature::Coarse(number) => !self.cells[number].counted.contains(&true),
            Nature::Drawn(..) | Nature::Apart => false,
        };
        let fits = self.model == Model::Learned
            && question.noises.is_empty()
            && places.iter().any(|place| self.is_learnable(*place))
            && places.iter().all(beside);
        if fits { self.learned(watch) } else { Ok(None) }
    }
}
