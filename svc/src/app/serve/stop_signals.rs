//! The signals that end the program: SIGINT, SIGTERM and SIGQUIT, and SIGHUP unless `nohup` started
//! the program.

use std::io::{self, IsTerminal as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};
use tokio::sync::watch;

use svc_telemetry::security_log::get_security_logger;

/// Shells add this to the signal's number in the exit status of a program ended by a signal.
const ENDED_BY: i32 = 128;

/// Handles the signals from the first moment on, on a dedicated thread, so that neither a slow
/// start nor a busy runtime keeps the program alive. A signal that arrives before the program
/// serves ends it at once; so does a second signal later.
#[derive(Debug)]
pub(super) struct StopSignals {
    serves: Arc<AtomicBool>,
    came: watch::Receiver<bool>,
    /// Stops the handling.
    handle: Option<Handle>,
}

impl StopSignals {
    /// Handles signals from now on.
    ///
    /// # Errors
    /// When the system has no thread for it.
    pub(super) fn listen() -> io::Result<Self> {
        let signals = [SIGINT, SIGTERM, SIGQUIT, SIGHUP]
            .into_iter()
            .filter(|signal| !is_ignored(*signal));
        let mut signals = Signals::new(signals)?;
        let (serves, handle) = (Arc::new(AtomicBool::new(false)), signals.handle());
        let (sender, came) = watch::channel(false);
        let serving = serves.clone();

        std::thread::Builder::new()
            .name("svc-signals".to_owned())
            .spawn(move || {
                for signal in signals.forever() {
                    if signal == SIGHUP && serving.load(Ordering::SeqCst) && reopens_log() {
                        continue;
                    }
                    let is_first = serving.load(Ordering::SeqCst) && !sender.send_replace(true);
                    if !is_first {
                        exit(ENDED_BY + signal);
                    }
                }
            })?;

        Ok(Self {
            serves,
            came,
            handle: Some(handle),
        })
    }

    /// Marks the program as serving from now on, and returns a future that completes with the first
    /// signal.
    pub(super) fn first(mut self) -> impl Future<Output = ()> {
        self.serves.store(true, Ordering::SeqCst);
        async move {
            // The thread keeps the sender, so the wait ends only with a signal.
            let _ = self.came.wait_for(|came| *came).await;

            // Taken without a close, so that the thread stays for the second signal.
            drop(self.handle.take());
        }
    }
}

/// Closes the handle, so that a program with its own signal handling is not disturbed.
impl Drop for StopSignals {
    fn drop(&mut self) {
        self.handle.iter().for_each(Handle::close);
    }
}

/// Ends the program at once. An embedded database detects that, and ends too.
#[expect(
    clippy::exit,
    reason = "the one who has sent the signal does not want to wait"
)]
fn exit(status: i32) {
    std::process::exit(status)
}

/// Reopens the file of the security log, if it has one. Returns whether SIGHUP means that: on a
/// terminal, it means that the terminal is gone.
fn reopens_log() -> bool {
    let log = get_security_logger();
    if std::io::stderr().is_terminal() || !log.writes_file() {
        return false;
    }
    tracing::info!("SIGHUP: reopening the file of the security log");
    log.reopen();
    true
}

/// Whether the parent process made the program ignore a signal, as `nohup` does.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| u64::from_str_radix(line.strip_prefix("SigIgn:")?.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}

/// Ends the program on the signals while this value exists; without it, the kernel does not deliver
/// them to the first process of a container.
pub(in crate::app) struct FirstProcess {
    starts: Arc<AtomicBool>,
}

impl FirstProcess {
    /// Handles the signals from now on, if this is the first process.
    pub(in crate::app) fn listen() -> Option<Self> {
        if std::process::id() != 1 {
            return None;
        }

        let starts = Arc::new(AtomicBool::new(true));
        for signal in [SIGINT, SIGTERM] {
            // Registering fails only for signals that no program may handle; these are none of
            // them.
            let _ = signal_hook::flag::register_conditional_shutdown(
                signal,
                ENDED_BY + signal,
                starts.clone(),
            );
        }

        Some(Self { starts })
    }
}

impl Drop for FirstProcess {
    fn drop(&mut self) {
        self.starts.store(false, Ordering::SeqCst);
    }
}
