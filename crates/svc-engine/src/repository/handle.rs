//! The database handle of resolvers.

use std::sync::Arc;

use tokio::sync::Mutex;

use super::Atomic;
use crate::shared_state::SharedState;
use crate::sql::{RowFilter, RowRules, Views};
use svc_core::scalar::sql_value::SqlValue;
use svc_postgres::{
    AtomicTransaction, Caller, Catalog, EffectLog, OpenTransaction, Reader, Session,
};

/// The database, available to resolvers as `ctx.db()`.
#[derive(Debug, Clone)]
pub struct Db {
    #[doc(hidden)]
    pub app: Arc<SharedState>,
    /// `None` if there are no session variables.
    #[doc(hidden)]
    pub session: Option<Arc<Session>>,
    /// Conditions that apply to every row of every query.
    #[doc(hidden)]
    pub mandatory: Vec<(String, SqlValue)>,
    /// The condition on rows of one type, from the policy of the current root field.
    #[doc(hidden)]
    pub row_filter: Option<Arc<RowFilter>>,
    /// The request's row rules; `None` if the program has no row policies.
    #[doc(hidden)]
    pub rules: Option<Arc<dyn RowRules>>,
    /// The writes of the current mutation; `None` in a query.
    #[doc(hidden)]
    pub ledger: Option<Arc<EffectLog>>,
    /// The transaction for calls and typed reads; `None` if each runs in its own.
    #[doc(hidden)]
    pub transaction: Option<Arc<Mutex<OpenTransaction>>>,
    /// The transaction of all mutations of the operation, which its session refers to; `None`
    /// without `@atomic`.
    #[doc(hidden)]
    pub atomic: Option<Arc<Atomic>>,
    /// The operation with `@atomic` for which the check of an object has the handle; `None` in any
    /// other place. The events and invalidations of the check do not depend on the commit.
    #[doc(hidden)]
    pub checks_for: Option<Arc<Atomic>>,
}

impl Db {
    /// Returns a handle restricted to the rows with this value in a column: every method of the
    /// repository adds the condition. The conditions of several calls apply together.
    ///
    /// ```
    /// use svc::prelude::*;
    ///
    /// # #[svc_type(sql_source = "v_order")]
    /// # struct Order { id: Uuid, price: Decimal }
    /// #[svc::query]
    /// async fn turnover(ctx: &Context<'_>, shop: Uuid) -> Result<Option<Decimal>> {
    ///     let db = ctx.db().scoped("shop_id", shop);
    ///     if !db.find::<Order>().exists().await? {
    ///         return Ok(None);
    ///     }
    ///     db.find::<Order>().sum("price").await
    /// }
    /// ```
    ///
    /// Reading a view without the column is an error; it never means "all rows". The condition
    /// applies to the rows of the query, not to the rows reached through their relations. Policies
    /// of row-level security apply to both.
    #[must_use]
    pub fn scoped(&self, column: impl Into<String>, value: impl Into<SqlValue>) -> Self {
        let mut db = self.clone();
        db.mandatory.push((column.into(), value.into()));
        db
    }

    /// The session variables of the request.
    #[doc(hidden)]
    pub fn session(&self) -> &Session {
        self.session.as_deref().unwrap_or(Session::none())
    }

    /// The context for generating the statements of its reads.
    pub(crate) fn views<'a>(&'a self, catalog: &'a Catalog) -> Views<'a> {
        Views {
            model: &self.app.model,
            catalog,
            rules: self.rules.as_deref(),
        }
    }

    /// The context of its writes: session variables, ledger and transaction.
    pub(crate) fn caller(&self) -> Caller<'_> {
        let (ledger, transaction) = (self.ledger.as_deref(), self.transaction.as_deref());
        Caller {
            session: self.session(),
            ledger,
            transaction,
        }
    }

    /// Returns the connection on which its statements run.
    pub(crate) fn reader(&self) -> Reader<'_> {
        match &self.transaction {
            Some(transaction) => Reader::Transaction(&self.app.database, transaction),
            None => Reader::Pool(&self.app.database, self.session()),
        }
    }

    /// The transaction of all mutations of the operation, from its beginning to its commit.
    pub(crate) fn enclosing(
        &self,
    ) -> Option<(&Arc<AtomicTransaction>, &Arc<Mutex<OpenTransaction>>)> {
        let whole = &self.atomic.as_ref()?.transaction;
        Some((whole, whole.running()?))
    }

    /// Whether all mutations of the operation run in one transaction.
    pub(crate) fn is_enclosed(&self) -> bool {
        self.enclosing().is_some()
    }

    /// The same handle, outside of the transaction of an operation with `@atomic`. Its writes do not
    /// count as writes of a mutation.
    pub(crate) fn outside(&self) -> Self {
        let session = self.session.as_ref();
        Self {
            session: session.map(|session| Arc::new(session.outside())),
            ledger: None,
            atomic: None,
            ..self.clone()
        }
    }

    /// The same handle for the check of an object, whose events and invalidations take effect even
    /// if the transaction of the operation is undone.
    pub(crate) fn checking(&self) -> Self {
        Self {
            checks_for: self.atomic.clone(),
            ..self.clone()
        }
    }

    /// The same handle, outside of a resolver's transaction.
    pub(crate) fn without_transaction(&self) -> Self {
        Self {
            transaction: None,
            ..self.clone()
        }
    }
}
