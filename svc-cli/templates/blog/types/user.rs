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
    /// The address of mail.
    pub email: String,
    /// The time of joining.
    pub created_at: DateTime<Utc>,
    /// The posts of the user.
    #[relation(to = "author_id")]
    pub posts: Many<Post>,
}
