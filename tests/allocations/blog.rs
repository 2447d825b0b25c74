//! The services whose requests are counted: a blog with the shapes of the side-by-side benchmark,
//! and numbers without a database.

use std::hint::black_box;
use std::sync::atomic::{AtomicI32, Ordering};

use svc::events::SVC_NOTIFY;
use svc::prelude::*;

/// A person who writes.
#[svc_type(sql_source = "c_user")]
struct User {
    id: Uuid,
    identifier: String,
    name: String,
    email: String,
    bio: String,
    city: String,
    score: i32,
    created_at: DateTime<Utc>,
}

/// A text that an author has published.
#[svc_type(sql_source = "c_post")]
struct Post {
    id: Uuid,
    title: String,
    created_at: DateTime<Utc>,
    #[relation(from = "fk_author", to = "pk_user")]
    author: One<User>,
    #[relation(from = "pk_post", to = "fk_post")]
    comments: Many<Comment>,
}

/// A reader's remark on a post.
#[svc_type(sql_source = "c_comment")]
struct Comment {
    id: Uuid,
    body: String,
    created_at: DateTime<Utc>,
    #[relation(from = "fk_author", to = "pk_user")]
    author: One<User>,
}

/// A comment that was just made.
#[svc_type]
struct NewComment {
    id: Uuid,
    body: String,
    author: User,
}

#[svc::query]
async fn user(id: Uuid) -> Option<User>;

#[svc::query(cache = 3600)]
async fn kept_user(id: Uuid) -> Option<User>;

#[svc::query]
async fn users() -> Vec<User>;

#[svc::query]
async fn posts() -> Vec<Post>;

/// Returns another number each time that it runs, so that a cached response is recognized.
#[svc::query(cache = 3600)]
fn tick() -> i32 {
    static NEXT: AtomicI32 = AtomicI32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[svc::mutation(function = "fn_create_comment")]
async fn create_comment(post_id: Uuid, author_id: Uuid, body: String) -> NewComment;

#[svc::subscription(channel = "post_changed")]
async fn post_changed() -> Post;

#[svc::query]
fn plain() -> i32 {
    1
}

/// Returns a number from the heap.
#[svc::query]
fn boxed() -> i32 {
    *black_box(Box::new(1))
}

/// Returns the options of the blog over a database.
pub(crate) fn options(database: impl Into<String>) -> AppOptions {
    AppOptions::new()
        .auto_camel_case(true)
        .database_url(database)
        .queries(queries![user, kept_user, users, posts, tick])
        .mutations(mutations![create_comment])
        .subscriptions(subscriptions![post_changed])
}

/// Returns the options of the numbers.
pub(crate) fn numbers() -> AppOptions {
    AppOptions::new()
        .database_url("postgres://nobody@127.0.0.1:1/nothing")
        .queries(queries![plain, boxed])
}

/// Returns the SQL of the blog's database.
pub(crate) fn sql() -> String {
    format!("{SVC_NOTIFY}{SQL}")
}

/// PostgreSQL sends up to 8 KiB at once. The rows are so short that each response of a request
/// comes in one piece, as the number of the driver's buffers depends on the pieces.
const SQL: &str = "
    CREATE TABLE tb_user (
        pk_user bigint PRIMARY KEY, id uuid NOT NULL UNIQUE, identifier text NOT NULL, name text NOT NULL,
        email text NOT NULL, bio text NOT NULL, city text NOT NULL, score int NOT NULL, created_at timestamptz NOT NULL);
    CREATE TABLE tb_post (
        pk_post bigint PRIMARY KEY, id uuid NOT NULL UNIQUE, fk_author bigint NOT NULL REFERENCES tb_user,
        title text NOT NULL, created_at timestamptz NOT NULL);
    CREATE TABLE tb_comment (
        pk_comment bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
        fk_post bigint NOT NULL REFERENCES tb_post, fk_author bigint NOT NULL REFERENCES tb_user,
        body text NOT NULL, created_at timestamptz NOT NULL DEFAULT now());

    INSERT INTO tb_user
    SELECT i, md5('user' || i)::uuid, 'user-' || i, 'User ' || to_char(i, 'FM000'), 'user' || i || '@example.org',
           'Bio of user ' || i, 'Paris', i, timestamptz '2023-01-01 00:00:00+00' + i * interval '31 minutes'
    FROM generate_series(1, 100) AS i;
    INSERT INTO tb_post
    SELECT i, md5('post' || i)::uuid, i, 'Title ' || i, timestamptz '2024-01-01 00:00:00+00' + i * interval '10 minutes'
    FROM generate_series(1, 20) AS i;
    INSERT INTO tb_comment (fk_post, fk_author, body, created_at)
    SELECT 1 + i % 20, 1 + i % 100, 'Comment ' || i, timestamptz '2025-01-01 00:00:00+00' + i * interval '1 minute'
    FROM generate_series(1, 100) AS i;

    CREATE VIEW c_user AS SELECT * FROM tb_user;
    CREATE VIEW c_post AS SELECT * FROM tb_post;
    CREATE VIEW c_comment AS SELECT * FROM tb_comment;

    CREATE FUNCTION fn_create_comment(p_post_id uuid, p_author_id uuid, p_body text)
    RETURNS jsonb LANGUAGE plpgsql AS $$
    DECLARE
        made tb_comment;
    BEGIN
        INSERT INTO tb_comment (fk_post, fk_author, body)
        SELECT post.pk_post, author.pk_user, p_body FROM tb_post AS post, tb_user AS author
        WHERE post.id = p_post_id AND author.id = p_author_id
        RETURNING * INTO made;
        RETURN (SELECT jsonb_build_object('id', made.id, 'body', made.body, 'author', to_jsonb(author))
                FROM tb_user AS author WHERE author.pk_user = made.fk_author);
    END $$;

    CREATE TRIGGER post_changed AFTER UPDATE ON tb_post FOR EACH ROW EXECUTE FUNCTION svc_notify('post_changed');";
