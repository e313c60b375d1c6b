//! A picture of how large groups are.

use std::fmt::Write;

use crate::picture::{Anchor, Svg, WIDTH, seen};
use crate::text::grouped;

/// Sizes a bar stands for, both included.
#[derive(Debug, PartialEq, Eq)]
struct SizeBar {
    low: u64,
    high: u64,
    groups: u64,
}

impl SizeBar {
    fn name(&self) -> String {
        match self.low == self.high {
            true => short(self.low),
            false => format!("{}–{}", short(self.low), short(self.high)),
        }
    }
}

/// The most bars that sizes get one by one; beyond, sizes are put together.
const SINGLE: u64 = 12;

/// A histogram of group sizes as an inline picture.
pub(super) fn svg(sizes: &[(u64, u64)]) -> String {
    let bars = bars(sizes);
    let most = bars.iter().map(|bar| bar.groups).max().unwrap_or(1).max(1);
    let (height, left, bottom, top) = (250.0, 60.0, 52.0, 20.0);
    let step = (WIDTH - left) / bars.len().max(1) as f64;
    let wide = (step * 0.76).min(64.0);
    let base = height - bottom;
    let held = bars.iter().filter(|bar| bar.groups > 0);
    let text = held.map(|bar| format!("{} rows: {}", bar.name(), grouped(bar.groups)));
    let text =
        format!("Number of groups by size. {}", text.collect::<Vec<_>>().join("; "));
    let mut svg = Svg::new("bars", (WIDTH, height), &text);
    svg.line("", (left, base), (WIDTH, base));
    for (place, bar) in bars.iter().enumerate() {
        let tall = seen((base - top) * bar.groups as f64 / most as f64);
        let middle = left + step * (place as f64 + 0.5);
        svg.bar("", (middle - wide / 2.0, base - tall), (wide, tall));
        svg.text("", Anchor::Middle, (middle, base + 17.0), &bar.name());
        if bar.groups > 0 {
            let above = (middle, base - tall - 5.0);
            svg.text("", Anchor::Middle, above, &short(bar.groups));
        }
    }
    let across = ((left + WIDTH) / 2.0, height - 10.0);
    svg.text("", Anchor::Middle, across, "rows in a group");
    let up = (top + base) / 2.0;
    let _ = writeln!(
        svg,
        "<text x=\"16\" y=\"{up:.1}\" text-anchor=\"middle\" \
         transform=\"rotate(-90 16 {up:.1})\">number of groups</text>",
    );
    svg.finish()
}

/// One bar a size if there are few, else bars that begin at 1, 2, 5, 10, 20, 50 and so on.
fn bars(sizes: &[(u64, u64)]) -> Vec<SizeBar> {
    let (Some((smallest, _)), Some((largest, _))) = (sizes.first(), sizes.last())
    else {
        return Vec::new();
    };
    let mut bars: Vec<SizeBar> = if largest - smallest < SINGLE {
        (*smallest..=*largest)
            .map(|size| SizeBar { low: size, high: size, groups: 0 })
            .collect()
    } else {
        let starts =
            (0..19u32).flat_map(|power| [1, 2, 5].map(|n| n * 10u64.pow(power)));
        let starts: Vec<u64> = starts.collect();
        let between = starts.windows(2).map(|ends| (ends[0], ends[1] - 1));
        between
            .filter(|(low, high)| high >= smallest && low <= largest)
            .map(|(low, high)| SizeBar { low, high, groups: 0 })
            .collect()
    };
    for (size, groups) in sizes {
        let bar = bars.iter_mut().find(|bar| (bar.low..=bar.high).contains(size));
        if let Some(bar) = bar {
            bar.groups += groups;
        }
    }
    bars
}

/// A number that fits under a bar.
fn short(n: u64) -> String {
    let rounded = |divisor: u64, unit: &str| {
        let tenths = n / (divisor / 10);
        if tenths.is_multiple_of(10) {
            format!("{}{unit}", tenths / 10)
        } else {
            format!("{}.{}{unit}", tenths / 10, tenths % 10)
        }
    };
    match n {
        0..10_000 => grouped(n),
        10_000..1_000_000 => rounded(1000, "k"),
        1_000_000..1_000_000_000 => rounded(1_000_000, "M"),
        _ => rounded(1_000_000_000, "G"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_stands_in_a_bar() {
        let sizes =
            [(1, 4), (3, 2), (49, 1), (50, 7), (1_234_567, 1), (u64::MAX / 8, 1)];
        let total: u64 = bars(&sizes).iter().map(|bar| bar.groups).sum();
        assert_eq!(total, 16);
        let few = bars(&[(5, 1), (7, 3)]);
        assert_eq!(few.iter().map(|bar| bar.groups).collect::<Vec<_>>(), [1, 0, 3]);
        assert!(bars(&[]).is_empty());
    }

    #[test]
    fn large_numbers_are_short() {
        let shown = [9999, 12_000, 12_340, 5_000_000].map(short);
        assert_eq!(shown, ["9,999", "12k", "12.3k", "5M"]);
    }
}
