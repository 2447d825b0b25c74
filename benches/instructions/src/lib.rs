//! The requests whose instructions are counted, and their counts, by valgrind's callgrind.

mod workload;

use std::path::Path;

use anyhow::Result;
use testbed::{Database, Profile, Request};

pub use workload::{LAYOUTS, Layout, Workload};

/// The number of times that the requests are counted; the median is taken.
pub const DUMPS: usize = 5;
/// Requests of a workload in one count.
pub const REQUESTS: usize = 100;
/// Requests before the first count: plans are made, buffers have grown.
const WARM_UP: usize = 50;

/// The counts of a workload.
#[derive(Debug)]
pub struct Counted {
    /// The name of the workload and of its layout.
    pub name: String,
    /// Instructions of a request: one count after the other, sorted.
    counts: Vec<f64>,
}

impl Counted {
    /// Returns the median of the counts.
    pub fn median(&self) -> f64 {
        self.counts[self.counts.len() / 2]
    }

    /// Returns the difference of the highest and the lowest count, as a part of the median.
    pub fn spread(&self) -> f64 {
        (self.counts[self.counts.len() - 1] - self.counts[0]) / self.median()
    }
}

/// Starts a server under callgrind, which writes its files into `folder`.
///
/// # Errors
/// The server does not start, or valgrind is missing.
pub fn start(
    layout: &Layout,
    program: &Path,
    database: &Database,
    folder: &Path,
) -> Result<Profile> {
    let probe = Request::new("{ users(limit: 1) { id } }", &serde_json::json!({}));
    Profile::start(
        program,
        layout.name,
        layout.variables,
        &database.url("bench"),
        folder,
        &probe,
    )
}

/// Counts the instructions of a workload. The most expensive functions are listed in the folder of
/// the server's files.
///
/// # Errors
/// An answer has errors, or callgrind fails.
pub fn count(
    profile: &mut Profile,
    layout: &Layout,
    workload: &Workload,
    requests: usize,
) -> Result<Counted> {
    let (name, request) = (workload.title(layout), workload.request(layout)?);
    for _ in 0..WARM_UP {
        profile.send(&request)?;
    }

    let mut counts = Vec::new();
    for _ in 0..DUMPS {
        profile.zero()?;
        for _ in 0..requests {
            profile.send(&request)?;
        }
        counts.push(profile.dump()? as f64 / requests as f64);
    }
    profile.annotate(&format!("{name}.txt"))?;

    eprintln!("{name}: {counts:.0?}");
    counts.sort_by(f64::total_cmp);
    Ok(Counted { name, counts })
}
