use svc::prelude::*;

#[svc_type(sql_source = "v_post")]
struct Post {
    id: i32,
}

#[svc::subscription(channel = "post_changed")]
async fn posts_changed() -> Vec<Post>;

fn main() {}
