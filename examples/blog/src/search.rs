//! A union of users and posts.

use svc::prelude::*;

use crate::post::Post;
use crate::user::User;

/// A user or a post that a search has found.
#[svc_union(sql_source = "v_search")]
#[derive(Debug)]
pub enum SearchResult {
    /// A person.
    User(User),
    /// A post.
    Post(Post),
}

/// Users and posts with this word in the name or the title.
#[svc::query]
pub async fn search(ctx: &Context<'_>, word: String) -> Result<Find<SearchResult>> {
    Ok(ctx
        .db()
        .find::<SearchResult>()
        .filter(col("word").eq(word.trim().to_lowercase())))
}
