//! A recipe with some of its keys varied.

use serde_json::Value;

use crate::error::{Error, Result};
use crate::recipe::Spec;
use crate::recipe::compare::edit::{set, written};
use crate::recipe::compare::vary::{Vary, read};

/// More points than this are a slip of the finger.
pub const MOST_POINTS: usize = 1000;

/// Recipes to compare.
#[derive(Debug, Clone)]
pub struct Grid {
    /// The keys that are varied.
    pub keys: Vec<String>,
    /// All combinations of their values, the last key fastest; at the end the recipe as it
    /// stands, unless it is one of them.
    pub points: Vec<Point>,
    /// Which of them is the recipe as it stands.
    pub chosen: usize,
}

/// One of the recipes.
#[derive(Debug, Clone)]
pub struct Point {
    /// The value of each varied key; null if the recipe does not say.
    pub values: Vec<Value>,
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
            return Err(Error::recipe(format!(
                "these are {n_points} points, but at most {MOST_POINTS} are compared"
            ))
            .with_hint("vary fewer keys at once, or give them fewer values"));
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
            points.push(Point { values, text: text.to_owned(), spec });
        }
        let keys = varies.iter().map(|vary| vary.key.clone()).collect();
        Ok(Self { keys, points, chosen })
    }
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
        Ok(Self { values, text: changed, spec })
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
