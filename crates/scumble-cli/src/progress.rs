//! Time and progress: the library has no clock and no terminal, the command has both.
#![expect(clippy::disallowed_types, reason = "the command measures time")]

use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use scumble::watch::{Stage, Watch};

use crate::cancel;

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_millis(700);

/// Measures stages and shows a bar when they take long.
pub(crate) struct Progress {
    shared: Arc<Shared>,
}

struct Shared {
    bar: ProgressBar,
    state: Mutex<State>,
}

struct State {
    shown: bool,
    /// Whether a thread waits to show the bar, which a stage without news never would.
    awaited: bool,
    current: Option<(Stage, Instant)>,
    seconds: Vec<(Stage, f64)>,
}

impl Progress {
    /// Begins to measure. A bar is shown only on a terminal, and not if `quiet`.
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let visible = !quiet && io::stderr().is_terminal();
        let state = State {
            shown: false,
            awaited: !visible,
            current: None,
            seconds: Vec::new(),
        };
        Self { shared: Arc::new(Shared { bar, state: Mutex::new(state) }) }
    }

    /// Ends the last stage; the seconds each took, in order.
    pub(crate) fn finish(&self) -> Vec<(Stage, f64)> {
        let Ok(mut state) = self.shared.state.lock() else { return Vec::new() };
        state.end_stage();
        self.shared.bar.finish_and_clear();
        state.seconds.clone()
    }

    /// Has the bar shown when everybody's patience is over, if there is still work then.
    fn show_later(&self, state: &mut State) {
        if state.awaited {
            return;
        }
        state.awaited = true;
        let shared = Arc::downgrade(&self.shared);
        let show = move || {
            std::thread::sleep(PATIENCE);
            if let Some(shared) = shared.upgrade() {
                shared.show();
            }
        };
        // Where there can be no thread, there is no bar.
        drop(std::thread::Builder::new().spawn(show));
    }
}

impl Shared {
    fn show(&self) {
        let Ok(mut state) = self.state.lock() else { return };
        if !state.shown && state.current.is_some() {
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
        let Ok(mut state) = self.shared.state.lock() else { return };
        let bar = &self.shared.bar;
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
            bar.set_style(style);
        }
        bar.set_message(message);
        bar.set_length(bytes);
        bar.set_position(0);
        bar.reset_elapsed();
        self.show_later(&mut state);
    }

    fn advance(&self, bytes: u64) {
        self.shared.bar.inc(bytes);
    }

    fn found(&self, loss: f64, bound: f64) {
        let message = match loss > bound {
            true => format!("searching: loss {loss:.4}, at least {bound:.4}"),
            false => "searching".to_owned(),
        };
        self.shared.bar.set_message(message);
    }

    fn is_cancelled(&self) -> bool {
        cancel::asked()
    }
}

impl Drop for Progress {
    /// Messages of a command that failed do not stand behind a bar.
    fn drop(&mut self) {
        let _ = self.finish();
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
