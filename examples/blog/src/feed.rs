//! The feed, from a projection.

use svc::ResponseCache;
use svc::prelude::*;

use crate::comment::Comment;
use crate::slug::Slug;
use crate::user::User;

/// A post as the feed shows it: from a projection, so that nothing is joined or counted when it is
/// read.
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
    /// The user who wrote it; a relation, as what the view says of users is masked.
    #[relation]
    pub author: One<User>,
    /// The number of its comments.
    pub comment_count: i32,
    /// The newest comment, if there is one; embedded.
    pub last_comment: Option<Comment>,
}

/// The feed, page by page. Where answers are kept, one holds for a minute, unless a post or a
/// comment changes.
#[svc::query(cache = 60)]
pub async fn feed() -> Connection<FeedItem>;

/// The events that make the feed old: the projection is written with posts and comments, which have
/// triggers.
pub fn response_cache() -> ResponseCache {
    ResponseCache::new()
        .changed_by::<FeedItem>("post_changed")
        .changed_by::<FeedItem>("comment_added")
}
