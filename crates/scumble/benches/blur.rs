//! How long blur takes.
#![allow(missing_docs, reason = "a benchmark has no interface")]
#![expect(clippy::disallowed_types, reason = "a benchmark measures time")]
#![expect(clippy::unwrap_used, reason = "a benchmark may stop at any error")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its result")]

use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use rand_distr::{Distribution, StandardNormal};
use scumble::method::{Frame, Needs, largest_set, least_factors, need};
use scumble::space::Shape;

fn uniform(n: usize, d: usize) -> Vec<f64> {
    let mut random = ChaCha20Rng::seed_from_u64(1);
    (0..n * d).map(|_| (random.random::<f64>() * 1e6).round() / 1e6).collect()
}

/// Twenty clusters in the unit cube and 1 % outliers.
fn clustered(n: usize, d: usize) -> Vec<f64> {
    let mut random = ChaCha20Rng::seed_from_u64(2);
    let centres: Vec<f64> = (0..20 * d).map(|_| random.random()).collect();
    let radii: Vec<f64> = (0..20 * d).map(|_| random.random::<f64>() * 0.5).collect();
    let sizes: Vec<f64> = (0..20).map(|_| 0.5 + 0.5 * random.random::<f64>()).collect();
    let total: f64 = sizes.iter().sum();
    let mut points = Vec::with_capacity(n * d);
    for _ in 0..n {
        if random.random::<f64>() < 0.01 {
            points.extend((0..d).map(|_| random.random::<f64>()));
            continue;
        }
        let mut left = random.random::<f64>() * total;
        let mut cluster = 0;
        while cluster < 19 && left > sizes[cluster] {
            left -= sizes[cluster];
            cluster += 1;
        }
        for a in 0..d {
            let z: f64 = StandardNormal.sample(&mut random);
            points.push(centres[cluster * d + a] + radii[cluster * d + a] * z);
        }
    }
    for p in &mut points {
        *p = (*p * 1e6).round() / 1e6;
    }
    points
}

fn frame(points: Vec<f64>, d: usize, shape: Shape) -> Frame {
    let n = points.len() / d;
    let scales = (0..d)
        .map(|a| {
            let m = points.iter().skip(a).step_by(d).sum::<f64>() / n as f64;
            let v =
                points.iter().skip(a).step_by(d).map(|x| (x - m).powi(2)).sum::<f64>();
            (v / n as f64).sqrt()
        })
        .collect();
    Frame {
        rows: (0..n as u32).collect(),
        dims: d,
        coordinates: points,
        scales,
        steps: vec![1e-6; d],
        cuts: vec![0.0; d],
        shape,
    }
}

fn sub(frame: &Frame, rows: &[u32]) -> Frame {
    let d = frame.dims;
    Frame {
        rows: (0..rows.len() as u32).collect(),
        coordinates: rows
            .iter()
            .flat_map(|r| frame.coordinates[*r as usize * d..][..d].to_vec())
            .collect(),
        ..frame.clone()
    }
}

fn top(frame: &Frame, rows: &[u32], needs: &[f64]) -> f64 {
    let f = sub(frame, rows);
    let all: Vec<u32> = (0..rows.len() as u32).collect();
    least_factors(&f, &needs[..rows.len()], &all).into_iter().fold(0.0, f64::max)
}

/// exhaustive: best ladder with at most m levels over the grid; cost is the sum
fn best(
    frame: &Frame,
    rows: &[u32],
    needs: &[f64],
    grid: &[f64],
    m: usize,
) -> (f64, Vec<(f64, usize)>) {
    if rows.is_empty() {
        return (0.0, vec![]);
    }
    let f = top(frame, rows, needs);
    let mut found = (f * rows.len() as f64, vec![(f, rows.len())]);
    if m == 1 {
        return found;
    }
    for g in grid.iter().filter(|g| **g < f) {
        let kept = largest_set(
            frame,
            &frame.law(*g),
            rows,
            Needs { company: needs, condition: None },
            rows.len(),
        )
        .unwrap();
        if kept.is_empty() {
            continue;
        }
        let c = kept.len() as f64 * g;
        if c >= found.0 {
            continue;
        }
        let rest: Vec<u32> =
            rows.iter().copied().filter(|r| kept.binary_search(r).is_err()).collect();
        let grid: Vec<f64> = grid.iter().copied().filter(|x| x > g).collect();
        let r = best(frame, &rest, needs, &grid, m - 1);
        if c + r.0 < found.0 {
            let mut l = vec![(*g, kept.len())];
            l.extend(r.1);
            found = (c + r.0, l);
        }
    }
    found
}

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    if mode == "ladder" {
        let n: usize = std::env::args().nth(2).unwrap().parse().unwrap();
        let d = 5;
        let spare: usize = std::env::args().nth(3).unwrap().parse().unwrap();
        for (name, make) in [
            ("uniform", uniform as fn(usize, usize) -> Vec<f64>),
            ("clustered", clustered),
        ] {
            for shape in [Shape::Gaussian, Shape::Uniform] {
                let frame = frame(make(n, d), d, shape);
                let needs: Vec<f64> = vec![need(10.0); n];
                let rows: Vec<u32> = (0..n as u32).step_by(10).collect();
                let start = Instant::now();
                let factors = least_factors(&frame, &needs, &rows);
                let mean = factors.iter().sum::<f64>() / rows.len() as f64;
                println!(
                    "{name} {shape:?} calibrate {:.2?} mean {mean:.4}",
                    start.elapsed()
                );
                for m in [2, 3, 5, 8] {
                    let start = Instant::now();
                    let l = scumble::method::ladder(
                        &frame,
                        Needs { company: &needs, condition: None },
                        m,
                        spare,
                    )
                    .unwrap();
                    let f: Vec<f64> =
                        l.laws.iter().map(|l| l.spreads[0] / frame.scales[0]).collect();
                    let mut c = vec![0; f.len()];
                    for x in l.levels.iter().flatten() {
                        c[*x as usize] += 1;
                    }
                    let placed: usize = c.iter().sum();
                    let cost =
                        c.iter().zip(&f).map(|(c, f)| *c as f64 * f).sum::<f64>()
                            / placed as f64;
                    println!(
                        "  {m} levels: {:.2?} ratio {:.3} left {} {f:.4?} {c:?}",
                        start.elapsed(),
                        cost / mean,
                        n - placed
                    );
                }
            }
        }
        return;
    }
    if mode == "try" {
        for (name, make) in [
            ("uniform", uniform as fn(usize, usize) -> Vec<f64>),
            ("clustered", clustered),
        ] {
            let n = 10_000;
            let d = 5;
            for shape in [Shape::Gaussian, Shape::Uniform] {
                let frame = frame(make(n, d), d, shape);
                let needs: Vec<f64> = vec![need(10.0); n];
                let rows: Vec<u32> = (0..n as u32).collect();
                let mut factors = least_factors(&frame, &needs, &rows);
                factors.sort_by(f64::total_cmp);
                let mean = factors.iter().sum::<f64>() / n as f64;
                let (lo, hi) = (factors[n / 20], factors[n - 1] * 2.0);
                let steps = 14;
                let grid: Vec<f64> = (0..steps)
                    .map(|i| lo * (hi / lo).powf(i as f64 / steps as f64))
                    .collect();
                println!(
                    "{name} {shape:?} mean {mean:.4} max {:.4} grid {grid:.3?}",
                    factors[n - 1]
                );
                for m in 1..=3 {
                    let start = Instant::now();
                    let (cost, l) = best(&frame, &rows, &needs, &grid, m);
                    println!(
                        "  {m} levels: ratio {:.3} {l:.4?} {:.1?}",
                        cost / n as f64 / mean,
                        start.elapsed()
                    );
                }
            }
        }
        return;
    }
    for (n, d) in [(10_000, 5), (100_000, 6)] {
        for (name, make) in [
            ("uniform", uniform as fn(usize, usize) -> Vec<f64>),
            ("clustered", clustered),
        ] {
            for shape in [Shape::Gaussian, Shape::Uniform] {
                let frame = frame(make(n, d), d, shape);
                let needs: Vec<f64> = vec![need(10.0); n];
                let rows: Vec<u32> = (0..n as u32).collect();
                let start = Instant::now();
                let mut factors = least_factors(&frame, &needs, &rows);
                let took = start.elapsed();
                factors.sort_by(f64::total_cmp);
                let mean = factors.iter().sum::<f64>() / n as f64;
                println!(
                    "{n}x{d} {name} {shape:?}: calibrate {took:.2?}, mean {mean:.4} quantiles {:.4?}",
                    [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.999, 1.0]
                        .map(|q: f64| factors[((n - 1) as f64 * q) as usize])
                );
                for q in [0.25f64, 0.5, 0.75, 0.9, 0.99, 1.0] {
                    let f = factors[((n - 1) as f64 * q) as usize];
                    let law = frame.law(f);
                    let start = Instant::now();
                    let kept = largest_set(
                        &frame,
                        &law,
                        &rows,
                        Needs { company: &needs, condition: None },
                        n,
                    );
                    println!(
                        "   core at {f:.4} (q {q}): {} in {:.2?}",
                        kept.map_or(0, |k| k.len()),
                        start.elapsed()
                    );
                }
            }
        }
    }
}
