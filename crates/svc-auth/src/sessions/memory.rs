//! Sessions in memory.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use lru::LruCache;

use super::{SessionError, SessionStore};

/// The approximate size of a session besides its content, in bytes.
const OVERHEAD: usize = 256;

/// Sessions in the memory of one process. They are lost when it exits, and other processes do not
/// see them.
#[derive(Debug)]
pub struct MemorySessionStore {
    kept: Mutex<Kept>,
    room: usize,
}

struct Kept {
    sessions: LruCache<String, (Vec<u8>, SystemTime)>,
    bytes: usize,
}

impl Default for MemorySessionStore {
    fn default() -> Self {
        Self::new()
    }
}

impl MemorySessionStore {
    /// A store of at most 64 MiB.
    pub fn new() -> Self {
        Self::with_bytes(64 << 20)
    }

    /// A store of at most about this many bytes; when it is full, it evicts the least recently used
    /// sessions.
    pub fn with_bytes(bytes: usize) -> Self {
        Self {
            kept: Mutex::new(Kept {
                sessions: LruCache::unbounded(),
                bytes: 0,
            }),
            room: bytes,
        }
    }

    fn with<T>(&self, change: impl FnOnce(&mut Kept) -> T) -> T {
        change(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Kept {
    /// Returns the content under a key, unless it has expired.
    fn get(&mut self, key: &str) -> Option<&Vec<u8>> {
        let found = self
            .sessions
            .get(key)
            .filter(|(_, until)| *until > SystemTime::now());
        found.map(|(content, _)| content)
    }

    fn put(&mut self, key: &str, content: Vec<u8>, ttl: Duration, room: usize) {
        self.remove(key);
        self.bytes += content.len() + OVERHEAD;
        self.sessions
            .put(key.to_owned(), (content, SystemTime::now() + ttl));

        // The session just saved stays, even if it alone takes more than the room.
        while self.bytes > room && self.sessions.len() > 1 {
            let Some((_, (content, _))) = self.sessions.pop_lru() else {
                break;
            };
            self.bytes -= content.len() + OVERHEAD;
        }
    }

    /// Removes an entry; returns whether there was one.
    fn remove(&mut self, key: &str) -> bool {
        let removed = self.sessions.pop(key);
        self.bytes -= removed
            .as_ref()
            .map_or(0, |(content, _)| content.len() + OVERHEAD);
        removed.is_some()
    }
}

impl SessionStore for MemorySessionStore {
    async fn load(&self, key: &str) -> Result<Option<Vec<u8>>, SessionError> {
        Ok(self.with(|kept| {
            let content = kept.get(key).cloned();

            // Expired sessions leave only here and by the bound of the store.
            if content.is_none() {
                kept.remove(key);
            }
            content
        }))
    }

    /// A session that is only checked is not used, so it may still be evicted.
    async fn exists(&self, key: &str) -> Result<bool, SessionError> {
        Ok(self.with(|kept| {
            let found = kept.sessions.peek(key);
            found.is_some_and(|(_, until)| *until > SystemTime::now())
        }))
    }

    async fn save(&self, key: &str, content: Vec<u8>, ttl: Duration) -> Result<(), SessionError> {
        self.with(|kept| kept.put(key, content, ttl, self.room));
        Ok(())
    }

    async fn replace(
        &self,
        key: &str,
        content: Vec<u8>,
        ttl: Duration,
    ) -> Result<bool, SessionError> {
        Ok(self.with(|kept| {
            let is_kept = kept.get(key).is_some();
            if is_kept {
                kept.put(key, content, ttl, self.room);
            }
            is_kept
        }))
    }

    async fn delete(&self, key: &str) -> Result<bool, SessionError> {
        Ok(self.with(|kept| kept.remove(key)))
    }
}

impl std::fmt::Debug for Kept {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kept")
            .field("sessions", &self.sessions.len())
            .field("bytes", &self.bytes)
            .finish()
    }
}
