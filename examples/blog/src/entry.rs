//! An interface over posts and comments.

use svc::prelude::*;

use crate::comment::Comment;
use crate::post::Post;

/// Anything that was written.
#[svc_interface(sql_source = "v_entry", fields(
    /// Never reused.
    id: Uuid,
    /// The time at which it was written.
    created_at: DateTime<Utc>,
))]
#[derive(Debug)]
pub enum Entry {
    /// A post.
    Post(Post),
    /// A comment.
    Comment(Comment),
}

/// Posts and comments.
#[svc::query]
pub async fn entries() -> Vec<Entry>;

/// A post or a comment.
#[svc::query]
pub async fn entry(id: Uuid) -> Option<Entry>;
