use svc::prelude::*;

use super::{Post, User};

/// A user's words about a post.
#[svc_type(sql_source = "v_comment")]
#[derive(Debug)]
pub struct Comment {
    /// Never reused.
    pub id: Uuid,
    /// The text.
    pub body: String,
    /// The time of writing.
    pub created_at: DateTime<Utc>,
    /// The post it is about.
    #[relation]
    pub post: One<Post>,
    /// The author.
    #[relation]
    pub author: One<User>,
}
