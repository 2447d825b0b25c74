//! Without sessions, there is nothing to undo.

use crate::graphql::context::ExecutionContext;

pub(super) struct SessionUndo;

impl SessionUndo {
    pub(super) fn new(_: &ExecutionContext<'_>) -> Self {
        Self
    }

    pub(super) fn keep(&mut self) {}

    pub(super) fn undo(&mut self) {}
}
