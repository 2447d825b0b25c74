//! The threads that hash passwords.

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use argon2::Block;
use tokio::sync::oneshot;

use super::hash::Salt;
use super::parameters::Parameters;
use super::{Password, PasswordHash, PasswordHashing};

/// The longest time that a request waits for its turn and its hash.
const PATIENCE: Duration = Duration::from_secs(10);

/// The niceness of the threads that hash, so that queries come first.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// Threads that hash passwords: so many at once, beside those that answer requests.
pub(in crate::accounts) struct PasswordHasher {
    jobs: SyncSender<Job>,
    parameters: Parameters,
}

struct Job {
    password: Password,
    salt: Salt,
    done: oneshot::Sender<Option<PasswordHash>>,
}

/// There are too many passwords to hash at the moment.
#[derive(Debug, thiserror::Error)]
#[error("too many passwords are being hashed, or they cannot be")]
pub(in crate::accounts) struct Busy;

impl PasswordHasher {
    /// Starts the threads; they end when this is dropped.
    pub(in crate::accounts) fn start(hashing: PasswordHashing) -> std::io::Result<Self> {
        let (jobs, waiting) = sync_channel(hashing.queue);
        let waiting = Arc::new(Mutex::new(waiting));
        for _ in 0..hashing.threads.max(1) {
            let waiting = waiting.clone();
            std::thread::Builder::new().name("svc-password".to_owned()).spawn(move || work(&waiting))?;
        }
        Ok(Self { jobs, parameters: hashing.parameters() })
    }

    /// Hashes a password with a salt, and with a new one where there is none.
    pub(in crate::accounts) async fn hash(&self, password: Password, salt: Option<Salt>) -> Result<PasswordHash, Busy> {
        let salt = salt.or_else(|| Salt::random(self.parameters)).ok_or(Busy)?;
        let (done, hashed) = oneshot::channel();
        self.jobs.try_send(Job { password, salt, done }).map_err(|_| Busy)?;
        let hashed = tokio::time::timeout(PATIENCE, hashed).await;
        hashed.ok().and_then(Result::ok).flatten().ok_or(Busy)
    }

    /// Whether a hash with this salt should be made anew, as it is weaker than those of today.
    pub(in crate::accounts) fn is_outdated(&self, salt: &Salt) -> bool {
        salt.parameters.is_below(self.parameters)
    }
}

fn work(waiting: &Mutex<Receiver<Job>>) {
    lower_priority();
    let mut memory: Vec<Block> = Vec::new();
    loop {
        // A panic while it waits is not possible.
        let job = waiting.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(Job { password, salt, done }) = job else { return };
        if !done.is_closed() {
            // Whoever does not wait any longer needs no answer.
            let _ = done.send(salt.hash(&password, &mut memory));
        }
    }
}

/// On Linux this is of the thread alone; elsewhere it would be of the whole process.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(NICENESS) {
        tracing::debug!(%error, "passwords are hashed at ordinary priority");
    }
}

impl std::fmt::Debug for PasswordHasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PasswordHasher").field("parameters", &self.parameters).finish_non_exhaustive()
    }
}
