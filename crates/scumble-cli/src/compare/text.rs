//! What was compared, as a table in the terminal.

use scumble::recipe::BANDS;

use crate::compare::Compared;
use crate::compare::table::Sheet;
use crate::output::aligned;

/// What is printed of a sheet unless all of it is wanted, beside the keys and the risks.
const SHOWN: [&str; 5] = ["loss", "covers", "tree", "left out", "sec"];

impl Sheet {
    /// Without the columns that few decide by.
    fn shortened(mut self, compared: &Compared) -> Self {
        let kinds = compared.kinds();
        let risks: Vec<String> =
            kinds.iter().map(|kind| format!("{} risk", kind.name())).collect();
        let n_keys = compared.keys.len();
        let is_shown: Vec<bool> = (0..)
            .zip(&self.heading)
            .map(|(place, name)| {
                place < n_keys
                    || SHOWN.contains(&&**name)
                    || BANDS.iter().any(|band| band.name == *name)
                    || risks.contains(name)
            })
            .collect();
        for row in self.rows.iter_mut().chain([&mut self.heading]) {
            let mut shown = is_shown.iter();
            row.retain(|_| *shown.next().unwrap_or(&false));
        }
        self
    }
}

pub(super) fn text(compared: &Compared, all: bool) -> String {
    let sheet = compared.sheet();
    let Sheet { heading, rows, notes } = match all {
        true => sheet,
        false => sheet.shortened(compared),
    };
    let mark = |row: Vec<String>, mark: &str| {
        [mark.to_owned()].into_iter().chain(row).collect::<Vec<String>>()
    };
    let mut lines = vec![mark(heading, "")];
    for (outcome, row) in compared.outcomes.iter().zip(rows) {
        lines.push(mark(row, if compared.marked(outcome) { "*" } else { "" }));
    }
    let mut text = format!("{}\n\n{}\n", compared.scale_text(), aligned(&lines));
    for (number, note) in notes.iter().enumerate() {
        text.push_str(&format!("[{}] {note}\n", number + 1));
    }
    if compared.outcomes.iter().any(|outcome| compared.marked(outcome)) {
        text.push_str("*: the recipe as it stands. ");
    }
    text.push_str(match all {
        true => {
            "Percentages by share of rows: median relative error of answers that are not \
             exact.\n\
             exact: questions answered exactly. covers: 95 % intervals of the others that have \
             the truth; width: their median relative width; score: their mean interval \
             score.\n\
             rules, class rules: error of confidence, a rule. tree, near: classes told \
             rightly.\n\
             row risk, value risk: people whose row is found, or value guessed, beyond those \
             without the release; by the best attack. Attacks: people hit / surest guess.\n"
        }
        false => {
            "Percentages by share of rows: median relative error of answers that are not \
             exact. covers: 95 % intervals of these that have the truth. tree: classes told \
             rightly.\n\
             row risk, value risk: people whose row is found, or value guessed, beyond those \
             without the release; by the best attack. `--all` prints every column.\n"
        }
    });
    text
}
