//! How a table is read, where that is said on the command line.

use std::path::PathBuf;

use clap::Args;
use scumble::error::Result;
use scumble::table::{Inputs, Notation, ReadOptions, check_encoding};

/// How the table is read; the keys of `[input]` in a recipe.
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading tables")]
pub(crate) struct TableArgs {
    /// What stands between cells, if it is not found out: one character, or `tab`.
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    pub(crate) delimiter: Option<u8>,
    /// The encoding of a text file that is not UTF-8, as `windows-1252`.
    #[arg(long, value_name = "NAME")]
    encoding: Option<String>,
    /// What stands before decimals in a text file, if not a point.
    #[arg(long, value_name = "CHAR")]
    decimal: Option<String>,
    /// What stands between thousands in a text file.
    #[arg(long, value_name = "CHAR")]
    thousands: Option<String>,
    /// The sheet of a workbook.
    #[arg(long, value_name = "NAME")]
    sheet: Option<String>,
    /// What to ask a database: one SELECT.
    #[arg(long, value_name = "SQL")]
    query: Option<String>,
    /// The file that has the password for a PostgreSQL database.
    #[arg(long, value_name = "FILE")]
    password_file: Option<PathBuf>,
}

impl TableArgs {
    /// What was said.
    pub(crate) fn options(&self) -> Result<ReadOptions> {
        if let Some(name) = &self.encoding {
            check_encoding(name)?;
        }
        let notation =
            Notation::new(self.decimal.as_deref(), self.thousands.as_deref())?;
        let password = self.password_file.as_ref().map(|path| {
            Inputs::in_folder("".as_ref()).password(&path.display().to_string())
        });
        Ok(ReadOptions {
            delimiter: self.delimiter,
            encoding: self.encoding.clone(),
            notation,
            sheet: self.sheet.clone(),
            query: self.query.clone(),
            password: password.transpose()?,
            ..ReadOptions::default()
        })
    }

    /// The same as keys of a recipe, without the delimiter.
    pub(crate) fn keys(&self) -> Vec<(String, String)> {
        let password =
            self.password_file.as_ref().map(|path| path.display().to_string());
        let said = [
            ("encoding", &self.encoding),
            ("decimal", &self.decimal),
            ("thousands", &self.thousands),
            ("sheet", &self.sheet),
            ("query", &self.query),
            ("password-file", &password),
        ];
        let said =
            said.into_iter().filter_map(|(key, text)| Some((key, text.clone()?)));
        said.map(|(key, text)| (key.to_owned(), text)).collect()
    }
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
        _ => Err("wanted one ASCII character, or `tab`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::delimiter;

    #[test]
    fn delimiters_are_one_character() {
        assert_eq!((delimiter(";"), delimiter("tab")), (Ok(b';'), Ok(b'\t')));
        assert!(delimiter("ab").is_err() && delimiter("\"").is_err());
    }
}
