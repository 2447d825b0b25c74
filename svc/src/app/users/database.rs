//! The database for authentication: it is needed before there is a request, and set once the
//! service is created.

use std::sync::{Arc, OnceLock};

use crate::db::{Db, SessionVariables};
use svc_auth::{AuthError, UserContext};
use svc_engine::shared_state::SharedState;

/// The database of a service under construction.
#[derive(Clone, Default)]
pub(crate) struct UserDatabase(Arc<OnceLock<(Arc<SharedState>, Arc<SessionVariables>)>>);

impl UserDatabase {
    /// Sets the application and its session variables.
    pub(in crate::app) fn set(&self, app: &Arc<SharedState>, variables: &Arc<SessionVariables>) {
        // It is set once, by the only service created from its options.
        let _ = self.0.set((app.clone(), variables.clone()));
    }

    /// Returns the database with the session variables of a user.
    pub(super) fn of_user(&self, user: &UserContext) -> Result<Db, AuthError> {
        let (app, variables) = self
            .0
            .get()
            .ok_or_else(|| AuthError::unavailable("the service is not ready"))?;
        Ok(Db {
            app: app.clone(),
            session: variables.session_of_user(user),
            mandatory: Vec::new(),
            row_filter: None,
            rules: None,
            ledger: None,
            transaction: None,
            atomic: None,
            checks_for: None,
        })
    }
}
