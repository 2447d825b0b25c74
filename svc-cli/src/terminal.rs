//! Messages to standard error, and data to standard output.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use anstyle::{AnsiColor, Style};

use crate::failure::{Failure, Result};

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
const CYAN: Style = AnsiColor::Cyan.on_default().bold();
const GREEN: Style = AnsiColor::Green.on_default().bold();

/// Clears the current line of a terminal, such as cargo's progress.
const ERASE: &str = "\r\u{1b}[K";

/// A progress message.
pub(crate) fn say(line: impl std::fmt::Display) {
    let erase = if io::stderr().is_terminal() {
        ERASE
    } else {
        ""
    };
    // Ignore write errors: if standard error is closed, there is nowhere to report them.
    let _ = writeln!(anstream::stderr(), "{erase}{line}");
}

/// A completed step.
pub(crate) fn done(line: impl std::fmt::Display) {
    say(format_args!("{GREEN}✓{GREEN:#} {line}"));
}

/// A failed step; others may follow.
pub(crate) fn failed(line: impl std::fmt::Display) {
    say(format_args!("{RED}✗{RED:#} {line}"));
}

/// Something that may be wrong.
pub(crate) fn warning(line: impl std::fmt::Display) {
    say(format_args!("{YELLOW}warning:{YELLOW:#} {line}"));
}

/// The reason for a failure.
pub(crate) fn error(line: impl std::fmt::Display) {
    say(format_args!("{RED}error:{RED:#} {line}"));
}

/// Something that helps.
pub(crate) fn hint(line: impl std::fmt::Display) {
    say(format_args!("{CYAN}hint:{CYAN:#} {line}"));
}

/// Writes data to standard output.
pub(crate) fn print(data: &str) -> Result<()> {
    let mut output = io::stdout().lock();
    output
        .write_all(data.as_bytes())
        .and_then(|()| output.flush())
        .map_err(|error| Failure::output(&error))
}

/// Requires confirmation before a destructive action: the name, typed or passed as `--confirm`.
pub(crate) fn confirm(what: &str, name: &str, given: Option<&str>) -> Result<()> {
    let refused = |message: String| {
        Failure::new(message).hint(format!("to confirm, pass `--confirm {name}`"))
    };
    if let Some(given) = given {
        return if given == name {
            Ok(())
        } else {
            Err(refused(format!("`{given}` is not the name `{name}`")))
        };
    }

    // Without a terminal, the command would wait for an answer forever, or take it from a script's
    // input.
    if !io::stdin().is_terminal() {
        return Err(refused(format!(
            "this {what}, and there is no terminal to confirm it"
        )));
    }

    // To standard error, because standard output may be a file.
    let _ = write!(
        anstream::stderr(),
        "This {what}. Type `{name}` to continue: "
    );
    let mut line = String::new();
    io::stdin()
        .lock()
        .read_line(&mut line)
        .map_err(Failure::io("read the answer"))?;

    if line.trim() == name {
        Ok(())
    } else {
        Err(Failure::new("nothing was changed"))
    }
}
