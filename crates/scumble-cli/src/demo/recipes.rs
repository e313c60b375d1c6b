//! The demo's recipes: one for each family of methods.

/// Names and texts: what a hospital would want, people with several visits, and then one
/// family after the other, simplest first.
pub(super) const RECIPES: [(&str, &str); 14] = [
    ("hospital", include_str!("hospital.toml")),
    ("visits", include_str!("visits.toml")),
    ("k-anonymity", include_str!("k-anonymity.toml")),
    ("l-diversity", include_str!("l-diversity.toml")),
    ("t-closeness", include_str!("t-closeness.toml")),
    ("mondrian", include_str!("mondrian.toml")),
    ("delta-presence", include_str!("delta-presence.toml")),
    ("pdf", include_str!("pdf.toml")),
    ("anatomy", include_str!("anatomy.toml")),
    ("robust", include_str!("robust.toml")),
    ("breach", include_str!("breach.toml")),
    ("partitioned", include_str!("partitioned.toml")),
    ("fine-grain", include_str!("fine-grain.toml")),
    ("blur", include_str!("blur.toml")),
];

#[cfg(test)]
mod tests {
    use scumble::recipe::Spec;

    use super::*;

    #[test]
    fn every_recipe_parses_and_publishes_under_its_name() {
        for (name, text) in RECIPES {
            let spec = Spec::parse(text, name).unwrap();
            assert_eq!(&*spec.release.directory, name);
            let columns: Vec<&str> = spec.columns.iter().map(|c| &*c.name).collect();
            let header = match spec.input.table.as_str() {
                "patients.csv" | "visits.csv" => {
                    "id,age,sex,zip,nationality,admission,ward,disease,days,cost"
                }
                _ => "id,age,sex,zip,nationality,days",
            };
            assert_eq!(columns.join(","), header, "{name}");
        }
    }
}
