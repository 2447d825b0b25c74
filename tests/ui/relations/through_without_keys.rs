use svc::prelude::*;

#[svc_type(sql_source = "v_tag")]
struct Tag {
    id: Uuid,
}

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
    #[relation(through = "v_post_tag", here = "post_id")]
    tags: Many<Tag>,
}

fn main() {}
