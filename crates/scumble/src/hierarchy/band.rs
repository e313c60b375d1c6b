//! Ranges as tables have them for values: `[0-10)`, `20-29`, `90+`, `<18`.

/// A range that stands in a cell instead of a number.
#[derive(Debug, Clone, PartialEq)]
pub struct Band {
    /// Where it begins.
    pub low: f64,
    /// Where it ends; infinite if it does not.
    pub high: f64,
    form: Form,
}

/// How a range is written.
#[derive(Debug, Clone, PartialEq)]
enum Form {
    /// `[0-10)`, with what stands between the ends.
    Brackets(String),
    /// `20-29`.
    Plain(String),
    /// `90+`, `>=90` or `>200`.
    From,
    /// `<18`.
    Below,
}

impl Band {
    /// The range that a text is; nothing if it is none.
    pub fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let bare = |number: &str| -> Option<f64> {
            let number = number.trim();
            let plain = !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
            number.parse().ok().filter(|_| plain)
        };
        let from = text.strip_suffix('+').or_else(|| text.strip_prefix(">="));
        if let Some(number) = from.or_else(|| text.strip_prefix('>')) {
            let low = bare(number)?;
            return Some(Self { low, high: f64::INFINITY, form: Form::From });
        }
        if let Some(number) = text.strip_prefix("<=").or_else(|| text.strip_prefix('<'))
        {
            let high = bare(number)?;
            return Some(Self { low: f64::NEG_INFINITY, high, form: Form::Below });
        }
        let within = text.strip_prefix(['[', '(']);
        let inner = within.map_or(Some(text), |rest| rest.strip_suffix([')', ']']))?;
        ["-", "–", " to ", ",", ".."].iter().find_map(|between| {
            let (low, high) = inner.split_once(between)?;
            let (low, high) = (bare(low)?, bare(high)?);
            let between = gap(inner, between);
            let form = match within {
                Some(_) => Form::Brackets(between),
                None => Form::Plain(between),
            };
            (low < high).then_some(Self { low, high, form })
        })
    }

    /// The range from this one's beginning to another's end, in the form of this one.
    pub(super) fn to(&self, last: &Self) -> String {
        let low = match &self.form {
            Form::Below => None,
            _ => Some(self.low),
        };
        let high = last.high.is_finite().then_some(last.high);
        match (low, high, &self.form) {
            (Some(low), Some(high), Form::Brackets(between)) => {
                format!("[{low}{between}{high})")
            }
            (Some(low), Some(high), Form::Plain(between)) => {
                format!("{low}{between}{high}")
            }
            (Some(low), Some(high), _) => format!("{low}-{high}"),
            (Some(low), None, _) => format!("{low}+"),
            (None, Some(high), _) => match &last.form {
                Form::Plain(_) => format!("<={high}"),
                _ => format!("<{high}"),
            },
            (None, None, _) => "any".to_owned(),
        }
    }
}

/// What stands between two numbers, blanks included.
fn gap(inner: &str, between: &str) -> String {
    let at = inner.find(between).unwrap_or(0);
    let before = inner[..at].len() - inner[..at].trim_end().len();
    let after = &inner[at + between.len()..];
    let behind = after.len() - after.trim_start().len();
    format!("{}{between}{}", " ".repeat(before), " ".repeat(behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(text: &str) -> Option<(f64, f64)> {
        Band::of(text).map(|band| (band.low, band.high))
    }

    #[test]
    fn ranges_are_read_in_the_forms_tables_have() {
        assert_eq!(ends("[70-80)"), Some((70.0, 80.0)));
        assert_eq!(ends("[20, 25)"), Some((20.0, 25.0)));
        assert_eq!(ends("20-29"), Some((20.0, 29.0)));
        assert_eq!(ends("18 to 24"), Some((18.0, 24.0)));
        assert_eq!(ends("90+"), Some((90.0, f64::INFINITY)));
        assert_eq!(ends(">200"), Some((200.0, f64::INFINITY)));
        assert_eq!(ends("<18"), Some((f64::NEG_INFINITY, 18.0)));
        for text in ["", "20", "-5", "2024-05-17", "29-20", "a-b", "+", "1-2-3", "[1-2"]
        {
            assert_eq!(ends(text), None, "{text}");
        }
    }

    #[test]
    fn neighbours_join_in_their_own_form() {
        let to = |first: &str, last: &str| {
            Band::of(first).unwrap().to(&Band::of(last).unwrap())
        };
        assert_eq!(to("[0-10)", "[10-20)"), "[0-20)");
        assert_eq!(to("[20, 25)", "[25, 30)"), "[20, 30)");
        assert_eq!(to("20-29", "30-39"), "20-39");
        assert_eq!(to("80-89", "90+"), "80+");
        assert_eq!(to("<18", "18-24"), "<=24");
    }
}
