use svc::prelude::*;

use super::Post;

/// A person who reads or writes.
#[svc_type(sql_source = "v_user")]
#[derive(Debug)]
pub struct User {
    /// Never reused.
    pub id: Uuid,
    /// The name as shown.
    pub name: String,
    /// The address to write to.
    pub email: String,
    /// The time at which the user joined.
    pub created_at: DateTime<Utc>,
    /// The posts that the user has published.
    #[relation(to = "author_id")]
    pub posts: Many<Post>,
}
