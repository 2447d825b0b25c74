//! serde beside svc: on types with relations, and on results of mutations.

use serde::{Deserialize, Serialize};
use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct User {
    id: i32,
    #[relation]
    posts: Many<Post>,
    #[relation]
    best: Option<One<Post>>,
}

#[svc_type(sql_source = "v_post")]
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Post {
    id: i32,
    #[relation]
    user: One<User>,
}

#[svc_result]
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind")]
enum MakeResult {
    #[serde(rename = "OK", rename_all = "camelCase")]
    Success {
        #[serde(default)]
        the_user: Option<User>,
    },
    Error,
}

fn main() {
    let post = Post {
        id: 1,
        user: One::new(7),
    };
    let json = svc::serde_json::to_string(&post).expect("a post");
    assert_eq!(json, r#"{"id":1,"user":"7"}"#);
    assert_eq!(
        svc::serde_json::from_str::<Post>(&json).expect("a post"),
        post
    );

    let made = MakeResult::from(MakeResultSuccess::new("created", None));
    let json = svc::serde_json::to_string(&made).expect("a result");
    assert_eq!(
        json,
        r#"{"kind":"OK","status":"created","message":null,"updatedFields":null,"id":null,"theUser":null}"#
    );
    assert_eq!(
        svc::serde_json::from_str::<MakeResult>(&json).expect("a result"),
        made
    );
    let refused = MakeResult::from(MakeResultError::new("conflict:taken", "taken"));
    let json = svc::serde_json::to_string(&refused).expect("a result");
    assert_eq!(
        svc::serde_json::from_str::<MakeResult>(&json).expect("a result"),
        refused
    );
}
