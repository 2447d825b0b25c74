//! What all requests share.

use std::sync::Arc;

use super::context::DataMap;
use super::limits::Limits;
use crate::db::Database;
use crate::schema::Model;

/// What all requests share, behind one pointer: counting who has it is work that the processors wait for.
pub(crate) struct Application {
    pub(crate) model: Arc<Model>,
    pub(crate) limits: Arc<Limits>,
    pub(crate) database: Arc<Database>,
    pub(crate) data: DataMap,
}

impl std::fmt::Debug for Application {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Application").field("model", &self.model).finish_non_exhaustive()
    }
}
