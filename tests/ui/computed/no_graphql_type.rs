use svc::prelude::*;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
}

struct Address {
    city: String,
}

#[svc_type]
impl User {
    async fn address(&self) -> Result<Address> {
        Ok(Address { city: self.id.to_string() })
    }
}

fn main() {}
