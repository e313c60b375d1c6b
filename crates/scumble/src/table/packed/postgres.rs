//! Tables in PostgreSQL databases: what one query finds, streamed by `COPY`.
//!
//! The session can only read, and one statement sees one state of the database. Messages of the
//! server may have values of tables, or who asked: they are passed on only where the query
//! itself is what they are about.

use std::io::{self, BufReader, Read, Write};
use std::str::FromStr;
use std::time::Duration;

use postgres::config::{Host, SslMode};
use postgres::error::SqlState;
use postgres::{Client, Config, NoTls};

use crate::error::{Error, ErrorKind, Result};
use crate::table::options::ReadOptions;
use crate::table::packed::query::{statement, without_query};
use crate::table::packed::{Origin, Told, changed};
use crate::watch::Watch;

/// Nobody waits longer for a server that does not answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// How values are written, and that nothing is.
const SESSION: &str = "SET default_transaction_read_only = on; SET client_encoding = 'UTF8'; \
     SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'iso_8601'; SET TimeZone = 'UTC'; \
     SET extra_float_digits = 1";

/// What a database answers to a query.
pub(in crate::table) struct Answer {
    config: Config,
    query: String,
    header: Vec<String>,
}

impl Answer {
    pub(in crate::table) fn open(typed: &str, options: &ReadOptions) -> Result<Self> {
        let config = config(typed, options)?;
        let mut client = connect(&config)?;
        let Some(query) = statement(options.query.as_deref()) else {
            return Err(without_query(&tables(&mut client)?));
        };
        let header = header(&mut client, query)?;
        Ok(Self { config, query: query.to_owned(), header })
    }
}

/// Whom to ask.
fn config(typed: &str, options: &ReadOptions) -> Result<Config> {
    // The parser would show what it cannot read.
    let mut config = Config::from_str(typed).map_err(|_| {
        Error::recipe("this is no valid address of a PostgreSQL database")
            .with_hint("as in \"postgres://user@host:5432/database\"; special characters are written `%40`")
    })?;
    if let Some(password) = &options.password {
        config.password(&password.0);
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(PATIENCE);
    }
    let is_here = |host: &Host| match host {
        Host::Tcp(name) => {
            matches!(&**name, "localhost" | "::1") || name.starts_with("127.")
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    let is_open = !config.get_hosts().iter().all(is_here);
    match config.get_ssl_mode() {
        SslMode::Disable => Ok(config),
        SslMode::Require => Err(Error::recipe("encrypted connections are not served")
            .with_hint("use a tunnel (`ssh -L`) and `localhost`")),
        _ if is_open => Err(Error::recipe(
            "the connection would not be encrypted, and the server is another computer",
        )
        .with_hint(
            "use a tunnel (`ssh -L`) and `localhost`; or add `?sslmode=disable` to the address \
             if the network is safe",
        )),
        _ => Ok(config),
    }
}

fn connect(config: &Config) -> Result<Client> {
    let mut client = config.connect(NoTls).map_err(|error| unreachable(&error))?;
    client.batch_execute(SESSION).map_err(|error| told(&error))?;
    Ok(client)
}

fn tables(client: &mut Client) -> Result<Vec<String>> {
    let names = "SELECT format('%I.%I', table_schema, table_name) \
                 FROM information_schema.tables \
                 WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1";
    let rows = client.query(names, &[]).map_err(|error| told(&error))?;
    Ok(rows.iter().filter_map(|row| row.try_get(0).ok()).collect())
}

fn header(client: &mut Client, query: &str) -> Result<Vec<String>> {
    let prepared = client.prepare(query).map_err(|error| told(&error))?;
    let columns = prepared.columns().iter();
    let header: Vec<String> = columns.map(|column| column.name().to_owned()).collect();
    match header.is_empty() {
        false => Ok(header),
        true => Err(Error::recipe("`query` does not ask for a table")
            .with_hint("it must be one `SELECT`")),
    }
}

impl Origin for Answer {
    /// Nobody knows before the answer is there.
    fn bytes(&self) -> u64 {
        0
    }

    fn delimiter(&self) -> Option<u8> {
        Some(b',')
    }

    fn header(&self) -> &[String] {
        &self.header
    }

    fn pour(&self, out: &mut dyn Write, watch: &dyn Watch) -> Result<()> {
        let mut client = connect(&self.config)?;
        if header(&mut client, &self.query)? != self.header {
            return Err(changed());
        }
        let query = match &*self.header {
            // A row whose only cell is null would be a blank line, which is no row.
            [only] => {
                let only = only.replace('"', "\"\"");
                format!(
                    "SELECT coalesce(\"{only}\"::text, '') AS \"{only}\" FROM ({}\n) AS answer",
                    self.query
                )
            }
            _ => self.query.clone(),
        };
        let copy = format!("COPY ({query}\n) TO STDOUT (FORMAT csv, HEADER true)");
        let reader = client.copy_out(&copy).map_err(|error| told(&error))?;
        let mut reader = BufReader::new(Told { reader, watch });
        let mut buffer = vec![0; 1 << 16];
        loop {
            let read = reader.read(&mut buffer).map_err(|error| {
                match watch.is_cancelled() {
                    true => Error::new(ErrorKind::Cancelled),
                    false => interrupted(error),
                }
            })?;
            if read == 0 {
                return Ok(());
            }
            out.write_all(&buffer[..read]).map_err(|source| {
                Error::new(ErrorKind::Io { action: "write a temporary file", source })
            })?;
        }
    }
}

/// Why there is no connection.
fn unreachable(error: &postgres::Error) -> Error {
    match error.code() {
        Some(code)
            if [
                SqlState::INVALID_PASSWORD,
                SqlState::INVALID_AUTHORIZATION_SPECIFICATION,
            ]
            .contains(code) =>
        {
            Error::input("the database does not accept user and password")
        }
        Some(code) if *code == SqlState::INVALID_CATALOG_NAME => {
            Error::input("the server has no database of this name")
        }
        Some(code) if *code == SqlState::TOO_MANY_CONNECTIONS => {
            Error::input("the server has too many connections")
        }
        Some(code) => {
            Error::input(format!("the server refuses (SQLSTATE {})", code.code()))
        }
        None if says(error, "password missing") => {
            Error::input("the database asks for a password")
                .with_hint("name a file that has it: `password-file = \"...\"`")
        }
        None => Error::input("the database cannot be reached")
            .with_hint("is the server running, and are host and port right?"),
    }
}

/// What the server says of a query, without values of its tables.
fn told(error: &postgres::Error) -> Error {
    let Some(said) = error.as_db_error() else {
        return Error::input("the connection to the database broke off");
    };
    let code = said.code();
    // Class 42: the query is wrong as it stands, whatever is in the tables.
    let is_about_query = code.code().starts_with("42");
    match is_about_query {
        true if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
            Error::input("the user may not read what `query` asks for")
        }
        true => Error::recipe(format!("`query`: {}", said.message())),
        false if *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
            Error::recipe("`query` would change the database")
                .with_hint("it must be one `SELECT`")
        }
        false => Error::input(format!(
            "the database cannot answer `query` (SQLSTATE {})",
            code.code()
        )),
    }
}

/// Why an answer ended early.
fn interrupted(error: io::Error) -> Error {
    let inner = error.into_inner().and_then(|inner| inner.downcast().ok());
    inner.map_or_else(
        || Error::input("the connection to the database broke off"),
        |error: Box<postgres::Error>| told(&error),
    )
}

/// Whether an error, or what caused it, says so.
fn says(error: &postgres::Error, what: &str) -> bool {
    let first: &dyn std::error::Error = error;
    let mut causes = std::iter::successors(Some(first), |error| error.source());
    causes.any(|error| error.to_string().contains(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_connection_to_another_computer_is_refused() {
        let options = ReadOptions::default();
        let message = |typed| config(typed, &options).unwrap_err().to_string();
        assert_eq!(
            message("postgres://u:secret@db.example/clinic"),
            "the connection would not be encrypted, and the server is another computer"
        );
        assert_eq!(
            message("postgres://u:secret@localhost/c?sslmode=require"),
            "encrypted connections are not served"
        );
        assert_eq!(
            message("postgres://u:secret@localhost:x/c"),
            "this is no valid address of a PostgreSQL database"
        );
        for typed in [
            "postgres://u@localhost/c",
            "postgres://u@127.0.0.1:5433/c",
            "postgres://u@db.example/c?sslmode=disable",
            "postgres:///c?host=/run/postgresql",
        ] {
            assert!(config(typed, &options).is_ok(), "{typed}");
        }
    }
}
