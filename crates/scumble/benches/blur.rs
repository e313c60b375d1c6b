//! How long it takes to choose the noise, how that grows with the rows, and how much noise
//! it is.
//!
//! `cargo bench -p scumble --bench blur` prints one line per case; `-- 1000000` sets the
//! most rows. Ratios are to the mean spread of the paper's scheme, in which everybody counts
//! and the published spreads tell who is who. The plain method looks at all pairs; it is
//! timed on every tenth row.
#![allow(missing_docs, reason = "a benchmark has no interface")]
#![expect(clippy::disallowed_types, reason = "a benchmark measures time")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]
#![expect(clippy::unwrap_used, reason = "a benchmark may stop at any error")]

use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rand_distr::{Distribution, StandardNormal};
use scumble::method::{BlurTask, ClassRules, Frame, blur, least_factors, need};
use scumble::promise::Law;
use scumble::space::{FrameKind, Shape};
use scumble::table::Numbers;

const K: f64 = 10.0;

fn uniform(n_rows: usize, dims: usize) -> Vec<f64> {
    let mut random = ChaCha20Rng::seed_from_u64(1);
    (0..n_rows * dims).map(|_| random.random()).collect()
}

/// Twenty clusters in the unit cube, and 1 % of rows anywhere.
fn clustered(n_rows: usize, dims: usize) -> Vec<f64> {
    let mut random = ChaCha20Rng::seed_from_u64(2);
    let centres: Vec<f64> = (0..20 * dims).map(|_| random.random()).collect();
    let radii: Vec<f64> =
        (0..20 * dims).map(|_| 0.5 * random.random::<f64>()).collect();
    let sizes: Vec<f64> = (0..20).map(|_| 0.5 + 0.5 * random.random::<f64>()).collect();
    let total: f64 = sizes.iter().sum();
    let mut points = Vec::with_capacity(n_rows * dims);
    for _ in 0..n_rows {
        if random.random::<f64>() < 0.01 {
            points.extend((0..dims).map(|_| random.random::<f64>()));
            continue;
        }
        let mut left = random.random::<f64>() * total;
        let mut cluster = 0;
        while cluster < 19 && left > sizes[cluster] {
            left -= sizes[cluster];
            cluster += 1;
        }
        for axis in cluster * dims..(cluster + 1) * dims {
            let z: f64 = StandardNormal.sample(&mut random);
            points.push(centres[axis] + radii[axis] * z);
        }
    }
    points
}

fn numbers(mut values: Vec<f64>, dims: usize) -> Numbers {
    for value in &mut values {
        *value = (*value * 1e6).round() / 1e6;
    }
    Numbers {
        n_rows: values.len() / dims,
        decimals: vec![6; dims],
        kinds: vec![0; values.len() / dims],
        kind_cells: vec![Vec::new()],
        wishes: Vec::new(),
        persons: Vec::new(),
        values,
    }
}

fn frame(numbers: &Numbers, shape: Shape) -> Frame {
    let (dims, n_rows) = (numbers.n_columns(), numbers.n_rows as f64);
    let column = |axis: usize| numbers.values.iter().skip(axis).step_by(dims);
    let deviation = |axis: usize| {
        let mean = column(axis).sum::<f64>() / n_rows;
        (column(axis).map(|value| (value - mean).powi(2)).sum::<f64>() / n_rows).sqrt()
    };
    Frame {
        rows: (0..numbers.n_rows as u32).collect(),
        dims,
        coordinates: numbers.values.clone(),
        scales: (0..dims).map(deviation).collect(),
        steps: vec![1e-6; dims],
        cuts: vec![0.0; dims],
        shape,
        people: Vec::new(),
    }
}

/// The paper's method as it is written: bisection, with all rows at every step.
fn plain(frame: &Frame, row: usize) -> f64 {
    let point = |row: usize| &frame.coordinates[row * frame.dims..][..frame.dims];
    let differences = |other: usize| {
        let pairs = point(row).iter().zip(point(other)).zip(&frame.scales);
        pairs.map(|((a, b), scale)| (a - b).abs() / scale)
    };
    let n_rows = frame.rows.len();
    let lists: Vec<Vec<f64>> =
        (0..n_rows).map(|other| differences(other).collect()).collect();
    let sum = |factor: f64| -> f64 {
        let (spreads, cuts) = (vec![factor; frame.dims], vec![0.0; frame.dims]);
        let law = Law { shape: frame.shape, spreads, cuts };
        lists.iter().map(|list| law.count_without_reach(list)).sum()
    };
    let (mut low, mut high) = (0.01, 20.0);
    while high > low * 1.01 {
        let middle = f64::sqrt(low * high);
        if sum(middle) >= K { high = middle } else { low = middle }
    }
    high
}

/// The most memory the process has used, in MB, where the system tells.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok())
        .map_or(0, |kilobytes| kilobytes / 1024)
}

/// Processor time of all threads so far, in seconds, where the system tells: unlike the
/// clock it does not count what other programs do.
fn processor() -> f64 {
    let status = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<f64> =
        status.split_whitespace().filter_map(|field| field.parse().ok()).collect();
    // Fields 14 and 15, in hundredths; two before them are no numbers.
    fields.get(11..13).map_or(0.0, |times| (times[0] + times[1]) / 100.0)
}

fn case(name: &str, values: Vec<f64>, dims: usize, shape: Shape) {
    let numbers = numbers(values, dims);
    let n_rows = numbers.n_rows;
    let wishes = vec![K; n_rows];
    let task = BlurTask {
        numbers: &numbers,
        decimals: &numbers.decimals,
        shape,
        frame: FrameKind::Global,
        wishes: &wishes,
        strict: true,
        best_guess: None,
        levels: 4,
        parts: None,
        limit: n_rows as u64 / 1000,
        classes: ClassRules::default(),
    };
    let (start, before) = (Instant::now(), processor());
    let blurred = blur(&task).unwrap();
    let (seconds, work) = (start.elapsed().as_secs_f64(), processor() - before);
    let frame = frame(&numbers, shape);
    let levels = &blurred.frames[0].levels;
    let mut counts = vec![0; levels.len()];
    for (_, level) in blurred.places.iter().flatten() {
        counts[*level as usize] += 1;
    }
    let placed: usize = counts.iter().sum();
    let factors: Vec<f64> = levels.iter().map(|law| law[0] / frame.scales[0]).collect();
    let mean =
        factors.iter().zip(&counts).map(|(f, count)| f * *count as f64).sum::<f64>()
            / placed as f64;
    let some: Vec<u32> = (0..n_rows as u32).step_by(n_rows / 1000).collect();
    let before = processor();
    let least = least_factors(&frame, &vec![need(K); n_rows], &some);
    let paper = (processor() - before) * n_rows as f64 / some.len() as f64;
    let least = least.iter().sum::<f64>() / some.len() as f64;
    println!(
        "{n_rows:>9} x {dims} {name:<9} {:<8} {seconds:>7.2} s ({work:.2} s of processors)  mean spread {mean:.3}, \
         {:.2} of the paper's (its scheme: {paper:.2} s of processors)  left out {}  levels \
         {factors:.3?} with {counts:?}  peak {} MB",
        shape.name(),
        mean / least,
        n_rows - placed,
        peak()
    );
    if n_rows <= 10_000 {
        let before = processor();
        let found: f64 = (0..n_rows).step_by(10).map(|row| plain(&frame, row)).sum();
        let plain = (processor() - before) * 10.0;
        println!(
            "{:>28} the plain method: {plain:.1} s of processors, {:.1} times as much; its mean \
             spread {:.3}",
            "",
            plain / work,
            found * 10.0 / n_rows as f64
        );
    }
}

fn main() {
    let most = std::env::args().filter_map(|text| text.parse().ok()).next();
    for (n_rows, dims) in [(10_000, 5), (100_000, 6), (1_000_000, 6)] {
        for shape in Shape::ALL {
            if n_rows <= most.unwrap_or(100_000) {
                case("uniform", uniform(n_rows, dims), dims, shape);
                case("clustered", clustered(n_rows, dims), dims, shape);
            }
        }
    }
}
