//! Pictures: panels of lines or bars over named places, with one legend for all of them.

mod points;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, Ranged, ValueFormatter};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use scumble::error::{Error, Result};
use scumble::text::short;

pub(crate) use self::points::Fit;

/// A picture of several panels.
#[derive(Debug, Clone)]
pub(crate) struct Figure {
    pub(crate) title: String,
    /// What is compared; every panel has values for each of them.
    pub(crate) series: Vec<Series>,
    pub(crate) panels: Vec<Panel>,
}

impl Figure {
    pub(crate) fn new(
        title: impl Into<String>,
        series: impl IntoIterator<Item = Series>,
        panels: Vec<Panel>,
    ) -> Self {
        let series = series.into_iter().collect();
        Self { title: title.into(), series, panels }
    }
}

/// What one line or colour of bars stands for.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// Which of the colours; see [`COLOURS`].
    pub(crate) colour: usize,
    pub(crate) mark: Mark,
}

impl Series {
    pub(crate) fn new(name: impl Into<String>, colour: usize, mark: Mark) -> Self {
        Self { name: name.into(), colour, mark }
    }

    /// One for each name, with the colour that stands beside it.
    pub(crate) fn each<const N: usize>(
        names: [impl Into<String>; N],
        colours: [usize; N],
        mark: Mark,
    ) -> Vec<Self> {
        let names = names.into_iter().zip(colours);
        names.map(|(name, colour)| Self::new(name, colour, mark)).collect()
    }
}

/// What marks the points of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mark {
    Circle,
    Square,
    Triangle,
}

/// One set of axes.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub(crate) title: String,
    /// What the places are.
    pub(crate) across: String,
    /// What is measured.
    pub(crate) up: String,
    pub(crate) form: Form,
    pub(crate) scale: Scale,
    /// The places from left to right.
    pub(crate) places: Vec<String>,
    /// Places that begin something new: lines do not reach across.
    pub(crate) apart: Vec<usize>,
    /// For each series a value for each place, where there is one.
    pub(crate) values: Vec<Vec<Option<f64>>>,
}

impl Panel {
    /// What the places are and which there are, what is measured and how that is drawn, and
    /// for each series a value for each place.
    pub(crate) fn new(
        title: impl Into<String>,
        (across, places): (impl Into<String>, Vec<String>),
        (up, scale, form): (impl Into<String>, Scale, Form),
        values: Vec<Vec<Option<f64>>>,
    ) -> Self {
        let (title, across, up) = (title.into(), across.into(), up.into());
        Self { title, across, up, form, scale, places, apart: Vec::new(), values }
    }

    /// At these places something new begins.
    pub(crate) fn apart(mut self, places: &[usize]) -> Self {
        self.apart = places.to_vec();
        self
    }
}

/// How values are drawn.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Form {
    Lines,
    Bars,
    /// For each series its points, with the line that fits them best; there are no places.
    Points(Vec<Vec<(f64, f64)>>),
}

/// How the measuring axis runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scale {
    /// From zero.
    Linear,
    /// In powers of ten; for values above zero.
    Logarithmic,
}

/// Colours that people with any kind of sight can tell apart (Okabe and Ito).
const COLOURS: [RGBColor; 8] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(40, 40, 40),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(150, 150, 150),
];

const PANEL: (u32, u32) = (560, 350);
const HEAD: u32 = 54;
const LEGEND_LINE: i32 = 24;
const TEXT: i32 = 15;
const INK: RGBColor = RGBColor(40, 40, 40);

type Canvas<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The picture as the text of an SVG file.
pub(crate) fn svg(figure: &Figure) -> Result<String> {
    let mut text = String::new();
    // The canvas writes what is left when it goes.
    drawn(figure, &mut text)
        .map_err(|error| Error::input(format!("cannot draw the picture: {error}")))?;
    Ok(text)
}

type Drawing<T = ()> = std::result::Result<T, Box<dyn std::error::Error>>;

fn drawn(figure: &Figure, text: &mut String) -> Drawing {
    let across = figure.panels.len().clamp(1, 2);
    let down = figure.panels.len().div_ceil(across);
    let width = PANEL.0 * across as u32;
    let legend = Legend::of(&figure.series, width as i32);
    let panels_high = PANEL.1 * down as u32;
    let height = HEAD + panels_high + legend.height() as u32;
    let canvas = SVGBackend::with_string(text, (width, height)).into_drawing_area();
    canvas.fill(&WHITE)?;
    let title = style(22, HPos::Center, VPos::Center);
    canvas.draw_text(&figure.title, &title, (width as i32 / 2, HEAD as i32 / 2))?;

    if figure.panels.iter().any(has_crosses) {
        let place = (width as i32 - 18, HEAD as i32 - 8);
        let small = style(13, HPos::Right, VPos::Center);
        canvas.draw_text("× cannot be done", &small, place)?;
    }

    let (_, rest) = canvas.split_vertically(HEAD);
    let (panels, _) = rest.split_vertically(panels_high);
    for (area, panel) in panels.split_evenly((down, across)).iter().zip(&figure.panels)
    {
        if let Form::Points(clouds) = &panel.form {
            points::plot(area, figure, panel, clouds)?;
            continue;
        }
        let top =
            panel.values.iter().flatten().flatten().fold(0.0, |a: f64, b| a.max(*b));
        let top = if top > 0.0 { top } else { 1.0 };
        match panel.scale {
            Scale::Linear => {
                let ends = (0.0, top * 1.06);
                plot(&canvas, area, figure, panel, ends, ends.0..ends.1)?;
            }
            Scale::Logarithmic => {
                let ends = powers(panel);
                plot(&canvas, area, figure, panel, ends, (ends.0..ends.1).log_scale())?;
            }
        }
    }
    legend.draw(&canvas, &figure.series, (HEAD + panels_high) as i32)?;
    canvas.present()?;
    Ok(())
}

/// Whether a bar is missing.
fn has_crosses(panel: &Panel) -> bool {
    panel.form == Form::Bars && panel.values.iter().flatten().any(Option::is_none)
}

/// A number on an axis, in thousands or millions where it is large.
fn tick(value: f64) -> String {
    match value.abs() {
        size if size >= 1e6 => format!("{} M", short(value / 1e6)),
        size if size >= 1e4 => format!("{} k", short(value / 1e3)),
        _ => short(value),
    }
}

/// The powers of ten around the values.
fn powers(panel: &Panel) -> (f64, f64) {
    let values =
        || panel.values.iter().flatten().flatten().filter(|value| **value > 0.0);
    let low = values().fold(f64::INFINITY, |a, b| a.min(*b));
    let high = values().fold(0.0_f64, |a, b| a.max(*b));
    if high == 0.0 {
        return (1.0, 10.0);
    }
    let low = 10f64.powf((low * 0.999).log10().floor());
    let high = 10f64.powf((high * 1.001).log10().ceil());
    (low, high.max(low * 10.0))
}

/// Draws axes and values of one panel; bars begin at the lower of its ends.
fn plot<Y>(
    canvas: &Canvas<'_>,
    area: &Canvas<'_>,
    figure: &Figure,
    panel: &Panel,
    (floor, ceiling): (f64, f64),
    range: Y,
) -> Drawing
where
    Y: AsRangedCoord<Value = f64>,
    Y::CoordDescType: ValueFormatter<f64> + Ranged<ValueType = f64>,
{
    let n_places = panel.places.len().max(1);
    let mut chart =
        axes(area, panel).build_cartesian_2d(0.0..n_places as f64, range)?;
    chart
        .configure_mesh()
        .disable_x_mesh()
        .x_labels(0)
        .y_labels(6)
        .y_max_light_lines(0)
        .y_label_formatter(&|value| tick(*value))
        .y_desc(&panel.up)
        .label_style(style(13, HPos::Left, VPos::Top))
        .axis_desc_style(style(14, HPos::Left, VPos::Top))
        .axis_style(INK)
        .bold_line_style(RGBColor(225, 225, 225))
        .draw()?;

    let at = |x: f64, value: f64| chart.backend_coord(&(x, value.max(floor)));
    let label = style(12, HPos::Center, VPos::Top);
    for (place, name) in panel.places.iter().enumerate() {
        let (x, y) = at(place as f64 + 0.5, floor);
        canvas.draw_text(name, &label, (x, y + 7))?;
    }
    let (x, y) = at(n_places as f64 / 2.0, floor);
    canvas.draw_text(
        &panel.across,
        &style(14, HPos::Center, VPos::Top),
        (x, y + 27),
    )?;

    for place in &panel.apart {
        let (x, y) = at(*place as f64, floor);
        let top = (x, at(0.0, ceiling).1);
        canvas.draw(&PathElement::new(vec![(x, y), top], RGBColor(190, 190, 190)))?;
    }

    let n_series = figure.series.len();
    for (number, (series, values)) in
        figure.series.iter().zip(&panel.values).enumerate()
    {
        match &panel.form {
            Form::Points(_) => {}
            Form::Lines => {
                let point = |(place, value): (usize, &Option<f64>)| {
                    Some((place, at(place as f64 + 0.5, (*value)?)))
                };
                let points: Vec<_> =
                    values.iter().enumerate().filter_map(point).collect();
                let joined = points
                    .chunk_by(|_, (place, _)| !panel.apart.contains(place))
                    .map(|run| run.iter().map(|(_, point)| *point).collect::<Vec<_>>());
                for run in joined {
                    canvas
                        .draw(&PathElement::new(run, colour(series).stroke_width(2)))?;
                }
                for (_, point) in points {
                    mark(canvas, series, point)?;
                }
            }
            Form::Bars => {
                // A fifth of a place stays empty between the bars of two places.
                let width = 0.8 / n_series as f64;
                for (place, value) in values.iter().enumerate() {
                    let left = place as f64 + 0.1 + number as f64 * width;
                    if let Some(value) = value {
                        let corners =
                            [at(left, floor), at(left + width * 0.92, *value)];
                        canvas
                            .draw(&Rectangle::new(corners, colour(series).filled()))?;
                    } else {
                        // Not zero, but nothing.
                        let (x, y) = at(left + width * 0.46, floor);
                        let cross = Cross::new((x, y - 7), 3, colour(series));
                        canvas.draw(&cross)?;
                    }
                }
            }
        }
    }
    Ok(())
}

/// Room for axes below the title of a panel.
fn axes<'a, 'c>(
    area: &'a Canvas<'c>,
    panel: &Panel,
) -> ChartBuilder<'a, 'static, SVGBackend<'c>> {
    let mut chart = ChartBuilder::on(area);
    chart.margin(12).margin_right(18).x_label_area_size(46).y_label_area_size(70);
    chart.caption(&panel.title, style(17, HPos::Left, VPos::Top));
    chart
}

/// Where the names of the series stand below the panels.
struct Legend {
    /// Left edge and line of each.
    spots: Vec<(i32, i32)>,
}

impl Legend {
    /// As many to a line as fit. The width of a text is a guess, since only the reader's
    /// browser knows its letters.
    fn of(series: &[Series], width: i32) -> Self {
        let (start, mut line) = (30, 0);
        let mut left = start;
        let spots = series.iter().map(|series| {
            let needed = 48 + series.name.chars().count() as i32 * TEXT * 11 / 20;
            if left > start && left + needed > width - start {
                left = start;
                line += 1;
            }
            let spot = (left, line);
            left += needed;
            spot
        });
        Self { spots: spots.collect() }
    }

    fn height(&self) -> i32 {
        self.spots.last().map_or(0, |(_, line)| (line + 1) * LEGEND_LINE + 14)
    }

    fn draw(&self, canvas: &Canvas<'_>, series: &[Series], top: i32) -> Drawing {
        for ((left, line), series) in self.spots.iter().zip(series) {
            let y = top + line * LEGEND_LINE + LEGEND_LINE / 2;
            let ends = vec![(*left, y), (left + 26, y)];
            canvas.draw(&PathElement::new(ends, colour(series).stroke_width(3)))?;
            mark(canvas, series, (left + 13, y))?;
            let text = style(TEXT, HPos::Left, VPos::Center);
            canvas.draw_text(&series.name, &text, (left + 33, y))?;
        }
        Ok(())
    }
}

fn mark(canvas: &Canvas<'_>, series: &Series, point: (i32, i32)) -> Drawing {
    let (x, y) = point;
    let filled = colour(series).filled();
    match series.mark {
        Mark::Circle => canvas.draw(&Circle::new(point, 4, filled))?,
        Mark::Square => {
            canvas.draw(&Rectangle::new([(x - 4, y - 4), (x + 4, y + 4)], filled))?;
        }
        Mark::Triangle => canvas.draw(&TriangleMarker::new(point, 6, filled))?,
    }
    Ok(())
}

fn colour(series: &Series) -> RGBColor {
    COLOURS[series.colour % COLOURS.len()]
}

/// The library draws letters smaller than asked, by this much.
const SHRINK: f64 = 1.24;

fn style(size: i32, across: HPos, down: VPos) -> TextStyle<'static> {
    TextStyle::from(("sans-serif", f64::from(size) * SHRINK).into_font())
        .color(&INK)
        .pos(Pos::new(across, down))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure(form: Form, scale: Scale) -> Figure {
        let series = |name: &str, colour| Series::new(name, colour, Mark::Square);
        let panel = Panel::new(
            "A panel",
            ("delta", vec!["0–.05".to_owned(), "0–.1".to_owned()]),
            ("loss", scale, form),
            vec![vec![Some(2.0), Some(300.0)], vec![None, Some(5.0)]],
        )
        .apart(&[1]);
        Figure::new(
            "A title",
            vec![series("first", 0), series("second", 1)],
            vec![panel.clone(), panel],
        )
    }

    #[test]
    fn a_picture_has_its_words_and_its_bars() {
        for scale in [Scale::Linear, Scale::Logarithmic] {
            let text = svg(&figure(Form::Bars, scale)).unwrap();
            for word in ["A title", "A panel", "delta", "loss", "0–.05", "second", "×"]
            {
                assert!(text.contains(word), "{word}");
            }
            // Three values in each of two panels.
            assert_eq!(text.matches("fill=\"#0072B2\"").count(), 2 * 2 + 1);
            assert_eq!(text.matches("fill=\"#D55E00\"").count(), 2 + 1);
        }
        assert!(svg(&figure(Form::Lines, Scale::Linear)).unwrap().contains("polyline"));
    }

    #[test]
    fn points_are_drawn_with_their_line() {
        let mut figure = figure(Form::Lines, Scale::Linear);
        let cloud = vec![(1.0, 2.0), (2.0, 3.0), (3.0, 5.0)];
        figure.panels[0].form = Form::Points(vec![cloud, Vec::new()]);
        assert_eq!(svg(&figure).unwrap().matches("<circle").count(), 3);
    }

    #[test]
    fn a_panel_without_values_is_drawn_empty() {
        let mut figure = figure(Form::Lines, Scale::Logarithmic);
        for panel in &mut figure.panels {
            panel.values = vec![vec![None, None], vec![None, None]];
        }
        assert!(svg(&figure).unwrap().ends_with("</svg>\n"));
    }

    #[test]
    fn a_long_legend_takes_several_lines() {
        let series = |number| {
            Series::new(format!("a name of some length {number}"), number, Mark::Circle)
        };
        let list: Vec<Series> = (0..6).map(series).collect();
        let legend = Legend::of(&list, 560);
        assert_eq!(legend.spots[0], (30, 0));
        assert_eq!(legend.spots[2].1, 1);
        assert_eq!(legend.height(), 3 * LEGEND_LINE + 14);
    }
}
