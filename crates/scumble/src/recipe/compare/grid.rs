//! Recipes to compare: one with some of its keys varied, or several.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::error::{Error, Result};
use crate::recipe::Spec;
use crate::recipe::compare::edit::{set, written};
use crate::recipe::compare::vary::{Vary, read};
use crate::table::{self, ReadOptions};

/// More points than this are a slip of the finger.
pub const MOST_POINTS: usize = 1000;

/// Recipes to compare.
#[derive(Debug, Clone)]
pub struct Grid {
    /// The keys that are varied; of several recipes the first is `recipe`, their name.
    pub keys: Vec<String>,
    /// All combinations of their values, the last key fastest; at the end the recipe as it
    /// stands, unless it is one of them. Of several recipes one after the other.
    pub points: Vec<Point>,
    /// Which of them is the recipe as it stands; of several, the first recipe.
    pub chosen: usize,
}

/// What a recipe is called among several: a key before those that are varied.
const RECIPE_KEY: &str = "recipe";

/// One of the recipes.
#[derive(Debug, Clone)]
pub struct Point {
    /// The value of each varied key; null if the recipe does not say.
    pub values: Vec<Value>,
    /// The recipe's file, as it was typed.
    pub file: String,
    /// Whether it is a recipe as it stands, with nothing varied.
    pub as_it_stands: bool,
    /// The text of the recipe.
    pub text: String,
    /// The recipe.
    pub spec: Spec,
}

impl Grid {
    /// The grid of a recipe's text; `file` is its name in errors. Every recipe in it is
    /// valid by itself.
    pub fn new(text: &str, file: &str, varies: &[Vary]) -> Result<Self> {
        let spec = Spec::parse(text, file)?;
        if spec.input.table == "-" {
            let error = Error::recipe("standard input can be read only once")
                .with_hint(
                    "`compare` reads the table for every point: save it to a file, and \
                     name that in `table`",
                );
            return Err(spec.error_at(spec.input.table_spot, error));
        }
        for (place, vary) in varies.iter().enumerate() {
            if varies[..place].iter().any(|other| other.path == vary.path) {
                return Err(Error::recipe(format!("`{}` is varied twice", vary.key))
                    .with_hint("give all its values at once, with commas"));
            }
        }
        let sizes = varies.iter().map(|vary| vary.values.len());
        let n_points = sizes.fold(1usize, usize::saturating_mul);
        if n_points > MOST_POINTS {
            return Err(too_many(n_points));
        }
        let mut points = Vec::with_capacity(n_points + 1);
        for number in 0..n_points {
            points.push(Point::new(text, file, varies, number)?);
        }
        let table = |text: &str| text.parse::<toml::Table>().ok();
        let own = table(text);
        let same = |point: &Point| table(&point.text) == own;
        let chosen = points.iter().position(same).unwrap_or(points.len());
        if chosen == points.len() {
            let value = |vary: &Vary| {
                let found = written(text, &vary.path).and_then(|word| read(&word));
                found.unwrap_or(Value::Null)
            };
            let values = varies.iter().map(value).collect();
            let (file, text) = (file.to_owned(), text.to_owned());
            points.push(Point { values, file, as_it_stands: true, text, spec });
        } else {
            points[chosen].as_it_stands = true;
        }
        let keys = varies.iter().map(|vary| vary.key.clone()).collect();
        Ok(Self { keys, points, chosen })
    }

    /// Several recipes for one table, each its text and its file. Keys are varied in those
    /// recipes that have them; the others stand as they are.
    pub fn of_recipes(recipes: &[(String, String)], varies: &[Vary]) -> Result<Self> {
        if let [(text, file)] = recipes {
            return Self::new(text, file, varies);
        }
        let has = |text: &str, vary: &Vary| written(text, &vary.path).is_some();
        let mut grids = Vec::with_capacity(recipes.len());
        for (text, file) in recipes {
            let own = varies.iter().filter(|vary| has(text, vary)).cloned();
            grids.push(Self::new(text, file, &own.collect::<Vec<Vary>>())?);
        }
        let nobodys = |vary: &&Vary| !recipes.iter().any(|(text, _)| has(text, vary));
        if let Some(vary) = varies.iter().find(nobodys) {
            return Err(Error::recipe(format!(
                "none of the recipes has `{}`, so it cannot be varied",
                vary.key
            ))
            .with_hint(
                "of several recipes only keys are varied that one of them has",
            ));
        }
        let specs: Vec<&Spec> =
            grids.iter().map(|grid| &grid.points[grid.chosen].spec).collect();
        one_table(&specs)?;
        told_apart(recipes)?;
        let n_points: usize = grids.iter().map(|grid| grid.points.len()).sum();
        if n_points > MOST_POINTS {
            return Err(too_many(n_points));
        }
        let chosen = grids.first().map_or(0, |grid| grid.chosen);
        let names = short_names(recipes);
        let mut points = Vec::with_capacity(n_points);
        for (grid, name) in grids.into_iter().zip(names) {
            for point in grid.points {
                let value = |vary: &Vary| {
                    let place = grid.keys.iter().position(|key| *key == vary.key);
                    place.map_or(Value::Null, |place| point.values[place].clone())
                };
                let name = Value::String(name.clone());
                let values = [name].into_iter().chain(varies.iter().map(value));
                points.push(Point { values: values.collect(), ..point });
            }
        }
        let keys = varies.iter().map(|vary| vary.key.clone());
        let keys = [RECIPE_KEY.to_owned()].into_iter().chain(keys).collect();
        Ok(Self { keys, points, chosen })
    }
}

/// That all recipes read the same table in the same way.
fn one_table(specs: &[&Spec]) -> Result<()> {
    let [first, others @ ..] = specs else { return Ok(()) };
    let place = |spec: &Spec| -> PathBuf {
        let folder = Path::new(&spec.file).parent().unwrap_or(Path::new(""));
        if table::is_server(&spec.input.table) {
            return PathBuf::from(&spec.input.table);
        }
        let path = folder.join(&spec.input.table);
        // A table that is not there is an error of its own, later.
        path.canonicalize().unwrap_or(path)
    };
    for other in others {
        if place(first) != place(other) {
            let named = |spec: &Spec| table::public_name(&spec.input.table);
            let (one, two) = (named(first), named(other));
            let error = Error::recipe(format!(
                "this recipe is about `{two}`, but `{}` about `{one}`",
                first.file
            ))
            .with_hint(
                "recipes are compared on one table; run `compare` for each table",
            );
            return Err(other.error_at(other.input.table_spot, error));
        }
        let read =
            |spec: &Spec| ReadOptions { shared: false, ..spec.input.options.clone() };
        if read(first) != read(other) || first.input.missing != other.input.missing {
            let error = Error::recipe(format!(
                "`{}` reads the same table with another `delimiter` or other `missing` texts, or in \
                 another way",
                first.file
            ))
            .with_hint("say the same in `[input]` of both");
            return Err(other.error_at(other.input.table_spot, error));
        }
        for column in &first.columns {
            let (said, Some(also)) =
                (column.said(), other.column(&column.name).map(|own| own.said()))
            else {
                continue;
            };
            if said.kind.zip(also.kind).is_some_and(|(one, two)| one != two)
                || said.date_format != also.date_format
            {
                let spot =
                    other.column(&column.name).map_or(column.spot, |own| own.spot);
                let error = Error::recipe(format!(
                    "`{}` has another type or date format in `{}`",
                    column.name, first.file
                ))
                .with_hint("the same questions are asked of all releases: say the same in both");
                return Err(other.error_at(spot, error));
            }
        }
    }
    Ok(())
}

/// That no recipe comes twice.
fn told_apart(recipes: &[(String, String)]) -> Result<()> {
    let table = |text: &str| text.parse::<toml::Table>().ok();
    for (place, (text, file)) in recipes.iter().enumerate() {
        let same = |(other, _): &&(String, String)| table(other) == table(text);
        if let Some((_, other)) = recipes[..place].iter().find(same) {
            let message = match other == file {
                true => format!("`{file}` is given twice"),
                false => format!("`{other}` and `{file}` say the same"),
            };
            return Err(Error::recipe(message).with_hint("leave one of them out"));
        }
    }
    Ok(())
}

/// What recipes are called: by their file's name, if that tells them apart.
fn short_names(recipes: &[(String, String)]) -> Vec<String> {
    let short = |file: &String| {
        let name = Path::new(file).file_name().map(|name| name.to_string_lossy());
        name.map_or_else(|| file.clone(), |name| name.into_owned())
    };
    let names: Vec<String> = recipes.iter().map(|(_, file)| short(file)).collect();
    let alone =
        |name: &String| names.iter().filter(|other| *other == name).count() == 1;
    match names.iter().all(alone) {
        true => names,
        false => recipes.iter().map(|(_, file)| file.clone()).collect(),
    }
}

fn too_many(n_points: usize) -> Error {
    Error::recipe(format!(
        "these are {n_points} points, but at most {MOST_POINTS} are compared"
    ))
    .with_hint("vary fewer keys at once, or give them fewer values")
}

impl Point {
    /// The combination with this number.
    fn new(text: &str, file: &str, varies: &[Vary], number: usize) -> Result<Self> {
        let mut values = Vec::new();
        let mut said = Vec::new();
        let mut changed = text.to_owned();
        let mut behind: usize = varies.iter().map(|vary| vary.values.len()).product();
        let mut left = number;
        for vary in varies {
            behind /= vary.values.len();
            let (word, value) = &vary.values[left / behind];
            left %= behind;
            changed =
                set(&changed, &vary.path, word).map_err(|error| error.in_file(file))?;
            values.push(value.clone());
            said.push(format!("{} = {word}", vary.key));
        }
        let spec =
            Spec::parse(&changed, file).map_err(|error| match said.is_empty() {
                true => error,
                false => {
                    error.with_hint(format!("that is with {}", said.join(" and ")))
                }
            })?;
        let (file, text) = (file.to_owned(), changed);
        Ok(Self { values, file, as_it_stands: false, text, spec })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const RECIPE: &str = "[input]\ntable = \"t.csv\"\n\n[columns]\nage = \"quasi\"\n\n\
                          [promise]\nk-anonymity = { k = 5 } # enough\n";

    fn grid(typed: &[&str]) -> Result<Grid> {
        let varies: Result<Vec<Vary>> =
            typed.iter().map(|typed| Vary::parse(typed)).collect();
        Grid::new(RECIPE, "r.toml", &varies?)
    }

    #[test]
    fn a_grid_is_the_product_of_its_values() {
        let grid =
            grid(&["promise.k-anonymity.k=2,5", "method.name=mondrian,full-domain"]);
        let grid = grid.unwrap();
        assert_eq!(grid.keys, ["promise.k-anonymity.k", "method.name"]);
        let values: Vec<Value> =
            grid.points.iter().map(|point| json!(point.values)).collect();
        assert_eq!(
            values,
            [
                json!([2, "mondrian"]),
                json!([2, "full-domain"]),
                json!([5, "mondrian"]),
                json!([5, "full-domain"]),
                // As it stands, it names no method.
                json!([5, null]),
            ]
        );
        assert_eq!(grid.chosen, 4);
        assert_eq!(grid.points[4].text, RECIPE);
        assert!(grid.points[0].text.contains("k-anonymity = { k = 2 } # enough"));
        assert!(grid.points[0].text.ends_with("\n[method]\nname = \"mondrian\"\n"));
    }

    #[test]
    fn the_recipe_itself_is_found_in_the_grid() {
        let found = grid(&["promise.k-anonymity.k=2,5,9"]).unwrap();
        assert_eq!((found.points.len(), found.chosen), (3, 1));
        let alone = grid(&[]).unwrap();
        assert_eq!((alone.points.len(), alone.chosen), (1, 0));
    }

    fn several(recipes: &[(&str, &str)], typed: &[&str]) -> Result<Grid> {
        let varies: Result<Vec<Vary>> =
            typed.iter().map(|typed| Vary::parse(typed)).collect();
        let own =
            |(text, file): &(&str, &str)| ((*text).to_owned(), (*file).to_owned());
        let recipes: Vec<(String, String)> = recipes.iter().map(own).collect();
        Grid::of_recipes(&recipes, &varies?)
    }

    fn noisy() -> String {
        RECIPE
            .replace("age = \"quasi\"", "age = \"quasi\"\nill = \"sensitive\"")
            .replace(
                "k-anonymity = { k = 5 } # enough",
                "breach = { prior = 0.2, posterior = 0.5 }",
            )
    }

    #[test]
    fn several_recipes_stand_one_after_the_other() {
        let noisy = noisy();
        let recipes = [(RECIPE, "a.toml"), (&*noisy, "b.toml")];
        let grid = several(&recipes, &[]).unwrap();
        assert_eq!(grid.keys, ["recipe"]);
        let values = |grid: &Grid| -> Vec<Value> {
            grid.points.iter().map(|point| json!(point.values)).collect()
        };
        assert_eq!(values(&grid), [json!(["a.toml"]), json!(["b.toml"])]);
        assert!(grid.points.iter().all(|point| point.as_it_stands));
        // A key is varied where it is; the other recipe gets no promise that it did not have.
        let grid = several(&recipes, &["promise.k-anonymity.k=2,9"]).unwrap();
        assert_eq!(
            values(&grid),
            [
                json!(["a.toml", 2]),
                json!(["a.toml", 9]),
                json!(["a.toml", 5]),
                json!(["b.toml", null]),
            ]
        );
        let stands: Vec<bool> = grid.points.iter().map(|p| p.as_it_stands).collect();
        assert_eq!(stands, [false, false, true, true]);
        assert_eq!(grid.chosen, 2);
        assert_eq!(grid.points[3].text, noisy);
        let named = several(&[(RECIPE, "x/r.toml"), (&noisy, "x/./r.toml")], &[]);
        assert_eq!(
            values(&named.unwrap()),
            [json!(["x/r.toml"]), json!(["x/./r.toml"])]
        );
    }

    #[test]
    fn recipes_that_cannot_be_compared_are_refused() {
        let noisy = noisy();
        let message = |other: &str, typed: &[&str]| {
            let found = several(&[(RECIPE, "a.toml"), (other, "b.toml")], typed);
            let error = found.unwrap_err();
            assert!(!error.hints().is_empty(), "{error}");
            error.to_string()
        };
        assert_eq!(
            message(&noisy.replace("t.csv", "u.csv"), &[]),
            "b.toml:2:9: this recipe is about `u.csv`, but `a.toml` about `t.csv`"
        );
        let same = RECIPE.replace("# enough", "# quite enough");
        assert_eq!(message(&same, &[]), "`a.toml` and `b.toml` say the same");
        let twice = several(&[(RECIPE, "a.toml"), (RECIPE, "a.toml")], &[]);
        assert_eq!(twice.unwrap_err().to_string(), "`a.toml` is given twice");
        assert_eq!(
            message(&noisy.replace("[columns]", "delimiter = \";\"\n[columns]"), &[]),
            "b.toml:2:9: `a.toml` reads the same table with another `delimiter` or other \
             `missing` texts, or in another way"
        );
        assert_eq!(
            message(&noisy, &["method.suppression=0.1"]),
            "none of the recipes has `method.suppression`, so it cannot be varied"
        );
        assert_eq!(
            message(&noisy.replace("0.5 }", "0.1 }"), &[]),
            Spec::parse(&noisy.replace("0.5 }", "0.1 }"), "b.toml")
                .unwrap_err()
                .to_string()
        );
        let typed = RECIPE.replace(
            "age = \"quasi\"",
            "age = { role = \"quasi\", type = \"number\" }",
        );
        let other = typed.replace("number", "category").replace("k = 5", "k = 6");
        let error =
            several(&[(&typed, "a.toml"), (&other, "b.toml")], &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "b.toml:5:1: `age` has another type or date format in `a.toml`"
        );
    }

    #[test]
    fn a_recipe_that_cannot_be_is_refused_before_anything_runs() {
        let error = |typed: &[&str]| grid(typed).unwrap_err();
        let message = |typed: &[&str]| error(typed).to_string();
        let unknown = error(&["promise.k-anonymity.q=2"]);
        assert_eq!(
            unknown.to_string(),
            "r.toml:8:24: unknown key `q` in `k-anonymity`"
        );
        assert_eq!(
            unknown.hints().last().unwrap(),
            "that is with promise.k-anonymity.q = 2"
        );
        assert_eq!(
            message(&["promise.k-anonymity.k=2,1"]),
            "r.toml:8:21: `k` is 1, but must be at least 2"
        );
        assert_eq!(
            message(&["method.loss=lm", "method.loss=kl"]),
            "`method.loss` is varied twice"
        );
        let many: Vec<String> = (2..40).map(|k| k.to_string()).collect();
        let many = many.join(",");
        let two = [
            format!("promise.k-anonymity.k={many}"),
            format!("columns.age.weight={many}"),
        ];
        assert_eq!(
            message(&[&two[0], &two[1]]),
            "these are 1444 points, but at most 1000 are compared"
        );
        let piped = RECIPE.replace("t.csv", "-");
        let error = Grid::new(&piped, "r.toml", &[]).unwrap_err();
        assert_eq!(
            error.to_string(),
            "r.toml:2:9: standard input can be read only once"
        );
    }
}
