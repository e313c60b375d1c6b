//! Which names are databases, and what may be said of them.

use std::path::Path;

use crate::error::{Error, Result};
use crate::table::options::ReadOptions;
use crate::table::packed::Origin;

/// A database, as a recipe names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::table) enum Database<'t> {
    /// `sqlite:clinic.db`: a file.
    Sqlite(&'t str),
    /// `postgres://host/database`: a server; the whole of what was typed.
    Postgres(&'t str),
}

impl<'t> Database<'t> {
    pub(in crate::table) fn of(typed: &'t str) -> Option<Self> {
        if let Some(path) = typed.strip_prefix("sqlite:") {
            return Some(Self::Sqlite(path));
        }
        let is_server = ["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| typed.starts_with(scheme));
        is_server.then_some(Self::Postgres(typed))
    }

    /// What messages call it: without user, password and options.
    pub(in crate::table) fn shown(self) -> String {
        match self {
            Self::Sqlite(path) => path.to_owned(),
            Self::Postgres(typed) => {
                let rest = typed.split_once("://").map_or("", |(_, rest)| rest);
                let rest = rest.split(['?', '#']).next().unwrap_or_default();
                // A password may have an `@` of its own.
                let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
                format!("postgres://{rest}")
            }
        }
    }

    pub(in crate::table) fn open(
        self,
        options: &ReadOptions,
    ) -> Result<Box<dyn Origin>> {
        match self {
            Self::Sqlite(path) => {
                options.check_only("an SQLite database", &["query"])?;
                sqlite(Path::new(path), options.query.as_deref())
            }
            Self::Postgres(typed) => {
                options.check_only("a PostgreSQL database", &["query", "password"])?;
                postgres(typed, options)
            }
        }
    }
}

/// What a table is called where everybody may read it: a database without who asks it.
pub fn public_name(typed: &str) -> String {
    match Database::of(typed) {
        Some(Database::Postgres(_)) => Database::Postgres(typed).shown(),
        _ => typed.to_owned(),
    }
}

/// Whether a name is a server's, so that there is no file of it.
pub fn is_server(typed: &str) -> bool {
    matches!(Database::of(typed), Some(Database::Postgres(_)))
}

#[cfg(feature = "sqlite")]
fn sqlite(path: &Path, query: Option<&str>) -> Result<Box<dyn Origin>> {
    Ok(Box::new(crate::table::packed::sqlite::Answer::open(path, query)?))
}

#[cfg(not(feature = "sqlite"))]
fn sqlite(_: &Path, _: Option<&str>) -> Result<Box<dyn Origin>> {
    Err(Error::input("this program was built without SQLite")
        .with_hint("build it with the feature `sqlite`"))
}

#[cfg(feature = "postgres")]
fn postgres(typed: &str, options: &ReadOptions) -> Result<Box<dyn Origin>> {
    Ok(Box::new(crate::table::packed::postgres::Answer::open(typed, options)?))
}

#[cfg(not(feature = "postgres"))]
fn postgres(_: &str, _: &ReadOptions) -> Result<Box<dyn Origin>> {
    Err(Error::input("this program was built without PostgreSQL")
        .with_hint("build it with the feature `postgres`"))
}

/// A query as one statement.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) fn statement(query: Option<&str>) -> Option<&str> {
    let query = query?.trim().trim_end_matches(';').trim_end();
    (!query.is_empty()).then_some(query)
}

/// What is said when nobody said what to ask.
#[cfg(any(feature = "sqlite", feature = "postgres"))]
pub(super) fn without_query(tables: &[String]) -> Error {
    let Some(first) = tables.first() else {
        return Error::input("the database has no tables");
    };
    let names: Vec<String> = tables.iter().map(|name| format!("`{name}`")).collect();
    Error::recipe("a database needs a `query`").with_hint(format!(
        "say `query = \"SELECT * FROM {first}\"`; the database has {}",
        names.join(", ")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_database_is_shown_without_who_asks_it() {
        for (typed, shown) in [
            (
                "postgres://anna:p@ss@db:5433/clinic?password=x",
                "postgres://db:5433/clinic",
            ),
            ("postgresql://db/clinic#x", "postgres://db/clinic"),
            ("postgres:///clinic?host=/run&user=anna", "postgres:///clinic"),
            ("sqlite:clinic.db", "clinic.db"),
        ] {
            assert_eq!(Database::of(typed).unwrap().shown(), shown);
        }
        assert_eq!(Database::of("postgres.csv"), None);
        assert_eq!(public_name("sqlite:a.db"), "sqlite:a.db");
        assert_eq!(public_name("postgres://u:p@h/d"), "postgres://h/d");
    }
}
