//! Panels of points: what was found against what is true.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, VPos};
use scumble::text::short;

use super::{Canvas, Drawing, Figure, INK, Panel, axes, colour, style, tick};

/// The straight line that fits points best, by least squares.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fit {
    pub(crate) slope: f64,
    pub(crate) start: f64,
    /// The share of what varies that the line explains.
    pub(crate) r2: f64,
}

impl Fit {
    /// Of points of which at least two differ across.
    pub(crate) fn of(points: &[(f64, f64)]) -> Option<Self> {
        let n = points.len() as f64;
        let x = points.iter().map(|(x, _)| x).sum::<f64>() / n;
        let y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
        let sum = |term: fn(f64, f64) -> f64| -> f64 {
            points.iter().map(|(a, b)| term(a - x, b - y)).sum()
        };
        let (xx, xy, yy) = (sum(|a, _| a * a), sum(|a, b| a * b), sum(|_, b| b * b));
        let slope = xy / xx;
        let r2 = if yy > 0.0 { xy * slope / yy } else { 1.0 };
        (xx > 0.0).then_some(Self { slope, start: y - slope * x, r2 })
    }

    /// As an equation.
    pub(crate) fn text(self) -> String {
        let sign = if self.start < 0.0 { '-' } else { '+' };
        let start = short(self.start.abs());
        format!("y = {} x {sign} {start}, R² = {}", short(self.slope), short(self.r2))
    }
}

/// Draws the points of every series, their best line, and the diagonal.
pub(super) fn plot(
    area: &Canvas<'_>,
    figure: &Figure,
    panel: &Panel,
    points: &[Vec<(f64, f64)>],
) -> Drawing {
    let all = || points.iter().flatten();
    let right = all().fold(0.0, |end: f64, (x, _)| end.max(*x)).max(1e-9) * 1.03;
    let top = all().fold(right, |end: f64, (_, y)| end.max(*y));
    let bottom = all().fold(0.0, |end: f64, (_, y)| end.min(*y));
    // Lines are drawn whole.
    let lines = points.iter().filter_map(|points| Fit::of(points));
    let lines: Vec<f64> = lines.flat_map(|fit| ends(fit, right)).collect();
    let top = lines.iter().copied().fold(top, f64::max);
    let bottom = lines.iter().copied().fold(bottom, f64::min);
    let mut chart = axes(area, panel).build_cartesian_2d(0.0..right, bottom..top)?;
    chart
        .configure_mesh()
        .x_labels(6)
        .y_labels(6)
        .max_light_lines(0)
        .x_label_formatter(&|value| tick(*value))
        .y_label_formatter(&|value| tick(*value))
        .x_desc(&panel.across)
        .y_desc(&panel.up)
        .label_style(style(13, HPos::Left, VPos::Top))
        .axis_desc_style(style(14, HPos::Left, VPos::Top))
        .axis_style(INK)
        .bold_line_style(RGBColor(225, 225, 225))
        .draw()?;
    let diagonal = vec![(0.0, 0.0), (right, right)];
    chart.draw_series([PathElement::new(diagonal, INK)])?;
    for (series, points) in figure.series.iter().zip(points) {
        let dots = points
            .iter()
            .map(|point| Circle::new(*point, 2, colour(series).mix(0.5).filled()));
        chart.draw_series(dots)?;
        if let Some(fit) = Fit::of(points) {
            let ends = ends(fit, right);
            let line = vec![(0.0, ends[0]), (right, ends[1])];
            let strong = colour(series).stroke_width(2);
            chart.draw_series([PathElement::new(line, strong)])?;
        }
    }
    Ok(())
}

/// How high a line begins and ends.
fn ends(fit: Fit, right: f64) -> [f64; 2] {
    [fit.start, fit.start + fit.slope * right]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_line_of_points_on_a_line_is_that_line() {
        let fit = Fit::of(&[(1.0, 1.0), (2.0, 3.0), (4.0, 7.0)]).unwrap();
        assert_eq!(fit.text(), "y = 2 x - 1, R² = 1");
        let fit = Fit::of(&[(0.0, 1.0), (1.0, 0.0), (2.0, 1.0)]).unwrap();
        assert!(fit.r2.abs() < 1e-12 && fit.slope.abs() < 1e-12);
        assert_eq!(Fit::of(&[(1.0, 1.0)]), None);
    }
}
