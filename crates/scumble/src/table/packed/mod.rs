//! Tables that cannot be read from the middle: compressed, in another encoding, in a workbook
//! or a database.
//!
//! Such a table is poured once, as text, into a file without a name that nobody else has. All
//! passes read that, so they see one table whatever becomes of its origin; and what changes
//! while it is poured is noticed.

#[cfg(feature = "postgres")]
pub(super) mod postgres;
pub(super) mod query;
#[cfg(feature = "sqlite")]
pub(super) mod sqlite;
pub(super) mod stream;
pub(super) mod workbook;

use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::{Error, ErrorKind, Result};
use crate::table::csv::Text;
use crate::table::options::ReadOptions;
use crate::table::store::TableBytes;
use crate::watch::Watch;

/// Where a packed table comes from.
pub(super) trait Origin: Send + Sync {
    /// How large it is, as far as is known.
    fn bytes(&self) -> u64;

    /// What stands between the cells of the text, if that is known.
    fn delimiter(&self) -> Option<u8>;

    /// The names of the columns.
    fn header(&self) -> &[String];

    /// Writes the whole table as text, and tells the watch of the bytes it reads.
    fn pour(&self, out: &mut dyn Write, watch: &dyn Watch) -> Result<()>;
}

/// A table that is poured into a text when it is read for the first time.
pub(super) struct Packed {
    origin: Box<dyn Origin>,
    block_bytes: Option<usize>,
    poured: Mutex<Option<Arc<Text>>>,
}

impl Packed {
    pub(super) fn new(origin: Box<dyn Origin>, options: &ReadOptions) -> Self {
        Self { origin, block_bytes: options.block_bytes, poured: Mutex::new(None) }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.origin.bytes()
    }

    /// The table as text, and how much of its size each byte of the text stands for.
    pub(super) fn text(&self, watch: &dyn Watch) -> Result<(Arc<Text>, f64)> {
        let mut poured = self.poured.lock().unwrap_or_else(PoisonError::into_inner);
        let share = |text: &Text, part: f64| {
            part * self.bytes() as f64 / text.store().len().unwrap_or(0).max(1) as f64
        };
        if let Some(text) = &*poured {
            return Ok((text.clone(), share(text, 1.0)));
        }
        // Pouring is half of the first pass.
        let text = Arc::new(self.pour(&Share::new(watch, 0.5))?);
        *poured = Some(text.clone());
        let share = share(&text, 0.5);
        Ok((text, share))
    }

    fn pour(&self, watch: &dyn Watch) -> Result<Text> {
        let fail = |error| {
            Error::new(ErrorKind::Io {
                action: "write a temporary file",
                source: error,
            })
        };
        let mut file = tempfile::tempfile().map_err(fail)?;
        let mut out = BufWriter::with_capacity(1 << 16, &mut file);
        self.origin.pour(&mut out, watch)?;
        out.flush().map_err(fail)?;
        drop(out);
        watch.check()?;
        let options =
            ReadOptions { block_bytes: self.block_bytes, ..ReadOptions::default() };
        let store = TableBytes::Spool(file);
        let (text, header) = Text::open(store, self.origin.delimiter(), &options)?;
        match header == self.origin.header() {
            true => Ok(text),
            false => Err(changed()),
        }
    }
}

/// What is said when two looks at a table saw different tables.
pub(super) fn changed() -> Error {
    Error::input("the table has changed while it was read")
        .with_hint("wait until nobody writes to it, or work on a copy")
}

/// Tells another watch a share of what is told.
pub(super) struct Share<'a> {
    watch: &'a dyn Watch,
    share: f64,
    seen: AtomicU64,
}

impl<'a> Share<'a> {
    pub(super) fn new(watch: &'a dyn Watch, share: f64) -> Self {
        Self { watch, share, seen: AtomicU64::new(0) }
    }
}

impl Watch for Share<'_> {
    fn advance(&self, bytes: u64) {
        let before = self.seen.fetch_add(bytes, Ordering::Relaxed);
        let told = |seen: u64| (seen as f64 * self.share) as u64;
        self.watch.advance(told(before.saturating_add(bytes)) - told(before));
    }

    fn is_cancelled(&self) -> bool {
        self.watch.is_cancelled()
    }
}

/// The bytes of a table from the beginning.
pub(super) struct Cursor<'s> {
    store: &'s TableBytes,
    position: u64,
}

impl<'s> Cursor<'s> {
    pub(super) fn new(store: &'s TableBytes) -> Self {
        Self { store, position: 0 }
    }
}

impl Read for Cursor<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.store.read_at(self.position, buffer)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl Seek for Cursor<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let (from, offset) = match to {
            SeekFrom::Start(position) => (position, 0),
            SeekFrom::Current(offset) => (self.position, offset),
            SeekFrom::End(offset) => (self.store.len()?, offset),
        };
        let beyond = || io::Error::from(io::ErrorKind::InvalidInput);
        self.position = from.checked_add_signed(offset).ok_or_else(beyond)?;
        Ok(self.position)
    }
}

/// Reads through to another reader, and tells a watch.
pub(super) struct Told<'w, R> {
    pub(super) reader: R,
    pub(super) watch: &'w dyn Watch,
}

impl<R: Read> Read for Told<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // A reader that ends early is an error for whoever reads on, and the watch says why.
        if self.watch.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        let read = self.reader.read(buffer)?;
        self.watch.advance(read as u64);
        Ok(read)
    }
}

impl<R: Seek> Seek for Told<'_, R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.reader.seek(to)
    }
}

/// What tells one state of a file from another without reading it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stamp(u64, Option<String>);

impl Stamp {
    pub(super) fn of(store: &TableBytes) -> Self {
        let length = store.len().unwrap_or(u64::MAX);
        let modified = |file: &File| {
            let time = file.metadata().and_then(|known| known.modified());
            time.ok().map(|time| format!("{time:?}"))
        };
        match store {
            TableBytes::File(file, ..) => Self(length, modified(file)),
            TableBytes::Spool(_) | TableBytes::Memory(_) => Self(length, None),
        }
    }
}

/// One row of text, with commas.
pub(super) fn write_row(
    out: &mut csv::Writer<&mut dyn Write>,
    cells: impl IntoIterator<Item = impl AsRef<[u8]>>,
) -> Result<()> {
    out.write_record(cells).map_err(|error| {
        let source = match error.into_kind() {
            csv::ErrorKind::Io(error) => error,
            _ => io::Error::other("a row of another length"),
        };
        Error::new(ErrorKind::Io { action: "write a temporary file", source })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Counted(AtomicU64);

    impl Watch for Counted {
        fn advance(&self, bytes: u64) {
            self.0.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    #[test]
    fn shares_add_up() {
        let counted = Counted(AtomicU64::new(0));
        let share = Share::new(&counted, 0.5);
        (0..101).for_each(|_| share.advance(1));
        assert_eq!(counted.0.load(Ordering::Relaxed), 50);
    }

    #[test]
    fn a_cursor_goes_where_it_is_told() {
        let store = TableBytes::Memory(b"abcdef".to_vec());
        let mut cursor = Cursor::new(&store);
        let mut buffer = [0; 2];
        cursor.seek(SeekFrom::End(-3)).unwrap();
        assert_eq!((cursor.read(&mut buffer).unwrap(), &buffer), (2, b"de"));
        cursor.seek(SeekFrom::Current(-4)).unwrap();
        assert_eq!((cursor.read(&mut buffer).unwrap(), &buffer), (2, b"bc"));
        assert!(cursor.seek(SeekFrom::Current(-9)).is_err());
    }
}
