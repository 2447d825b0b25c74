//! Keys for `svc dev`: what is not done by itself is done when it is asked for.

use std::io::{IsTerminal as _, stdin};

use rustix::process::getpgrp;
use rustix::termios::tcgetpgrp;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

/// The lines that are typed.
#[derive(Debug)]
pub(super) struct Keys(UnboundedReceiver<String>);

impl Keys {
    /// Begins to read them, unless a read would stop the command: a terminal belongs to the command in front.
    pub(super) fn listen() -> Self {
        let (sender, lines) = unbounded_channel();
        let is_in_front = || tcgetpgrp(stdin()).is_ok_and(|group| group == getpgrp());
        if !stdin().is_terminal() || is_in_front() {
            // It ends with its input, or with the command.
            std::thread::spawn(move || {
                stdin().lines().map_while(Result::ok).try_for_each(|line| sender.send(line)).unwrap_or_default();
            });
        }
        Self(lines)
    }

    /// Waits until pending migrations are asked for: `m` and Enter.
    pub(super) async fn migrate(&mut self) {
        while let Some(line) = self.0.recv().await {
            if line.trim().eq_ignore_ascii_case("m") {
                return;
            }
        }
        std::future::pending::<()>().await;
    }
}
