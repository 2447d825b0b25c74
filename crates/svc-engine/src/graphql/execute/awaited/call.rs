//! Calls of functions by resolvers.

use crate::graphql::mutate::function::call;
use crate::repository::{Db, Transaction};
use svc_core::Error;
use svc_core::schema::{FromStored, OnFailure};

impl Db {
    /// Calls a function of the database, and reads its result like a mutation without a body: a
    /// `mutation_response` yields its entity or its error, and everything else is the value itself.
    ///
    /// Objects are passed as JSONB; every other argument is cast to the parameter's type. The call
    /// runs in its own transaction, which a failing status rolls back. It is sent once, even if the
    /// connection is lost.
    ///
    /// ```
    /// use svc::prelude::*;
    /// use svc::serde_json::json;
    ///
    /// #[svc_type(sql_source = "v_user")]
    /// pub struct User {
    ///     id: Uuid,
    ///     name: String,
    /// }
    ///
    /// #[svc::mutation]
    /// async fn rename(ctx: &Context<'_>, id: Uuid, name: String) -> Result<User> {
    ///     ctx.db().call("app.rename_user", [json!(id), json!({ "name": name.trim() })]).await
    /// }
    /// ```
    ///
    /// # Errors
    /// The failures that the function declares: a status that is not a success, an exception raised
    /// as `P0001`, a constraint with a message. Every other error is masked.
    pub async fn call<T: FromStored>(
        &self,
        function: &str,
        args: impl IntoIterator<Item = serde_json::Value>,
    ) -> Result<T, Error> {
        self.call_with(OnFailure::Rollback, function, args).await
    }

    /// Calls a function like [`call`](Self::call), and decides whether its writes are kept when it
    /// returns a failing status.
    ///
    /// ```
    /// use svc::prelude::*;
    /// use svc::serde_json::json;
    /// use svc::OnFailure;
    ///
    /// #[svc::mutation]
    /// async fn log_in(ctx: &Context<'_>, name: String, password: String) -> Result<String> {
    ///     // It counts the logins that failed.
    ///     ctx.db().call_with(OnFailure::Commit, "app.log_in", [json!(name), json!(password)]).await
    /// }
    /// ```
    ///
    /// # Errors
    /// The errors of [`call`](Self::call), and `OnFailure::Commit` in an operation with `@atomic`,
    /// which is kept or undone as a whole.
    pub async fn call_with<T: FromStored>(
        &self,
        on_failure: OnFailure,
        function: &str,
        args: impl IntoIterator<Item = serde_json::Value>,
    ) -> Result<T, Error> {
        // Clients decide whether an operation is atomic, and could have the changes undone.
        if on_failure == OnFailure::Commit && self.is_enclosed() {
            let message =
                format!("`{function}` cannot keep its changes in an operation with `@atomic`");
            return Err(Error::internal(message));
        }

        call(self, on_failure, function, args.into_iter().collect()).await
    }
}

impl Transaction {
    /// Calls a function of the database in the transaction, like [`Db::call`] does in its own
    /// transaction. A failing status fails the transaction.
    ///
    /// # Errors
    /// The errors of [`Db::call`].
    pub async fn call<T: FromStored>(
        &mut self,
        function: &str,
        args: impl IntoIterator<Item = serde_json::Value>,
    ) -> Result<T, Error> {
        self.db().call(function, args).await
    }

    /// Calls a function like [`call`](Self::call), and decides whether a failing status fails the
    /// transaction.
    ///
    /// # Errors
    /// The errors of [`Db::call`].
    pub async fn call_with<T: FromStored>(
        &mut self,
        on_failure: OnFailure,
        function: &str,
        args: impl IntoIterator<Item = serde_json::Value>,
    ) -> Result<T, Error> {
        self.db().call_with(on_failure, function, args).await
    }
}
