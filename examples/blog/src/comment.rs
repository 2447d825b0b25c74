//! Comments on posts, and the mutation that adds one.

use svc::prelude::*;

use crate::entry::Entry;
use crate::post::Post;
use crate::user::User;

/// A user's remark on a post.
#[svc_type(sql_source = "v_comment", implements = [Entry])]
#[derive(Debug)]
pub struct Comment {
    /// Never reused.
    pub id: Uuid,
    /// The text.
    pub body: String,
    /// The time at which it was written.
    pub created_at: DateTime<Utc>,
    /// The post that it is about.
    #[relation]
    pub post: One<Post>,
    /// The user who wrote it.
    #[relation]
    pub author: One<User>,
}

/// A comment to add.
#[svc_input]
#[derive(Debug)]
pub struct NewComment {
    /// The post.
    pub post: Uuid,
    /// The user who writes.
    pub author: Uuid,
    /// The text; not empty.
    pub body: String,
}

/// Comments.
#[svc::query]
pub async fn comments() -> Vec<Comment>;

/// One comment.
#[svc::query]
pub async fn comment(id: Uuid) -> Option<Comment>;

/// Each comment that is added, or those on one post.
#[svc::subscription(channel = "comment_added")]
pub async fn comment_added(post: Option<Uuid>) -> Comment;

const INSERT: &str = "INSERT INTO tb_comment (fk_post, fk_author, body) \
    SELECT pk_post, pk_user, $3 FROM tb_post, tb_user WHERE tb_post.id = $1 AND NOT draft AND tb_user.id = $2 RETURNING id";

/// Adds a comment.
#[svc::mutation]
pub async fn create_comment(ctx: &Context<'_>, input: NewComment) -> Result<Comment> {
    let body = input.body.trim();
    if body.is_empty() || body.contains('\0') {
        return Err(
            Error::new(ErrorCode::BadUserInput, "write a comment of text")
                .with_extension("field", "body"),
        );
    }

    let mut transaction = ctx.db().pool().begin().await?;
    let id: Option<Uuid> = sqlx::query_scalar(INSERT)
        .bind(input.post)
        .bind(input.author)
        .bind(body)
        .fetch_optional(&mut *transaction)
        .await?;

    let id =
        id.ok_or_else(|| Error::with_code("NOT_FOUND", "there is no such post or no such author"))?;
    sqlx::query("SELECT refresh_tv_post($1)")
        .bind(input.post)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    let comment = ctx
        .db()
        .find_one::<Comment>()
        .filter(col("id").eq(id))
        .await?;

    comment.ok_or_else(|| Error::internal("the new comment is not in its view"))
}
