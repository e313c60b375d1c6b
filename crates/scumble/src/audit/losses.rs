//! What a release costs, by what was done to its columns.

use std::collections::BTreeMap;

use crate::audit::cells::{ShownCells, cost};
use crate::audit::public::Public;
use crate::audit::{Case, apart, drawn};
use crate::error::Result;
use crate::loss::{CellLoss, Kl};

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
            private.extend(of_cells);
        }
        if let Some(classes) = views.cells()? {
            let shown = ShownCells::read(case.manifest, classes);
            public.extend(shown.losses(case.manifest, classes));
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
            let told = rows.spread(&rows.published_deviations());
            let spread = match case.noisy_truth()? {
                Some(truth) => rows.spread(&truth.deviations),
                None => told,
            };
            private.insert("spread".to_owned(), spread);
            public.insert("spread".to_owned(), told);
        }
        let because = "computed from published files alone";
        Ok(Self { private, public: Public::because(because, public) })
    }
}
