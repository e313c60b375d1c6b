//! How many rows each frame may leave out, and which no noise hides.

use hashbrown::HashSet;

use super::{BlurTask, BlurredFrame, Frame, need, needs_of, out_of_reach};
use crate::error::Result;
use crate::method::most_company;
use crate::promise::shape::hides_among_all;

/// How many rows each frame may leave out: those that no noise hides first, and the rest in
/// proportion to rows, as long as enough people of its kind are left. Nothing for frames
/// whose rows must all be left out, because too few people of their kind would be left.
pub(super) fn share_out(
    task: &BlurTask<'_>,
    frames: &[(BlurredFrame, Frame)],
) -> Result<Vec<Option<usize>>> {
    let limit = task.limit as usize;
    let mut hopeless: Vec<usize> =
        frames.iter().map(|(_, frame)| hopeless(task, frame)).collect();
    // A row that is left out is of one person at most.
    let mut free: Vec<Option<usize>> = vec![Some(usize::MAX); frames.len()];
    let mut place = 0;
    while task.classes.least > 0 && place < frames.len() {
        let kind = frames[place].0.kind;
        let n =
            frames[place..].iter().take_while(|(note, _)| note.kind == kind).count();
        let own = place..place + n;
        let people = people_of_kind(task, &frames[own.clone()]);
        let forced: usize = hopeless[own.clone()].iter().sum();
        let kept = people.checked_sub(task.classes.least + forced);
        for at in own {
            free[at] = kept;
            if kept.is_none() {
                hopeless[at] = frames[at].1.rows.len();
            }
        }
        place += n;
    }
    let forced: usize = hopeless.iter().sum();
    if forced > limit {
        let worst = (0..frames.len()).max_by_key(|place| hopeless[*place]).unwrap_or(0);
        return Err(out_of_reach(task, &frames[worst].1, forced));
    }
    let left = (limit - forced) as u128;
    let rows: usize = frames.iter().map(|(_, frame)| frame.rows.len()).sum();
    let total = (rows - forced).max(1) as u128;
    let share = |(place, (note, frame)): (usize, &(BlurredFrame, Frame))| {
        let rows = (frame.rows.len() - hopeless[place]) as u128;
        let own = (left * rows / total) as usize;
        // Frames of a kind share what it can do without.
        let alike = frames.iter().filter(|(other, _)| other.kind == note.kind).count();
        let most = free[place]?.checked_div(alike).unwrap_or(0);
        Some(hopeless[place] + own.min(most))
    };
    Ok(frames.iter().enumerate().map(share).collect())
}

/// How many people have rows in frames of a kind.
fn people_of_kind(task: &BlurTask<'_>, frames: &[(BlurredFrame, Frame)]) -> usize {
    let rows = frames.iter().flat_map(|(_, frame)| &frame.rows);
    match task.numbers.persons.is_empty() {
        true => rows.count(),
        false => {
            let person = |row: &u32| task.numbers.persons[*row as usize];
            rows.map(person).collect::<HashSet<u32>>().len()
        }
    }
}

/// How many rows of a frame no noise hides.
fn hopeless(task: &BlurTask<'_>, frame: &Frame) -> usize {
    let mut needs = needs_of(task, frame);
    needs.sort_unstable_by(f64::total_cmp);
    // Equal rows count in full: ask for them only where rows by halves are too few.
    let most = most_company(frame.shape, frame.n_all_people(), 1);
    if needs.last().is_none_or(|need| *need < most) {
        return 0;
    }
    frame.rows.len() - reachable(frame, &needs_of(task, frame)).len()
}

/// The largest set of rows in which everybody has enough company under noise without end.
fn reachable(frame: &Frame, needs: &[f64]) -> Vec<u32> {
    let point =
        |row: u32| &frame.coordinates[row as usize * frame.dims..][..frame.dims];
    let mut rows: Vec<u32> = (0..frame.rows.len() as u32).collect();
    let order = |a: u32, b: u32| {
        let pairs = point(a).iter().zip(point(b));
        let other =
            pairs.map(|(a, b)| (a + 0.0).total_cmp(&(b + 0.0))).find(|o| o.is_ne());
        other.unwrap_or(std::cmp::Ordering::Equal)
    };
    rows.sort_by(|a, b| order(*a, *b));
    loop {
        let n_rows = rows.len();
        let n_people = frame.n_people(rows.iter());
        let mut kept = Vec::with_capacity(n_rows);
        for group in rows.chunk_by(|a, b| order(*a, *b).is_eq()) {
            let n_equal = frame.n_people(group.iter());
            let most = most_company(frame.shape, n_people, n_equal);
            let certain = n_equal == n_people || hides_among_all(frame.shape);
            kept.extend(group.iter().copied().filter(|row| {
                let wanted = needs[*row as usize];
                // Noise that ends does not reach the most, unless equals alone suffice.
                wanted < most
                    || certain && wanted <= most
                    || wanted <= need(n_equal as f64)
            }));
        }
        if kept.len() == n_rows {
            return kept;
        }
        rows = kept;
    }
}
