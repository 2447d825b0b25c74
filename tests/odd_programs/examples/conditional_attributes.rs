//! `#[cfg_attr(…)]` that changes nothing in the schema.
#![allow(dead_code)]

use svc::prelude::*;

#[svc_type]
#[cfg_attr(all(), derive(serde::Serialize))]
struct User {
    id: Uuid,
    #[cfg_attr(all(), serde(rename = "fullName"), allow(dead_code))]
    name: String,
    #[cfg_attr(any(), serde(skip))]
    #[cfg_attr(all(), cfg_attr(all(), serde(default)))]
    age: i32,
    #[cfg_attr(docsrs, doc(cfg(feature = "x")))]
    role: String,
}

#[svc_type]
impl User {
    #[cfg_attr(all(), inline)]
    fn one(&self) -> i32 {
        1
    }
}

#[svc_enum]
enum Role {
    #[cfg_attr(any(), serde(rename = "a"))]
    Admin,
}

#[svc_input]
#[cfg_attr(all(), derive(serde::Deserialize))]
struct NewUser {
    #[cfg_attr(all(), serde(default))]
    name: String,
}

#[svc::query]
#[cfg_attr(all(), allow(dead_code))]
async fn users(#[cfg_attr(all(), allow(unused_variables))] limit: i32) -> Vec<User> {
    Vec::new()
}

#[svc_result]
#[cfg_attr(all(), derive(Debug, serde::Serialize))]
enum MakeResult {
    #[cfg_attr(all(), allow(dead_code))]
    Success {
        #[cfg_attr(any(), serde(skip))]
        name: String,
    },
    Error,
}

#[svc_union]
enum Found {
    #[cfg_attr(all(), allow(dead_code))]
    User(User),
}

fn main() {}
