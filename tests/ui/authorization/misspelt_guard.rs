use svc::prelude::*;

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
    #[svc::require_role("editor")]
    draft: Option<String>,
}

#[svc_type]
impl Post {
    #[svc::requires_permissions("posts:count")]
    fn letters(&self) -> i32 {
        7
    }
}

#[svc::query]
#[svc::require_auth]
async fn posts() -> Vec<Post>;

#[svc::query]
#[requires_autth]
async fn drafts() -> Vec<Post>;

#[svc::query]
#[svc::require_auth]
fn count() -> i32 {
    7
}

fn main() {}
