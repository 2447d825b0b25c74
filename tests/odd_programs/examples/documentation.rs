//! Descriptions from comments of all kinds, from files and from macros.
#![allow(dead_code)]

use svc::prelude::*;

#[doc = include_str!("documentation.md")]
#[svc_type]
struct Thing {
    /** Stars
     * in a margin.
     *
     *     code
     */
    stars: i32,
    /**
    Indented.

      More.
    */
    indented: i32,
    #[doc = concat!("a", " b")]
    joined: i32,
    /// See:
    #[doc = include_str!("documentation.md")]
    /// The end.
    mixed: i32,
    #[doc(alias = "x")]
    none: i32,
    #[doc = ""]
    empty: i32,
}

macro_rules! documented {
    ($($doc:expr),*) => {
        #[svc_enum]
        $(#[doc = $doc])*
        enum Word {
            $(#[doc = $doc])*
            One,
        }
    };
}

documented!("a", concat!("b", "c"), stringify!(d));

struct Slug;

#[doc = include_str!("documentation.md")]
#[svc_scalar]
impl svc::async_graphql::ScalarType for Slug {
    fn parse(_: svc::async_graphql::Value) -> svc::async_graphql::InputValueResult<Self> {
        Ok(Self)
    }
    fn to_value(&self) -> svc::async_graphql::Value {
        svc::async_graphql::Value::Null
    }
}

#[svc::query]
fn word(#[doc = include_str!("documentation.md")] slug: Slug) -> Word {
    let _ = slug;
    Word::One
}

fn main() {
    use svc::__private::{Object, RootField};

    let meta = <Thing as Object>::meta();
    let file = "From a file.\n\nIn two parts.";
    assert_eq!(meta.element.description, Some(file));
    let fields: Vec<_> = meta
        .fields
        .iter()
        .map(|field| field.element.description)
        .collect();
    assert_eq!(
        fields,
        [
            Some("Stars\nin a margin.\n\n    code"),
            Some("Indented.\n\n  More."),
            Some("a b"),
            Some("See:\nFrom a file.\n\nIn two parts.\n\nThe end."),
            None,
            None,
        ]
    );
    assert_eq!(
        <word as RootField>::META.args[0].element.description,
        Some(file)
    );
}
