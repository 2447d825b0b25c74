//! A schema like the blog's, made for comparing: fields that fail, nulls where none may be, fields
//! that echo.

use svc::prelude::*;
use svc::{MutationList, QueryList};

use super::echo::{Echo, object};

/// The role of a user.
#[svc_enum]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Reader,
    Author,
    Editor,
}

/// A person. The view has columns and `data`.
#[svc_type(sql_source = "v_user")]
#[derive(Debug, Clone)]
pub(super) struct User {
    id: ID,
    name: String,
    nick: Option<String>,
    role: Role,
    age: Option<i32>,
    score: f64,
    tags: Vec<String>,
    matrix: Vec<Vec<Option<i32>>>,
    active: bool,
}

#[svc_type]
impl User {
    fn shout(&self) -> String {
        self.name.to_uppercase()
    }

    async fn slow(&self) -> &str {
        tokio::task::yield_now().await;
        &self.name
    }

    /// Always fails.
    fn broken(&self) -> Result<Option<i32>> {
        failed()
    }

    /// Fails for u3.
    fn brittle(&self) -> Result<i32> {
        if self.id.as_str() == "u3" {
            failed()
        } else {
            Ok(1)
        }
    }

    /// Fails for u2.
    async fn brittle_later(&self) -> Result<i32> {
        tokio::task::yield_now().await;
        if self.id.as_str() == "u2" {
            failed()
        } else {
            Ok(2)
        }
    }

    /// One number of u2 is none.
    fn grid(&self) -> Vec<Vec<Option<f64>>> {
        let last = if self.id.as_str() == "u2" {
            f64::NAN
        } else {
            0.25
        };
        vec![vec![Some(1.0), None], vec![], vec![Some(last), Some(-2.5)]]
    }

    /// One number of u3 is none.
    async fn strict(&self) -> Option<Vec<Vec<f64>>> {
        let last = if self.id.as_str() == "u3" {
            f64::INFINITY
        } else {
            1e10
        };
        Some(vec![vec![last], vec![3.0]])
    }

    /// A comment of nobody.
    async fn remark(&self) -> Option<Comment> {
        let body = "from a method".to_owned();
        Some(Comment {
            id: "c9".into(),
            body,
            author: None,
            replies: Vec::new(),
        })
    }

    fn echo(&self, word: MaybeUndefined<String>, #[svc(default = 1)] times: Option<i32>) -> String {
        object(&[("word", &word), ("times", &times)])
    }
}

/// A text that an author publishes. The view has nothing but `data`.
#[svc_type(sql_source = "v_post", implements = [Written])]
#[derive(Debug, Clone)]
pub(super) struct Post {
    id: ID,
    title: String,
    body: Option<String>,
    views: i32,
    author: User,
    comments: Vec<Comment>,
    mentions: Vec<Option<Found>>,
}

#[svc_type]
impl Post {
    fn echo(&self, role: MaybeUndefined<Role>, #[svc(default = [1, 2])] ints: Vec<i32>) -> String {
        object(&[("role", &role), ("ints", &ints)])
    }
}

/// A word of a reader. It is stored in a table.
#[svc_type(sql_source = "tv_comment", implements = [Written])]
#[derive(Debug, Clone)]
pub(super) struct Comment {
    id: ID,
    body: String,
    author: Option<User>,
    replies: Vec<Comment>,
}

/// Anything with an identity.
#[svc_interface(sql_source = "v_node", fields(id: ID))]
#[derive(Debug, Clone)]
pub(super) enum Node {
    User(User),
    Post(Post),
    Comment(Comment),
}

/// Anything that somebody wrote.
#[svc_interface(fields(id: ID, author: Option<User>))]
#[derive(Debug, Clone)]
pub(super) enum Written {
    Post(Post),
    Comment(Comment),
}

/// A result of a search.
#[svc_union(sql_source = "v_found")]
#[derive(Debug, Clone)]
pub(super) enum Found {
    User(User),
    Comment(Comment),
}

macro_rules! shaky {
    ($name:ident, $source:literal) => {
        /// Its rows break every promise.
        #[svc_type(sql_source = $source)]
        pub(super) struct $name {
            id: ID,
            must: i32,
            may: Option<i32>,
            word: Option<String>,
            role: Option<Role>,
            sure: Role,
            flag: Option<bool>,
            ints: Vec<i32>,
            perhaps: Option<Vec<i32>>,
            holes: Vec<Option<i32>>,
            deep: Option<Vec<Option<Vec<i32>>>>,
            part: Option<Part>,
            need: Part,
            parts: Vec<Part>,
            some: Option<Vec<Option<Part>>>,
        }
    };
}

shaky!(ShakyColumns, "v_shaky_columns");
shaky!(ShakyData, "v_shaky_data");
shaky!(ShakyTable, "tv_shaky");

/// A part of something shaky.
#[svc_type]
pub(super) struct Part {
    id: ID,
    size: i32,
    more: Option<i32>,
    parts: Option<Vec<Part>>,
}

/// A nested input with defaults.
#[svc_input]
#[derive(Debug, Clone)]
pub(super) struct Shape {
    #[svc(allow_blank)]
    pub(super) name: String,
    #[svc(default = 1.5)]
    pub(super) size: Option<f64>,
    pub(super) tags: MaybeUndefined<Vec<String>>,
    #[svc(default = READER)]
    pub(super) role: Role,
    pub(super) inner: MaybeUndefined<Box<Shape>>,
    pub(super) ids: MaybeUndefined<Vec<Option<Vec<ID>>>>,
}

/// One way to find something.
#[svc_input]
#[derive(Debug, Clone)]
pub(super) enum By {
    Id(ID),
    #[svc(allow_blank)]
    Name(String),
    Shape(Shape),
    Ids(Vec<ID>),
}

fn failed<T>() -> Result<T> {
    Err(Error::new(ErrorCode::BadUserInput, "it fails"))
}

#[svc::query]
async fn users() -> Vec<User>;
#[svc::query]
async fn user(id: ID) -> Option<User>;
#[svc::query]
async fn certain(id: ID) -> User;
#[svc::query]
async fn posts() -> Vec<Post>;
#[svc::query]
async fn comments() -> Vec<Comment>;
#[svc::query]
async fn nodes() -> Vec<Node>;
#[svc::query]
async fn found(ctx: &Context<'_>) -> Result<Find<Found>> {
    Ok(ctx.db().find::<Found>().order_by(asc("id")))
}
#[svc::query]
async fn shaky_columns() -> Vec<ShakyColumns>;
#[svc::query]
async fn shaky_data() -> Vec<ShakyData>;
#[svc::query]
async fn shaky_table() -> Vec<ShakyTable>;
#[svc::query]
async fn one_shaky(id: ID) -> Option<ShakyData>;

#[svc::query]
async fn all_users(ctx: &Context<'_>) -> Result<Vec<User>> {
    ctx.db().find::<User>().order_by(asc("id")).await
}

#[svc::query]
async fn some_posts(ctx: &Context<'_>) -> Result<Option<Vec<Option<Post>>>> {
    let posts: Vec<Post> = ctx.db().find::<Post>().order_by(asc("id")).await?;
    Ok(Some(posts.into_iter().map(Some).chain([None]).collect()))
}

#[svc::query]
async fn written(ctx: &Context<'_>) -> Result<Vec<Written>> {
    let comments: Vec<Comment> = ctx.db().find::<Comment>().order_by(asc("id")).await?;
    let posts: Vec<Post> = ctx.db().find::<Post>().order_by(asc("id")).await?;
    Ok(comments
        .into_iter()
        .map(Written::Comment)
        .chain(posts.into_iter().map(Written::Post))
        .collect())
}

#[svc::query]
async fn any_found(ctx: &Context<'_>) -> Result<Option<Vec<Found>>> {
    let users: Vec<User> = ctx.db().find::<User>().order_by(asc("id")).await?;
    Ok(Some(users.into_iter().map(Found::User).collect()))
}

#[svc::query]
async fn found_rows(ctx: &Context<'_>) -> Result<Find<Post>> {
    Ok(ctx.db().find::<Post>().order_by(asc("id")))
}

#[svc::query]
fn nothing() -> Option<User> {
    None
}

#[svc::query]
fn boom() -> Result<Option<User>> {
    failed()
}

#[svc::query]
async fn must_boom() -> Result<Vec<i32>> {
    failed()
}

#[svc::query]
#[expect(clippy::too_many_arguments, reason = "one for each kind of type")]
fn echo(
    int: MaybeUndefined<i32>,
    ints: MaybeUndefined<Vec<i32>>,
    float: MaybeUndefined<f64>,
    text: MaybeUndefined<String>,
    flag: MaybeUndefined<bool>,
    id: MaybeUndefined<ID>,
    role: MaybeUndefined<Role>,
    roles: MaybeUndefined<Vec<Option<Role>>>,
    shape: MaybeUndefined<Shape>,
    shapes: MaybeUndefined<Vec<Shape>>,
    by: MaybeUndefined<By>,
    matrix: MaybeUndefined<Vec<Option<Vec<Option<i32>>>>>,
) -> String {
    let scalars: [(&str, &dyn Echo); 6] = [
        ("int", &int),
        ("ints", &ints),
        ("float", &float),
        ("text", &text),
        ("flag", &flag),
        ("id", &id),
    ];
    let others: [(&str, &dyn Echo); 6] = [
        ("role", &role),
        ("roles", &roles),
        ("shape", &shape),
        ("shapes", &shapes),
        ("by", &by),
        ("matrix", &matrix),
    ];
    object(&[scalars, others].concat())
}

#[svc::query]
async fn echo_defaults(
    #[svc(default = 3)] int: i32,
    #[svc(default = EDITOR)] role: Option<Role>,
    #[svc(default = [[1, null], null])] matrix: Option<Vec<Option<Vec<Option<i32>>>>>,
    #[svc(default = {name: "d", size: 2, role: EDITOR, inner: {name: "e", size: null, role: AUTHOR}})]
    shape: Option<Shape>,
    #[svc(default = "é\n\"q\"")] text: String,
    #[svc(default = 2)] float: f64,
) -> String {
    object(&[
        ("int", &int),
        ("role", &role),
        ("matrix", &matrix),
        ("shape", &shape),
        ("text", &text),
        ("float", &float),
    ])
}

/// Its default leaves fields of the input object to their own defaults.
#[svc::query]
fn echo_nested(#[svc(default = {name: "d", inner: {name: "e"}})] shape: Option<Shape>) -> String {
    object(&[("shape", &shape)])
}

#[svc::query]
fn echo_required(int: i32, shape: Shape, by: By, roles: Vec<Role>) -> String {
    object(&[
        ("int", &int),
        ("shape", &shape),
        ("by", &by),
        ("roles", &roles),
    ])
}

#[svc::mutation]
async fn touch(shape: Shape, int: MaybeUndefined<i32>) -> String {
    object(&[("shape", &shape), ("int", &int)])
}

#[svc::mutation]
async fn fail() -> Result<Option<i32>> {
    failed()
}

#[svc::mutation]
async fn fail_hard() -> Result<i32> {
    failed()
}

#[svc::mutation]
async fn touch_users(ctx: &Context<'_>) -> Result<Vec<User>> {
    ctx.db().find::<User>().order_by(asc("id")).await
}

/// The queries.
pub(super) fn queries() -> QueryList {
    svc::queries![
        users,
        user,
        certain,
        posts,
        comments,
        nodes,
        found,
        shaky_columns,
        shaky_data,
        shaky_table,
        one_shaky,
        all_users,
        some_posts,
        written,
        any_found,
        found_rows,
        nothing,
        boom,
        must_boom,
        echo,
        echo_defaults,
        echo_nested,
        echo_required
    ]
}

/// The mutations.
pub(super) fn mutations() -> MutationList {
    svc::mutations![touch, fail, fail_hard, touch_users]
}
