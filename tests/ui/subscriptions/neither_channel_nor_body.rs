use svc::prelude::*;

#[svc_type(sql_source = "v_post")]
struct Post {
    id: i32,
}

#[svc::subscription]
async fn post_changed() -> Post;

fn main() {}
