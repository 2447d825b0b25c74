//! The queue of passwords to hash.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use super::hash::Salt;
use super::{Password, PasswordHash};

/// A password to be hashed.
pub(super) struct Job {
    pub(super) password: Password,
    pub(super) salt: Salt,
    pub(super) done: oneshot::Sender<Option<PasswordHash>>,
}

/// There are too many passwords to hash at the moment.
#[derive(Debug, thiserror::Error)]
#[error("too many passwords are being hashed, or they cannot be")]
pub(in crate::accounts) struct Busy;

/// The queue for a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::accounts) enum Turn {
    /// The queue for clients on a network where the user has logged in before, or with a token of
    /// the user. It comes first, so that a flood of strangers does not lock users out.
    Known,
    /// The queue for all others.
    Stranger,
}

/// Two bounded queues; jobs with `Turn::Known` come first.
pub(super) struct Queue {
    jobs: Mutex<Jobs>,
    more: Condvar,
    /// The maximum number of jobs waiting in each queue, in addition to one for each idle thread.
    most: usize,
}

#[derive(Default)]
struct Jobs {
    known: VecDeque<Job>,
    strangers: VecDeque<Job>,
    /// The number of threads waiting for a job.
    idle: usize,
    is_closed: bool,
}

impl Queue {
    pub(super) fn new(most: usize) -> Self {
        Self {
            jobs: Mutex::default(),
            more: Condvar::new(),
            most,
        }
    }

    /// Adds a job.
    ///
    /// # Errors
    /// [`Busy`] if its queue is full.
    pub(super) fn push(&self, job: Job, turn: Turn) -> Result<(), Busy> {
        let jobs = &mut *self.lock();
        let queue = match turn {
            Turn::Known => &mut jobs.known,
            Turn::Stranger => &mut jobs.strangers,
        };
        if queue.len() >= self.most.saturating_add(jobs.idle) {
            return Err(Busy);
        }

        queue.push_back(job);
        self.more.notify_one();

        Ok(())
    }

    /// Waits for the next job; `None` if the queue is closed and empty.
    pub(super) fn next(&self) -> Option<Job> {
        let mut jobs = self.lock();
        loop {
            let job = jobs
                .known
                .pop_front()
                .or_else(|| jobs.strangers.pop_front());
            if job.is_some() || jobs.is_closed {
                return job;
            }
            jobs.idle += 1;
            jobs = self.more.wait(jobs).unwrap_or_else(PoisonError::into_inner);
            jobs.idle -= 1;
        }
    }

    /// Lets the threads exit when all jobs are done.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.more.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Jobs> {
        self.jobs.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accounts::password::PasswordHashing;

    fn job() -> Job {
        let salt = Salt::random(PasswordHashing::default().parameters()).unwrap();
        Job {
            password: Password::read("correct horse").ok().unwrap(),
            salt,
            done: oneshot::channel().0,
        }
    }

    #[test]
    fn known_clients_have_a_separate_queue_that_comes_first() {
        let queue = Queue::new(2);
        assert!((0..2).all(|_| queue.push(job(), Turn::Stranger).is_ok()));
        assert!(
            queue.push(job(), Turn::Stranger).is_err(),
            "the queue of strangers is full"
        );
        assert!(queue.push(job(), Turn::Known).is_ok());
        queue.next().unwrap();
        let jobs = queue.lock();

        assert_eq!((jobs.known.len(), jobs.strangers.len()), (0, 2));
    }
}
