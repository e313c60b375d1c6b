//! Asking a release from Rust: estimates with their errors, from the release alone.
//!
//! `cargo run --example ask_from_rust`

use scumble::{Evidence, Input, Query, Request, Spec, Unwatched, Way, publish};

const RECIPE: &str = r#"
    input.table = "people.csv"
    columns.age = "quasi"
    columns.illness = "sensitive"
    promise.breach = { prior = 0.2, posterior = 0.6 }
"#;

#[expect(clippy::print_stdout, reason = "an example shows what it did")]
fn main() -> scumble::Result<()> {
    let mut table = String::from("age,illness\n");
    for row in 0..3000 {
        let illness = ["flu", "cough", "ulcer", "flu"][row % 4];
        table.push_str(&format!("{},{illness}\n", 20 + row % 60));
    }
    let recipe = Spec::parse(RECIPE, "recipe.toml")?;
    let given = [("people.csv".to_owned(), Input::Bytes(table.into_bytes()))];
    let release = publish(Request::in_memory(&recipe, given), &Unwatched)?.release;

    let evidence = Evidence::read(&release, &Unwatched)?;
    let query = Query::parse("SELECT illness, COUNT(*) FROM release GROUP BY illness")?;
    for estimate in evidence.answer(&query, Way::Inverse)? {
        let error = estimate.standard_error.unwrap_or(f64::NAN);
        println!("{}: {:.0} ± {error:.0}", estimate.values.join(", "), estimate.count);
    }
    Ok(())
}
