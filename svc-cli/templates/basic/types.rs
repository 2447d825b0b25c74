//! The types of the schema.

use svc::prelude::*;

/// A person.
#[svc_type(sql_source = "v_user")]
#[derive(Debug)]
pub struct User {
    /// The unique identifier.
    pub id: Uuid,
    /// The displayed name.
    pub name: String,
    /// The email address.
    pub email: String,
    /// The time at which the user joined.
    pub created_at: DateTime<Utc>,
}
