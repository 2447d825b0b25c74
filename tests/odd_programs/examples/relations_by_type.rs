//! Relations under other names, and other types under theirs.
#![allow(dead_code)]

use svc::prelude::*;

type Posts = Many<Post>;
type Several<T> = Many<T>;
type Maybe<T> = Option<One<T>>;

#[svc_type(sql_source = "v_user")]
struct User {
    id: Uuid,
    #[relation]
    posts: Posts,
    #[relation(to = "editor_id")]
    edited: Several<Post>,
}

#[svc_type(sql_source = "v_post")]
struct Post {
    id: Uuid,
    #[relation]
    user: Maybe<User>,
    #[relation]
    editor: svc::One<User>,
    #[relation]
    reader: std::option::Option<svc::One<User>>,
}

mod own {
    use svc::prelude::{Uuid, svc_type};

    #[svc_type]
    pub struct One {
        pub id: Uuid,
    }

    #[svc_type]
    pub struct Many {
        pub one: One,
        pub some: Option<One>,
        pub many: Vec<One>,
    }

    #[svc::query]
    fn one() -> Option<One> {
        None
    }
}

mod generic {
    use svc::prelude::svc_type;
    use svc::schema::{ExactJson, FromStored, Output, Registry, Resolved, StoredError, TypeRef};

    /// One value, however it is written.
    pub struct One<T>(T);

    impl<T: Output> Output for One<T> {
        fn type_ref(registry: &mut Registry) -> TypeRef {
            T::type_ref(registry)
        }
        fn resolve(&self) -> Resolved<'_> {
            self.0.resolve()
        }
    }

    impl<T: FromStored> FromStored for One<T> {
        fn from_stored(value: ExactJson) -> Result<Self, StoredError> {
            T::from_stored(value).map(One)
        }
    }

    #[svc_type]
    struct Thing {
        name: One<String>,
    }

    #[svc_type]
    impl Thing {
        fn same(&self) -> &One<String> {
            &self.name
        }
    }

    #[svc::query]
    fn name() -> One<String> {
        One("x".to_owned())
    }
}

fn main() {
    use svc::__private::Object;

    let meta = <User as Object>::meta();
    let keys: Vec<_> = meta
        .fields
        .iter()
        .filter_map(|field| field.relation.as_ref())
        .map(|r| (r.many, r.to))
        .collect();
    assert_eq!(keys, [(true, &["user_id"][..]), (true, &["editor_id"])]);
    assert!(
        <Post as Object>::meta().fields[1]
            .relation
            .as_ref()
            .is_some_and(|relation| !relation.many)
    );
}
