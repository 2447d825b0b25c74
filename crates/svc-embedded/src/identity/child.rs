//! The work of a child between `fork` and `exec`.

use std::process::Command;

use super::Identity;

/// The signal that the child gets from the system when the program dies for any reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Death {
    /// `SIGKILL`, for a process without state to save. The children of `initdb` exit with it,
    /// because they read their commands from it.
    Kill,
    /// `SIGINT`, a fast shutdown: the postmaster terminates all backends and writes a checkpoint,
    /// so there are no orphans, and the next start needs no recovery.
    FastShutdown,
    /// `SIGQUIT`, an immediate shutdown, for a cluster that won't be started again.
    ImmediateShutdown,
}

/// Adds the work of the child to a command.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "`pre_exec` has no safe form; the closure makes system calls only and allocates nothing"
)]
pub(super) fn prepare(command: &mut Command, identity: &Identity, death: Death) {
    use std::os::unix::process::CommandExt;

    let parent = rustix::process::getpid();
    let maps = (*identity == Identity::Namespace).then(super::namespace::Maps::of_caller);

    // SAFETY: the closure only makes system calls, with memory that was allocated before the fork.
    unsafe {
        command.pre_exec(move || {
            if let Some(maps) = &maps {
                super::namespace::enter(maps)?;
            }
            // Last, because a change of identity clears the death signal.
            tie_to(parent, death)
        });
    }
}

/// Does nothing: this system has no death signal, and the server gets a
/// [watchdog](crate::server::watchdog) instead.
#[cfg(not(target_os = "linux"))]
pub(super) fn prepare(_command: &mut Command, _identity: &Identity, _death: Death) {}

#[cfg(target_os = "linux")]
fn tie_to(parent: rustix::process::Pid, death: Death) -> std::io::Result<()> {
    use rustix::process::{Signal, getppid, set_parent_process_death_signal};

    let signal = match death {
        Death::Kill => Signal::KILL,
        Death::FastShutdown => Signal::INT,
        Death::ImmediateShutdown => Signal::QUIT,
    };

    set_parent_process_death_signal(Some(signal))?;

    // If the parent died before the call above, there is no signal.
    if getppid() == Some(parent) {
        Ok(())
    } else {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }
}
