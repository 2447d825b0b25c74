//! The session of a request.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use tokio::sync::{OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

use super::SessionError;
use super::store::DynStore;

/// The session of a request: a map of JSON values; cheap to clone.
///
/// It is loaded when the request arrives, and saved when the response is ready. If two concurrent
/// requests change the same session, the later one wins. If another request ends or renews the
/// session in the meantime, the changes are discarded.
#[derive(Clone)]
pub struct Session(Arc<Mutex<State>>);

pub(super) struct State {
    pub(super) values: Map<String, Value>,
    /// Why it could not be loaded.
    pub(super) unavailable: Option<SessionError>,
    /// Whether it must be saved with the response.
    pub(super) is_changed: bool,
    /// Whether it gets a new identifier.
    pub(super) is_renewed: bool,
    /// How often it was cleared.
    clears: u64,
    /// Whether the store has it.
    pub(super) is_kept: bool,
    /// The maximum size of the JSON in bytes.
    pub(super) room: usize,
    /// `None` if the cookie contains the whole session.
    pub(super) place: Option<Place>,
    /// Locked by the operation that may undo its changes, and shared by other mutations.
    undoing: Arc<RwLock<()>>,
}

/// The place of a session in a store.
#[derive(Clone)]
pub(super) struct Place {
    pub(super) store: Arc<dyn DynStore>,
    /// `None` until the session is saved for the first time.
    pub(super) key: Option<String>,
}

/// The state of a session at one moment, as [`Session::restore`] takes it.
#[doc(hidden)]
pub struct Checkpoint {
    values: Map<String, Value>,
    is_changed: bool,
    is_renewed: bool,
    clears: u64,
}

/// The right to undo changes to a session, which one operation has at a time, and no mutation beside
/// it.
#[doc(hidden)]
#[derive(Debug)]
pub struct Alone {
    _guard: OwnedRwLockWriteGuard<()>,
}

/// The right to change a session while no operation may undo that.
#[doc(hidden)]
#[derive(Debug)]
pub struct Together {
    _guard: OwnedRwLockReadGuard<()>,
}

impl Session {
    pub(super) fn new(
        read: Result<Map<String, Value>, SessionError>,
        is_changed: bool,
        room: usize,
    ) -> Self {
        let (values, unavailable) = match read {
            Ok(values) => (values, None),
            Err(error) => (Map::new(), Some(error)),
        };

        Self(Arc::new(Mutex::new(State {
            values,
            unavailable,
            is_changed,
            is_renewed: false,
            clears: 0,
            is_kept: false,
            room,
            place: None,
            undoing: Arc::default(),
        })))
    }

    /// Whether the session can be used.
    ///
    /// # Errors
    /// [`SessionError::Unavailable`] if the store did not answer.
    pub fn check(&self) -> Result<(), SessionError> {
        self.state().check()
    }

    /// Whether the session is in a store, or will be once the response is ready, so that it can end
    /// while a connection is open.
    #[doc(hidden)]
    pub fn is_stored(&self) -> bool {
        let state = self.state();
        let place = state.place.as_ref();
        place.is_some_and(|place| place.key.is_some() || state.is_changed)
    }

    /// Whether the session has ended or expired since it was loaded or saved.
    ///
    /// # Errors
    /// [`SessionError::Unavailable`] if the store did not answer.
    #[doc(hidden)]
    pub async fn has_ended(&self) -> Result<bool, SessionError> {
        let place = self.state().place.clone();
        match place {
            Some(Place {
                store,
                key: Some(key),
            }) => Ok(!store.exists(&key).await?),
            _ => Ok(false),
        }
    }

    /// Returns a value; `None` if there is none with this name.
    ///
    /// # Errors
    /// If the session is not available, or the value is of another type.
    pub fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, SessionError> {
        let state = self.state();
        state.check()?;
        let value = state.values.get(name).cloned();
        value
            .map(|value| {
                serde_json::from_value(value).map_err(|_| SessionError::Type(name.to_owned()))
            })
            .transpose()
    }

    /// Sets a value.
    ///
    /// # Errors
    /// If the session is not available or would become too large, or the value cannot be serialized
    /// as JSON. The session is then unchanged.
    pub fn insert(&self, name: &str, value: &impl Serialize) -> Result<(), SessionError> {
        let value = serde_json::to_value(value).map_err(|_| SessionError::Type(name.to_owned()))?;
        let mut state = self.state();
        state.check()?;
        let before = state.values.insert(name.to_owned(), value);
        let size = serde_json::to_vec(&state.values).map_or(usize::MAX, |json| json.len());
        if size > state.room {
            // The old value comes back, or a later change would save the one that was rejected.
            match before {
                Some(value) => state.values.insert(name.to_owned(), value),
                None => state.values.shift_remove(name),
            };
            return Err(SessionError::TooLarge(size, state.room));
        }

        state.is_changed = true;

        Ok(())
    }

    /// Removes a value; returns whether there was one.
    ///
    /// # Errors
    /// If the session is not available.
    pub fn remove(&self, name: &str) -> Result<bool, SessionError> {
        let mut state = self.state();
        state.check()?;
        let was_there = state.values.shift_remove(name).is_some();
        state.is_changed |= was_there;
        Ok(was_there)
    }

    /// Removes all values and ends the session, as at a log-out.
    ///
    /// # Errors
    /// If the session is not available.
    pub fn clear(&self) -> Result<(), SessionError> {
        let mut state = self.state();
        state.check()?;
        state.values.clear();
        state.clears += 1;
        (state.is_changed, state.is_renewed) = (true, true);
        Ok(())
    }

    /// Gives the session a new identifier, so that the old one no longer opens it. This is required
    /// at log-in; the routes of native accounts do it.
    ///
    /// # Errors
    /// If the session is not available.
    pub fn renew(&self) -> Result<(), SessionError> {
        let mut state = self.state();
        state.check()?;
        (state.is_changed, state.is_renewed) = (true, true);
        Ok(())
    }

    /// Waits until no other mutation uses the session: changes that are undone would be part of a
    /// later checkpoint, and changes of others would be undone.
    #[doc(hidden)]
    pub async fn alone(&self) -> Alone {
        let undoing = self.state().undoing.clone();
        Alone {
            _guard: undoing.write_owned().await,
        }
    }

    /// Waits until no other operation may undo changes to the session.
    #[doc(hidden)]
    pub async fn together(&self) -> Together {
        let undoing = self.state().undoing.clone();
        Together {
            _guard: undoing.read_owned().await,
        }
    }

    /// Returns the state of the session.
    #[doc(hidden)]
    pub fn checkpoint(&self) -> Checkpoint {
        let state = self.state();
        Checkpoint {
            values: state.values.clone(),
            is_changed: state.is_changed,
            is_renewed: state.is_renewed,
            clears: state.clears,
        }
    }

    /// Undoes all changes since an earlier state, except a renewal and a log-out: a session that was
    /// cleared since is empty.
    #[doc(hidden)]
    pub fn restore(&self, before: Checkpoint) {
        let mut state = self.state();

        // A query or an authorizer may have logged the user out, which is never taken back.
        let was_cleared_since = state.clears != before.clears;
        state.values = match was_cleared_since {
            true => Map::new(),
            false => before.values,
        };

        // Without its renewal, a log-in would leave the session to all who know the old identifier.
        let was_renewed_since = state.is_renewed && !before.is_renewed;
        state.is_changed = before.is_changed || was_renewed_since || was_cleared_since;
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn check(&self) -> Result<(), SessionError> {
        self.unavailable.clone().map_or(Ok(()), Err)
    }
}

/// Shows the names of the values.
impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.state().values.keys()).finish()
    }
}
