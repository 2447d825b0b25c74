struct NewUser {
    name: String,
}

#[svc::mutation(function = "app.create_user")]
async fn create_user(input: NewUser) -> bool;

fn main() {}
