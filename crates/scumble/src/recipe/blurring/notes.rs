//! What the manifest says about blurred numbers, and what is not promised.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::method::{Blurred, BlurredFrame};
use crate::promise::ExpectedAnonymity;
use crate::recipe::Spec;
use crate::recipe::blurring::NumberRows;
use crate::recipe::order::{Order, Origin};
use crate::release::{BlurNote, BlurredColumn, FrameNote, PublishedColumn, Treatment};
use crate::space::{FrameKind, Shape};
use crate::table::{Kind, PublicDomain, Reading, Role};

/// What was made, for the manifest.
pub(super) struct BlurNotes<'a> {
    pub(super) spec: &'a Spec,
    pub(super) order: &'a Order,
    pub(super) method: &'static str,
    pub(super) expected: &'a ExpectedAnonymity,
    pub(super) rows: &'a NumberRows,
}

impl BlurNotes<'_> {
    /// The shape of the noise.
    pub(super) fn shape(&self) -> Shape {
        self.spec.method.blur.shape.map(|(shape, _)| shape).unwrap_or_default()
    }

    /// Which way it is scaled and turned.
    pub(super) fn frame(&self) -> FrameKind {
        self.spec.method.blur.frame.map_or(FrameKind::Global, |(frame, _)| frame)
    }

    /// The columns that are blurred or condensed.
    pub(super) fn columns(&self) -> Vec<BlurredColumn> {
        let rows = self.rows;
        let columns = rows.number_names.iter().zip(&rows.decimals).zip(&rows.domains);
        columns
            .map(|((name, decimals), domain)| BlurredColumn {
                name: name.clone(),
                decimals: *decimals,
                domain: *domain,
            })
            .collect()
    }

    /// The names of the columns that are kept as they are.
    pub(super) fn exact(&self) -> Vec<String> {
        self.rows.exact_names.clone()
    }

    /// How numbers were blurred.
    pub(super) fn blur_note(&self, blurred: &Blurred) -> BlurNote {
        let frames = (1..).zip(&blurred.frames);
        BlurNote {
            shape: self.shape(),
            frame: self.frame(),
            strict: self.expected.strict,
            columns: self.columns(),
            exact: self.exact(),
            best_guess: self.expected.best_guess,
            frames: frames
                .map(|(number, frame)| self.frame_note(number, frame))
                .collect(),
        }
    }

    fn frame_note(&self, number: u32, frame: &BlurredFrame) -> FrameNote {
        let name = |column: usize| self.rows.number_names[column].clone();
        let cells = self.rows.numbers.kind_cells[frame.kind as usize].iter();
        let exact = self.exact().into_iter().zip(cells.map(|cell| cell.to_string()));
        let all = 0..self.rows.numbers.n_columns();
        let bounded = frame.columns.iter().zip(&frame.part);
        FrameNote {
            frame: number,
            exact: exact.collect(),
            missing: all.filter(|c| !frame.columns.contains(c)).map(name).collect(),
            part: bounded
                .filter(|(_, [from, to])| from.is_some() || to.is_some())
                .map(|(column, part)| (name(*column), *part))
                .collect::<BTreeMap<_, _>>(),
            axes: frame.axes.clone(),
            levels: frame.levels.clone(),
        }
    }

    /// Public parameters of the method.
    pub(super) fn parameters(&self) -> Map<String, Value> {
        let mut parameters = Map::new();
        if self.method == "blur" {
            let suppression = self.spec.method.suppression.to_f64();
            parameters.insert("shape".to_owned(), json!(self.shape().name()));
            parameters.insert("frame".to_owned(), json!(self.frame().name()));
            parameters.insert("suppression".to_owned(), json!(suppression));
        }
        parameters
    }

    /// The published columns, as the manifest describes them.
    pub(super) fn published(
        &self,
        order: &Order,
        treatment: impl Fn(&str) -> Treatment,
    ) -> Vec<PublishedColumn> {
        let column = |(name, origin): &(String, Origin)| {
            let mut numbers = self.rows.number_names.iter();
            let number = numbers.position(|known| known == name);
            let blurred = number.is_some();
            let typed = self.spec.column(name).and_then(|column| column.kind);
            let reading = Reading {
                kind: match blurred {
                    true => Kind::Number,
                    false => typed.unwrap_or(Kind::Category),
                },
                missing: self.spec.input.missing.clone(),
                date_format: self.spec.column(name).and_then(|c| c.format.clone()),
            };
            PublishedColumn {
                decimals: number.map(|place| self.rows.decimals[place]),
                domain: number
                    .map(|place| PublicDomain::Numbers(self.rows.domains[place])),
                treatment: treatment(name),
                ..PublishedColumn::kept(name, origin.role(), reading)
            }
        };
        order.published.iter().map(column).collect()
    }

    /// What a reader might take for promised and must not.
    pub(super) fn not_promised(&self, left_out: u64) -> Vec<String> {
        let mut list: Vec<String> = Vec::new();
        let mut say = |text: &str| list.push(text.to_owned());
        if self.method == "condensation" {
            say(
                "hiding among more than a group: somebody who knows the table may find out which \
                 rows were grouped, and a group's rows are drawn from its mean and covariance",
            );
        } else if !self.expected.strict {
            say(
                "anything against somebody who knows the table: the published spreads were \
                 computed from it, can be computed again, and tell who is who; this is the \
                 scheme of the paper, for comparison only",
            );
        }
        if self.expected.best_guess.is_none() && self.method == "blur" {
            say(
                "a bound on the best guess: the company is an average over the noise, and the \
                 person who fits a row best may be the right one far more often than one time \
                 in k; `best-guess` bounds that",
            );
        }
        if self.method == "blur" {
            say(
                "all rows at once: each row is compared with people on its own; somebody who matches \
                 all rows to all people at the same time may do better",
            );
        }
        say("presence: whether a person is in the table is not hidden");
        say(
            "sensitive values: people who are hidden among each other may share one, which \
             then is known for all of them",
        );
        if left_out > 0 {
            list.push(format!(
                "rows left out: the {left_out} rows are those far from all others; somebody who knows \
                 the table knows which"
            ));
        }
        list.push(
            "composition: two releases about the same people may together say more than \
             each, and noise drawn twice can be averaged out"
                .to_owned(),
        );
        let known = |role| self.spec.columns.iter().any(|column| column.role == role);
        if known(Role::Other) {
            list.push(
                "columns of role “other”: published as they are, taken not to identify \
                 anybody"
                    .to_owned(),
            );
        }
        list
    }
}

/// How the promise was certified, from what the audit measured.
pub(in crate::recipe) fn certified(asked: &Value, method: &str) -> String {
    if method == "condensation" {
        return "every group of the published rows counted".to_owned();
    }
    match asked.get("strict").and_then(Value::as_bool) {
        Some(false) => {
            "smallest spreads computed again from the table, against everybody's \
                        fit; not against who looks spreads up"
                .to_owned()
        }
        _ => {
            "who is at which level found again from the table, and everybody's company \
              there counted on what is published"
                .to_owned()
        }
    }
}
