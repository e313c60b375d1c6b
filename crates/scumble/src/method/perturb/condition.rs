//! How much a matrix enlarges errors when it is undone.

use nalgebra::DMatrix;

use super::Operator;

/// The condition number of a matrix in the 1-norm: how many times larger, relative to all
/// rows, an error in the published frequencies can become in the estimated ones. Infinite
/// if some frequency cannot be estimated.
pub fn condition(operator: &Operator) -> f64 {
    match operator {
        Operator::Uniform { keep, size } => mixed(&vec![*keep; *size]),
        Operator::FineGrain { keep } => mixed(keep),
        Operator::General { columns } => {
            let m = columns.len();
            let matrix =
                DMatrix::from_iterator(m, m, columns.iter().flatten().copied());
            matrix.try_inverse().map_or(f64::INFINITY, |inverse| {
                let sum = |column: usize| {
                    inverse.column(column).iter().map(|x| x.abs()).sum::<f64>()
                };
                let norm = (0..m).map(sum).fold(0.0, f64::max);
                // A matrix that is singular may look as if it were not quite.
                if norm < 1e12 { norm } else { f64::INFINITY }
            })
        }
    }
}

/// The columns of the inverse in closed form; those of the matrix sum to 1.
fn mixed(keep: &[f64]) -> f64 {
    let m = keep.len() as f64;
    if keep.len() < 2 {
        return 1.0;
    }
    if keep.iter().any(|p| *p <= 0.0) {
        return f64::INFINITY;
    }
    let all: f64 = keep.iter().map(|p| 1.0 / (m * p)).sum();
    keep.iter()
        .map(|p| {
            let drawn = (1.0 / p - 1.0) / all;
            (1.0 - drawn / m).abs() / p + drawn * (all - 1.0 / (m * p))
        })
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_the_inverse() {
        for keep in [vec![0.5, 0.2, 0.7], vec![0.1; 6], vec![1.0, 1.0], vec![0.9, 0.01]]
        {
            let operator = Operator::FineGrain { keep };
            let m = operator.size();
            let column = |code| (0..m).map(|row| operator.entry(row, code)).collect();
            let full = Operator::General { columns: (0..m).map(column).collect() };
            let (short, long) = (condition(&operator), condition(&full));
            assert!((short - long).abs() < 1e-9 * long, "{short} {long}");
        }
    }

    #[test]
    fn what_cannot_be_undone_is_infinite() {
        assert_eq!(
            condition(&Operator::FineGrain { keep: vec![0.0, 0.5] }),
            f64::INFINITY
        );
        let columns = vec![vec![0.3, 0.7]; 2];
        assert_eq!(condition(&Operator::General { columns }), f64::INFINITY);
    }
}
