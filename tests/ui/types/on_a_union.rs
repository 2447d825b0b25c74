use svc::prelude::*;

#[svc_type]
union Number {
    int: i32,
    float: f32,
}

fn main() {}
