//! The database as authentication uses it: it is there before a request is, and is known only when the service is made.

use std::sync::{Arc, OnceLock};

use crate::application::Application;
use crate::auth::{AuthError, UserContext};
use crate::db::{Db, SessionVariables};

/// The database of a service that is being made.
#[derive(Clone, Default)]
pub(crate) struct UserDatabase(Arc<OnceLock<(Arc<Application>, Arc<SessionVariables>)>>);

impl UserDatabase {
    /// Says which it is.
    pub(super) fn set(&self, app: &Arc<Application>, variables: &Arc<SessionVariables>) {
        // It is set once, by the one service that is made of its options.
        let _ = self.0.set((app.clone(), variables.clone()));
    }

    /// The database with the session variables that come from a user.
    pub(super) fn of_user(&self, user: &UserContext) -> Result<Db, AuthError> {
        let (app, variables) = self.0.get().ok_or_else(|| AuthError::unavailable("the service is not ready"))?;
        Ok(Db {
            app: app.clone(),
            session: variables.session_of_user(user),
            mandatory: Vec::new(),
            row_filter: None,
            rules: None,
            ledger: None,
            transaction: None,
        })
    }
}
