//! From a block of text to the cells of its rows.

use std::borrow::Cow;

use crate::error::Error;

/// What a table's rows look like, and which of their cells are wanted.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowFormat<'a> {
    pub(super) delimiter: u8,
    pub(super) n_columns: usize,
    pub(super) columns: &'a [usize],
}

/// Why a block was not read to its end.
pub(super) enum Stop {
    /// The row has this many cells.
    Ragged(usize),
    /// A quote of the row is never closed.
    Unclosed,
    /// Who asked for the rows refused one.
    Refused(Error),
}

impl RowFormat<'_> {
    /// Calls `row` with the wanted cells of every row of a block without quotes.
    pub(super) fn plain_rows(
        &self,
        text: &str,
        mut row: impl FnMut(&[&str]) -> Result<(), Error>,
    ) -> Result<(), Stop> {
        let bytes = text.as_bytes();
        let mut cells = vec![""; self.columns.len()];
        // Where each cell starts; the cell ends one byte before the next starts.
        let mut starts = vec![0; self.n_columns + 1];
        let mut n_cells = 1;
        let mut finish = |starts: &mut [usize], n_cells: usize, end: usize| {
            let end = without_return(bytes, starts[0], end);
            if end == starts[0] && n_cells == 1 {
                return Ok(());
            }
            if n_cells != self.n_columns {
                return Err(Stop::Ragged(n_cells));
            }
            starts[n_cells] = end + 1;
            for (cell, column) in cells.iter_mut().zip(self.columns) {
                *cell = &text[starts[*column]..starts[column + 1] - 1];
            }
            row(&cells).map_err(Stop::Refused)
        };
        for (chunk, start) in bytes.chunks(64).zip((0..).step_by(64)) {
            let mut found = occurrences(chunk, [self.delimiter, b'\n']);
            while found != 0 {
                let at = start + found.trailing_zeros() as usize;
                found &= found - 1;
                if bytes[at] == b'\n' {
                    finish(&mut starts, n_cells, at)?;
                    starts[0] = at + 1;
                    n_cells = 1;
                } else {
                    if n_cells < self.n_columns {
                        starts[n_cells] = at + 1;
                    }
                    n_cells += 1;
                }
            }
        }
        if starts[0] < bytes.len() {
            finish(&mut starts, n_cells, bytes.len())?;
        }
        Ok(())
    }

    /// The same for a block with quotes.
    pub(super) fn quoted_rows(
        &self,
        text: &str,
        mut row: impl FnMut(&[&str]) -> Result<(), Error>,
    ) -> Result<(), Stop> {
        let mut cells = vec![""; self.columns.len()];
        let mut record = vec![Cell::default(); self.n_columns];
        let (mut n_cells, mut is_odd, mut line) = (0, false, 0);
        for cell in Cells::of(text.as_bytes(), self.delimiter) {
            if cell.is_open {
                return Err(Stop::Unclosed);
            }
            if let Some(known) = record.get_mut(n_cells) {
                *known = cell;
            }
            n_cells += 1;
            is_odd |= cell.is_odd;
            if !cell.is_last {
                continue;
            }
            let is_blank = n_cells == 1 && cell.start == line && cell.end == line;
            if !is_blank && n_cells != self.n_columns {
                return Err(Stop::Ragged(n_cells));
            }
            if is_blank {
            } else if is_odd {
                let wanted = self.columns.iter();
                let own: Vec<Cow<'_, str>> =
                    wanted.map(|column| record[*column].text(text)).collect();
                let own: Vec<&str> = own.iter().map(|cell| &**cell).collect();
                row(&own).map_err(Stop::Refused)?;
            } else {
                for (cell, column) in cells.iter_mut().zip(self.columns) {
                    *cell = &text[record[*column].start..record[*column].end];
                }
                row(&cells).map_err(Stop::Refused)?;
            }
            (n_cells, is_odd, line) = (0, false, cell.stop + 1);
        }
        Ok(())
    }
}

/// A cell among bytes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Cell {
    /// Where its text starts: behind a quote, if it has one.
    start: usize,
    /// Where its text ends.
    end: usize,
    /// The delimiter or line end behind it, or the end of all.
    pub(super) stop: usize,
    /// Whether it is the last of its row.
    pub(super) is_last: bool,
    /// Whether its text is not what stands there: quotes in it are doubled, or something
    /// stands behind the closing quote. It then starts with its quote.
    is_odd: bool,
    /// Whether its quote is never closed.
    pub(super) is_open: bool,
}

impl Cell {
    /// The text of the cell.
    pub(super) fn text(self, all: &str) -> Cow<'_, str> {
        let text = &all[self.start..self.end];
        if !self.is_odd {
            return Cow::Borrowed(text);
        }
        let (mut own, mut rest) = (String::with_capacity(text.len()), &text[1..]);
        while let Some((before, behind)) = rest.split_once('"') {
            own.push_str(before);
            match behind.strip_prefix('"') {
                Some(behind) => {
                    own.push('"');
                    rest = behind;
                }
                None => {
                    // What stands behind the closing quote belongs to the cell.
                    rest = behind;
                    break;
                }
            }
        }
        own.push_str(rest);
        Cow::Owned(own)
    }
}

/// The cells of a text, one after the other.
///
/// Cells are a few bytes long, so a search that starts anew for each spends its time on
/// starting: delimiters, line ends and quotes are found 64 bytes at a time.
pub(super) struct Cells<'a> {
    bytes: &'a [u8],
    delimiter: u8,
    /// Where the next cell starts; beyond the end if there is none.
    at: usize,
    /// Where the bytes of `found` start, and a bit for each of them that is special.
    chunk: usize,
    found: u64,
}

impl<'a> Cells<'a> {
    pub(super) fn of(bytes: &'a [u8], delimiter: u8) -> Self {
        let mut cells = Self { bytes, delimiter, at: 0, chunk: 0, found: 0 };
        match bytes.get(..bytes.len().min(64)) {
            None | Some([]) => cells.at = 1,
            Some(chunk) => cells.found = occurrences(chunk, [delimiter, b'\n', b'"']),
        }
        cells
    }

    /// Where the next special byte stands.
    #[inline]
    fn mark(&mut self) -> Option<usize> {
        while self.found == 0 {
            self.chunk += 64;
            let rest = self.bytes.get(self.chunk..).filter(|rest| !rest.is_empty())?;
            let chunk = &rest[..rest.len().min(64)];
            self.found = occurrences(chunk, [self.delimiter, b'\n', b'"']);
        }
        let at = self.chunk + self.found.trailing_zeros() as usize;
        self.found &= self.found - 1;
        Some(at)
    }

    /// The quote that ends the cell whose quote stands at `start`, and whether there are
    /// doubled ones before it.
    #[inline]
    fn closing_quote(&mut self) -> Option<(usize, bool)> {
        let mut doubled = false;
        // The first mark is the quote at the start.
        self.mark()?;
        loop {
            let at = self.mark()?;
            if self.bytes[at] != b'"' {
                continue;
            }
            if self.bytes.get(at + 1) != Some(&b'"') {
                return Some((at, doubled));
            }
            doubled = true;
            self.mark()?;
        }
    }
}

impl Iterator for Cells<'_> {
    type Item = Cell;

    #[inline]
    fn next(&mut self) -> Option<Cell> {
        let (bytes, first) = (self.bytes, self.at);
        if first > bytes.len() {
            return None;
        }
        let quote = match bytes.get(first) {
            Some(b'"') => match self.closing_quote() {
                Some(quote) => Some(quote),
                None => {
                    let stop = bytes.len();
                    self.at = stop + 1;
                    let cell =
                        Cell { start: first, end: stop, stop, ..Cell::default() };
                    return Some(Cell { is_open: true, is_last: true, ..cell });
                }
            },
            _ => None,
        };
        let stop = loop {
            match self.mark() {
                None => break bytes.len(),
                // A quote inside of a cell is nothing special.
                Some(at) if bytes[at] == b'"' => {}
                Some(at) => break at,
            }
        };
        let is_last = bytes.get(stop) != Some(&self.delimiter);
        // Behind the last line end there is no cell, behind the last delimiter there is.
        let is_end = is_last && stop + 1 >= bytes.len();
        self.at = if is_end { bytes.len() + 1 } else { stop + 1 };
        let least = quote.map_or(first, |(quote, _)| quote + 1);
        let end = if is_last { without_return(bytes, least, stop) } else { stop };
        let cell = Cell { start: first, end, stop, is_last, ..Cell::default() };
        Some(match quote {
            None => cell,
            Some((quote, false)) if quote + 1 == end => {
                Cell { start: first + 1, end: quote, ..cell }
            }
            Some(_) => Cell { is_odd: true, ..cell },
        })
    }
}

/// A bit for each of up to 64 bytes that is one of these: eight bytes are compared at once,
/// without a branch.
#[inline]
fn occurrences<const N: usize>(chunk: &[u8], special: [u8; N]) -> u64 {
    let wanted = special.map(|byte| u64::from(byte) * EVERY_BYTE);
    let (words, rest) = chunk.as_chunks::<8>();
    let mut found = 0;
    for (place, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let equal =
            wanted.iter().fold(0, |equal, byte| equal | zero_bytes(word ^ byte));
        // The product moves the eight marks, one a byte, side by side into the top byte.
        let bits = (equal >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        found |= bits << (8 * place);
    }
    for (place, byte) in rest.iter().enumerate() {
        if special.contains(byte) {
            found |= 1 << (8 * words.len() + place);
        }
    }
    found
}

const EVERY_BYTE: u64 = 0x0101_0101_0101_0101;

/// The highest bit of every byte that is zero: adding 0x7f carries into it otherwise.
#[inline]
fn zero_bytes(word: u64) -> u64 {
    let low = 0x7f * EVERY_BYTE;
    !(((word & low) + low) | word | low)
}

/// The end of a line's last cell, without the carriage return of a Windows line end.
fn without_return(bytes: &[u8], start: usize, end: usize) -> usize {
    if end > start && bytes[end - 1] == b'\r' { end - 1 } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, quoted: bool) -> Vec<Vec<String>> {
        let layout = RowFormat { delimiter: b',', n_columns: 2, columns: &[1, 0] };
        let mut rows = Vec::new();
        let row = |cells: &[&str]| {
            rows.push(cells.iter().map(|cell| (*cell).to_owned()).collect());
            Ok(())
        };
        let end = match quoted {
            true => layout.quoted_rows(text, row),
            false => layout.plain_rows(text, row),
        };
        if let Err(Stop::Ragged(n)) = end {
            rows.push(vec![n.to_string()]);
        }
        rows
    }

    #[test]
    fn both_ways_read_the_same() {
        for text in [
            "",
            "\n",
            "\r\n",
            "\r",
            "a,b",
            "a,b\n",
            "a,b\r\n\r\n\nc,d\r",
            "a,",
            ",",
            ",\n",
            "a,b\rc\r\r\n",
            "a\n",
            "a,b\nc",
            "a,b,c",
            "a,b\n,\n,,\n",
            "é,ü\n\r,\r\n",
        ] {
            assert_eq!(read(text, true), read(text, false), "{text:?}");
        }
    }

    #[test]
    fn occurrences_are_found_wherever_they_stand() {
        let bytes: Vec<u8> = (0..=255).chain(*b",,\n\n,").cycle().take(999).collect();
        for start in 0..300 {
            for chunk in bytes[start..].chunks(64) {
                let found = occurrences(chunk, [b',', b'\n']);
                for (place, byte) in chunk.iter().enumerate() {
                    let expected = matches!(byte, b',' | b'\n');
                    assert_eq!(found >> place & 1 == 1, expected);
                }
            }
        }
    }

    #[test]
    fn quotes_are_special_only_at_the_start_of_a_cell() {
        assert_eq!(read("5\" pipe,\"a,\n\"\"b\"\r\n", true), [["a,\n\"b", "5\" pipe"]]);
        assert_eq!(read("\"a\"b\",\"\"\n", true), [["", "ab\""]]);
        assert_eq!(read("\"x\r\",\"y\r\"\n", true), [["y\r", "x\r"]]);
        assert_eq!(read("\"\"\n", true), [["1"]]);
    }
}
