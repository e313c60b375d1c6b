//! From a block of text to the cells of its rows.

use memchr::memchr2;

use crate::error::Error;
use crate::table::csv::blocks::closing_quote;

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
            let mut found = occurrences(chunk, self.delimiter);
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

    /// The same for a block with quotes, which must not end inside them.
    ///
    /// All cells are found before the first is shown, because those with doubled quotes
    /// are written anew, and a text cannot grow while cells point into it.
    pub(super) fn quoted_rows(
        &self,
        text: &str,
        mut row: impl FnMut(&[&str]) -> Result<(), Error>,
    ) -> Result<(), Stop> {
        let mut rewritten = String::new();
        let mut spans = Vec::new();
        let mut n_rows = 0;
        let mut ragged = None;
        let mut record = Vec::with_capacity(self.n_columns);
        let mut at = 0;
        while at < text.len() {
            record.clear();
            if !read_record(text, &mut at, self.delimiter, &mut record, &mut rewritten)
            {
                continue;
            }
            if record.len() != self.n_columns {
                ragged = Some(record.len());
                break;
            }
            spans.extend(self.columns.iter().map(|column| record[*column]));
            n_rows += 1;
        }
        let mut cells = vec![""; self.columns.len()];
        for place in 0..n_rows {
            let spans = &spans[place * cells.len()..];
            for (cell, span) in cells.iter_mut().zip(spans) {
                *cell = span.of(text, &rewritten);
            }
            row(&cells).map_err(Stop::Refused)?;
        }
        ragged.map_or(Ok(()), |n_cells| Err(Stop::Ragged(n_cells)))
    }
}

/// A cell of a block.
#[derive(Debug, Clone, Copy)]
pub(super) enum Span {
    /// As it stands in the block.
    Plain(usize, usize),
    /// In the text of rewritten cells.
    Rewritten(usize, usize),
}

impl Span {
    pub(super) fn of<'t>(self, text: &'t str, rewritten: &'t str) -> &'t str {
        match self {
            Self::Plain(start, end) => &text[start..end],
            Self::Rewritten(start, end) => &rewritten[start..end],
        }
    }
}

/// Reads the record at `at` and moves behind it; false if its line is blank.
pub(super) fn read_record(
    text: &str,
    at: &mut usize,
    delimiter: u8,
    record: &mut Vec<Span>,
    rewritten: &mut String,
) -> bool {
    let bytes = text.as_bytes();
    let line = *at;
    loop {
        let start = *at;
        let quote = match bytes.get(start) {
            Some(b'"') => closing_quote(bytes, start + 1),
            _ => None,
        };
        let behind = quote.map_or(start, |quote| quote + 1);
        let stop = memchr2(delimiter, b'\n', &bytes[behind..]);
        let stop = stop.map_or(bytes.len(), |length| behind + length);
        let is_last = bytes.get(stop) != Some(&delimiter);
        let end = if is_last { without_return(bytes, behind, stop) } else { stop };
        record.push(match quote {
            None => Span::Plain(start, end),
            Some(quote) => {
                let inside = &text[start + 1..quote];
                if behind == end && !inside.contains('"') {
                    Span::Plain(start + 1, quote)
                } else {
                    // What stands behind the closing quote belongs to the cell.
                    let from = rewritten.len();
                    rewritten.push_str(&inside.replace("\"\"", "\""));
                    rewritten.push_str(&text[behind..end]);
                    Span::Rewritten(from, rewritten.len())
                }
            }
        });
        *at = (stop + 1).min(bytes.len());
        if is_last {
            return !(record.len() == 1 && quote.is_none() && end == line);
        }
        if stop + 1 == bytes.len() {
            // The file ends with a delimiter: one empty cell follows.
            record.push(Span::Plain(bytes.len(), bytes.len()));
            return true;
        }
    }
}

/// A bit for each of up to 64 bytes that is the delimiter or a line end.
///
/// Cells are a few bytes long, so a search that starts anew for each spends its time on
/// starting; here eight bytes are compared at once without a branch.
#[inline]
fn occurrences(chunk: &[u8], delimiter: u8) -> u64 {
    let delimiters = u64::from(delimiter) * EVERY_BYTE;
    let line_ends = u64::from(b'\n') * EVERY_BYTE;
    let (words, rest) = chunk.as_chunks::<8>();
    let mut found = 0;
    for (place, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let equal = zero_bytes(word ^ delimiters) | zero_bytes(word ^ line_ends);
        // The product moves the eight marks, one a byte, side by side into the top byte.
        let bits = (equal >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        found |= bits << (8 * place);
    }
    for (place, byte) in rest.iter().enumerate() {
        if *byte == delimiter || *byte == b'\n' {
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
                let found = occurrences(chunk, b',');
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
