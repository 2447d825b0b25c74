use svc::prelude::*;

use super::{Post, User};

/// A comment of a user on a post.
#[svc_type(sql_source = "v_comment")]
#[derive(Debug)]
pub struct Comment {
    /// The unique identifier.
    pub id: Uuid,
    /// The text.
    pub body: String,
    /// The time at which the comment was written.
    pub created_at: DateTime<Utc>,
    /// The post that the comment is about.
    #[relation]
    pub post: One<Post>,
    /// The author.
    #[relation]
    pub author: One<User>,
}
