//! Numbers that the source prints, beside ours.

use scumble::text::short;

use crate::chart::{Figure, Form, Mark, Panel, Scale, Series};
use crate::outcome::{Cell, Claim, OURS, SOURCE};

/// The columns of a table that compares.
pub(crate) const COLUMNS: &str = "table,quantity,setting,source,ours,ratio";

/// A row of a table of the source: a quantity for several settings.
#[derive(Debug, Clone)]
pub(crate) struct Compared {
    /// Such as "Table 3".
    pub(crate) table: &'static str,
    pub(crate) quantity: String,
    /// What the settings are values of.
    pub(crate) across: &'static str,
    pub(crate) settings: Vec<String>,
    /// What the source prints, where it prints something.
    pub(crate) source: Vec<Option<f64>>,
    pub(crate) ours: Vec<Option<f64>>,
}

impl Compared {
    /// Rows with a cell for each of [`COLUMNS`].
    pub(crate) fn rows(&self) -> Vec<Vec<Cell>> {
        let all = self.settings.iter().zip(&self.source).zip(&self.ours);
        let row =
            |((setting, source), ours): ((&String, &Option<f64>), &Option<f64>)| {
                vec![
                    self.table.into(),
                    self.quantity.clone().into(),
                    setting.clone().into(),
                    (*source).into(),
                    (*ours).into(),
                    ratio(*source, *ours).into(),
                ]
            };
        all.map(row).collect()
    }

    /// Both as bars.
    pub(crate) fn panel(&self, scale: Scale) -> Panel {
        Panel::new(
            format!("{}: {}", self.table, self.quantity),
            (self.across, self.settings.clone()),
            ("", scale, Form::Bars),
            vec![self.source.clone(), self.ours.clone()],
        )
    }

    /// Where our numbers stand against the source's: they agree if every ratio is within
    /// the range.
    pub(crate) fn claim(&self, low: f64, high: f64) -> Claim {
        let numbers = |numbers: &[Option<f64>]| {
            let shown = numbers.iter().flatten().map(|number| short(*number));
            shown.collect::<Vec<_>>().join(", ")
        };
        let ratios: Vec<f64> = self
            .source
            .iter()
            .zip(&self.ours)
            .filter_map(|(source, ours)| ratio(*source, *ours))
            .collect();
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        let settings = self.settings.join(", ");
        Claim::new(
            format!(
                "{}, {} for {} = {settings}: {}",
                self.table,
                self.quantity,
                self.across,
                numbers(&self.source)
            ),
            format!(
                "{}; {} to {} times the source's",
                numbers(&self.ours),
                short(least),
                short(most)
            ),
            !ratios.is_empty() && least >= low && most <= high,
        )
    }
}

fn ratio(source: Option<f64>, ours: Option<f64>) -> Option<f64> {
    source.zip(ours).map(|(source, ours)| ours / source)
}

/// A picture of panels that compare.
pub(crate) fn figure(title: &str, panels: Vec<Panel>) -> Figure {
    let series = Series::each([SOURCE, OURS], [7, 0], Mark::Square);
    Figure::new(title, series, panels)
}
