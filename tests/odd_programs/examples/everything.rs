//! Every macro with every key.
#![deny(
    warnings,
    missing_docs,
    unreachable_pub,
    missing_debug_implementations,
    rust_2018_idioms
)]

use std::borrow::Cow;

use svc::async_graphql::{InputValueError, InputValueResult, ScalarType, Value};
use svc::prelude::*;

/// A person who writes posts.
///
/// Second paragraph.
#[svc_type(sql_source = "app.v_user", name = "Person", implements = [Node], authorize_fields = ["email", "loud"])]
#[derive(Debug, Clone)]
pub struct User {
    /// Never reused.
    pub id: Uuid,
    /// The display name.
    #[svc(name = "fullName", stored = "full_name")]
    pub name: String,
    /// The address for mail.
    #[deprecated(note = "ask for `contact`")]
    pub email: Option<String>,
    /// The role.
    pub role: Role,
    /// Friends.
    pub friends: Vec<Self>,
    /// Not in GraphQL.
    #[svc(skip)]
    pub cached: Option<u64>,
}

#[svc_type]
impl User {
    /// A constant stays.
    pub const LIMIT: usize = 3;

    /// Shouted.
    pub fn loud(&self) -> String {
        self.name.to_uppercase()
    }
    /// Borrowed.
    #[svc(name = "plain")]
    pub fn name_ref(&self) -> &str {
        &self.name
    }
    /// Perhaps borrowed.
    pub fn initials<'a>(&'a self, _ctx: &Context<'_>) -> Option<&'a String> {
        Some(&self.name)
    }
    /// Waits.
    #[deprecated]
    pub async fn teams(
        &self,
        /// The most teams to give.
        #[svc(default = 10)]
        first: i32,
        ctx: &Context<'_>,
        #[deprecated(note = "no effect")]
        #[svc(name = "sortBy", default = [ADMIN, MEMBER])]
        sort: Vec<Role>,
    ) -> Result<Find<User>> {
        let _ = (first, sort);
        Ok(ctx.db().find::<User>())
    }
    /// Not in GraphQL.
    #[svc(skip)]
    pub fn helper<T>(self, value: T) -> T {
        value
    }
}

/// The rights of a person.
#[svc_enum(name = "UserRole")]
#[derive(Debug, Clone, Copy)]
pub enum Role {
    /// Everything.
    Admin,
    /// Something.
    #[svc(name = "MEMBER", stored = "m")]
    #[deprecated(note = "use ADMIN")]
    Member,
}

/// A new person.
#[svc_input(name = "PersonInput")]
#[derive(Debug)]
pub struct NewUser {
    /// The name.
    #[svc(name = "fullName", default = "nobody")]
    pub name: String,
    /// The role.
    #[svc(default = ADMIN)]
    pub role: Role,
    /// Old.
    #[deprecated]
    pub age: Option<i32>,
    /// Nested.
    pub parent: Option<Box<Self>>,
}

/// The way to find a person.
#[svc_input]
#[derive(Debug)]
pub enum UserBy {
    /// By id.
    Id(Uuid),
    /// By type.
    #[svc(name = "kind")]
    Type(String),
}

/// Whatever has an id.
#[svc_interface(sql_source = "v_node", fields(
    /// Never reused.
    id: Uuid,
    #[svc(name = "fullName")]
    #[deprecated(note = "old")]
    name: String,
))]
#[derive(Debug)]
pub enum Node {
    /// A person.
    User(User),
}

/// Whatever a search finds.
#[svc_union(sql_source = "v_search", name = "Found")]
#[derive(Debug)]
pub enum SearchResult {
    /// A person.
    User(User),
    /// Another.
    Group(Group),
}

/// Some people.
#[svc_type]
#[derive(Debug)]
pub struct Group {
    /// The people in it.
    pub members: Vec<User>,
}

/// A part of a URL.
#[derive(Debug)]
pub struct Slug(String);

/// Lower-case words joined by hyphens.
#[svc_scalar(name = "Slug", specified_by = "https://example.com/slug")]
impl ScalarType for Slug {
    fn parse(value: Value) -> InputValueResult<Self> {
        match value {
            Value::String(text) if !text.is_empty() => Ok(Self(text)),
            other => Err(InputValueError::expected_type(other)),
        }
    }
    fn to_value(&self) -> Value {
        Value::String(self.0.clone())
    }
}

/// Users, newest first.
#[svc::query]
pub async fn users(
    /// A filter.
    #[svc(name = "withRole")]
    role: Option<Role>,
) -> Vec<User>;

/// One user.
#[svc::query(name = "person")]
pub fn user(id: Uuid) -> Option<User>;

/// Anything.
#[svc::query]
pub async fn search(_ctx: &Context<'_>, text: String, slug: Slug) -> Result<Vec<SearchResult>> {
    let _ = (text, slug);
    Ok(Vec::new())
}

/// A greeting.
#[svc::query]
#[deprecated(note = "say it yourself")]
pub fn hello(
    mut name: String,
    #[svc(default = { a: 1 })] _input: Option<UserBy>,
) -> Cow<'static, str> {
    name.push('!');
    name.into()
}

/// Static text.
#[svc::query]
pub(crate) fn version() -> &'static str {
    "1"
}

/// Makes one.
#[svc::mutation(name = "createPerson")]
pub async fn create_user(ctx: &Context<'_>, input: NewUser) -> Result<Slug> {
    let _ = ctx;
    Ok(Slug(input.name))
}

fn main() {
    use svc::__private::{Object, SvcType};

    let _ = queries![users, user, search, hello, version];
    let person = <User as Object>::meta();
    assert_eq!(person.element.name, Some("Person"));
    assert_eq!(
        person.element.description,
        Some("A person who writes posts.\n\nSecond paragraph.")
    );
    assert_eq!(person.path, concat!(module_path!(), "::User"));
    assert_eq!(person.fields.len(), 5);
    assert_eq!(person.fields[1].stored, "full_name");
    assert_eq!(
        person.fields[2].element.deprecated,
        Some("ask for `contact`")
    );
    assert_eq!(person.computed.len(), 4);
    let sort = &person.computed[3].args[1];
    assert_eq!(
        (sort.element.name, sort.default),
        (Some("sortBy"), Some("[ADMIN, MEMBER]"))
    );
    assert_eq!(<Group as Object>::meta().computed.len(), 0);
    assert_eq!(
        (<User as SvcType>::SOURCE, <Group as SvcType>::SOURCE),
        (Some("app.v_user"), None)
    );
    let _ = (User::LIMIT, User::helper::<i32>);
}
