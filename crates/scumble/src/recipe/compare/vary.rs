//! Keys of a recipe and the values they are to have.

use serde_json::Value;
use toml::de::DeTable;

use crate::error::{Error, Result};
use crate::recipe::compare::edit::quoted;

/// A key of a recipe, and the values it is tried with.
#[derive(Debug, Clone, PartialEq)]
pub struct Vary {
    /// The key as typed.
    pub key: String,
    pub(super) path: Vec<String>,
    /// Each value as TOML writes it, and as it is.
    pub(super) values: Vec<(String, Value)>,
}

impl Vary {
    /// Reads `KEY=VALUE,VALUE,...`. The key is a path such as `promise.k-anonymity.k`, the
    /// values are as in TOML; words need no quotes.
    pub fn parse(typed: &str) -> Result<Self> {
        let Some(end) = outside(typed, '=').next() else {
            return Err(Error::recipe(format!("`--vary {typed}` has no `=`"))
                .with_hint("write it as in `--vary promise.k-anonymity.k=2,5,10`"));
        };
        Self::new(typed[..end].trim(), &typed[end + 1..])
    }

    /// The method, tried with these names.
    pub fn methods(names: &str) -> Result<Self> {
        Self::new("method.name", names)
    }

    fn new(key: &str, list: &str) -> Result<Self> {
        let path = path(key)?;
        if path.first().is_some_and(|first| first == "input") {
            return Err(Error::recipe(format!("`{key}` cannot be varied"))
                .with_hint("all points are compared on the same table"));
        }
        let mut values: Vec<(String, Value)> = Vec::new();
        let mut start = 0;
        let ends = outside(list, ',').chain([list.len()]);
        for end in ends {
            let word = list[start..end].trim();
            start = end + 1;
            if word.is_empty() {
                return Err(Error::recipe(match list.trim() {
                    "" => format!("no values are given for `{key}`"),
                    _ => format!("a value for `{key}` is empty"),
                })
                .with_hint(format!(
                    "write them with commas, as in `{key}=2,5,10`; the empty text is \"\""
                )));
            }
            let value = value(word);
            if values.iter().any(|(_, other)| *other == value.1) {
                return Err(Error::recipe(format!("`{key}` is given {word} twice"))
                    .with_hint("leave one of them out"));
            }
            values.push(value);
        }
        Ok(Self { key: key.to_owned(), path, values })
    }
}

/// A value as TOML writes it, and as it is; what TOML cannot read is a text.
fn value(word: &str) -> (String, Value) {
    match read(word) {
        Some(value) => (word.to_owned(), value),
        None => (quoted(word), Value::String(word.to_owned())),
    }
}

/// A TOML value, if it is one and nothing else.
pub(super) fn read(word: &str) -> Option<Value> {
    if word.contains('\n') {
        return None;
    }
    let table = format!("value = {word}").parse::<toml::Table>().ok()?;
    serde_json::to_value(table.get("value")?).ok()
}

/// The parts of a key.
fn path(key: &str) -> Result<Vec<String>> {
    let wrong = || {
        Error::recipe(format!("`{key}` is not a key of a recipe")).with_hint(
            "write it as in `promise.k-anonymity.k`; names with spaces or dots need quotes",
        )
    };
    let text = format!("{key} = 0");
    if key.contains(['\n', '=', '#']) {
        return Err(wrong());
    }
    let document = DeTable::parse(&text).map_err(|_| wrong())?;
    let mut path = Vec::new();
    let mut table = Some(document.get_ref());
    while let Some(found) = table {
        let (name, value) = found.iter().next().ok_or_else(wrong)?;
        path.push(name.get_ref().to_string());
        table = value.get_ref().as_table();
    }
    Ok(path)
}

/// Where a character stands that is in no quotes or brackets.
fn outside(text: &str, wanted: char) -> impl Iterator<Item = usize> {
    let (mut depth, mut quote, mut escaped) = (0u32, None, false);
    let mut places = Vec::new();
    for (place, character) in text.char_indices() {
        match (quote, character) {
            (Some('"'), '\\') if !escaped => {
                escaped = true;
                continue;
            }
            (Some(open), _) if character == open && !escaped => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(character),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, _) if character == wanted && depth == 0 => places.push(place),
            _ => {}
        }
        escaped = false;
    }
    places.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn values(typed: &str) -> Vec<Value> {
        let vary = Vary::parse(typed).unwrap();
        vary.values.into_iter().map(|(_, value)| value).collect()
    }

    #[test]
    fn values_are_toml_and_words_are_texts() {
        assert_eq!(values("a.k=2, 5,10"), [json!(2), json!(5), json!(10)]);
        assert_eq!(values("a=0.5,true,lm"), [json!(0.5), json!(true), json!("lm")]);
        assert_eq!(
            values("a=full-domain,\"x,y\""),
            [json!("full-domain"), json!("x,y")]
        );
        assert_eq!(values("a=[1,2],[3]"), [json!([1, 2]), json!([3])]);
        assert_eq!(values("a={b=1,c=2}"), [json!({ "b": 1, "c": 2 })]);
        assert_eq!(Vary::methods("blur,robust").unwrap().path, ["method", "name"]);
        let vary = Vary::parse("columns.\"birth date\".lowest=1").unwrap();
        assert_eq!(vary.path, ["columns", "birth date", "lowest"]);
        assert_eq!(vary.values[0].0, "1");
        assert_eq!(Vary::parse("a=b c").unwrap().values[0].0, "\"b c\"");
    }

    #[test]
    fn what_cannot_be_varied_is_said() {
        let message = |typed: &str| Vary::parse(typed).unwrap_err().to_string();
        assert_eq!(message("k"), "`--vary k` has no `=`");
        assert_eq!(message("a.k="), "no values are given for `a.k`");
        assert_eq!(message("a.k=1,,2"), "a value for `a.k` is empty");
        assert_eq!(message("a.k=1,2,1"), "`a.k` is given 1 twice");
        assert_eq!(message("a..k=1"), "`a..k` is not a key of a recipe");
        assert_eq!(message("=1"), "`` is not a key of a recipe");
    }
}
