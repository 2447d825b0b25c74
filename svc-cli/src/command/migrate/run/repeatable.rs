//! The files of `db/schema`: views, functions, policies and triggers, which depend on the tables.

use std::collections::{BTreeMap, BTreeSet};

use super::super::files::File;
use super::super::history;
use super::objects::{Changed, Id, Interfaces, Objects};
use super::{Mode, Run, Stop};
use crate::database::{mentions, reason};
use crate::failure::{Failure, Result};

/// The maximum number of rounds that rerun files because of other files' changes.
const ROUNDS: usize = 20;

/// Statements that change rows or take long: a file with one of them runs again only if it has
/// changed, or if its objects are missing.
const HEAVY: [&str; 6] = ["INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFRESH", "CALL"];

/// The objects created by each file in this run.
pub(super) type Made = BTreeMap<String, BTreeSet<Id>>;

impl Run<'_> {
    /// Runs the new and changed files, and the files that depend on the changes, in one
    /// transaction.
    pub(super) async fn repeatable_files(&mut self) -> Result<(), Stop> {
        let pending = self.plan.repeatable.clone();
        let changed = Interfaces::read(self.client)
            .await?
            .changed_since(&self.before);
        let is_needed =
            !pending.is_empty() || !self.plan.removed.is_empty() || !self.dropped.is_empty();
        if !is_needed && changed.names.is_empty() {
            return Ok(());
        }

        let begun = std::time::Instant::now();
        self.begin().await?;
        let recorded = history::objects(self.client).await?;
        self.rounds(&pending).await?;
        let made = std::mem::take(&mut self.made);
        let recorded = self.drop_orphans(recorded, &made).await?;
        self.refuse_lost(&recorded).await?;
        self.restore(&pending, &made).await?;
        for file in &pending {
            self.done(file, begun).await?;
        }

        let last = pending.last().or(self.plan.schema.last()).copied();
        if self.mode != Mode::TryOut {
            history::set_objects(self.client, &recorded).await?;
            for entry in &self.plan.removed {
                history::forget(self.client, &entry.path).await?;
            }
        }

        self.dropped.clear();
        match last {
            Some(file) => self.commit(file).await?,
            None => self.commit_all().await?,
        }

        // The files may run before a migration outside of a transaction and after it; the second
        // run compares with the result of the first.
        self.before = Interfaces::read(self.client).await?;

        Ok(())
    }

    /// Runs the pending files, and then others until no file depends on the last changes.
    async fn rounds(&mut self, pending: &[&File]) -> Result<(), Stop> {
        let mut before = self.before.clone();
        let mut lost_before = BTreeSet::new();

        // A file that ran early for a migration runs once more, unless it would insert its rows
        // twice.
        let is_done = |file: &&File| self.early.contains(&file.path) && is_heavy(file);
        let mut queue: Vec<&File> = pending
            .iter()
            .filter(|file| !is_done(file))
            .copied()
            .collect();

        // Two files that keep changing the same object would otherwise never finish.
        for _ in 0..ROUNDS {
            self.in_order(&queue).await?;
            let now = Interfaces::read(self.client).await?;
            let changed = now.changed_since(&before);
            let lost = self.lost().await?;

            // Files that did not recreate the missing objects will not do so in another round.
            let wanted = if lost == lost_before {
                BTreeSet::new()
            } else {
                lost.clone()
            };

            let follows = |file: &&File| {
                let has_run = queue.iter().any(|other| other.path == file.path);
                wanted.iter().any(|name| mentions(&file.text, name))
                    || !has_run && !is_heavy(file) && depends(file, &changed)
            };

            queue = self
                .plan
                .schema
                .iter()
                .copied()
                .filter(|file| follows(file))
                .collect();

            if queue.is_empty() {
                break;
            }

            (before, lost_before) = (now, lost);
        }

        self.grant_all().await
    }

    /// Reruns files that grant something on all objects of a schema, if there are new objects,
    /// regardless of the file that created them.
    async fn grant_all(&mut self) -> Result<(), Stop> {
        let has_new = Interfaces::read(self.client)
            .await?
            .changed_since(&self.before)
            .has_new;
        let grants: Vec<&File> = self
            .plan
            .schema
            .iter()
            .copied()
            .filter(|file| grants_all(file) && !is_heavy(file))
            .collect();

        if has_new {
            self.in_order(&grants).await
        } else {
            Ok(())
        }
    }

    /// The names of dropped objects that have not been recreated.
    async fn lost(&self) -> Result<BTreeSet<String>> {
        if self.dropped.is_empty() {
            return Ok(BTreeSet::new());
        }

        let now = Objects::read(self.client).await?;
        Ok(self
            .dropped
            .iter()
            .filter(|dropped| !now.has(&dropped.id))
            .map(|dropped| dropped.name.clone())
            .collect())
    }

    /// Drops objects that files no longer create, and returns the objects that each file creates
    /// now.
    async fn drop_orphans(&mut self, recorded: Made, made: &Made) -> Result<Made, Stop> {
        let mut result = made.clone();
        let removed: BTreeSet<&str> = self
            .plan
            .removed
            .iter()
            .map(|entry| entry.path.as_str())
            .collect();

        let claimed = |id: &Id| {
            made.values().any(|ids| ids.contains(id))
                || recorded.iter().any(|(path, ids)| {
                    !made.contains_key(path) && !removed.contains(path.as_str()) && ids.contains(id)
                })
        };

        let now = Objects::read(self.client).await?;
        let mut orphans = Vec::new();
        for (path, ids) in &recorded {
            // The files of a newer release may create objects of which this project has no file.
            let is_left =
                self.plan.is_ahead || !made.contains_key(path) && !removed.contains(path.as_str());
            let kept = result.entry(path.clone()).or_default();
            for id in ids {
                if is_left
                    || now.has(id) && !claimed(id) && self.is_costly(path, id, &now.0[id].name)
                {
                    kept.insert(id.clone());
                } else if now.has(id) && !claimed(id) {
                    orphans.push((path.clone(), id.clone(), now.0[id].name.clone()));
                }
            }
        }

        self.drop_all(&orphans).await?;

        // A file that creates an object only if it is missing creates it now.
        let makers = |file: &&&File| {
            orphans
                .iter()
                .any(|(path, _, name)| *path == file.path && mentions(&file.text, name))
        };

        let makers: Vec<&File> = self.plan.schema.iter().filter(makers).copied().collect();
        self.in_order(&makers).await?;
        let now = Objects::read(self.client).await?;
        for (path, id, _) in orphans.into_iter().filter(|(_, id, _)| now.has(id)) {
            result.entry(path).or_default().insert(id);
        }

        Ok(result)
    }

    /// Whether dropping an object to find out whether its file recreates it is too expensive: its
    /// rows took long to compute, or the file also changes rows.
    fn is_costly(&self, path: &str, id: &Id, name: &str) -> bool {
        let file = self
            .plan
            .schema
            .iter()
            .find(|file| file.path == path && mentions(&file.text, name));
        file.is_some_and(|file| id.kind == "MATERIALIZED VIEW" || is_heavy(file))
    }

    /// Drops objects, dependents first.
    async fn drop_all(&self, orphans: &[(String, Id, String)]) -> Result<(), Stop> {
        let mut left: Vec<_> = orphans.iter().collect();
        while !left.is_empty() {
            let (mut still, mut why) = (Vec::new(), String::new());
            // Without CASCADE, which would also drop objects that no file has given up: an object
            // with dependents waits for a later round.
            for orphan in &left {
                let (path, id, _) = *orphan;
                self.execute("SAVEPOINT svc_orphan").await?;

                if let Err(error) = self
                    .client
                    .batch_execute(&format!("DROP {} {}", id.kind, id.identity))
                    .await
                {
                    self.execute("ROLLBACK TO svc_orphan").await?;
                    still.push(*orphan);
                    why = format!(
                        "{path} no longer creates the {id}, but it cannot be dropped: {}",
                        reason(&error)
                    );
                }

                self.execute("RELEASE svc_orphan").await?;
            }

            if still.len() == left.len() {
                let failure = Failure::new(why);
                return Err(failure
                    .hint("change its dependents, or create it in a file of db/schema")
                    .into());
            }

            left = still;
        }

        Ok(())
    }

    /// Fails if a dropped object is missing and no file creates it or has created it.
    async fn refuse_lost(&self, recorded: &Made) -> Result<()> {
        let now = Objects::read(self.client).await?;
        let known = history::objects(self.client).await?;

        // A recorded object that is missing was given up by its file.
        let is_known = |id: &Id| {
            known
                .values()
                .chain(recorded.values())
                .any(|ids| ids.contains(id))
        };

        let lost: BTreeSet<String> = self
            .dropped
            .iter()
            .filter(|dropped| !now.has(&dropped.id) && !is_known(&dropped.id))
            .map(|dropped| dropped.id.to_string())
            .collect();

        if lost.is_empty() {
            return Ok(());
        }

        let names = lost.into_iter().collect::<Vec<_>>().join(", ");

        Err(Failure::new(format!(
            "a change requires dropping these objects, and no file of db/schema creates them again: {names}"
        ))
        .hint("put them into a file of db/schema, or drop them in the migration; nothing was changed"))
    }

    /// Restores the owner, the grants and the comment of recreated objects.
    async fn restore(&self, pending: &[&File], made: &Made) -> Result<()> {
        let now = Objects::read(self.client).await?;
        let is_changed = |id: &Id| {
            pending
                .iter()
                .any(|file| made.get(&file.path).is_some_and(|ids| ids.contains(id)))
        };

        for dropped in self.dropped.iter().filter(|dropped| now.has(&dropped.id)) {
            dropped
                .restore(self.client, !is_changed(&dropped.id))
                .await?;
        }

        Ok(())
    }

    async fn commit_all(&mut self) -> Result<()> {
        if self.mode != Mode::TryOut {
            self.is_open = false;
            self.execute("COMMIT").await?;
            self.told.drain(..).for_each(crate::terminal::done);
        }
        Ok(())
    }
}

/// Whether a file may have a different result after these changes.
fn depends(file: &File, changed: &Changed) -> bool {
    changed.names.iter().any(|name| mentions(&file.text, name))
}

/// Whether a file grants something on all objects of a schema.
fn grants_all(file: &File) -> bool {
    let text = file.text.to_ascii_uppercase();
    ["TABLES", "FUNCTIONS", "ROUTINES", "PROCEDURES"]
        .iter()
        .any(|kind| text.contains(&format!("ALL {kind} IN SCHEMA")))
}

/// Whether a file does more than create objects that can be recreated immediately.
fn is_heavy(file: &File) -> bool {
    let statements = file.statements().unwrap_or_default();
    statements.iter().any(|statement| {
        let words = statement.words(2);
        words
            .first()
            .is_some_and(|first| HEAVY.contains(&first.as_str()))
            || words == ["DROP", "MATERIALIZED"]
            || words == ["DROP", "TABLE"]
    })
}
