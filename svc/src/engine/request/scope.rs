//! The scope of a request: what its root fields share.

use std::any::Any;
use std::sync::Arc;

use super::{RequestContext, RequestParts};
use crate::Result;
use crate::db::Db;
use crate::engine::context::Context;
use crate::engine::execute::Engine;
use crate::schema::OperationKind;

/// What the root fields of a request share, for as long as it is answered.
pub(crate) struct RequestScope {
    /// The database with the session of the request.
    pub(crate) db: Db,
    request: Held,
}

/// The request, which is shared only where functions that make request data may keep it.
enum Held {
    Alone(RequestParts),
    Shared(RequestContext),
}

impl RequestScope {
    pub(crate) fn parts(&self) -> &RequestParts {
        match &self.request {
            Held::Alone(parts) => parts,
            Held::Shared(request) => request.parts(),
        }
    }

    /// A value of the request data.
    pub(crate) fn data<T: Any>(&self) -> Option<&T> {
        match &self.request {
            Held::Alone(_) => None,
            Held::Shared(request) => request.slots().get(&self.db.app.request_data),
        }
    }
}

impl Engine {
    /// The scope of a request where no request data is made.
    pub(in crate::engine) fn scope(&self, parts: RequestParts, kind: OperationKind) -> RequestScope {
        self.with_session(self.db(kind), Held::Alone(parts))
    }

    /// The scope of a request, with its request data.
    ///
    /// # Errors
    /// That of the first value that cannot be made.
    pub(in crate::engine) async fn scope_with_data(
        &self,
        parts: RequestParts,
        kind: OperationKind,
    ) -> Result<RequestScope> {
        let db = self.db(kind);
        let request = RequestContext::new(parts, db.clone());
        self.app.request_data.make(&request).await?;
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
            ledger,
            transaction: None,
        }
    }

    fn with_session(&self, db: Db, request: Held) -> RequestScope {
        let mut scope = RequestScope { db, request };
        scope.db.session = self.session_variables.session(&Context::new(&scope));
        scope
    }
}
