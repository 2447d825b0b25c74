//! The watchdog for systems that can't signal a child when its parent dies: a shell that waits for
//! the end of a pipe, which is closed when the program ends for any reason.

use std::{
    io,
    os::unix::process::CommandExt,
    process::{Child, Stdio},
};

use rustix::process::Pid;

use crate::spawn;

/// The waiting shell. Drop it after the server has exited.
#[derive(Debug)]
pub(crate) struct Watchdog {
    shell: Child,
}

impl Watchdog {
    /// Starts a shell that sends a process SIGINT (a fast shutdown) when this program ends.
    pub(crate) fn over(pid: Pid) -> io::Result<Self> {
        let shell = spawn::command("/bin/sh")
            .args([
                "-c",
                "read -r _; kill -INT \"$0\"",
                &pid.as_raw_nonzero().to_string(),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // Ctrl-C signals the group of the terminal, and would end the watchdog before the
            // server.
            .process_group(0)
            .spawn()?;
        Ok(Self { shell })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        // Killed before the pipe closes; otherwise it could signal a process that reuses the id.
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    fn sleeper() -> (Child, Pid) {
        let child = spawn::command("sleep").arg("600").spawn().unwrap();
        let pid = Pid::from_child(&child);
        (child, pid)
    }

    #[test]
    fn the_end_of_the_pipe_interrupts() {
        let (mut sleeper, pid) = sleeper();
        let mut watchdog = Watchdog::over(pid).unwrap();
        drop(watchdog.shell.stdin.take());
        assert_eq!(sleeper.wait().unwrap().signal(), Some(2));
    }

    #[test]
    fn a_drop_sends_no_signal() {
        let (mut sleeper, pid) = sleeper();
        drop(Watchdog::over(pid).unwrap());
        assert_eq!(sleeper.try_wait().unwrap(), None);
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }
}
