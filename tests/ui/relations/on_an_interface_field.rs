use svc::prelude::*;

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
}

#[svc_interface(fields(id: Uuid, #[relation] author: One<Post>))]
enum Entry {
    Post(Post),
}

fn main() {}
