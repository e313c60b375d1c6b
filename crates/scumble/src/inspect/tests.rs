//! What a first look says about whole tables.

use super::*;
use crate::recipe::Spec;
use crate::table::ReadOptions;

fn look(text: &str) -> Result<Findings> {
    let bytes = text.as_bytes().to_vec();
    let source = Source::from_bytes("people.csv", bytes, &ReadOptions::default())?;
    let options = Options { table: "people.csv".to_owned(), ..Options::default() };
    inspect(&source, &options)
}

fn people() -> String {
    let mut text = "id,name,age,zip,born,sex,diagnosis,notes,site\n".to_owned();
    for row in 0..200 {
        let (age, zip) = (row * 7 % 80 + 10, row * 13 % 30 + 1060);
        let (sex, month) = (["f", "m"][row / 7 % 2], row % 12 + 1);
        let illness = ["flu", "cough", "cold"][row % 3];
        text += &format!(
            "{},Person {row},{age},0{zip},{month:02}/17/1980,{sex},{illness},\
             a long story number {row} that nobody should read,x\n",
            row + 5000
        );
    }
    text
}

#[test]
fn every_column_gets_a_type_a_role_and_steps() {
    let findings = look(&people()).unwrap();
    let found: Vec<_> = findings
        .columns
        .iter()
        .map(|column| (column.name.as_str(), column.kind, column.role))
        .collect();
    assert_eq!(
        found,
        [
            ("id", Kind::Number, Role::Identifier),
            ("name", Kind::Category, Role::Identifier),
            ("age", Kind::Number, Role::Quasi),
            ("zip", Kind::Category, Role::Quasi),
            ("born", Kind::Date, Role::Quasi),
            ("sex", Kind::Category, Role::Quasi),
            ("diagnosis", Kind::Category, Role::Sensitive),
            ("notes", Kind::Category, Role::Drop),
            ("site", Kind::Category, Role::Drop),
        ]
    );
    let of = |name: &str| findings.columns.iter().find(|c| c.name == name).unwrap();
    let widths = ["5", "10", "20", "40"].map(str::to_owned).to_vec();
    assert_eq!(of("age").coarsening, Some(Coarsening::Widths(widths)));
    assert_eq!(of("zip").coarsening, Some(Coarsening::Mask));
    assert_eq!(of("born").date_format.as_deref(), Some("%m/%d/%Y"));
    assert_eq!((of("id").unique_share, of("sex").distinct), (1.0, 2));
    assert_eq!(findings.risk.last().unwrap().columns, ["age", "zip", "born", "sex"]);
}

#[test]
fn the_recipe_parses_and_names_all_columns() {
    let findings = look(&people()).unwrap();
    let spec = Spec::parse(&findings.recipe, "recipe.toml").unwrap();
    let names: Vec<&str> = spec.columns.iter().map(|column| &*column.name).collect();
    let header: Vec<&str> = findings.columns.iter().map(|c| &*c.name).collect();
    assert_eq!(names, header);
    assert_eq!(spec.promises.len(), 2);
    assert_eq!(spec.input.table, "people.csv");
    assert!(findings.recipe.lines().all(|line| line == line.trim_end()));
}

#[test]
fn odd_names_of_columns_are_quoted() {
    let names =
        ["first name", "a.b", "q\"x\\", "größe", "[x]", "#", "true", "new\nline"];
    let header: Vec<String> =
        names.iter().map(|name| format!("\"{}\"", name.replace('"', "\"\""))).collect();
    let row = "1,2,3,4,5,6,7,8\n2,1,1,1,1,1,1,1\n";
    let findings = look(&format!("{}\n{}", header.join(","), row.repeat(20))).unwrap();
    let spec = Spec::parse(&findings.recipe, "recipe.toml").unwrap();
    let parsed: Vec<&str> = spec.columns.iter().map(|column| &*column.name).collect();
    assert_eq!(parsed, names);
}

#[test]
fn missing_values_are_counted_and_named() {
    let findings = look("age,sex\n31,f\nNA,f\n40,\n50,m\n").unwrap();
    assert_eq!(findings.columns[0].kind, Kind::Number);
    assert_eq!(
        (findings.columns[0].missing, findings.columns[1].missing),
        (0.25, 0.25)
    );
    let spec = Spec::parse(&findings.recipe, "r").unwrap();
    assert_eq!(spec.input.missing, ["", "NA"]);
}

#[test]
fn tables_that_cannot_be_meant_are_refused() {
    let message = |text: &str| look(text).unwrap_err().to_string();
    assert_eq!(message("a\n1\n"), "people.csv: the table has only one column");
    assert_eq!(message("a,b\n"), "people.csv: the table has a header but no rows");
    assert!(message("").starts_with("people.csv: "), "{}", message(""));
    assert_eq!(
        message("email,phone\na@b,1\nc@d,2\n"),
        "people.csv: every column names a person, is free text, sensitive or constant"
    );
}

#[test]
fn no_value_of_the_table_is_in_the_findings() {
    let shown = format!("{:?}", look(&people()).unwrap());
    for value in ["Person", "cough", "story", "01067"] {
        assert!(!shown.contains(value), "{value}");
    }
}
