//! `svc` under another name.

mod deps {
    pub use svc as framework;
}

use deps::framework::async_graphql::{InputValueResult, ScalarType, Value};
use deps::framework::prelude::Context;
use deps::framework::{
    mutation, query, svc_enum, svc_input, svc_interface, svc_result, svc_scalar, svc_type,
    svc_union,
};

#[svc_type(crate = crate::deps::framework)]
struct User {
    id: i32,
}

#[svc_type(crate = deps::framework)]
impl User {
    fn one(&self, ctx: &Context<'_>) -> i32 {
        let _ = ctx;
        self.id
    }
}

#[svc_enum(crate = crate::deps::framework)]
enum Role {
    Admin,
}

#[svc_input(crate = crate::deps::framework)]
struct Filter {
    role: Role,
}

#[svc_interface(crate = crate::deps::framework, fields(id: i32))]
enum Node {
    User(User),
}

#[svc_union(crate = crate::deps::framework)]
enum Any {
    User(User),
}

#[svc_result(crate = crate::deps::framework)]
enum CreateUserResult {
    Success { user: User },
    Error,
}

struct Slug;

#[svc_scalar(crate = crate::deps::framework)]
impl ScalarType for Slug {
    fn parse(_: Value) -> InputValueResult<Self> {
        Ok(Self)
    }
    fn to_value(&self) -> Value {
        Value::Null
    }
}

#[query(crate = crate::deps::framework)]
fn user(filter: Filter) -> User {
    let _ = filter.role;
    User { id: 1 }
}

#[mutation(crate = crate::deps::framework)]
async fn rename(slug: Slug) -> bool {
    let _ = slug;
    true
}

#[mutation(crate = crate::deps::framework, function = "app.create_user")]
async fn create_user(filter: Filter) -> CreateUserResult;

fn main() {
    let _ = CreateUserResultSuccess::new("created", User { id: 1 });
}
