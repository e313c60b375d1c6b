//! Cells that a spreadsheet would take for formulas, and the apostrophe before them.
//!
//! # Guarantee
//! With guards no cell begins with `=`, `+`, `-`, `@`, a tab or a carriage return unless it is a
//! number, and what [`unguarded`] reads is what was written: cells that begin with an
//! apostrophe get one more.
//!
//! # Limits
//! For lines as this library writes them: a cell stands in quotes from its first character on,
//! or has none.
//!
//! # Cost
//! A pass over the bytes.
//!
//! # Source
//! OWASP, "CSV injection".

use crate::table::parse_number;

const GUARD: u8 = b'\'';

/// Whether a spreadsheet may take a cell for a formula.
pub(crate) fn is_formula(cell: &[u8]) -> bool {
    let begins =
        matches!(cell.first(), Some(b'=' | b'+' | b'-' | b'@' | b'\t' | b'\r'));
    let number =
        || std::str::from_utf8(cell).is_ok_and(|cell| parse_number(cell).is_some());
    begins && !number()
}

/// The lines with a guard before every cell that needs one; nothing if none does.
pub(crate) fn guarded(lines: &[u8]) -> Option<Vec<u8>> {
    let needs = |cell: &[u8]| is_formula(cell) || cell.first() == Some(&GUARD);
    if !cells(lines).any(|(start, end)| needs(&lines[start..end])) {
        return None;
    }
    let mut all = Vec::with_capacity(lines.len() + 16);
    let mut done = 0;
    for (start, end) in cells(lines) {
        all.extend_from_slice(&lines[done..start]);
        if needs(&lines[start..end]) {
            all.push(GUARD);
        }
        all.extend_from_slice(&lines[start..end]);
        done = end;
    }
    all.extend_from_slice(&lines[done..]);
    Some(all)
}

/// How many cells of lines a spreadsheet may take for formulas.
pub(crate) fn formulas(lines: &[u8]) -> u64 {
    cells(lines).filter(|(start, end)| is_formula(&lines[*start..*end])).count() as u64
}

/// A cell without its guard.
pub(crate) fn unguarded(cell: &str) -> &str {
    cell.strip_prefix(char::from(GUARD)).unwrap_or(cell)
}

/// Where each cell of lines begins and ends, without its quotes.
fn cells(lines: &[u8]) -> impl Iterator<Item = (usize, usize)> + '_ {
    let mut at = 0;
    std::iter::from_fn(move || {
        if at >= lines.len() {
            return None;
        }
        if lines[at] != b'"' {
            let rest = &lines[at..];
            let end = at + memchr::memchr2(b',', b'\n', rest).unwrap_or(rest.len());
            let cell = (at, end);
            at = end + 1;
            return Some(cell);
        }
        let start = at + 1;
        let mut end = start;
        while end < lines.len() {
            match (lines[end], lines.get(end + 1)) {
                (b'"', Some(b'"')) => end += 2,
                (b'"', _) => break,
                _ => end += 1,
            }
        }
        // Behind the quote stands a comma or the end of the line.
        at = end + 2;
        Some((start, end.min(lines.len())))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_guarded_and_numbers_are_not() {
        let lines =
            b"=1+1,-5,+cmd,x\n\"=a,b\",\"say \"\"=\"\"\",'x,@f\n-,-x,+1.5e3,\n\"\"\n";
        let wanted = "'=1+1,-5,'+cmd,x\n\"'=a,b\",\"say \"\"=\"\"\",''x,'@f\n'-,'-x,+1.5e3,\n\"\"\n";
        let found = guarded(lines).unwrap();
        assert_eq!(String::from_utf8(found).unwrap(), wanted);
        assert_eq!(formulas(lines), 6);
        assert_eq!(guarded(b"a,-1,\"b\nc\"\n"), None);
        for text in ["=1", "'", "''=1", "x", "", "-5"] {
            let line = format!("{text}\n");
            let read = guarded(line.as_bytes()).unwrap_or(line.clone().into_bytes());
            let read = String::from_utf8(read).unwrap();
            assert_eq!(unguarded(read.trim_end_matches('\n')), text);
        }
    }
}
