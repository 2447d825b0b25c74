//! Private types in modules, with their parts in different places.
#![deny(warnings)]

use svc::prelude::*;

mod inner {
    use svc::prelude::*;

    #[svc_type(sql_source = "v_user")]
    pub(super) struct User {
        id: Uuid,
        secret: Secret,
    }

    #[svc_type]
    struct Secret {
        text: String,
    }

    pub(super) mod operations {
        use svc::prelude::*;

        use super::User;

        #[svc::query]
        pub(in super::super) async fn users() -> Vec<User>;

        #[svc::query]
        pub(crate) async fn user(id: Uuid) -> Option<User> {
            let _ = id;
            None
        }
    }
}

mod computed {
    use svc::prelude::*;

    use super::inner;

    #[svc_type]
    impl inner::User {
        fn one(&self) -> i32 {
            1
        }
        async fn friend(&self, _ctx: &Context<'_>) -> Option<inner::User> {
            None
        }
    }
}

fn main() {
    use svc::__private::Object;

    let _ = queries![inner::operations::users, inner::operations::user];
    assert_eq!(<inner::User as Object>::meta().computed.len(), 2);
    assert_eq!(
        <inner::User as Object>::meta().path,
        concat!(module_path!(), "::inner::User")
    );
}
