//! Time and progress: the library has no clock and no terminal, the command has both.
#![expect(clippy::disallowed_types, reason = "the command measures time")]

use std::io::{self, IsTerminal};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use scumble::watch::{Stage, Watch};

use crate::cancel;

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(700);

/// Measures stages and shows a bar when they take long.
pub(crate) struct Progress {
    bar: ProgressBar,
    visible: bool,
    state: Mutex<State>,
}

struct State {
    started: Instant,
    shown: bool,
    current: Option<(Stage, Instant)>,
    seconds: Vec<(Stage, f64)>,
}

impl Progress {
    /// Begins to measure. A bar is shown only on a terminal, and not if `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let started = Instant::now();
        let state = State { started, shown: false, current: None, seconds: Vec::new() };
        let visible = !quiet && io::stderr().is_terminal();
        Self { bar, visible, state: Mutex::new(state) }
    }

    /// Ends the last stage; the seconds each took, in order.
    pub(crate) fn finish(&self) -> Vec<(Stage, f64)> {
        self.bar.finish_and_clear();
        let Ok(mut state) = self.state.lock() else { return Vec::new() };
        state.end_stage();
        state.seconds.clone()
    }

    fn show_if_long(&self, state: &mut State) {
        if self.visible && !state.shown && state.started.elapsed() > PATIENCE {
            state.shown = true;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            // A bar that moves by itself needs a thread, and panics where there can be none.
            if std::thread::Builder::new().spawn(|| ()).is_ok() {
                self.bar.enable_steady_tick(Duration::from_millis(120));
            }
        }
    }
}

impl State {
    fn end_stage(&mut self) {
        if let Some((stage, since)) = self.current.take() {
            self.seconds.push((stage, since.elapsed().as_secs_f64()));
        }
    }
}

impl Watch for Progress {
    fn stage(&self, stage: Stage, bytes: u64) {
        let Ok(mut state) = self.state.lock() else { return };
        state.end_stage();
        state.current = Some((stage, Instant::now()));
        let (message, template) = match stage {
            Stage::Read => ("reading", "{msg} {wide_bar} {bytes} of {total_bytes}"),
            Stage::Search => ("searching", "{spinner} {msg} {elapsed}"),
            Stage::Write => ("writing", "{spinner} {msg} {elapsed}"),
            Stage::Audit => ("auditing", "{spinner} {msg} {elapsed}"),
            Stage::Ask => ("asking", "{spinner} {msg} {elapsed}"),
            Stage::Draw => ("drawing", "{spinner} {msg} {elapsed}"),
            Stage::Mine => ("mining", "{spinner} {msg} {elapsed}"),
            Stage::Learn => ("learning", "{spinner} {msg} {elapsed}"),
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
        self.bar.set_message(message);
        self.bar.set_length(bytes);
        self.bar.set_position(0);
        // A long search has no further news: show that it began.
        self.show_if_long(&mut state);
    }

    fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
        if let Ok(mut state) = self.state.lock() {
            self.show_if_long(&mut state);
        }
    }

    fn found(&self, loss: f64, bound: f64) {
        let message = match loss > bound {
            true => format!("searching: loss {loss:.4}, at least {bound:.4}"),
            false => "searching".to_owned(),
        };
        self.bar.set_message(message);
    }

    fn is_cancelled(&self) -> bool {
        cancel::asked()
    }
}

impl Drop for Progress {
    /// Messages of a command that failed do not stand behind a bar.
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A stage's name in JSON.
pub(crate) fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::Read => "read",
        Stage::Search => "search",
        Stage::Write => "write",
        Stage::Audit => "audit",
        Stage::Ask => "ask",
        Stage::Draw => "draw",
        Stage::Mine => "mine",
        Stage::Learn => "learn",
    }
}
