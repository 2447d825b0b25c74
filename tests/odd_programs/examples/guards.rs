use svc::prelude::*;
use svc::{requires_any_role, requires_auth};

#[svc_type(sql_source = "v_note")]
struct Note {
    id: i32,
    #[requires_auth]
    title: Option<String>,
}

#[svc_type]
impl Note {
    #[requires_any_role("editor", "admin")]
    #[svc(name = "loud")]
    fn shouted(&self) -> Option<String> {
        self.title.as_ref().map(|title| title.to_uppercase())
    }
}

struct Nobody;

impl svc::authz::Authorizer for Nobody {
    async fn authorize_operation(&self, _: AuthorizationRequest) -> Result<AuthorizationDecision> {
        Ok(AuthorizationDecision::deny())
    }
}

static NOBODY: Nobody = Nobody;

#[svc::query(authorizer = NOBODY)]
#[requires_auth]
async fn notes() -> Vec<Note>;

#[svc::query(authorizer = Nobody)]
#[requires_auth]
#[svc::requires_permission("notes:read")]
fn count() -> i32 {
    7
}

fn main() {
    let options = AppOptions::new().queries(queries![notes, count]);
    drop(options.authorizer(async |request: AuthorizationRequest| request.user().is_some()));
}
