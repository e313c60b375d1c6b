//! Public domains of columns: found, held against the table, and published.

use crate::error::Result;
use crate::recipe::{ColumnSpec, DomainSpec, Spec};
use crate::release::{PublishedColumn, Treatment};
use crate::table::{Inputs, Kind, PublicDomain, Reading, Role, Source, left_domain};
use crate::watch::Watch;

/// The domains that a recipe says of its columns.
#[derive(Debug, Default)]
pub(super) struct Domains(Vec<Said>);

/// What is said of a column.
#[derive(Debug)]
struct Said {
    column: String,
    role: Role,
    domain: PublicDomain,
    reading: Reading,
}

impl Domains {
    /// Finds the domains of a recipe, and checks each against what else is said of its column.
    pub(super) fn read(spec: &Spec, inputs: &Inputs) -> Result<Self> {
        let mut found = Vec::new();
        for column in &spec.columns {
            let Some(typed) = &column.domain else { continue };
            let at = |error| spec.error_at(spot(column), error);
            let domain = typed.found(|path| inputs.text(path)).map_err(at)?;
            let reading = Reading {
                kind: column.said_kind().unwrap_or(Kind::Category),
                missing: spec.input.missing.clone(),
                date_format: column.format.clone(),
            };
            domain.check(&reading).map_err(at)?;
            let (column, role) = (column.name.clone(), column.role);
            found.push(Said { column, role, domain, reading });
        }
        Ok(Self(found))
    }

    /// The domain of a column, if one is said.
    pub(super) fn of(&self, name: &str) -> Option<&PublicDomain> {
        self.said(name).map(|said| &said.domain)
    }

    fn said(&self, name: &str) -> Option<&Said> {
        self.0.iter().find(|said| said.column == name)
    }

    /// Checks that a table keeps to the domains of the columns that are meant; of the
    /// population, of quasi columns. One pass over each.
    pub(super) fn check(
        &self,
        spec: &Spec,
        (source, population): (&Source, Option<&Source>),
        is_meant: impl Fn(&str) -> bool,
        watch: &dyn Watch,
    ) -> Result<()> {
        let tables = [(Some(source), false), (population, true)];
        for (source, is_population) in tables {
            let Some(source) = source else { continue };
            let own = self.0.iter().filter(|said| is_meant(&said.column));
            let own = own.filter(|said| !is_population || said.role == Role::Quasi);
            let columns: Vec<(&str, &PublicDomain, &Reading)> =
                own.map(|said| (&*said.column, &said.domain, &said.reading)).collect();
            if let Some((place, error)) = left_domain(source, &columns, watch)? {
                let error = match is_population {
                    true => error.with_hint("these are rows of the population"),
                    false => error,
                };
                let column = spec.column(columns[place].0);
                return Err(match column {
                    Some(column) => spec.error_at(spot(column), error),
                    None => error,
                });
            }
        }
        Ok(())
    }

    /// Says in the manifest what the domain of a column is. Noise has a domain anyway.
    pub(super) fn published(&self, mut column: PublishedColumn) -> PublishedColumn {
        let Some(said) = self.said(&column.name) else { return column };
        if column.treatment == Treatment::Kept && column.role == Role::Other {
            column.kind = said.reading.kind;
            column.date_format = said.reading.date_format.clone();
        }
        // What is told apart by its texts has none of two numbers.
        if column.domain.is_none() && said.domain.check(&column.reading()).is_ok() {
            column.domain = Some(said.domain.clone());
        }
        column
    }
}

/// Where a mistake in the domain of a column is.
fn spot(column: &ColumnSpec) -> crate::recipe::Spot {
    column.domain_spot.unwrap_or(column.spot)
}

impl DomainSpec {
    /// From where to where numbers go, if that is said.
    pub(super) fn numbers(&self) -> Option<[f64; 2]> {
        match self {
            Self::Given(PublicDomain::Numbers(ends)) => Some(*ends),
            Self::Given(PublicDomain::Words(_)) | Self::Csv(_) => None,
        }
    }
}
