//! What a file holds, by its name and its first bytes.

use std::path::Path;

use crate::table::packed::workbook::is_workbook;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    /// Cells with something between them, perhaps compressed.
    Text,
    /// Parquet.
    Parquet,
    /// Arrow IPC.
    Arrow,
    /// A workbook of a spreadsheet.
    Workbook,
    /// A database, which is not named as a file is.
    Sqlite,
}

impl FileKind {
    /// Told by the ending of the file's name; and by its first bytes, if they cannot be text or
    /// the ending says nothing.
    pub(super) fn of(ending: &str, head: &[u8]) -> Self {
        match ending {
            "parquet" => Self::Parquet,
            "arrow" | "feather" | "ipc" => Self::Arrow,
            "xlsx" | "xlsm" | "xls" => Self::Workbook,
            _ if is_workbook(head) => Self::Workbook,
            "csv" | "tsv" | "txt" => Self::Text,
            _ if head.starts_with(b"PAR1") => Self::Parquet,
            _ if head.starts_with(b"ARROW1") => Self::Arrow,
            _ if head.starts_with(b"SQLite format 3\0") => Self::Sqlite,
            _ => Self::Text,
        }
    }

    /// What messages call it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Text => "a text file",
            Self::Parquet => "a Parquet file",
            Self::Arrow => "an Arrow file",
            Self::Workbook => "a workbook",
            Self::Sqlite => "an SQLite database",
        }
    }
}

/// The name of a file without its folder, in small letters.
pub(super) fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_what_its_name_says_unless_it_cannot_be() {
        for (ending, head, expected) in [
            ("csv", &b"PAR1,x"[..], FileKind::Text),
            ("csv", b"PK\x03\x04", FileKind::Workbook),
            ("", b"PAR1", FileKind::Parquet),
            ("dat", b"ARROW1\0\0", FileKind::Arrow),
            ("db", b"SQLite format 3\0", FileKind::Sqlite),
            ("xls", b"\xd0\xcf\x11\xe0", FileKind::Workbook),
            ("feather", b"x,y\n", FileKind::Arrow),
            ("", b"x,y\n", FileKind::Text),
        ] {
            assert_eq!(FileKind::of(ending, head), expected, "{ending}");
        }
        assert_eq!(file_name(Path::new("a/Visits.CSV.gz")), "visits.csv.gz");
    }
}
