//! Recipes that are right, and texts that must not break the reader.

use proptest::prelude::*;
use serde_json::json;

use crate::error::Error;
use crate::hierarchy::Cells;
use crate::hierarchy::{Rule, Side};
use crate::method::{ColumnChoice, ValueChoice};
use crate::recipe::{HierarchySpec, Spec, Spot};
use crate::release::DataFormat;
use crate::table::{Kind, Role};

const DESIGN: &str = r#"
[input]
table = "patients.csv"
population = "city.csv"
key = ["id"]
missing = ["", "?", "NA"]

[columns]
id          = "identifier"
age         = { role = "quasi", type = "number", hierarchy = { widths = [5, 10, 20, 40] } }
zip         = { role = "quasi", hierarchy = { mask = "right" }, lowest = 1, highest = 3 }
nationality = { role = "quasi", hierarchy = { csv = "nationality.csv" }, weight = 2 }
born        = { role = "quasi", type = "date", format = "%d.%m.%Y", hierarchy = { dates = ["month", "year"] } }
sex         = "quasi"
disease     = "sensitive"
notes       = "drop"

[promise]
k-anonymity        = { k = 5 }
l-diversity        = { l = 3, kind = "distinct" }
t-closeness        = { t = 0.2, distance = "ordered" }

[method]
name = "mondrian"
loss = "kl"
suppression = 0.05
cells = "interval"
column = "best"
value = "first"

[release]
directory = "out"
format = "parquet"
"#;

fn parse(text: &str) -> Spec {
    Spec::parse(text, "recipe.toml").expect("a recipe")
}

/// A smallest recipe with three sections, which begin in lines 1, 3 and 5.
pub(super) fn recipe(input: &str, columns: &str, promise: &str) -> String {
    format!("[input]\n{input}\n[columns]\n{columns}\n[promise]\n{promise}\n")
}

#[test]
fn the_recipe_of_the_design_is_read_as_typed() {
    let spec = parse(DESIGN);
    assert_eq!(spec.input.table, "patients.csv");
    assert_eq!(spec.input.population.as_deref(), Some("city.csv"));
    assert_eq!((spec.input.key.len(), spec.input.missing.len()), (1, 3));
    let names: Vec<&str> = spec.columns.iter().map(|column| &*column.name).collect();
    let expected =
        ["id", "age", "zip", "nationality", "born", "sex", "disease", "notes"];
    assert_eq!(names, expected);
    let column = |name| spec.column(name).expect("a column");
    assert_eq!(column("id").role, Role::Identifier);
    assert_eq!(column("notes").role, Role::Drop);
    assert_eq!(column("sex").spot, Spot { line: 14, column: 1 });
    let age = column("age");
    assert_eq!(age.kind, Some(Kind::Number));
    let widths = Rule::widths(vec![5.0, 10.0, 20.0, 40.0], 0.0).expect("nested");
    assert_eq!(age.hierarchy, Some(HierarchySpec::Rule(widths)));
    assert_eq!(age.hierarchy_spot, Some(Spot { line: 10, column: 62 }));
    let zip = column("zip");
    assert_eq!(zip.hierarchy, Some(HierarchySpec::Rule(Rule::mask(Side::Right))));
    assert_eq!((zip.lowest, zip.highest), (Some(1), Some(3)));
    let csv = HierarchySpec::Csv("nationality.csv".to_owned(), false);
    assert_eq!(column("nationality").hierarchy, Some(csv));
    assert_eq!(column("nationality").weight, Some(2.0));
    assert_eq!(column("born").format.as_deref(), Some("%d.%m.%Y"));
    assert_eq!(spec.promises.len(), 3);
    assert_eq!(spec.promises[0].kind.promise().asked(), json!({ "k": 5 }));
    assert_eq!(spec.promises[2].spot, Spot { line: 21, column: 1 });
    assert_eq!(spec.promises[2].kind.promise().name(), "t-closeness");
    let closeness = json!({ "t": 0.2, "distance": "ordered" });
    assert_eq!(spec.promises[2].kind.promise().asked(), closeness);
    assert_eq!(spec.method.name.map(|m| m.name()), Some("mondrian"));
    assert_eq!(spec.method.loss.name(), "kl");
    assert_eq!(spec.method.suppression.share_of(100), 5);
    assert_eq!(spec.method.cells, Some(Cells::Interval));
    assert_eq!(spec.method.column, ColumnChoice::Best);
    assert_eq!(spec.method.value, ValueChoice::First);
    assert_eq!(spec.release.directory, "out");
    assert_eq!(spec.release.format, DataFormat::Parquet);
}

#[test]
fn what_is_not_said_has_a_default() {
    let spec = parse(&recipe("table = \"-\"", "a = \"quasi\"", "l-diversity = 3"));
    assert_eq!(spec.input.missing, [""]);
    assert_eq!(spec.input.options.delimiter, None);
    assert_eq!((spec.method.name.map(|m| m.name()), spec.method.cells), (None, None));
    assert_eq!(spec.method.loss.name(), "loss");
    assert_eq!(spec.method.value, ValueChoice::Balanced);
    assert_eq!(spec.release.directory, "release");
    let diversity = json!({ "l": 3, "kind": "distinct" });
    assert_eq!(spec.promises[0].kind.promise().asked(), diversity);
}

#[test]
fn short_and_long_forms_mean_the_same() {
    for promise in [
        "l-diversity = { l = 2, kind = \"recursive\", c = 2.5 }",
        "l-diversity = { l = 2, kind = \"recursive(2.5)\" }",
    ] {
        let spec = parse(&recipe("table = \"t\"", "a = \"quasi\"", promise));
        let diversity = json!({ "l": 2, "kind": "recursive", "c": 2.5 });
        assert_eq!(spec.promises[0].kind.promise().asked(), diversity);
    }
    let spec = parse(&recipe(
        "table = \"t\"\nkey = \"id\"",
        "a = \"quasi\"",
        "t-closeness = 1",
    ));
    assert_eq!(spec.input.key, ["id"]);
    let cuts = |text: &str| {
        let column =
            format!("a = {{ role = \"quasi\", hierarchy = {{ cuts = {text} }} }}");
        let spec = parse(&recipe("table = \"t\"", &column, "k-anonymity = 2"));
        spec.columns[0].hierarchy.clone()
    };
    assert_eq!(cuts("[18, 65]"), cuts("[[18.0, 65]]"));
    for delimiter in ["tab", "\\t"] {
        let input = format!("table = \"t\"\ndelimiter = \"{delimiter}\"");
        let spec = parse(&recipe(&input, "a = \"quasi\"", "k-anonymity = 2"));
        assert_eq!(spec.input.options.delimiter, Some(b'\t'));
    }
}

#[test]
fn an_error_found_later_points_into_the_recipe() {
    let spec = parse(DESIGN);
    let error = spec.error_at(spec.columns[2].spot, Error::recipe("no such column"));
    assert_eq!(error.to_string(), "recipe.toml:11:1: no such column");
}

proptest! {
    #[test]
    fn no_text_breaks_the_reader(text in "\\PC{0,80}") {
        let _ = Spec::parse(&text, "r");
    }

    #[test]
    fn no_change_of_a_recipe_breaks_the_reader(
        at in 0usize..1200,
        cut in 0usize..40,
        new in "[\\[\\]{}=\",.0-9a-z\n é-]{0,8}",
    ) {
        let letters: Vec<char> = DESIGN.chars().collect();
        let at = at.min(letters.len());
        let end = (at + cut).min(letters.len());
        let text: String = letters[..at]
            .iter()
            .copied()
            .chain(new.chars())
            .chain(letters[end..].iter().copied())
            .collect();
        if let Err(error) = Spec::parse(&text, "r") {
            prop_assert!(error.place().is_some_and(|place| place.position.is_some()));
        }
    }
}
