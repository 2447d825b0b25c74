use svc::prelude::*;

fn main() {
    let _ = AppOptions::new().authorizer(async |request: AuthorizationRequest| request.operation_name().len());
}
