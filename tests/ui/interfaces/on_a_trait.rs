use svc::prelude::*;

#[svc_interface(fields(id: Uuid))]
trait Node {
    fn id(&self) -> Uuid;
}

fn main() {}
