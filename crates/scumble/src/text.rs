//! Numbers and tables as people read them.

use std::borrow::Cow;

/// Lines up columns of text: two spaces between them, the last one ragged.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..n_columns).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            let padding = width - cell.chars().count() + 2;
            line.push_str(cell);
            line.push_str(&" ".repeat(padding));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// A whole number with commas.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// "1 row", "2 rows".
pub fn counted(number: u64, one: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{} {one}{ending}", grouped(number))
}

/// A share as a percentage with as many digits as it takes to see it.
pub fn percent(share: f64) -> String {
    let percent = share * 100.0;
    // What is not certain must not look as if it were.
    if share < 1.0 && percent > 99.5 {
        return match percent {
            p if p < 99.9 => format!("{p:.1} %"),
            p if p < 99.999 => format!("{p:.3} %"),
            _ => "> 99.999 %".to_owned(),
        };
    }
    if percent == 0.0 || percent >= 10.0 || (percent - percent.round()).abs() < 1e-9 {
        format!("{percent:.0} %")
    } else if percent >= 1.0 {
        format!("{percent:.1} %")
    } else if percent >= 0.01 {
        format!("{percent:.2} %")
    } else if percent >= 0.001 {
        format!("{percent:.3} %")
    } else {
        "< 0.001 %".to_owned()
    }
}

/// A number with at most four significant decimals.
pub fn short(number: f64) -> String {
    if number.is_nan() || number.abs() < 1000.0 {
        return decimals(number, 4);
    }
    let sign = if number < 0.0 { "-" } else { "" };
    format!("{sign}{}", grouped(number.abs().round() as u64))
}

/// A number with at most so many decimals, without zeros behind.
pub fn decimals(number: f64, most: usize) -> String {
    let text = format!("{number:.most$}");
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

/// A cell of a CSV file.
pub fn quoted(cell: &str) -> Cow<'_, str> {
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")).into(),
        false => cell.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_easy_to_read() {
        assert_eq!(grouped(1_193_504), "1,193,504");
        assert_eq!(grouped(957), "957");
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(percent(0.2), "20 %");
        assert_eq!(percent(0.99696), "99.7 %");
        assert_eq!(percent(0.9995), "99.950 %");
        assert_eq!(percent(0.999_999), "> 99.999 %");
        assert_eq!(percent(1.0), "100 %");
        assert_eq!(percent(0.0123), "1.2 %");
        assert_eq!(percent(0.0005), "0.05 %");
        assert_eq!(percent(0.000_048), "0.005 %");
        assert_eq!(percent(0.000_001), "< 0.001 %");
        assert_eq!(short(0.5), "0.5");
        assert_eq!(short(90_210.4), "90,210");
        assert_eq!(short(-1_500.0), "-1,500");
        assert_eq!(decimals(-0.000_01, 4), "0");
        assert_eq!(decimals(1.25, 4), "1.25");
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        assert_eq!(quoted("plain"), "plain");
        assert_eq!(quoted("a \"b\", c"), "\"a \"\"b\"\", c\"");
    }
}
