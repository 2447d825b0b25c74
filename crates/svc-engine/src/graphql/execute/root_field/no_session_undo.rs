//! Without sessions, there is nothing to undo.

use std::future::{Ready, ready};

use crate::graphql::context::ExecutionContext;

pub(super) struct SessionUndo;

impl SessionUndo {
    pub(super) fn new(_: &ExecutionContext<'_>) -> Ready<Self> {
        ready(Self)
    }

    pub(super) fn begin(&mut self) {}

    pub(super) fn keep(&mut self) {}

    pub(super) fn undo(&mut self) {}
}

pub(super) struct SessionTurn;

impl SessionTurn {
    pub(super) fn new(_: &ExecutionContext<'_>) -> Ready<Self> {
        ready(Self)
    }
}
