//! Writing posts. The work is done by functions of the database; see `db/functions.sql`.

use svc::prelude::*;

use crate::post::Post;
use crate::slug::Slug;

/// A post to publish.
#[svc_input]
#[derive(Debug)]
pub struct NewPost {
    /// The user who writes.
    pub author: Uuid,
    /// The identifier in URLs; one is made up when there is none.
    pub slug: Option<Slug>,
    /// The headline.
    pub title: String,
    /// The text.
    pub body: String,
    /// Whether it is not published yet.
    #[svc(default = false)]
    pub draft: bool,
}

/// The changes of a post; fields that are left out stay as they are.
#[svc_input]
#[derive(Debug)]
pub struct PostPatch {
    /// The headline.
    pub title: Patch<String>,
    /// The text.
    pub body: Patch<String>,
    /// Whether it is not published yet.
    pub draft: Patch<bool>,
}

/// The result of publishing a post.
#[svc_result]
#[derive(Debug)]
pub enum CreatePostResult {
    /// It is published.
    Success {
        /// The post.
        post: Post,
    },
    /// It is not published.
    Error,
}

/// The result of changing a post.
#[svc_result]
#[derive(Debug)]
pub enum UpdatePostResult {
    /// The post is changed.
    Success {
        /// The post as it is now.
        post: Post,
    },
    /// The post is as it was.
    Error {
        /// The post, where there is one.
        unchanged: Option<Post>,
    },
}

/// The result of removing a post.
#[svc_result]
#[derive(Debug)]
pub enum DeletePostResult {
    /// The post and its comments are gone.
    Success,
    /// Nothing is gone.
    Error,
}

/// Publishes a post.
#[svc::mutation(function = "fn_create_post")]
pub async fn create_post(input: NewPost) -> CreatePostResult;

/// Changes a post.
#[svc::mutation(function = "fn_update_post")]
pub async fn update_post(id: Uuid, patch: PostPatch) -> UpdatePostResult;

/// Removes a post and its comments.
#[svc::mutation(function = "fn_delete_post")]
pub async fn delete_post(id: Uuid) -> DeletePostResult;
