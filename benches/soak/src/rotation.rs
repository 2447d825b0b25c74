//! Requests in turns over several connections.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, anyhow};
use testbed::{Request, Server};

/// The number of times that memory is read after the start.
pub(crate) const SAMPLES: usize = 10;

/// Resident memory after a number of requests.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sample {
    pub(crate) after: usize,
    pub(crate) resident: u64,
}

/// Sends `total` requests; the n-th is the n-th of `requests`, over and over.
pub(crate) fn run(
    server: &Server,
    requests: &[Request],
    total: usize,
    connections: usize,
) -> Result<Vec<Sample>> {
    let next = AtomicUsize::new(0);
    let samples = Mutex::new(Vec::new());
    let every = (total / SAMPLES).max(1);
    let sample = |after: usize| -> Result<()> {
        let resident = server.process().resident()?;
        eprintln!("{after} of {total} requests: {} KiB", resident / 1024);
        samples
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(Sample { after, resident });
        Ok(())
    };
    let send = || -> Result<()> {
        let mut client = server.client()?;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= total {
                return Ok(());
            }
            if number.is_multiple_of(every) && number / every < SAMPLES {
                sample(number)?;
            }
            client.send(&requests[number % requests.len()])?;
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..connections).map(|_| scope.spawn(send)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().map_err(|_| anyhow!("a client panicked"))?)
    })?;
    sample(total)?;
    let mut samples = samples.into_inner().unwrap_or_else(PoisonError::into_inner);
    samples.sort_by_key(|sample| sample.after);
    Ok(samples)
}
