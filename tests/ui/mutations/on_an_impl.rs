struct Root;

#[svc::mutation]
impl Root {}

fn main() {}
