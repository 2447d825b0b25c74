//! The session variables of a request, as set in PostgreSQL.

mod request_quota;

use request_quota::OperationTurn;
pub use request_quota::{HeldTurn, RequestQuota};

use std::any::Any;
use std::sync::Arc;

use tokio::sync::SemaphorePermit;

use super::{Param, Statement};
use svc_core::error::sqlstate::is_conversion;

/// The session variables of a request, and its share of the pool. No statement of a request runs
/// without one.
#[derive(Debug)]
pub struct Session {
    state: State,
    /// `None` for a request that runs one statement at a time.
    share: Option<Arc<RequestQuota>>,
    /// The transaction that its statements run in while it is open: an `AtomicTransaction` of the
    /// driver, which is a higher layer.
    enclosing: Option<Arc<dyn Any + Send + Sync>>,
    /// The turn of the operation with that transaction.
    operation: Option<Arc<OperationTurn>>,
}

/// Sessions with the same variables see the same rows.
impl PartialEq for Session {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

/// The values of the session variables are unknown.
#[derive(Debug)]
pub struct UnknownSession;

#[derive(Debug, Clone, PartialEq)]
enum State {
    /// There are none to set.
    None,
    /// There are some, but their values are still being computed, or could not be.
    Unknown,
    /// The statement that sets them.
    Set(Statement),
}

impl Session {
    /// A session without variables.
    pub fn none() -> &'static Self {
        static NONE: Session = Session {
            state: State::None,
            share: None,
            enclosing: None,
            operation: None,
        };
        &NONE
    }

    /// A session with unknown values, which cannot read anything.
    pub fn unknown() -> Self {
        Self {
            state: State::Unknown,
            share: None,
            enclosing: None,
            operation: None,
        }
    }

    /// A session set up by a statement.
    pub fn of(setup: Statement) -> Self {
        Self {
            state: State::Set(setup),
            share: None,
            enclosing: None,
            operation: None,
        }
    }

    /// A session with the same variables, or with none, and a share of the pool.
    pub fn sharing(session: Option<Self>, share: Arc<RequestQuota>) -> Self {
        Self {
            state: session.map_or(State::None, |session| session.state),
            share: Some(share),
            enclosing: None,
            operation: None,
        }
    }

    /// A session with the same variables, or with none, whose statements run in a transaction while
    /// that is open: an `AtomicTransaction`. The transaction itself counts in the share.
    pub fn within(
        session: Option<Self>,
        share: Option<Arc<RequestQuota>>,
        transaction: Arc<dyn Any + Send + Sync>,
    ) -> Self {
        Self {
            state: session.map_or(State::None, |session| session.state),
            share,
            enclosing: Some(transaction),
            operation: Some(Arc::default()),
        }
    }

    /// A session with the same variables and the same share, whose statements run in no transaction
    /// of others. They do not wait for the turn of the operation with that transaction.
    #[must_use]
    pub fn outside(&self) -> Self {
        Self {
            state: self.state.clone(),
            share: self.share.clone(),
            enclosing: None,
            operation: self.operation.clone(),
        }
    }

    /// The transaction that its statements run in while that is open.
    pub(super) fn enclosing<T: Any>(&self) -> Option<&T> {
        self.enclosing.as_deref()?.downcast_ref()
    }

    /// Whether the request may have to wait for its turn.
    pub(super) fn has_turns(&self) -> bool {
        self.share.is_some()
    }

    /// Waits until the request may use another connection, which counts until the permit is
    /// dropped. While its operation holds a turn, it may use one more than its share.
    pub async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        let share = self.share.as_deref()?;
        match &self.operation {
            None => share.turn().await,
            // Boxed, because few sessions need it, and the future of the others stays small.
            Some(operation) => Box::pin(operation.beside(share)).await,
        }
    }

    /// Waits until the operation may use the connection of its transaction, which counts in the
    /// share until the turn is dropped.
    pub async fn operation_turn(&self) -> Option<HeldTurn<'_>> {
        let (share, operation) = (self.share.as_ref()?, self.operation.as_ref()?);
        Some(operation.hold(share.turn().await?))
    }

    /// Fails while the values are unknown: a statement without them might see too much.
    pub fn check(&self) -> Result<(), UnknownSession> {
        if matches!(self.state, State::Unknown) {
            Err(UnknownSession)
        } else {
            Ok(())
        }
    }

    /// The variables whose value PostgreSQL could not parse as the type required by a policy, a
    /// view or a function, if that is the cause of an error.
    pub(super) fn blamed(&self, error: Option<&tokio_postgres::error::DbError>) -> Option<String> {
        let setup = self.setup()?;
        let error = error.filter(|error| is_conversion(error.code().code(), error.file()))?;

        // PostgreSQL has no field for the value that it could not parse, but quotes it at the end
        // of the message.
        let is_quoted = |value: &str| error.message().ends_with(&format!("\"{value}\""));
        let blamed = setup.params.chunks(2).filter_map(|pair| match pair {
            [Param::Text(name), Param::Text(value)] if is_quoted(value) => {
                Some(format!("`{name}`"))
            }
            _ => None,
        });

        let names = blamed.collect::<Vec<_>>().join(", ");

        (!names.is_empty()).then_some(names)
    }

    /// The statement to run first, in the same transaction.
    pub fn setup(&self) -> Option<&Statement> {
        match &self.state {
            State::Set(statement) => Some(statement),
            State::None | State::Unknown => None,
        }
    }
}
