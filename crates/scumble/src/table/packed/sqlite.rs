//! Tables in SQLite databases: what one `SELECT` finds.
//!
//! The database is opened for reading only, and one statement sees one state of it.

use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Statement};

use crate::error::{Error, ErrorKind, Result};
use crate::table::packed::query::{statement, without_query};
use crate::table::packed::{Origin, changed, write_row};
use crate::table::value::format_number;
use crate::watch::Watch;

/// So many rows are read between two looks at the watch.
const ROWS: u64 = 1 << 10;

/// What a database answers to a query.
pub(in crate::table) struct Answer {
    connection: Mutex<Connection>,
    query: String,
    header: Vec<String>,
    bytes: u64,
}

impl Answer {
    pub(in crate::table) fn open(path: &Path, query: Option<&str>) -> Result<Self> {
        let fail =
            |source| Error::new(ErrorKind::Io { action: "read the file", source });
        let bytes = std::fs::metadata(path).map_err(fail)?.len();
        // Without a URI, `?` and `#` in a name mean themselves.
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection =
            Connection::open_with_flags(path, flags).map_err(|error| told(&error))?;
        let Some(query) = statement(query) else {
            return Err(without_query(&tables(&connection)?));
        };
        let prepared = connection.prepare(query).map_err(|error| told(&error))?;
        let header = header(&prepared)?;
        drop(prepared);
        let connection = Mutex::new(connection);
        Ok(Self { connection, query: query.to_owned(), header, bytes })
    }

    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The columns of a statement that reads.
fn header(prepared: &Statement<'_>) -> Result<Vec<String>> {
    let header: Vec<String> = prepared.column_names().map(str::to_owned).collect();
    match prepared.readonly() && !header.is_empty() {
        true => Ok(header),
        false => Err(Error::recipe("`query` does not ask for a table")
            .with_hint("it must be one `SELECT`")),
    }
}

/// The names of the tables and views.
fn tables(connection: &Connection) -> Result<Vec<String>> {
    let names = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') \
                 AND name NOT LIKE 'sqlite_%' ORDER BY name";
    let read = || -> rusqlite::Result<Vec<String>> {
        connection.prepare(names)?.query_map([], |row| row.get(0))?.collect()
    };
    read().map_err(|error| told(&error))
}

impl Origin for Answer {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn delimiter(&self) -> Option<u8> {
        Some(b',')
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn pour(&self, out: &mut dyn Write, watch: &dyn Watch) -> Result<()> {
        let connection = self.connection();
        let fail = |error: rusqlite::Error| told(&error);
        // What is read first in a transaction decides which state of the database all of it
        // sees; what the columns are belongs to that.
        let snapshot = connection.unchecked_transaction().map_err(fail)?;
        let _ = tables(&snapshot)?;
        let mut prepared = snapshot.prepare(&self.query).map_err(fail)?;
        if header(&prepared)? != self.header {
            return Err(changed());
        }
        let mut out = csv::Writer::from_writer(out);
        write_row(&mut out, &self.header)?;
        let n_columns = self.header.len();
        let mut rows = prepared.query([]).map_err(fail)?;
        let mut number: u64 = 0;
        let mut cells: Vec<Vec<u8>> = vec![Vec::new(); n_columns];
        while let Some(row) = rows.next().map_err(fail)? {
            number += 1;
            for (column, cell) in cells.iter_mut().enumerate() {
                cell.clear();
                match row.get_ref(column).map_err(fail)? {
                    ValueRef::Null => {}
                    ValueRef::Integer(value) => {
                        cell.extend_from_slice(value.to_string().as_bytes());
                    }
                    ValueRef::Real(value) => {
                        cell.extend_from_slice(format_number(value).as_bytes());
                    }
                    ValueRef::Text(text) => cell.extend_from_slice(text),
                    ValueRef::Blob(_) => {
                        return Err(Error::input(format!(
                            "row {number}, column `{}` holds bytes that are no text",
                            self.header[column]
                        ))
                        .with_hint("leave the column out of `query`"));
                    }
                }
            }
            write_row(&mut out, &cells)?;
            if number.is_multiple_of(ROWS) {
                watch.check()?;
            }
        }
        watch.advance(self.bytes);
        out.flush().map_err(|source| {
            Error::new(ErrorKind::Io { action: "write a temporary file", source })
        })
    }
}

/// What SQLite says, without anything that is in the tables.
fn told(error: &rusqlite::Error) -> Error {
    let busy = "the database is locked by another program";
    match error {
        rusqlite::Error::SqlInputError { msg, .. } => {
            Error::recipe(format!("`query`: {msg}"))
        }
        rusqlite::Error::MultipleStatement => {
            Error::recipe("`query` has several statements")
                .with_hint("it must be one `SELECT`")
        }
        rusqlite::Error::SqliteFailure(failure, message) => match failure.code {
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Error::input(busy)
                .with_hint("wait until it has finished, or work on a copy"),
            ErrorCode::NotADatabase => {
                Error::input("this is not an SQLite database, or it is encrypted")
            }
            ErrorCode::DatabaseCorrupt => Error::input("the database is damaged"),
            ErrorCode::CannotOpen | ErrorCode::PermissionDenied => {
                Error::input("the database cannot be opened for reading")
            }
            // Of a statement that cannot be prepared; nothing was read yet.
            ErrorCode::Unknown if failure.extended_code == 1 => match message {
                Some(message) if message.starts_with("no such") => {
                    Error::recipe(format!("`query`: {message}"))
                }
                _ => Error::recipe("`query` cannot be answered"),
            },
            code => Error::input(format!("SQLite cannot answer `query`: {code:?}")),
        },
        _ => Error::input("SQLite cannot answer `query`"),
    }
}
