//! Deprecated parts of every kind of item.
#![deny(warnings)]

use svc::prelude::*;
#[svc_type(sql_source = "v_user")]
#[derive(Debug)]
struct User {
    id: Uuid,
    #[deprecated]
    old: String,
}
#[svc_result]
#[derive(Debug)]
enum MakeResult {
    Success {
        user: Option<User>,
        #[deprecated(note = "x")]
        old: Option<String>,
    },
    Error {
        #[deprecated]
        was: Option<String>,
    },
}
#[svc::mutation]
fn make() -> MakeResult {
    MakeResultError::new("failed:x", "no", None).into()
}
#[svc_result]
#[derive(Debug, Clone, PartialEq)]
#[deprecated]
enum OldResult {
    #[deprecated]
    Success,
    Error,
}
#[svc_input]
#[derive(Debug, Clone)]
struct In {
    #[deprecated]
    a: Option<String>,
    b: i32,
}
#[svc_input]
#[derive(Debug, Clone)]
enum By {
    #[deprecated]
    A(String),
    B(i32),
}
#[svc_enum]
#[derive(Debug, Clone)]
enum E {
    #[deprecated]
    A,
    B,
}
#[svc_union]
#[derive(Debug)]
enum U {
    #[deprecated]
    User(User),
}
#[svc_interface(fields(id: Uuid))]
#[derive(Debug)]
enum I {
    #[deprecated]
    User(User),
}
#[svc::mutation]
fn f(#[deprecated] a: Option<i32>, by: By, e: E, i: In) -> Vec<U> {
    let _ = (a, by, e, i.b);
    vec![]
}
#[svc::query]
fn g() -> Vec<I> {
    vec![]
}
fn main() {
    let _ = (
        mutations![make, f],
        queries![g],
        User {
            id: Uuid::nil(),
            #[allow(deprecated)]
            old: String::new(),
        }
        .id,
        MakeResultSuccess::new("a", None, None),
        E::B,
        By::B(1),
    );
}
