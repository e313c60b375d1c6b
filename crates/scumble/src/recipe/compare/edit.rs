//! Changing one key in the text of a recipe, and nothing else: comments stay.
//!
//! There are many ways to write a table in TOML. Rather than to know them all, likely
//! places are tried, and the first text is taken that says what was wanted.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::error::{Error, Result};
use crate::recipe::promise::short_key;

/// The text of `text` with the key at `path` set to `value`, which is written as in TOML.
pub(super) fn set(text: &str, path: &[String], value: &str) -> Result<String> {
    let shown = joined(path);
    let Ok(document) = DeTable::parse(text) else {
        return Err(Error::recipe("the recipe is not valid TOML"));
    };
    let (found, rest) = deepest(document.get_ref(), path);
    if let Some((short, whole)) = short_form(text, found, rest, path) {
        let parent = &path[..path.len() - rest.len()];
        return match short == rest[0] {
            true => set(text, parent, value),
            // With the short form written out, there is a place for the key.
            false => set(&set(text, parent, &whole)?, path, value),
        };
    }
    if let Some(found) = found
        && rest.len() < path.len()
        && !rest.is_empty()
        && !found.get_ref().is_table()
    {
        let parent = joined(&path[..path.len() - rest.len()]);
        return Err(Error::recipe(format!(
            "`{shown}` cannot be set, because `{parent}` is not a table in the recipe"
        ))
        .with_hint(format!("vary `{parent}` itself, or write it as a table first")));
    }
    let candidates = candidates(text, found, rest, path, value);
    let works = |changed: &String| says(changed, text, path, value);
    candidates.into_iter().find(works).ok_or_else(|| {
        Error::recipe(format!("`{shown}` cannot be set to {value} in this recipe"))
            .with_hint("is it a table? Then name a key in it")
    })
}

/// The key that a short form as in `k-anonymity = 5` or `age = "quasi"` leaves out, and the
/// same as a table, if a path goes one step further than that.
fn short_form(
    text: &str,
    found: Option<&Spanned<DeValue<'_>>>,
    rest: &[String],
    path: &[String],
) -> Option<(&'static str, String)> {
    let found = found.filter(|found| rest.len() == 1 && !found.get_ref().is_table())?;
    let short = match path {
        [section, name, _] if section == "promise" => short_key(name)?,
        [section, ..] if section == "columns" && path.len() == 3 => "role",
        _ => return None,
    };
    let written = text.get(found.span())?;
    Some((short, format!("{{ {short} = {written} }}")))
}

/// The value that a path leads to as far as there is one, and the rest of the path.
fn deepest<'a, 't, 'p>(
    root: &'t DeTable<'a>,
    path: &'p [String],
) -> (Option<&'t Spanned<DeValue<'a>>>, &'p [String]) {
    let mut found: Option<&Spanned<DeValue<'a>>> = None;
    let mut table = Some(root);
    for (depth, key) in path.iter().enumerate() {
        let Some(next) = table.and_then(|table| table.get(key.as_str())) else {
            return (found, &path[depth..]);
        };
        found = Some(next);
        table = next.get_ref().as_table();
    }
    (found, &[])
}

/// The value at a path as it is written, if it is there.
pub(super) fn written(text: &str, path: &[String]) -> Option<String> {
    let document = DeTable::parse(text).ok()?;
    let (found, rest) = deepest(document.get_ref(), path);
    let is_short = short_form(text, found, rest, path)
        .is_some_and(|(short, _)| rest.first().is_some_and(|key| key == short));
    let span = found.filter(|_| rest.is_empty() || is_short)?.span();
    text.get(span).map(str::to_owned)
}

/// Texts that may say what is wanted, the most natural first.
fn candidates(
    text: &str,
    found: Option<&Spanned<DeValue<'_>>>,
    rest: &[String],
    path: &[String],
    value: &str,
) -> Vec<String> {
    let put = |span: Range<usize>, new: &str| {
        format!("{}{new}{}", &text[..span.start], &text[span.end..])
    };
    let span = found.map_or(0..0, Spanned::span);
    if rest.is_empty() {
        return vec![put(span, value)];
    }
    let line = format!("{} = {value}", joined(rest));
    let mut candidates = Vec::new();
    match text.as_bytes().get(span.start) {
        Some(b'{') if found.is_some() => {
            let end = span.end.saturating_sub(1);
            let inside = text[span.start + 1..end].trim();
            let comma =
                if inside.is_empty() || inside.ends_with(',') { "" } else { "," };
            let before = text[..end].trim_end().len();
            candidates.push(put(before..end, &format!("{comma} {line} ")));
        }
        Some(b'[') if found.is_some() => {
            let after =
                text[span.end..].find('\n').map_or(text.len(), |n| span.end + n);
            candidates.push(put(after..after, &format!("\n{line}")));
        }
        _ => {}
    }
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    if let [head @ .., last] = path
        && !head.is_empty()
    {
        let key = joined(std::slice::from_ref(last));
        candidates
            .push(format!("{text}{newline}\n[{}]\n{key} = {value}\n", joined(head)));
    }
    candidates.push(format!("{} = {value}\n{text}", joined(path)));
    candidates
}

/// Whether a changed text has the value at the path, and everything else as before.
fn says(changed: &str, text: &str, path: &[String], value: &str) -> bool {
    let table = |text: &str| text.parse::<toml::Table>().ok();
    let (Some(mut changed), Some(mut before)) = (table(changed), table(text)) else {
        return false;
    };
    let wanted = table(&format!("value = {value}"));
    let wanted = wanted.and_then(|mut table| table.remove("value"));
    let new = take(&mut changed, path);
    let _ = take(&mut before, path);
    new.is_some() && new == wanted && changed == before
}

/// Takes a value out of a table, and tables that are empty then.
fn take(table: &mut toml::Table, path: &[String]) -> Option<toml::Value> {
    let (first, rest) = path.split_first()?;
    if rest.is_empty() {
        return table.remove(first);
    }
    let inner = table.get_mut(first)?.as_table_mut()?;
    let taken = take(inner, rest);
    if inner.is_empty() {
        table.remove(first);
    }
    taken
}

/// A path as TOML writes it.
pub(super) fn joined(path: &[String]) -> String {
    let bare = |key: &str| {
        !key.is_empty()
            && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
    };
    let part = |key: &String| match bare(key) {
        true => key.clone(),
        false => quoted(key),
    };
    path.iter().map(part).collect::<Vec<String>>().join(".")
}

/// A text as TOML writes it.
pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    fn changed(text: &str, path: &str, value: &str) -> String {
        let path: Vec<String> = path.split('.').map(str::to_owned).collect();
        match set(text, &path, value) {
            Ok(text) => text,
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn values_change_where_they_stand() {
        let text = "[a]\nx = 5 # why\nb = { y = \"z\" }\n";
        assert_eq!(changed(text, "a.x", "7"), "[a]\nx = 7 # why\nb = { y = \"z\" }\n");
        assert_eq!(
            changed(text, "a.b.y", "[1, 2]"),
            "[a]\nx = 5 # why\nb = { y = [1, 2] }\n"
        );
        assert_eq!(changed(text, "a.b", "3"), "[a]\nx = 5 # why\nb = 3\n");
    }

    #[test]
    fn keys_are_added_to_tables_of_every_form() {
        assert_eq!(changed("[a]\nx = 5\n", "a.y", "7"), "[a]\ny = 7\nx = 5\n");
        assert_eq!(
            changed("[a] # so\nx = 5\n", "a.y", "7"),
            "[a] # so\ny = 7\nx = 5\n"
        );
        assert_eq!(changed("a = { x = 5 }\n", "a.y", "7"), "a = { x = 5, y = 7 }\n");
        assert_eq!(changed("a = {}\n", "a.y", "7"), "a = { y = 7 }\n");
        assert_eq!(
            changed("[a]\nb = {x = 5}\n", "a.b.c.y", "7"),
            "[a]\nb = {x = 5, c.y = 7 }\n"
        );
        assert_eq!(changed("[a]\nx = 5", "b.y", "7"), "[a]\nx = 5\n\n[b]\ny = 7\n");
        assert_eq!(
            changed("[a.b]\nx = 5\n", "a.c.y", "7"),
            "[a.b]\nx = 5\n\n[a.c]\ny = 7\n"
        );
        assert_eq!(changed("a.b.x = 5\n", "a.b.y", "7"), "a.b.y = 7\na.b.x = 5\n");
        assert_eq!(changed("", "a", "7"), "a = 7\n");
        let spaced = set("[a]\n", &["a".into(), "b c".into()], "7").unwrap();
        assert_eq!(spaced, "[a]\n\"b c\" = 7\n");
    }

    #[test]
    fn short_forms_have_the_keys_that_they_leave_out() {
        let text = "[columns]\nage = \"quasi\"\n[promise]\nl-diversity = 3 # why\n";
        let own = |path: &str| {
            written(text, &path.split('.').map(str::to_owned).collect::<Vec<String>>())
        };
        assert_eq!(own("promise.l-diversity.l").as_deref(), Some("3"));
        assert_eq!(own("columns.age.role").as_deref(), Some("\"quasi\""));
        assert_eq!(own("promise.l-diversity.kind"), None);
        assert_eq!(
            changed(text, "promise.l-diversity.l", "5"),
            text.replace("= 3", "= 5")
        );
        assert_eq!(
            changed(text, "promise.l-diversity.kind", "\"entropy\""),
            text.replace("= 3", "= { l = 3, kind = \"entropy\" }")
        );
        assert_eq!(
            changed(text, "columns.age.lowest", "1"),
            text.replace("\"quasi\"", "{ role = \"quasi\", lowest = 1 }")
        );
    }

    #[test]
    fn what_is_no_table_gets_no_keys() {
        let message =
            "`a.b.c` cannot be set, because `a.b` is not a table in the recipe";
        assert_eq!(changed("[a]\nb = \"quasi\"\n", "a.b.c", "7"), message);
        let message = "`a` cannot be set to 7 in this recipe";
        assert_eq!(changed("[a]\nb = 3\n", "a", "7"), message);
    }
}
