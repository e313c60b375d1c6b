//! Rows in an order that tells nothing: each gets a random key, and they are written in the
//! order of their keys.
//!
//! Rows are laid into portions by the first bits of their keys, and each portion is sorted
//! on its own. Small tables stay in memory; large ones wait in files without a name.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::release::sink::Sink;
use crate::watch::Watch;

/// Up to about this many bytes of a table stay in memory.
const IN_MEMORY: u64 = 1 << 30;

/// A portion in memory: small enough for a processor's cache, unless there would be more of
/// them than it can write to at once.
const SMALL: u64 = 256 << 10;
const MOST_SMALL: u32 = 7;

/// A portion in a file.
const LARGE: u64 = 64 << 20;

/// A worker hands on what it has for a portion in a file when it is this large.
const HAND_ON: usize = 256 << 10;

/// How many portions are sorted at once before they are written.
const WAVE: usize = 64;

/// Takes rows from many workers.
pub(super) struct Shuffle {
    /// How far a key is shifted to give the portion.
    shift: u32,
    /// Where portions wait if they do not stay in memory.
    files: Option<Vec<Mutex<Option<File>>>>,
    folder: Option<PathBuf>,
}

/// The rows of one worker, by portion: key, length and text, one after another.
#[derive(Debug)]
pub(super) struct Pile(Vec<Vec<u8>>);

impl Shuffle {
    /// For a table of about `bytes`; files are made in `folder`.
    pub(super) fn new(bytes: u64, folder: Option<&Path>) -> Self {
        Self::with_limit(bytes, folder, IN_MEMORY)
    }

    fn with_limit(bytes: u64, folder: Option<&Path>, limit: u64) -> Self {
        let spill = bytes > limit;
        let (portion, most) = match spill {
            true => (LARGE.min(limit).max(bytes >> 9), 12),
            false => (SMALL, MOST_SMALL),
        };
        let bits =
            (bytes / portion + 1).next_power_of_two().trailing_zeros().clamp(1, most);
        let files = || (0..1 << bits).map(|_| Mutex::new(None)).collect();
        Self {
            shift: 64 - bits,
            files: spill.then(files),
            folder: folder.map(Path::to_path_buf),
        }
    }

    /// An empty pile.
    pub(super) fn pile(&self) -> Pile {
        Pile(vec![Vec::new(); 1 << (64 - self.shift)])
    }

    /// Puts a row on a pile; `write` adds its line.
    pub(super) fn push(
        &self,
        pile: &mut Pile,
        key: u64,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> Result<()> {
        let portion = (key >> self.shift) as usize;
        let rows = &mut pile.0[portion];
        rows.extend_from_slice(&key.to_le_bytes());
        let start = rows.len() + 4;
        rows.extend_from_slice(&[0; 4]);
        write(rows);
        let length = (rows.len() - start) as u32;
        rows[start - 4..start].copy_from_slice(&length.to_le_bytes());
        if self.files.is_some() && rows.len() >= HAND_ON {
            return self.hand_on(portion, rows);
        }
        Ok(())
    }

    fn hand_on(&self, portion: usize, rows: &mut Vec<u8>) -> Result<()> {
        let Some(files) = &self.files else { return Ok(()) };
        let mut file = files[portion].lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            let made = match &self.folder {
                Some(folder) => tempfile::tempfile_in(folder),
                None => tempfile::tempfile(),
            };
            *file = Some(made.map_err(|error| self.failed(error))?);
        }
        if let Some(file) = &mut *file {
            file.write_all(rows).map_err(|error| self.failed(error))?;
        }
        rows.clear();
        Ok(())
    }

    fn failed(&self, error: std::io::Error) -> Error {
        let folder = self.folder.as_ref().map(|folder| folder.display().to_string());
        let folder = folder.unwrap_or_else(|| "a temporary file".to_owned());
        Error::io("write here", folder, error)
    }

    /// Writes all rows in the order of their keys; rows with one key, which hardly happens,
    /// in the order of their text.
    pub(super) fn write(
        self,
        mut piles: Vec<Pile>,
        sink: &mut Sink,
        watch: &dyn Watch,
    ) -> Result<u64> {
        if self.files.is_some() {
            for pile in &mut piles {
                for (portion, rows) in pile.0.iter_mut().enumerate() {
                    self.hand_on(portion, rows)?;
                }
            }
        }
        let portions: Vec<usize> = (0..1 << (64 - self.shift)).collect();
        // Portions in files are large: only as many at once as there are workers.
        let wave =
            if self.files.is_some() { rayon::current_num_threads() } else { WAVE };
        let mut n_rows = 0;
        for wave in portions.chunks(wave) {
            watch.check()?;
            let sorted: Vec<Result<(Vec<u8>, usize)>> = wave
                .par_iter()
                .map(|portion| {
                    let held = self.held(*portion)?;
                    let parts = piles.iter().map(|pile| pile.0[*portion].as_slice());
                    Ok(sorted(&parts.chain([held.as_slice()]).collect::<Vec<_>>()))
                })
                .collect();
            for portion in sorted {
                let (lines, n_lines) = portion?;
                sink.write_lines(&lines, n_lines)?;
                n_rows += n_lines as u64;
            }
            for pile in &mut piles {
                for portion in wave {
                    pile.0[*portion] = Vec::new();
                }
            }
        }
        Ok(n_rows)
    }

    /// What waits in a file.
    fn held(&self, portion: usize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        if let Some(files) = &self.files {
            let mut file =
                files[portion].lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(mut file) = file.take() {
                file.seek(SeekFrom::Start(0))
                    .and_then(|_| file.read_to_end(&mut bytes))
                    .map_err(|error| self.failed(error))?;
            }
        }
        Ok(bytes)
    }
}

/// The lines of the rows in the order of their keys, and how many there are.
fn sorted(parts: &[&[u8]]) -> (Vec<u8>, usize) {
    let mut rows: Vec<(u64, &[u8])> = Vec::new();
    for part in parts {
        let mut rest = *part;
        while let Some((head, tail)) = rest.split_first_chunk::<12>() {
            let (key, length) = head.split_at(8);
            let key = key.iter().rev().fold(0, |key, byte| key << 8 | u64::from(*byte));
            let length =
                length.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
            let (line, after) = tail.split_at(length);
            rows.push((key, line));
            rest = after;
        }
    }
    rows.sort_unstable();
    let mut lines = Vec::with_capacity(parts.iter().map(|part| part.len()).sum());
    for (_, line) in &rows {
        lines.extend_from_slice(line);
    }
    (lines, rows.len())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::release::DataFormat;
    use crate::table::ColumnForm;
    use crate::watch::Unwatched;

    /// Rows as the files of a table with the given limit of memory have them.
    fn shuffled(keys: &[u64], limit: u64) -> String {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("data.csv");
        let mut sink =
            Sink::create(&path, DataFormat::Csv, &["x"], &[ColumnForm::Text]).unwrap();
        let shuffle =
            Shuffle::with_limit(16 * keys.len() as u64, Some(home.path()), limit);
        let mut piles = vec![shuffle.pile(), shuffle.pile(), shuffle.pile()];
        for (row, key) in keys.iter().enumerate() {
            let line = format!("{key}\n");
            shuffle
                .push(&mut piles[row % 3], *key, |rows| {
                    rows.extend_from_slice(line.as_bytes());
                })
                .unwrap();
        }
        assert_eq!(
            shuffle.write(piles, &mut sink, &Unwatched).unwrap(),
            keys.len() as u64
        );
        sink.finish().unwrap();
        assert_eq!(
            fs::read_dir(home.path()).unwrap().count(),
            1,
            "nothing is left over"
        );
        fs::read_to_string(&path).unwrap()
    }

    #[test]
    fn rows_leave_in_the_order_of_their_keys() {
        let keys: Vec<u64> =
            (0..50_000u64).map(|row| row.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        let mut sorted = keys.clone();
        sorted.sort_unstable();
        let expected: String = sorted.iter().map(|key| format!("{key}\n")).collect();
        for limit in [1 << 30, 1 << 16, 1 << 10] {
            assert_eq!(shuffled(&keys, limit), format!("x\n{expected}"), "{limit}");
        }
    }
}
