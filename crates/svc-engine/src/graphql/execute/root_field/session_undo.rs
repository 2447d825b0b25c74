//! The browser's session, which an undone operation leaves as it was.

use svc_auth::sessions::{Checkpoint, Session};

use crate::graphql::context::ExecutionContext;

/// The state of the browser's session before the mutations. If it is dropped while the mutations
/// are not kept, their changes to the session are undone.
pub(super) struct SessionUndo {
    /// `None` if there is no session.
    before: Option<(Session, Checkpoint)>,
    is_kept: bool,
}

impl SessionUndo {
    pub(super) fn new(cx: &ExecutionContext<'_>) -> Self {
        let session = cx.context.extensions().get::<Session>();
        Self {
            before: session.map(|session| (session.clone(), session.checkpoint())),
            is_kept: false,
        }
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
        if let (Some((session, before)), false) = (self.before.take(), self.is_kept) {
            session.restore(before);
        }
    }
}
