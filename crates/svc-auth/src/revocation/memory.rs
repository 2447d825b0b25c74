//! Revocations in memory.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::SystemTime;

use super::{RevocableToken, RevocationStore};
use crate::AuthError;

/// Revocations in the memory of one process. They are lost when it exits, and other processes do
/// not see them.
#[derive(Debug)]
pub struct MemoryRevocationStore {
    kept: RwLock<Kept>,
    max: usize,
}

#[derive(Default)]
struct Kept {
    /// Identifiers, each with its retention time.
    tokens: HashMap<String, SystemTime>,
    /// Subjects, each with its cut-off and retention time.
    subjects: HashMap<String, (SystemTime, SystemTime)>,
}

impl Default for MemoryRevocationStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemoryRevocationStore {
    /// A store of at most a million revocations.
    pub fn new() -> Self {
        Self::with_max(1_000_000)
    }

    /// A store of at most this many revocations; further ones are rejected until others have
    /// expired. A full store still extends its revocations.
    pub fn with_max(max: usize) -> Self {
        Self {
            kept: RwLock::default(),
            max,
        }
    }

    /// Changes an entry; a new one needs room.
    fn change(
        &self,
        is_kept: impl Fn(&Kept) -> bool,
        change: impl FnOnce(&mut Kept),
    ) -> Result<(), AuthError> {
        let has_room = |kept: &Kept| kept.len() < self.max || is_kept(kept);
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);

        // Only a full store is searched for expired entries, as the search visits all of them.
        if !has_room(&kept) {
            kept.remove_expired(SystemTime::now());
        }

        if !has_room(&kept) {
            return Err(AuthError::unavailable(
                "the memory store holds as many revocations as it may",
            ));
        }

        change(&mut kept);

        Ok(())
    }
}

impl Kept {
    fn len(&self) -> usize {
        self.tokens.len() + self.subjects.len()
    }

    fn remove_expired(&mut self, now: SystemTime) {
        self.tokens.retain(|_, until| *until > now);
        self.subjects.retain(|_, (_, until)| *until > now);
    }

    fn is_revoked(&self, token: &RevocableToken) -> bool {
        if self.len() == 0 {
            return false;
        }

        let is_listed = || token.ids().any(|id| self.tokens.contains_key(id));
        let cut_off = || {
            token
                .subject()
                .and_then(|subject| self.subjects.get(subject))
        };

        is_listed() || cut_off().is_some_and(|(cut_off, _)| token.is_before(*cut_off))
    }
}

impl RevocationStore for MemoryRevocationStore {
    async fn revoke(&self, id: &str, until: SystemTime) -> Result<(), AuthError> {
        let is_kept = |kept: &Kept| kept.tokens.contains_key(id);
        self.change(is_kept, |kept| {
            let known = kept.tokens.entry(id.to_owned()).or_insert(until);
            *known = until.max(*known);
        })
    }

    async fn revoke_all(
        &self,
        subject: &str,
        cut_off: SystemTime,
        until: SystemTime,
    ) -> Result<(), AuthError> {
        let is_kept = |kept: &Kept| kept.subjects.contains_key(subject);
        self.change(is_kept, |kept| {
            let known = kept
                .subjects
                .entry(subject.to_owned())
                .or_insert((cut_off, until));
            *known = (cut_off.max(known.0), until.max(known.1));
        })
    }

    async fn is_revoked(&self, token: &RevocableToken) -> Result<bool, AuthError> {
        Ok(self
            .kept
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .is_revoked(token))
    }

    async fn remove_expired(&self) -> Result<(), AuthError> {
        self.kept
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .remove_expired(SystemTime::now());
        Ok(())
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept")
            .field("tokens", &self.tokens.len())
            .field("subjects", &self.subjects.len())
            .finish()
    }
}
