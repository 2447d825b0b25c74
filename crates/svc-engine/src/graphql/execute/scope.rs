//! The scope of a request: its database, its session and its request data.

use std::sync::Arc;

use super::Engine;
use crate::authz::RequestRules;
use crate::graphql::plan::Plan;
use crate::repository::{Atomic, Db};
use crate::request::{Context, Held, RequestContext, RequestParts, RequestScope};
use crate::sql::RowRules;
use svc_core::schema::OperationKind;
use svc_postgres::Session;

impl Engine {
    /// The scope of a request that needs no request data.
    pub(in crate::graphql) fn scope(&self, parts: RequestParts, plan: &Plan) -> RequestScope {
        let db = self.db(plan);
        let request = self.held(parts, &db);
        self.with_session(db, request, plan)
    }

    /// The same scope, created in its place, because it is large to move.
    pub(super) fn scope_in<'s>(
        &self,
        place: &'s mut Option<RequestScope>,
        parts: RequestParts,
        plan: &Plan,
    ) -> &'s RequestScope {
        let db = self.db(plan);
        let request = self.held(parts, &db);
        let scope = place.insert(RequestScope::new(db, request));
        self.set_session(scope, plan);
        scope
    }

    #[inline]
    fn held(&self, parts: RequestParts, db: &Db) -> Held {
        if self.shares_requests {
            let data = self.request_data.clone();
            Held::Shared(RequestContext::new(parts, db.clone(), data))
        } else {
            Held::Alone(parts)
        }
    }

    /// A request whose data is yet to be made, and its database.
    pub(super) fn sharing(&self, parts: RequestParts, plan: &Plan) -> (Db, RequestContext) {
        let db = self.db(plan);
        (
            db.clone(),
            RequestContext::new(parts, db, self.request_data.clone()),
        )
    }

    /// The database before the session variables have values: if there are any, it runs no
    /// statements.
    fn db(&self, plan: &Plan) -> Db {
        let ledger = (plan.kind == OperationKind::Mutation).then(Arc::default);
        let atomic = plan.is_atomic.then(Arc::<Atomic>::default);
        let unknown = self.session_variables.unknown();

        // Request data that keeps its database takes part in the transaction too.
        let session = match &atomic {
            Some(atomic) => Some(Arc::new(
                atomic.session(unknown.map(|_| Session::unknown()), None),
            )),
            None => unknown,
        };

        Db {
            app: self.app.clone(),
            session,
            mandatory: Vec::new(),
            row_filter: None,
            rules: None,
            ledger,
            transaction: None,
            atomic,
            checks_for: None,
        }
    }

    pub(super) fn with_session(&self, db: Db, request: Held, plan: &Plan) -> RequestScope {
        let mut scope = RequestScope::new(db, request);
        self.set_session(&mut scope, plan);
        scope
    }

    /// Gives a new scope its session and its row rules, without which it must not be used.
    fn set_session(&self, scope: &mut RequestScope, plan: &Plan) {
        let session = self.session_variables.session(&Context::new(scope));

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

        let database = &self.app.database;
        let share = common.or_else(|| match &scope.db.atomic {
            Some(_) => Some(database.share_with_operation()),
            None => reads_at_once.then(|| database.share()),
        });
        scope.db.session = match (&scope.db.atomic, share) {
            (Some(atomic), share) => Some(Arc::new(atomic.session(session, share))),
            (None, Some(share)) => Some(Arc::new(Session::sharing(session, share))),
            (None, None) => session.map(Arc::new),
        };

        // Set last, because the rules are created from a copy of the session.
        scope.db.rules = self.row_rules(scope);
    }

    /// The row rules for a request, which are not decided yet; `None` without row policies.
    pub(in crate::graphql) fn row_rules(&self, scope: &RequestScope) -> Option<Arc<dyn RowRules>> {
        let policies = self.row_policies.as_ref()?;
        Some(Arc::new(RequestRules::new(policies.clone(), scope.seed())))
    }
}
