//! `r#type` is `type` in GraphQL and in the row.
#![allow(non_camel_case_types)]

use svc::prelude::*;

#[svc_type(sql_source = "v_thing", authorize_fields = ["type"])]
pub struct r#struct {
    pub r#type: String,
    #[svc(skip)]
    pub r#fn: bool,
}

#[svc_type]
impl r#struct {
    fn r#match(&self, r#in: i32) -> i32 {
        r#in
    }
}

#[svc_input]
pub struct Filter {
    pub r#where: String,
}

#[svc_input]
pub enum By {
    Type(String),
    r#loop(String),
}

#[svc_enum]
pub enum Word {
    r#async,
    Type,
}

#[svc::query]
async fn r#use(r#type: String) -> Vec<r#struct>;

#[svc::query]
fn r#yield(r#let: Filter, by: Option<By>) -> Word {
    let _ = (r#let.r#where, by);
    Word::Type
}

fn main() {
    use svc::__private::{Object, RootField};

    let meta = <r#struct as Object>::meta();
    assert_eq!(
        (
            meta.element.rust,
            meta.fields[0].element.rust,
            meta.fields[0].stored
        ),
        ("struct", "type", "type")
    );
    assert_eq!(meta.computed[0].element.rust, "match");
    assert_eq!(meta.computed[0].args[0].element.rust, "in");
    assert_eq!(
        (
            <r#use as RootField>::META.element.rust,
            <r#use as RootField>::META.args[0].element.rust
        ),
        ("use", "type")
    );
    assert_eq!(<r#yield as RootField>::META.args[0].element.rust, "let");
}
