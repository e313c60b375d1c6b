//! The demo's recipes: one for each family of methods.

/// Names and texts, simplest first.
pub(super) const RECIPES: [(&str, &str); 4] = [
    ("k-anonymity", include_str!("k-anonymity.toml")),
    ("l-diversity", include_str!("l-diversity.toml")),
    ("t-closeness", include_str!("t-closeness.toml")),
    ("mondrian", include_str!("mondrian.toml")),
];

#[cfg(test)]
mod tests {
    use scumble::recipe::Spec;

    use super::*;

    #[test]
    fn every_recipe_parses_and_publishes_under_its_name() {
        for (name, text) in RECIPES {
            let spec = Spec::parse(text, name).unwrap();
            assert_eq!(
                (spec.input.table.as_str(), &*spec.release.directory),
                ("patients.csv", name)
            );
            let columns: Vec<&str> = spec.columns.iter().map(|c| &*c.name).collect();
            let header = "id,age,sex,zip,nationality,admission,ward,disease,days,cost";
            assert_eq!(columns.join(","), header, "{name}");
        }
    }
}
