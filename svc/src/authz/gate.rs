use crate::Error;
use crate::engine::{Context, PlanField};
use crate::schema::OperationKind;

/// Decides, before anything runs, which root fields of an operation may run.
///
/// The engine asks for every root field of the selected operation, whichever path answers it.
#[derive(Debug, Default)]
pub(crate) struct Gate;

/// The proof that a root field has passed the gate; only the gate makes one, and running a field takes one.
#[derive(Debug)]
pub(crate) struct Pass(());

impl Gate {
    /// Asks for one root field.
    ///
    /// # Errors
    /// The denial, as the client may see it.
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "policies are held and asked here")]
    pub(crate) fn admit(&self, _: Context<'_>, _: OperationKind, _: &PlanField) -> Result<Pass, Error> {
        Ok(Pass(()))
    }
}
