use framework::prelude::*;

mod operations {
    use framework::prelude::*;

    #[svc_type(sql_source = "v_user", crate = framework)]
    pub struct User {
        id: Uuid,
    }

    #[framework::query(crate = framework)]
    pub async fn users() -> Vec<User>;

    #[framework::query(crate = framework)]
    pub async fn forgotten() -> Vec<User>;

    #[framework::mutation(function = "app.rename", crate = framework)]
    pub async fn rename(id: Uuid) -> bool;

    #[framework::query(crate = framework)]
    #[allow(dead_code)]
    pub async fn kept_for_later() -> Vec<User>;
}

pub fn lists() -> AppOptions {
    AppOptions::new().queries(queries![operations::users])
}
