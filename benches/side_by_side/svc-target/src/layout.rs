//! The same schema over four layouts.

macro_rules! layout {
    ($(#[$doc:meta])* $name:ident, $user:literal, $line:literal { $($nested:item)* }) => {
        $(#[$doc])*
        pub(crate) mod $name {
            use svc::prelude::*;

            /// A person who writes.
            #[svc_type(sql_source = $user)]
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

            /// The same with fields that an authorizer decides about.
            #[svc_type(sql_source = $user, authorize_fields = ["email", "bio", "city"])]
            pub(crate) struct GatedUser {
                id: Uuid,
                identifier: String,
                name: String,
                email: String,
                bio: String,
                city: String,
                score: i32,
                created_at: DateTime<Utc>,
            }

            $($nested)*

            /// A post without its text.
            #[svc_type(sql_source = $line)]
            pub(crate) struct PostLine {
                id: Uuid,
                identifier: String,
                title: String,
                view_count: i32,
                created_at: DateTime<Utc>,
            }

            /// A comment that was just made.
            #[svc_type]
            pub(crate) struct NewComment {
                id: Uuid,
                body: String,
                author: User,
            }

            #[svc::query]
            async fn user(id: Uuid) -> Option<User>;

            /// The same, whose answer is kept where `SVC_RESPONSE_CACHE=true`.
            #[svc::query(cache = 3600)]
            async fn kept_user(id: Uuid) -> Option<User>;

            #[svc::query]
            async fn users() -> Vec<User>;

            #[svc::query]
            async fn gated_users() -> Vec<GatedUser>;

            #[svc::query]
            async fn posts() -> Vec<Post>;

            #[svc::query]
            async fn post_lines() -> Vec<PostLine>;

            #[svc::query]
            async fn post_statistics() -> Aggregate<PostLine>;

            #[svc::mutation(function = "fn_create_comment")]
            async fn create_comment(post_id: Uuid, author_id: Uuid, body: String) -> NewComment;

            pub(crate) fn operations(options: AppOptions) -> AppOptions {
                options
                    .queries(queries![user, kept_user, users, gated_users, posts, post_lines, post_statistics])
                    .mutations(mutations![create_comment])
            }
        }
    };
}

layout! {
    /// A column for each field; what is nested is read through relations.
    columns, "c_user", "c_post" {
        /// A text that an author has published.
        #[svc_type(sql_source = "c_post")]
        pub(crate) struct Post {
            id: Uuid,
            title: String,
            created_at: DateTime<Utc>,
            #[relation(from = "fk_author", to = "pk_user")]
            author: One<User>,
            #[relation(from = "pk_post", to = "fk_post", connection, aggregate)]
            comments: Many<Comment>,
            #[relation(from = "pk_post", through = "c_post_tag", here = "fk_post", there = "fk_tag", to = "pk_tag")]
            tags: Many<Tag>,
        }

        /// A word that posts are found by.
        #[svc_type(sql_source = "c_tag")]
        pub(crate) struct Tag {
            id: Uuid,
            name: String,
        }

        /// A reader's remark on a post.
        #[svc_type(sql_source = "c_comment")]
        pub(crate) struct Comment {
            id: Uuid,
            body: String,
            created_at: DateTime<Utc>,
            #[relation(from = "fk_author", to = "pk_user")]
            author: One<User>,
        }
    }
}

layout! {
    /// The columns that filters, orders and relations need; the rest in `data`.
    data, "v_user", "d_post" {
        /// A text that an author has published.
        #[svc_type(sql_source = "d_post")]
        pub(crate) struct Post {
            id: Uuid,
            title: String,
            created_at: DateTime<Utc>,
            #[relation(from = "fk_author", to = "pk_user")]
            author: One<User>,
            #[relation(from = "pk_post", to = "fk_post", connection, aggregate)]
            comments: Many<Comment>,
            #[relation(from = "pk_post", through = "c_post_tag", here = "fk_post", there = "fk_tag", to = "pk_tag")]
            tags: Many<Tag>,
        }

        /// A word that posts are found by.
        #[svc_type(sql_source = "d_tag")]
        pub(crate) struct Tag {
            id: Uuid,
            name: String,
        }

        /// A reader's remark on a post.
        #[svc_type(sql_source = "d_comment")]
        pub(crate) struct Comment {
            id: Uuid,
            body: String,
            created_at: DateTime<Utc>,
            #[relation(from = "fk_author", to = "pk_user")]
            author: One<User>,
        }
    }
}

/// Stored documents, with what is nested inside, in tables of their own names.
macro_rules! documents {
    ($(#[$doc:meta])* $name:ident, $user:literal, $line:literal, $post:literal) => {
        layout! {
            $(#[$doc])*
            $name, $user, $line {
                /// A text that an author has published.
                #[svc_type(sql_source = $post)]
                pub(crate) struct Post {
                    id: Uuid,
                    title: String,
                    created_at: DateTime<Utc>,
                    author: User,
                    /// The first five; how many is the view's choice.
                    comments: Vec<Comment>,
                }

                /// A reader's remark on a post.
                #[svc_type]
                pub(crate) struct Comment {
                    id: Uuid,
                    body: String,
                    created_at: DateTime<Utc>,
                    author: User,
                }
            }
        }
    };
}

documents! {
    /// Stored documents as `jsonb`.
    tv, "tv_user", "tv_post", "tv_post_with_comments"
}

documents! {
    /// Stored documents as `json`: the text as it lies.
    text, "tj_user", "tj_post", "tj_post_with_comments"
}
