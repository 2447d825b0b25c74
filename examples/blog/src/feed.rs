//! The feed, from a projection.

use svc::prelude::*;

use crate::comment::Comment;
use crate::slug::Slug;
use crate::user::User;

/// A post as the feed shows it: from a projection, so that nothing is joined or counted when it is read.
#[svc_type(sql_source = "tv_post")]
#[derive(Debug)]
pub struct FeedItem {
    /// The post's id.
    pub id: Uuid,
    /// The post's identifier in URLs.
    #[svc(stored = "identifier")]
    pub slug: Slug,
    /// The headline.
    pub title: String,
    /// The time of publication.
    pub created_at: DateTime<Utc>,
    /// The user who wrote it; embedded, as is the comment.
    pub author: User,
    /// The number of its comments.
    pub comment_count: i32,
    /// The newest comment, if there is one.
    pub last_comment: Option<Comment>,
}

/// The feed, page by page.
#[svc::query]
pub async fn feed() -> Connection<FeedItem>;
