use svc::prelude::*;

struct Slug(String);

#[svc_scalar]
impl Slug {
    fn text(&self) -> &str {
        &self.0
    }
}

fn main() {}
