//! Posts, and a query that takes a filter object.

use svc::prelude::*;

use crate::comment::Comment;
use crate::entry::Entry;
use crate::slug::Slug;
use crate::user::User;

/// A text of an author.
#[svc_type(sql_source = "v_post", implements = [Entry])]
#[derive(Debug)]
pub struct Post {
    /// Never reused.
    pub id: Uuid,
    /// The identifier in URLs.
    #[svc(stored = "identifier")]
    pub slug: Slug,
    /// The headline.
    pub title: String,
    /// The text.
    pub body: String,
    /// The number of times that the post was read.
    #[deprecated(note = "it is counted no more")]
    pub view_count: i32,
    /// The time of publication.
    pub created_at: DateTime<Utc>,
    /// Whether it is not published yet. Where users are known, its author sees it, and who edits.
    pub draft: bool,
    /// The user who wrote it.
    #[relation]
    pub author: One<User>,
    /// The comments of readers.
    #[relation]
    pub comments: Many<Comment>,
}

#[svc_type]
impl Post {
    /// The beginning of the text.
    fn excerpt(
        &self,
        /// At most this many characters.
        #[svc(default = 80)]
        length: i32,
    ) -> String {
        self.body
            .chars()
            .take(length.try_into().unwrap_or(0))
            .collect()
    }
}

/// Which posts to list.
#[svc_input]
#[derive(Debug)]
pub struct PostsBy {
    /// Only the posts of this author.
    pub author: Option<Slug>,
    /// Only posts published at this instant or later.
    pub since: Option<DateTime<Utc>>,
    /// Which come first.
    #[svc(default = NEWEST)]
    pub order: PostOrder,
}

/// An order of posts.
#[svc_enum]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PostOrder {
    /// The newest first.
    Newest,
    /// The oldest first.
    Oldest,
    /// By headline.
    Title,
}

/// Posts.
#[svc::query]
pub async fn posts() -> Vec<Post>;

/// One post.
#[svc::query]
pub async fn post(id: Uuid) -> Option<Post>;

/// Each post that changes, or one of them; null when it is deleted.
#[svc::subscription(channel = "post_changed")]
pub async fn post_changed(id: Option<Uuid>) -> Option<Post>;

/// Posts chosen by a filter. It returns the query, so it is still one statement.
#[svc::query]
pub async fn posts_by(ctx: &Context<'_>, filter: PostsBy, page: Page) -> Result<Find<Post>> {
    let mut posts = ctx
        .db()
        .find::<Post>()
        .page(page)
        .order_by(match filter.order {
            PostOrder::Newest => desc("created_at"),
            PostOrder::Oldest => asc("created_at"),
            PostOrder::Title => asc("title"),
        });

    if let Some(author) = &filter.author {
        posts = posts.filter(col("author_identifier").eq(author.as_str()));
    }

    if let Some(since) = filter.since {
        posts = posts.filter(col("created_at").gte(since));
    }

    Ok(posts)
}
