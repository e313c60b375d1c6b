//! Which column is cut first, and where.
//! They decide what a release costs, not what it keeps.

/// In which order columns are tried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ColumnChoice {
    /// The widest first, relative to the whole column.
    #[default]
    Widest,
    /// In turn, beginning after the one that was cut last.
    Next,
    /// Always in the order of the recipe.
    Priority,
    /// The one with the most different values first.
    Best,
}

/// Which of the allowed cuts of a column is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ValueChoice {
    /// The one with the most equal numbers of people: those of the population, or else of
    /// rows.
    #[default]
    Balanced,
    /// The first that is allowed.
    First,
    /// The one with the most equal numbers of different values.
    BalancedValues,
}

impl ColumnChoice {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Widest, Self::Next, Self::Priority, Self::Best];

    /// Its name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Widest => "widest",
            Self::Next => "next",
            Self::Priority => "priority",
            Self::Best => "best",
        }
    }
}

impl ValueChoice {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Balanced, Self::First, Self::BalancedValues];

    /// Its name in recipes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Balanced => "balanced",
            Self::First => "first",
            Self::BalancedValues => "balanced-values",
        }
    }
}
