//! A row is of a type of the schema.

use svc::prelude::*;

struct Post;

#[svc::mutation(function = "app.rename", acts_on = Post(id))]
async fn rename(id: Uuid) -> bool;

fn main() {}
