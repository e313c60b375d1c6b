//! `scumble completions` and `scumble man`: what a shell and a reader of manuals ask for.

use std::path::PathBuf;
use std::process::ExitCode;
use std::{fs, io};

use clap::{Args, CommandFactory};
use clap_complete::{Shell, generate};
use scumble::error::{Error, Result};

use crate::Arguments;
use crate::output::{cannot_write, print};

/// Print completions for a shell.
///
/// Example: scumble completions bash > ~/.local/share/bash-completion/completions/scumble
#[derive(Debug, Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    shell: Shell,
}

/// Write manual pages, one for each command, into a folder.
#[derive(Debug, Args)]
pub(crate) struct ManArgs {
    /// The folder; it is made if it is not there.
    folder: PathBuf,
}

pub(crate) fn completions(args: &CompletionsArgs) -> Result<ExitCode> {
    let mut script = Vec::new();
    generate(args.shell, &mut Arguments::command(), "scumble", &mut script);
    let script = String::from_utf8(script)
        .map_err(|_| Error::input("the completions are not valid UTF-8"))?;
    print(&script)?;
    Ok(ExitCode::SUCCESS)
}

pub(crate) fn man(args: &ManArgs) -> Result<ExitCode> {
    let fail = |error: io::Error| cannot_write(&args.folder, error);
    fs::create_dir_all(&args.folder).map_err(fail)?;
    clap_mangen::generate_to(Arguments::command(), &args.folder).map_err(fail)?;
    Ok(ExitCode::SUCCESS)
}
