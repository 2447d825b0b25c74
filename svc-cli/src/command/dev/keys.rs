//! Keys for `svc dev`, which trigger steps that do not run automatically.

use std::io::{IsTerminal as _, stdin};

use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The lines typed into the terminal.
#[derive(Debug)]
pub(super) struct Keys(UnboundedReceiver<String>);

impl Keys {
    /// Starts reading them, unless a read would stop the command: only the foreground process may
    /// read a terminal.
    pub(super) fn listen() -> Self {
        let (sender, lines) = unbounded_channel();

        // With SIGTTIN, the system stops a background process that reads its terminal.
        let is_in_front = || tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp());
        if !stdin().is_terminal() || is_in_front() {
            // It ends with its input, or with the command.
            std::thread::spawn(move || {
                stdin()
                    .lines()
                    .map_while(Result::ok)
                    .try_for_each(|line| sender.send(line))
                    .unwrap_or_default();
            });
        }

        Self(lines)
    }

    /// Waits for a request to run pending migrations: `m` and Enter.
    pub(super) async fn migrate(&mut self) {
        while let Some(line) = self.0.recv().await {
            if line.trim().eq_ignore_ascii_case("m") {
                return;
            }
        }
        std::future::pending::<()>().await;
    }
}
