//! The browser's session, which an undone operation leaves as it was.

use svc_auth::sessions::{Alone, Checkpoint, Session, Together};

use crate::graphql::context::ExecutionContext;

/// The state of the browser's session before the mutations. If it is dropped while the mutations
/// are not kept, their changes to the session are undone.
pub(super) struct SessionUndo {
    /// `None` if there is no session.
    session: Option<(Session, Alone)>,
    /// `None` before the mutations begin.
    before: Option<Checkpoint>,
    is_kept: bool,
}

impl SessionUndo {
    /// Waits until no other mutation uses the session.
    pub(super) async fn new(cx: &ExecutionContext<'_>) -> Self {
        let session = match cx.context.extensions().get::<Session>() {
            Some(session) => Some((session.clone(), session.alone().await)),
            None => None,
        };

        Self {
            session,
            before: None,
            is_kept: false,
        }
    }

    /// Records the state of the session before the mutations.
    pub(super) fn begin(&mut self) {
        let session = self.session.as_ref();
        self.before = session.map(|(session, _)| session.checkpoint());
    }

    /// Records that the mutations are kept, or may be.
    pub(super) fn keep(&mut self) {
        self.is_kept = true;
    }

    /// Records that the mutations are not kept.
    pub(super) fn undo(&mut self) {
        self.is_kept = false;
    }
}

impl Drop for SessionUndo {
    fn drop(&mut self) {
        if let (Some((session, _)), Some(before), false) =
            (&self.session, self.before.take(), self.is_kept)
        {
            session.restore(before);
        }
    }
}

/// The turn of a mutation without `@atomic`: no operation with it runs meanwhile, which could undo
/// its changes to the session.
pub(super) struct SessionTurn {
    _together: Option<Together>,
}

impl SessionTurn {
    /// Waits for the operations with `@atomic` that use the session, if the schema permits any. It
    /// comes before all other waits of the operation.
    pub(super) async fn new(cx: &ExecutionContext<'_>) -> Self {
        let session = match cx.model.has_atomic {
            true => cx.context.extensions().get::<Session>(),
            false => None,
        };
        let together = match session {
            Some(session) => Some(session.together().await),
            None => None,
        };

        Self {
            _together: together,
        }
    }
}
