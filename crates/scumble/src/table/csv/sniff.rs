//! Finding out what stands between the cells.

use crate::table::csv::cells::Cells;

/// In the order in which they are preferred.
const CANDIDATES: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Enough lines that one odd comma does not decide.
const LINES: usize = 50;

/// The delimiter that occurs equally often in most of the first lines; a comma if none
/// occurs. Of equally steady ones the more frequent wins.
pub(super) fn delimiter(head: &[u8], whole: bool) -> u8 {
    let mut best = (b',', (0, 0));
    for candidate in CANDIDATES {
        let counts = counts(head, candidate, whole);
        let usual = counts.first().copied().unwrap_or(0);
        let steady = counts.iter().filter(|count| **count == usual).count();
        if usual > 0 && (steady, usual) > best.1 {
            best = (candidate, (steady, usual));
        }
    }
    best.0
}

/// How often the candidate stands between cells in each of the first lines; the last counts
/// only if it is `whole`.
fn counts(bytes: &[u8], candidate: u8, whole: bool) -> Vec<usize> {
    let mut counts = Vec::new();
    let (mut count, mut line) = (0, 0);
    for cell in Cells::of(bytes, candidate) {
        let is_cut = cell.is_last && cell.stop == bytes.len() && !whole;
        if cell.is_open || is_cut || counts.len() == LINES {
            break;
        }
        if !cell.is_last {
            count += 1;
            continue;
        }
        let is_blank = matches!(&bytes[line..cell.stop], b"" | b"\r");
        if !is_blank {
            counts.push(count);
        }
        (count, line) = (0, cell.stop + 1);
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steady_delimiter_is_found() {
        for (text, expected) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n", b';'),
            ("a;b, c\n1;2\n3;4\n", b';'),
            ("\"a,b\";c\n\"1,2\";3\n", b';'),
            ("a\tb c\n1,0\t2\n", b'\t'),
            ("a|b\n\n\"x\n|\"|2\n", b'|'),
            ("alone\n1\n", b','),
            ("", b','),
        ] {
            assert_eq!(delimiter(text.as_bytes(), true), expected, "{text:?}");
        }
    }
}
