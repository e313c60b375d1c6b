//! What the manifest says about values by group, and what is not promised.

use serde_json::{Map, Value, json};

use crate::promise::Priors;
use crate::recipe::Spec;
use crate::table::Role;

/// What was made, for the manifest.
pub(super) struct BucketNotes<'a> {
    pub(super) spec: &'a Spec,
    pub(super) method: &'a str,
    /// Rows that are not published.
    pub(super) left_out: u64,
    /// Groups certified against one question at a time only.
    pub(super) binary: u64,
    pub(super) priors: Option<&'a Priors>,
    pub(super) fallback: Option<Value>,
}

impl BucketNotes<'_> {
    /// Public parameters of the method.
    pub(super) fn parameters(&self) -> Map<String, Value> {
        let mut parameters = Map::new();
        parameters.insert(
            "suppression".to_owned(),
            json!(self.spec.method.suppression.to_f64()),
        );
        if let Some((size, _)) = self.spec.method.largest_group {
            parameters.insert("largest-group".to_owned(), json!(size));
        }
        if let Some(fallback) = &self.fallback {
            parameters.insert("knowledge".to_owned(), fallback.clone());
        }
        parameters
    }

    /// What a reader might take for promised and must not.
    pub(super) fn not_promised(&self) -> Vec<String> {
        let mut list: Vec<String> = Vec::new();
        let mut say = |text: &str| list.push(text.to_owned());
        say(
            "who somebody is: quasi columns are published as they are, so that anybody who \
             knows a person finds their row and its group; only sensitive values are hidden",
        );
        say("presence: whether a person is in the table is not hidden");
        match self.priors {
            None => say(
                "knowledge of how values depend on quasi columns: somebody who has it can be \
                 surer of a value than its share in the group; the background-knowledge \
                 attack of the audit tells how much, and `robust` bounds it",
            ),
            Some(_) => say(
                "other knowledge of how values depend on quasi columns: the promise is kept \
                 against somebody who knows it by each of the listed sets of columns, not by \
                 more columns at once, and not from another source",
            ),
        }
        say(
            "other members' values: somebody who knows them can exclude them, and who knows \
             all but one knows the last",
        );
        if self.method == "robust" {
            say(
                "the search: groups were formed again until they kept the promise, so somebody \
                 who knows the method learns from what was formed; in small tables that can be \
                 somebody's value, for certain",
            );
        }
        if self.binary > 0 {
            list.push(format!(
                "all values at once: {} groups are too large to count their possible worlds; \
                 of these it was only checked that somebody who knows of one value how it \
                 depends on the columns, and of the others nothing, stays below 1/r",
                self.binary
            ));
        }
        if self.left_out > 0 {
            list.push(match self.method {
                "anatomy" => format!(
                    "rows left out: all {} have one of the commonest values, so somebody who \
                     knows that a person was in the table, and does not find them, learns that",
                    self.left_out
                ),
                _ => format!(
                    "rows left out: the {} rows did not fit into any group, which says \
                     something of their values to somebody who knows that a person was in \
                     the table and does not find them",
                    self.left_out
                ),
            });
        }
        if let Some(priors) = self.priors {
            let rare: u64 = priors.sets.iter().map(|set| set.rare).sum();
            if rare > 0 {
                list.push(format!(
                    "knowledge of a few: {rare} combinations of values in the listed columns \
                     have too few rows for a distribution of their own, and it is assumed \
                     that nobody knows one"
                ));
            }
        }
        list.push(
            "composition: two releases about the same people may together say more than each"
                .to_owned(),
        );
        if self.spec.columns.iter().any(|column| column.role == Role::Other) {
            list.push(
                "columns of role “other”: published as they are, taken not to identify \
                 anybody nor to depend on sensitive values"
                    .to_owned(),
            );
        }
        list
    }
}

/// How r-robustness was certified, from what the audit measured.
pub(in crate::recipe) fn certified(measured: &Value) -> String {
    let number = |key: &str| measured.get(key).and_then(Value::as_u64).unwrap_or(0);
    let (groups, exact) = (number("groups"), number("exact"));
    if exact == groups {
        return "exact posteriors of the possible worlds of every group, for every set of \
                columns"
            .to_owned();
    }
    format!(
        "exact posteriors of the possible worlds of {exact} of {groups} groups; of the other \
         {} only against somebody who knows of one value how it depends on the columns",
        groups - exact.min(groups)
    )
}
