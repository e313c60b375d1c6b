//! What a release costs, by what was done to its columns.

use std::collections::BTreeMap;

use crate::audit::cells::cost;
use crate::audit::checks::delta_presence;
use crate::audit::public::Public;
use crate::audit::{Case, apart, drawn};
use crate::error::Result;
use crate::loss::{CellLoss, Kl};

/// Losses that cells and their sizes alone decide, whoever of a class is in the table.
const OF_CELLS: [&str; 4] = ["loss", "precision", "discernibility", "average-group"];

/// What a release costs.
#[derive(Debug)]
pub(super) struct Losses {
    pub(super) private: BTreeMap<String, f64>,
    pub(super) public: Public<BTreeMap<String, f64>>,
}

impl Losses {
    /// Every loss that what is held allows.
    pub(super) fn of(case: &Case<'_>) -> Result<Self> {
        let views = case.views;
        let (mut private, mut public) = (BTreeMap::new(), BTreeMap::new());
        if let Some((classes, linked)) = views.cells()?.zip(case.linked()?) {
            let (covers, columns) = (&linked.covers, &linked.columns);
            let mut of_cells =
                cost::losses(classes, covers, columns, linked.table.n_rows());
            if let Some(weights) = &classes.weights {
                let kl = cost::kl(classes, weights, covers, columns, &linked.known)?;
                of_cells.insert(Kl.name().to_owned(), kl);
            }
            // Where presence is promised, no number may depend on who of a class is in the
            // table: not the entropy of its values, not how well they fit the weights.
            let presence = delta_presence::is_promised(case.manifest);
            let even = classes.weights.is_none();
            let shown = |name: &str| {
                !presence || OF_CELLS.contains(&name) || even && name == Kl.name()
            };
            let open = of_cells.iter().filter(|(name, _)| shown(name));
            public.extend(open.map(|(name, value)| (name.clone(), *value)));
            private.extend(of_cells);
        }
        if let values @ [_, ..] = views.apart()? {
            let of_groups = apart::losses(values, case.manifest.left_out);
            public.extend(of_groups.clone());
            private.extend(of_groups);
        }
        if let Some(drawn) = views.drawn()? {
            private.extend(drawn::losses(drawn, case.true_counts()?));
            public.extend(drawn::losses(drawn, None));
        }
        if let Some(rows) = views.noisy()? {
            let spread = match case.noisy_truth()? {
                Some(truth) => rows.spread(&truth.deviations),
                None => rows.spread(&rows.published_deviations()),
            };
            // A mean over all rows and columns.
            private.insert("spread".to_owned(), spread);
            public.insert("spread".to_owned(), spread);
        }
        let because = "computed from published cells, or a mean over all rows";
        Ok(Self { private, public: Public::because(because, public) })
    }
}
