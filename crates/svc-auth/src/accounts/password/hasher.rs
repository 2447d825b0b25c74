//! The threads that hash passwords.

use std::sync::Arc;
use std::time::Duration;

use argon2::Block;
use tokio::sync::oneshot;

use super::hash::Salt;
use super::parameters::Parameters;
use super::queue::{Busy, Job, Queue, Turn};
use super::{Password, PasswordHash, PasswordHashing};

/// The maximum time that a request waits for its turn and its hash.
const PATIENCE: Duration = Duration::from_secs(10);

/// The niceness of the hashing threads, so that queries come first.
#[cfg(target_os = "linux")]
const NICENESS: i32 = 10;

/// A fixed number of threads that hash passwords, separate from the threads that handle requests.
pub(in crate::accounts) struct PasswordHasher {
    queue: Arc<Queue>,
    parameters: Parameters,
}

impl PasswordHasher {
    /// Starts the threads; they exit when this is dropped.
    pub(in crate::accounts) fn start(hashing: PasswordHashing) -> std::io::Result<Self> {
        let queue = Arc::new(Queue::new(hashing.queue));
        for _ in 0..hashing.threads.max(1) {
            let queue = queue.clone();
            std::thread::Builder::new()
                .name("svc-password".to_owned())
                .spawn(move || work(&queue))?;
        }

        Ok(Self {
            queue,
            parameters: hashing.parameters(),
        })
    }

    /// Hashes a password with a salt, or with a new one if there is none.
    pub(in crate::accounts) async fn hash(
        &self,
        password: Password,
        salt: Option<Salt>,
        turn: Turn,
    ) -> Result<PasswordHash, Busy> {
        let salt = salt.or_else(|| Salt::random(self.parameters)).ok_or(Busy)?;
        let (done, hashed) = oneshot::channel();
        self.queue.push(
            Job {
                password,
                salt,
                done,
            },
            turn,
        )?;

        let hashed = tokio::time::timeout(PATIENCE, hashed).await;

        hashed.ok().and_then(Result::ok).flatten().ok_or(Busy)
    }

    /// Whether a hash with this salt should be replaced, as its parameters are weaker than the
    /// current ones.
    pub(in crate::accounts) fn is_outdated(&self, salt: &Salt) -> bool {
        salt.parameters.is_below(self.parameters)
    }
}

impl Drop for PasswordHasher {
    fn drop(&mut self) {
        self.queue.close();
    }
}

fn work(queue: &Queue) {
    lower_priority();
    let mut memory: Vec<Block> = Vec::new();
    while let Some(Job {
        password,
        salt,
        done,
    }) = queue.next()
    {
        // A closed channel means that the request has given up: its hash would only delay others.
        if !done.is_closed() {
            // If the request no longer waits, the result is dropped.
            let _ = done.send(salt.hash(&password, &mut memory));
        }
    }
}

/// On Linux, the niceness applies to the thread only; elsewhere it would apply to the whole
/// process.
fn lower_priority() {
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(NICENESS) {
        tracing::debug!(%error, "passwords are hashed at ordinary priority");
    }
}

impl std::fmt::Debug for PasswordHasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PasswordHasher")
            .field("parameters", &self.parameters)
            .finish_non_exhaustive()
    }
}
