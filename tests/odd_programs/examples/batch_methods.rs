//! Batch methods in all their forms.
#![deny(warnings, rust_2018_idioms)]

use svc::prelude::*;

#[svc_type]
pub struct Post {
    pub title: String,
    pub tags: Vec<String>,
}

type Answers<T> = std::result::Result<Vec<T>, std::fmt::Error>;

macro_rules! batch {
    ($method:ident($objects:ident: $ty:ty) -> $out:ty $body:block) => {
        #[svc_type]
        impl Other {
            #[svc(batch)]
            fn $method($objects: $ty) -> $out $body
        }
    };
}

#[svc_type]
pub struct Other {
    pub id: i32,
}

batch!(ids(others: &[&Self]) -> Vec<i32> { others.iter().map(|other| other.id).collect() });

#[svc_type]
impl Post {
    #[svc(batch)]
    fn tag_count(posts: &[&Self]) -> Vec<i32> {
        posts
            .iter()
            .map(|post| i32::try_from(post.tags.len()).unwrap_or(i32::MAX))
            .collect()
    }
    #[svc(batch)]
    fn borrowed<'a>(posts: &[&'a Self]) -> Vec<&'a str> {
        posts.iter().map(|post| post.title.as_str()).collect()
    }
    #[svc(batch)]
    async fn kept<'a>(posts: &'a [&'a Self]) -> Vec<String> {
        posts.iter().map(|post| post.title.clone()).collect()
    }
    #[svc(batch, name = "upper", cost = 3)]
    async fn r#type(
        _: &[&Self],
        #[svc(default = 1)] count: i32,
        ctx: &Context<'_>,
    ) -> Result<Vec<Option<Vec<Other>>>> {
        let _ = ctx;
        Ok(vec![Some(vec![Other { id: count }])])
    }
    #[svc(batch)]
    async fn alone(posts: &[&Self]) -> Vec<std::result::Result<String, std::fmt::Error>> {
        posts.iter().map(|post| Ok(post.title.clone())).collect()
    }
    #[svc(batch)]
    async fn aliased(posts: &[&Self]) -> Answers<bool> {
        Ok(posts.iter().map(|post| post.tags.is_empty()).collect())
    }
}

fn main() {}
