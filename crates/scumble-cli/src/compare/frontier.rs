//! The frontier between privacy and use, as a picture: risk across, what is lost up, and
//! the points that no other point beats in both joined by a line.

use std::fmt::Write;

use scumble::picture::{Anchor, Html, Svg};
use scumble::text::decimals;

/// A picture.
pub(super) struct Plot<'a> {
    pub(super) across: &'a str,
    pub(super) up: &'a str,
    /// Whether what is lost is a share.
    pub(super) shares: bool,
    pub(super) dots: Vec<Dot>,
    /// Width and height.
    pub(super) size: (f64, f64),
    /// Whether dots have their names beside them.
    pub(super) named: bool,
}

/// A point of the grid.
#[derive(Debug, Clone)]
pub(super) struct Dot {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) name: String,
    /// What is shown when the mouse is on it.
    pub(super) title: String,
    pub(super) colour: usize,
    pub(super) chosen: bool,
    /// Where its recipe is on the page.
    pub(super) link: String,
}

/// Which dots no other dot beats: from little risk to much, each losing less than all
/// before.
pub(super) fn frontier(dots: &[Dot]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..dots.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&dots[*a], &dots[*b]);
        a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y))
    });
    let mut least = f64::INFINITY;
    order.retain(|place| {
        let beats = dots[*place].y < least;
        least = least.min(dots[*place].y);
        beats
    });
    order
}

/// An axis of shares.
struct Axis {
    low: f64,
    high: f64,
    /// In powers of ten.
    powers: bool,
    ticks: Vec<f64>,
}

impl Axis {
    fn of(values: &[f64]) -> Self {
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if least > 0.0 && most / least > 40.0 {
            let (low, high) = (least * 0.7, most * 1.3);
            // Few powers of ten leave room for ticks between them.
            let between: &[f64] = if high / low > 3e3 { &[1.0] } else { &[1.0, 3.0] };
            let first = low.log10().floor() as i32;
            let last = high.log10().ceil() as i32;
            let ticks = (first..=last)
                .flat_map(|power| between.iter().map(move |n| n * 10f64.powi(power)))
                .filter(|tick| (low..=high).contains(tick))
                .collect();
            return Self { low, high, powers: true, ticks };
        }
        let (low, high) = (least.min(0.0), most.max(0.0));
        let high = if high > low { high + (high - low) * 0.12 } else { low + 1.0 };
        let step = step((high - low) / 5.0);
        let low = (low / step).floor() * step;
        let n_ticks = ((high - low) / step).floor() as usize;
        let ticks = (0..=n_ticks).map(|n| low + n as f64 * step).collect();
        Self { low, high, powers: false, ticks }
    }

    /// How far along the axis a value is, from 0 to 1.
    fn at(&self, value: f64) -> f64 {
        match self.powers {
            true => (value / self.low).log10() / (self.high / self.low).log10(),
            false => (value - self.low) / (self.high - self.low),
        }
    }
}

/// A round number near another: 1, 2 or 5 times a power of ten.
fn step(rough: f64) -> f64 {
    let power = 10f64.powf(rough.log10().floor());
    let factor = [1.0, 2.0, 5.0].into_iter().find(|factor| factor * power >= rough);
    factor.unwrap_or(10.0) * power
}

/// A share at an axis.
fn tick(value: f64) -> String {
    plain(value * 100.0) + " %"
}

/// A number at an axis.
fn plain(value: f64) -> String {
    decimals(value, 5)
}

/// A box that a text fills.
#[derive(Clone, Copy)]
struct Area {
    left: f64,
    top: f64,
    right: f64,
    bottom: f64,
}

impl Area {
    fn meets(&self, other: &Self) -> bool {
        self.left < other.right
            && other.left < self.right
            && self.top < other.bottom
            && other.top < self.bottom
    }
}

/// The picture as an `svg` element; colours are up to the page.
pub(super) fn svg(plot: &Plot<'_>) -> String {
    let (width, height) = plot.size;
    let (left, right, top, bottom) = (58.0, width - 14.0, 26.0, height - 44.0);
    let values = |of: fn(&Dot) -> f64| plot.dots.iter().map(of).collect::<Vec<f64>>();
    let (across, up) = (Axis::of(&values(|dot| dot.x)), Axis::of(&values(|dot| dot.y)));
    let x = |value: f64| left + across.at(value) * (right - left);
    let y = |value: f64| bottom - up.at(value) * (bottom - top);
    let mut svg =
        Svg::new("", plot.size, &format!("{} against {}", plot.up, plot.across));
    for value in &up.ticks {
        let label = if plot.shares { tick(*value) } else { plain(*value) };
        svg.line("grid", (left, y(*value)), (right, y(*value)));
        svg.text("", Anchor::End, (left - 7.0, y(*value) + 4.0), &label);
    }
    for value in &across.ticks {
        svg.line("grid", (x(*value), top), (x(*value), bottom));
        svg.text("", Anchor::Middle, (x(*value), bottom + 17.0), &tick(*value));
    }
    svg.text("axis", Anchor::Start, (4.0, 14.0), plot.up);
    svg.text("axis", Anchor::End, (right, height - 6.0), plot.across);
    let best = frontier(&plot.dots);
    let corners: Vec<String> = best
        .iter()
        .map(|place| {
            format!("{:.1},{:.1}", x(plot.dots[*place].x), y(plot.dots[*place].y))
        })
        .collect();
    let _ = writeln!(
        svg,
        "<polyline class=\"frontier\" points=\"{}\"/>",
        corners.join(" ")
    );
    let mut taken: Vec<Area> = Vec::new();
    for dot in &plot.dots {
        let (x, y) = (x(dot.x), y(dot.y));
        taken.push(Area {
            left: x - 6.0,
            top: y - 6.0,
            right: x + 6.0,
            bottom: y + 6.0,
        });
        let ring = match dot.chosen {
            true => {
                format!("<circle class=\"ring\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"10\"/>")
            }
            false => String::new(),
        };
        let _ = writeln!(
            svg,
            "<a href=\"#{}\">{ring}<circle class=\"c{}\" cx=\"{x:.1}\" cy=\"{y:.1}\" \
             r=\"5.5\"><title>{}</title></circle></a>",
            dot.link,
            dot.colour,
            Html(&dot.title),
        );
    }
    if plot.named {
        // The chosen one first, then the frontier, then whoever finds room.
        let mut order: Vec<usize> =
            (0..plot.dots.len()).filter(|n| plot.dots[*n].chosen).collect();
        order.extend(best.iter().filter(|n| !plot.dots[**n].chosen));
        let others = (0..plot.dots.len()).filter(|n| !plot.dots[*n].chosen);
        order.extend(others.filter(|n| !best.contains(n)));
        for place in order {
            let dot = &plot.dots[place];
            let (x, y) = (x(dot.x), y(dot.y));
            let name = match dot.chosen {
                true => format!("{} (as it stands)", dot.name),
                false => dot.name.clone(),
            };
            let wide = name.chars().count() as f64 * 6.7;
            let spots = [
                (x + 12.0, y + 4.0),
                (x - 12.0 - wide, y + 4.0),
                (x + 8.0, y - 9.0),
                (x + 8.0, y + 17.0),
                (x - 8.0 - wide, y - 9.0),
                (x - 8.0 - wide, y + 17.0),
            ];
            let area = |(left, base): (f64, f64)| Area {
                left,
                top: base - 11.0,
                right: left + wide,
                bottom: base + 3.0,
            };
            let free = spots.into_iter().find(|spot| {
                let area = area(*spot);
                let inside = area.left > left
                    && area.right < width
                    && area.top > top - 8.0
                    && area.bottom < bottom;
                inside && !taken.iter().any(|other| other.meets(&area))
            });
            if let Some(spot) = free {
                taken.push(area(spot));
                let class = if dot.chosen { "name bold" } else { "name" };
                svg.text(class, Anchor::Start, spot, &name);
            }
        }
    }
    svg.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dot(x: f64, y: f64) -> Dot {
        let (name, title) = ("a".to_owned(), "a & b".to_owned());
        Dot { x, y, name, title, colour: 0, chosen: false, link: "p1".to_owned() }
    }

    #[test]
    fn the_frontier_is_what_nothing_beats() {
        let dots =
            [(0.3, 0.1), (0.1, 0.4), (0.2, 0.5), (0.1, 0.5), (0.3, 0.05), (0.9, 0.05)];
        let dots: Vec<Dot> = dots.iter().map(|(x, y)| dot(*x, *y)).collect();
        assert_eq!(frontier(&dots), [1, 4]);
        assert_eq!(frontier(&[]), Vec::<usize>::new());
    }

    #[test]
    fn axes_hold_their_values_and_ticks_are_round() {
        for values in
            [vec![0.2], vec![0.0], vec![-0.03, 0.11], vec![0.001, 0.9], vec![3.0, 9.0]]
        {
            let axis = Axis::of(&values);
            for value in &values {
                assert!((0.0..=1.0).contains(&axis.at(*value)), "{value}");
            }
            assert!((2..=8).contains(&axis.ticks.len()), "{:?}", axis.ticks);
        }
        assert_eq!(["0.2 %", "0 %", "150 %"], [0.002, -0.0, 1.5].map(tick));
        assert!((step(0.03) - 0.05).abs() < 1e-12);
    }

    #[test]
    fn a_picture_has_its_points() {
        let mut dots = vec![dot(0.1, 0.2), dot(0.2, 0.1)];
        dots[1].chosen = true;
        let plot = Plot {
            across: "risk",
            up: "loss <",
            shares: true,
            dots,
            size: (700.0, 400.0),
            named: true,
        };
        let text = svg(&plot);
        assert_eq!(text.matches("<circle class=\"c0\"").count(), 2);
        assert_eq!(text.matches("class=\"ring\"").count(), 1);
        assert!(text.contains("loss &lt;") && text.contains("a &amp; b"));
        assert!(text.contains("a (as it stands)"));
    }
}
