//! The same schema over three layouts.

macro_rules! layout {
    ($(#[$doc:meta])* $name:ident, $user:literal, $post:literal, $line:literal) => {
        $(#[$doc])*
        pub(crate) mod $name {
            use svc::prelude::*;
            use svc::sqlx::{self, types::Json};

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

            /// A post without its text.
            #[svc_type(sql_source = $line)]
            pub(crate) struct PostLine {
                id: Uuid,
                identifier: String,
                title: String,
                view_count: i32,
                created_at: DateTime<Utc>,
            }

            #[svc::query]
            async fn user(id: Uuid) -> Option<User>;

            #[svc::query]
            async fn users() -> Vec<User>;

            #[svc::query]
            async fn posts() -> Vec<Post>;

            #[svc::query]
            async fn post_lines() -> Vec<PostLine>;

            /// How many posts there are since an instant.
            #[svc::query]
            async fn posts_count(ctx: &Context<'_>, since: DateTime<Utc>) -> Result<i64> {
                ctx.db().find::<PostLine>().filter(col("created_at").gte(since)).count().await
            }

            /// Adds a comment through the database function.
            #[svc::mutation]
            async fn create_comment(ctx: &Context<'_>, post_id: Uuid, author_id: Uuid, body: String) -> Result<Comment> {
                let query = sqlx::query_scalar("SELECT fn_create_comment($1, $2, $3)").bind(post_id).bind(author_id);
                let Json(comment) = query.bind(body).fetch_one(ctx.db().pool()).await?;
                Ok(comment)
            }

            pub(crate) fn operations(options: AppOptions) -> AppOptions {
                options.queries(queries![user, users, posts, post_lines, posts_count]).mutations(mutations![create_comment])
            }
        }
    };
}

layout! {
    /// A column for each field.
    columns, "c_user", "c_post", "c_post"
}

layout! {
    /// The columns that filters and orders need; the rest in `data`.
    data, "v_user", "v_post_with_comments", "v_post"
}

layout! {
    /// As `data`, but stored.
    tv, "tv_user", "tv_post_with_comments", "tv_post"
}
