#[svc::mutation(function = "app.delete_user")]
#[inline]
async fn delete_user(id: i32) -> bool;

fn main() {}
