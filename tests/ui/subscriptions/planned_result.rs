use svc::prelude::*;

#[svc_type(sql_source = "v_post")]
struct Post {
    id: i32,
}

#[svc::subscription(channel = "post_changed")]
async fn post_changed() -> Result<Post>;

fn main() {}
