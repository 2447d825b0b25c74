//! The scope of a request: its database, its session and its request data.

use std::sync::Arc;

use super::Engine;
use crate::authz::RequestRules;
use crate::graphql::plan::Plan;
use crate::repository::Db;
use crate::request::{Context, Held, RequestContext, RequestParts, RequestScope};
use crate::sql::RowRules;
use svc_core::schema::OperationKind;
use svc_postgres::Session;

impl Engine {
    /// The scope of a request that needs no request data.
    pub(in crate::graphql) fn scope(&self, parts: RequestParts, plan: &Plan) -> RequestScope {
        let db = self.db(plan.kind);
        let request = if self.shares_requests {
            Held::Shared(RequestContext::new(
                parts,
                db.clone(),
                self.request_data.clone(),
            ))
        } else {
            Held::Alone(parts)
        };

        self.with_session(db, request, plan)
    }

    /// A request whose data is yet to be made, and its database.
    pub(super) fn sharing(&self, parts: RequestParts, kind: OperationKind) -> (Db, RequestContext) {
        let db = self.db(kind);
        (
            db.clone(),
            RequestContext::new(parts, db, self.request_data.clone()),
        )
    }

    /// The database before the session variables have values: if there are any, it runs no
    /// statements.
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

    pub(super) fn with_session(&self, db: Db, request: Held, plan: &Plan) -> RequestScope {
        let mut scope = RequestScope::new(db, request);
        let session = self.session_variables.session(&Context::new(&scope));

        // A subscription is long-lived, and many subscribers share its reads.
        let (lasts, reads_at_once) = (
            plan.kind == OperationKind::Subscription,
            plan.may_read_at_once(),
        );

        // The operations of a batch or a socket share one quota: otherwise more operations would
        // get a client more connections.
        let common = scope
            .parts()
            .share
            .clone()
            .filter(|_| reads_at_once || !lasts);

        scope.db.session = match common.or_else(|| reads_at_once.then(|| self.app.database.share()))
        {
            Some(share) => Some(Arc::new(Session::sharing(session, share))),
            None => session.map(Arc::new),
        };

        // Set last, because the rules are created from a copy of the session.
        scope.db.rules = self.row_rules(&scope);

        scope
    }

    /// The row rules for a request, which are not decided yet; `None` without row policies.
    pub(in crate::graphql) fn row_rules(&self, scope: &RequestScope) -> Option<Arc<dyn RowRules>> {
        let policies = self.row_policies.as_ref()?;
        Some(Arc::new(RequestRules::new(policies.clone(), scope.seed())))
    }
}
