//! Messages for constraints that a mutation breaks.

use std::borrow::Cow;
use std::collections::HashMap;

/// The message for clients when a mutation breaks a constraint of the database; given to
/// `AppOptions::constraint`.
///
/// ```
/// use svc::Constraint;
/// use svc::prelude::*;
///
/// let options = AppOptions::new()
///     .constraint(Constraint::new("tb_user_email_key", "this email is taken").field("email").identifier("email_taken"));
/// ```
#[derive(Debug, Clone)]
#[must_use = "give the constraint to `AppOptions::constraint`"]
pub struct Constraint {
    #[doc(hidden)]
    pub name: Cow<'static, str>,
    pub(crate) message: Cow<'static, str>,
    #[doc(hidden)]
    pub field: Option<Cow<'static, str>>,
    pub(crate) identifier: Option<Cow<'static, str>>,
}

impl Constraint {
    /// Creates a message for people about the constraint with this name in the database. A column
    /// that takes no null is named `table.column`.
    pub fn new(name: impl Into<Cow<'static, str>>, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            message: message.into(),
            field: None,
            identifier: None,
        }
    }

    /// Sets the field that is at fault, as clients name it.
    pub fn field(mut self, field: impl Into<Cow<'static, str>>) -> Self {
        self.field = Some(field.into());
        self
    }

    /// Sets the word that a program tells the error by; without it, that is the constraint's name.
    pub fn identifier(mut self, identifier: impl Into<Cow<'static, str>>) -> Self {
        self.identifier = Some(identifier.into());
        self
    }
}

/// The constraints that have a message, by name.
pub type Constraints = HashMap<Cow<'static, str>, Constraint>;
