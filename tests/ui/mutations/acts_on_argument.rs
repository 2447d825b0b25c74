//! The row's id is one of the arguments.

use svc::prelude::*;

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
}

#[svc::mutation(function = "app.rename", acts_on = Post(post))]
async fn rename(id: Uuid, title: String) -> bool;

#[svc::mutation(function = "app.remove", acts_on = Post)]
async fn remove(id: Uuid) -> bool;

#[svc::mutation(function = "app.merge", acts_on = Post(id, other))]
async fn merge(id: Uuid, other: Uuid) -> bool;

fn main() {}
