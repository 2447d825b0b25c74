#[svc::requires_permission("posts:delete")]
#[svc::mutation(function = "app.delete_post")]
async fn delete_post(post_id: i32) -> bool;

fn main() {}
