//! A mutation that acts on a row is a call, which can be undone.

use svc::prelude::*;

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
}

#[svc::mutation(acts_on = Post(id))]
async fn rename(id: Uuid, title: String) -> bool {
    id.is_nil() && title.is_empty()
}

fn main() {}
