//! Types that have the GraphQL names of a result's members.
#![deny(warnings)]

use svc::prelude::*;

#[derive(Debug, Clone)]
pub enum CreateUserError {
    Taken,
}

#[derive(Debug, Clone)]
pub struct CreateUserSuccess;

#[svc_result]
#[derive(Debug, Clone)]
pub enum CreateUserResult {
    Success { name: String },
    Error { kind: String },
}

#[svc::mutation]
fn create_user(name: String) -> CreateUserResult {
    match made(&name) {
        Ok(CreateUserSuccess) => CreateUserResultSuccess::new("created", name).into(),
        Err(error @ CreateUserError::Taken) => {
            CreateUserResultError::new("conflict:name", "the name is taken", format!("{error:?}"))
                .into()
        }
    }
}

fn made(name: &str) -> Result<CreateUserSuccess, CreateUserError> {
    if name.is_empty() {
        Err(CreateUserError::Taken)
    } else {
        Ok(CreateUserSuccess)
    }
}

fn main() {
    let _ = mutations![create_user];
}
