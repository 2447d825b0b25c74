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
    /// Where to write to.
    pub email: String,
    /// When the user joined.
    pub created_at: DateTime<Utc>,
    /// What the user has published.
    #[relation(to = "author_id")]
    pub posts: Many<Post>,
}
