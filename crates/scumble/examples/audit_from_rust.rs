//! Auditing from Rust: promises rechecked from the release, attacks with the table at hand.
//!
//! `cargo run --example audit_from_rust`

use scumble::{
    Given, Input, Original, ReadOptions, Request, Source, Spec, Unwatched, audit,
    publish,
};

const RECIPE: &str = r#"
    input.table = "people.csv"
    columns.age = { role = "quasi", type = "number", hierarchy = { widths = [10, 20] } }
    columns.illness = "sensitive"
    promise.l-diversity = 2
    method.name = "anatomy"
"#;

#[expect(clippy::print_stdout, reason = "an example shows what it did")]
fn main() -> scumble::Result<()> {
    let mut table = String::from("age,illness\n");
    for row in 0..60 {
        let illness = ["flu", "cough", "ulcer"][row % 3];
        table.push_str(&format!("{},{illness}\n", 20 + row));
    }
    let recipe = Spec::parse(RECIPE, "recipe.toml")?;
    let bytes = table.into_bytes();
    let given = [("people.csv".to_owned(), Input::Bytes(bytes.clone()))];
    let release = publish(Request::in_memory(&recipe, given), &Unwatched)?.release;

    let source = Source::from_bytes("people.csv", bytes, &ReadOptions::default())?;
    let original = Original::read(&source, &release.manifest, &Unwatched)?;
    let given = Given { original: Some(&original), ..Given::default() };
    let found = audit(&release, &given, &Unwatched)?.private;
    for promise in &found.promises {
        println!("{}: {}", promise.name, if promise.holds { "holds" } else { "fails" });
    }
    for attack in &found.attacks {
        println!(
            "{}: {:.2}, by chance {:.2}",
            attack.name, attack.success, attack.chance
        );
    }
    for attack in &found.not_applicable {
        println!("{}: not tried, {}", attack.name, attack.reason);
    }
    Ok(())
}
