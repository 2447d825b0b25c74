//! Publishing posts and comments. The mutations call database functions: `db/schema/004_functions.sql`.

use svc::prelude::*;

use crate::types::{Comment, Post};

/// A post to publish.
#[svc_input]
#[derive(Debug)]
pub struct CreatePostInput {
    /// The author.
    pub author_id: Uuid,
    /// The headline.
    pub title: String,
    /// The text.
    pub body: String,
}

/// The result of a new post.
#[svc_result]
#[derive(Debug)]
pub enum CreatePostResult {
    /// The post was published.
    Success {
        /// The post.
        post: Post,
    },
    /// The post was not published.
    Error,
}

/// A comment to add.
#[svc_input]
#[derive(Debug)]
pub struct CreateCommentInput {
    /// The post.
    pub post_id: Uuid,
    /// The author.
    pub author_id: Uuid,
    /// The text.
    pub body: String,
}

/// The result of a new comment.
#[svc_result]
#[derive(Debug)]
pub enum CreateCommentResult {
    /// The comment was added.
    Success {
        /// The comment.
        comment: Comment,
    },
    /// The comment was not added.
    Error,
}

/// Publishes a post.
#[svc::mutation(function = "fn_create_post")]
pub async fn create_post(input: CreatePostInput) -> CreatePostResult;

/// Adds a comment.
#[svc::mutation(function = "fn_create_comment")]
pub async fn create_comment(input: CreateCommentInput) -> CreateCommentResult;

/// Adds the mutations of this module to the service.
pub fn add(options: AppOptions) -> AppOptions {
    options.mutations(mutations![create_post, create_comment])
}
