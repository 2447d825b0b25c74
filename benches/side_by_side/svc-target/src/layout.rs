//! The same schema over three layouts.

use svc::prelude::*;
use svc::sqlx::types::Json;

/// A post without its text.
#[svc_type]
#[derive(serde::Deserialize)]
pub(crate) struct PostLine {
    id: Uuid,
    identifier: String,
    title: String,
    view_count: i32,
    created_at: DateTime<Utc>,
}

type Columns = (Uuid, String, String, i32, DateTime<Utc>);
type Document = (Json<PostLine>,);

impl From<Columns> for PostLine {
    fn from((id, identifier, title, view_count, created_at): Columns) -> Self {
        Self { id, identifier, title, view_count, created_at }
    }
}

impl From<Document> for PostLine {
    fn from((Json(line),): Document) -> Self {
        line
    }
}

macro_rules! layout {
    ($(#[$doc:meta])* $name:ident, $user:literal, $post:literal, $line:literal as $row:ty) => {
        $(#[$doc])*
        pub(crate) mod $name {
            use svc::prelude::*;
            use svc::sqlx::{self, types::Json};

            use super::PostLine;

            /// A person who writes.
            #[svc_type(sql_source = $user)]
            #[derive(serde::Deserialize)]
            pub(crate) struct User {
                id: Uuid,
                identifier: String,
                name: String,
                email: String,
                bio: String,
                city: String,
                score: i32,
                created_at: DateTime<Utc>,
            }

            /// What an author publishes.
            #[svc_type(sql_source = $post)]
            pub(crate) struct Post {
                id: Uuid,
                title: String,
                created_at: DateTime<Utc>,
                author: User,
                /// The first five; how many is the view's choice.
                comments: Vec<Comment>,
            }

            /// What a reader says about a post.
            #[svc_type]
            #[derive(serde::Deserialize)]
            pub(crate) struct Comment {
                id: Uuid,
                body: String,
                created_at: DateTime<Utc>,
                author: User,
            }

            #[svc::query]
            async fn user(id: Uuid) -> Option<User>;

            #[svc::query]
            async fn users() -> Vec<User>;

            #[svc::query]
            async fn posts() -> Vec<Post>;

            /// Posts whose title holds a word, newest first.
            #[svc::query]
            async fn posts_titled(
                ctx: &Context<'_>,
                word: String,
                since: DateTime<Utc>,
                until: DateTime<Utc>,
                limit: i32,
                offset: i32,
            ) -> Result<Vec<PostLine>> {
                const SQL: &str = concat!(
                    "SELECT ", $line, " WHERE title LIKE '%' || $1 || '%' AND created_at >= $2 AND created_at < $3 \
                     ORDER BY created_at DESC LIMIT $4 OFFSET $5"
                );
                let query = sqlx::query_as::<_, $row>(SQL).bind(word).bind(since).bind(until);
                let query = query.bind(i64::from(limit)).bind(i64::from(offset));
                Ok(query.fetch_all(ctx.db().pool()).await?.into_iter().map(PostLine::from).collect())
            }

            /// Adds a comment through the database function.
            #[svc::mutation]
            async fn create_comment(ctx: &Context<'_>, post_id: Uuid, author_id: Uuid, body: String) -> Result<Comment> {
                let query = sqlx::query_scalar("SELECT fn_create_comment($1, $2, $3)").bind(post_id).bind(author_id);
                let Json(comment) = query.bind(body).fetch_one(ctx.db().pool()).await?;
                Ok(comment)
            }

            pub(crate) fn operations(options: AppOptions) -> AppOptions {
                options.queries(queries![user, users, posts, posts_titled]).mutations(mutations![create_comment])
            }
        }
    };
}

layout! {
    /// A column for each field.
    columns, "c_user", "c_post",
    "id, identifier, title, view_count, created_at FROM c_post" as super::Columns
}

layout! {
    /// The columns that filters and orders need; the rest in `data`.
    data, "v_user", "v_post_with_comments",
    "data FROM v_post" as super::Document
}

layout! {
    /// As `data`, but stored.
    tv, "tv_user", "tv_post_with_comments",
    "data FROM tv_post" as super::Document
}
