//! The types of the schema.

use svc::prelude::*;

/// A person.
#[svc_type(sql_source = "v_user")]
#[derive(Debug)]
pub struct User {
    /// Never reused.
    pub id: Uuid,
    /// The name as shown.
    pub name: String,
    /// The address of mail.
    pub email: String,
    /// The time of joining.
    pub created_at: DateTime<Utc>,
}
