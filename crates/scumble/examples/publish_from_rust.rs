//! Publishing from Rust, without a file: a table as Arrow batches, a recipe as JSON.
//!
//! `cargo run --example publish_from_rust`

use std::sync::Arc;

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use scumble::{Input, Request, Spec, Unwatched, publish};
use serde_json::json;

#[expect(clippy::print_stdout, reason = "an example shows what it did")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let ages: ArrayRef =
        Arc::new(Int64Array::from_iter_values((0..40).map(|i| 20 + i)));
    let sexes: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..40).map(|i| ["f", "m"][i % 2])));
    let ills: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..40).map(|i| ["flu", "cough", "ulcer"][i % 3]),
    ));
    let people =
        RecordBatch::try_from_iter([("age", ages), ("sex", sexes), ("illness", ills)])?;

    let recipe = Spec::from_value(
        &json!({
            "input": { "table": "people" },
            "columns": {
                "age": { "role": "quasi", "type": "number",
                         "hierarchy": { "widths": [5, 10, 20] } },
                "sex": "quasi",
                "illness": "sensitive",
            },
            "promise": { "k-anonymity": 4, "l-diversity": 2 },
        }),
        "recipe",
    )?;
    let given = [("people".to_owned(), Input::Batches(vec![people]))];
    let published = publish(Request::in_memory(&recipe, given), &Unwatched)?;
    for promise in &published.manifest.promises {
        println!("{} holds: {}", promise.name, promise.measured);
    }
    let rows = published.release.store().read(&published.manifest.data.file)?;
    println!("{}", String::from_utf8_lossy(&rows));
    Ok(())
}
