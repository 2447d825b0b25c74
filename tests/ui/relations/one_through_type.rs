use svc::prelude::*;

#[svc_type(sql_source = "v_tag")]
struct Tag {
    id: Uuid,
}

#[svc_type(sql_source = "v_post_tag")]
struct PostTag {
    position: i32,
}

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
    #[relation(through = PostTag, here = "post_id", there = "tag_id")]
    tag: One<Tag>,
}

fn main() {}
