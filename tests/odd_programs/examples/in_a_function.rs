//! Items of a function body.
#![deny(warnings)]

use svc::prelude::*;

fn main() {
    #[svc_type(sql_source = "v_user")]
    #[derive(Debug)]
    struct User {
        id: Uuid,
        role: Role,
    }

    #[svc_type]
    impl User {
        fn twice(&self) -> String {
            format!("{0}{0}{1:?}", self.id, self.role)
        }
    }

    #[svc_enum]
    #[derive(Debug)]
    enum Role {
        Admin,
    }

    #[svc_input]
    struct Filter {
        role: Role,
    }

    /// The result of making one.
    #[svc_result]
    #[derive(Debug)]
    enum MakeResult {
        /// It worked.
        Success {
            /// The user.
            user: Option<User>,
        },
        Error,
    }

    #[svc::mutation(function = "app.make")]
    async fn make(filter: Filter) -> MakeResult;
    let _ = mutations![make];

    #[svc_union]
    #[derive(Debug)]
    enum Any {
        User(User),
    }

    #[svc::query]
    async fn users() -> Vec<User>;

    #[svc::query]
    async fn any(filter: Filter) -> Option<Any> {
        let _ = filter.role;
        None
    }

    let _ = queries![users, any];
    let _ = User::twice;
}
