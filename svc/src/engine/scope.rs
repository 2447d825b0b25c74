//! The scope of a request: its database, its session and its request data.

use std::sync::Arc;

use super::execute::Engine;
use crate::Result;
use crate::authz::RequestRules;
use crate::repository::Db;
use crate::request::{Context, Held, RequestContext, RequestParts, RequestScope};
use crate::schema::OperationKind;

impl Engine {
    /// The scope of a request where no request data is made.
    pub(super) fn scope(&self, parts: RequestParts, kind: OperationKind) -> RequestScope {
        let db = self.db(kind);
        let request = if self.shares_requests {
            Held::Shared(RequestContext::new(parts, db.clone(), self.request_data.clone()))
        } else {
            Held::Alone(parts)
        };
        self.with_session(db, request)
    }

    /// The scope of a request, with its request data.
    ///
    /// # Errors
    /// That of the first value that cannot be made.
    pub(super) async fn scope_with_data(&self, parts: RequestParts, kind: OperationKind) -> Result<RequestScope> {
        let db = self.db(kind);
        let request = RequestContext::new(parts, db.clone(), self.request_data.clone());
        self.request_data.make(&request).await?;
        Ok(self.with_session(db, Held::Shared(request)))
    }

    /// The database before the values of session variables are known: it runs nothing where there are some.
    fn db(&self, kind: OperationKind) -> Db {
        let ledger = (kind == OperationKind::Mutation).then(Arc::default);
        Db {
            app: self.app.clone(),
            session: self.session_variables.unknown(),
            mandatory: Vec::new(),
            row_filter: None,
            rules: None,
            ledger,
            transaction: None,
        }
    }

    fn with_session(&self, db: Db, request: Held) -> RequestScope {
        let mut scope = RequestScope::new(db, request);
        scope.db.session = self.session_variables.session(&Context::new(&scope));
        if let Some(policies) = &self.row_policies {
            scope.db.rules = Some(Arc::new(RequestRules::new(policies.clone(), scope.share())));
        }
        scope
    }
}
