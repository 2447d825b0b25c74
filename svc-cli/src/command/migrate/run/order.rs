//! The order of files that depend on each other.

use super::super::files::File;
use super::objects::Objects;
use super::{Run, Stop};
use crate::failure::Failure;

impl Run<'_> {
    /// Runs files of the schema in the order of their names. If a file lacks an object that another
    /// one creates, it runs right after that one; the same files always run in the same order.
    pub(super) async fn in_order(&mut self, files: &[&File]) -> Result<(), Stop> {
        let mut waiting = Vec::new();
        for file in files {
            match self.in_savepoint(file).await {
                Ok(()) => waiting = self.retry(waiting).await?,
                Err(stop) if stop.is_missing() => waiting.push((*file, stop)),
                Err(stop) => return Err(stop),
            }
        }

        if waiting.is_empty() {
            Ok(())
        } else {
            Err(stuck(waiting))
        }
    }

    /// Runs the waiting files until none of them can run; returns the ones that still wait.
    async fn retry<'f>(
        &mut self,
        mut waiting: Vec<(&'f File, Stop)>,
    ) -> Result<Vec<(&'f File, Stop)>, Stop> {
        loop {
            let before = waiting.len();
            let mut still = Vec::new();
            for (file, _) in waiting {
                match self.in_savepoint(file).await {
                    Ok(()) => {}
                    Err(stop) if stop.is_missing() => still.push((file, stop)),
                    Err(stop) => return Err(stop),
                }
            }

            if still.is_empty() || still.len() == before {
                return Ok(still);
            }

            waiting = still;
        }
    }

    /// Runs a file, and rolls back its changes if it fails.
    async fn in_savepoint(&mut self, file: &File) -> Result<(), Stop> {
        self.execute("SAVEPOINT svc_file").await?;
        let dropped = self.dropped.len();
        let before = Objects::read(self.client).await?;
        let ran = self.statements(file).await;

        if ran.is_err() {
            self.dropped.truncate(dropped);
            self.execute("ROLLBACK TO svc_file").await?;
        }

        // `ROLLBACK TO` keeps the savepoint itself, so it is released in both cases.
        self.execute("RELEASE svc_file").await?;
        ran?;
        let touched = Objects::read(self.client).await?.touched_since(&before);
        self.made
            .entry(file.path.clone())
            .or_default()
            .extend(touched);

        Ok(())
    }

    /// Runs the files of the schema that can run, for a migration that lacks an object, such as a
    /// function for its trigger; returns whether any ran.
    pub(super) async fn run_early(&mut self) -> Result<bool, Stop> {
        let mut some = false;
        loop {
            // A file may create an object that an earlier file in this order lacked.
            let mut progress = false;
            for file in self.plan.repeatable.clone() {
                if self.early.contains(&file.path) {
                    continue;
                }
                match self.in_savepoint(file).await {
                    Ok(()) => progress |= self.early.insert(file.path.clone()),
                    Err(stop) if stop.is_missing() => {}
                    Err(stop) => return Err(stop),
                }
            }

            if !progress {
                return Ok(some);
            }

            some = true;
        }
    }
}

/// The failure of several files, each with a missing object.
fn stuck(stopped: Vec<(&File, Stop)>) -> Stop {
    let others: Vec<String> = stopped
        .iter()
        .skip(1)
        .map(|(_, stop)| format!("so does {}", stop.failure.message()))
        .collect();

    let mut stopped = stopped.into_iter();
    let Some((_, first)) = stopped.next() else {
        return Failure::new("no file is left").into();
    };

    let first = others.into_iter().take(5).fold(first, Stop::hint);

    first.hint("no file of db/schema creates it, or these files need each other; put tables and columns into a migration: svc migrate new NAME")
}
