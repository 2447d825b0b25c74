//! Methods that answer with what they borrow.
#![deny(warnings, rust_2018_idioms)]

use std::borrow::Cow;
use std::sync::Arc;

use svc::prelude::*;

#[svc_type]
pub struct Post {
    pub title: String,
    pub tags: Vec<String>,
    pub author: Author,
}

#[svc_type]
pub struct Author {
    pub name: String,
    pub city: Option<Arc<String>>,
}

#[svc_type]
impl Post {
    fn title_ref(&self) -> &str {
        &self.title
    }
    fn by_type(self: &Self) -> &str {
        &self.title
    }
    fn named<'a>(&'a self, _ctx: &Context<'_>) -> &'a str {
        &self.title
    }
    fn cow(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.title)
    }
    fn tag_list(&self) -> &[String] {
        &self.tags
    }
    fn some(&self) -> Option<&Author> {
        Some(&self.author)
    }
    fn me(&self) -> &Self {
        self
    }
    fn texts(&self) -> Vec<&str> {
        self.tags.iter().map(String::as_str).collect()
    }
    fn checked(&self) -> Result<&Author, std::fmt::Error> {
        Ok(&self.author)
    }
    async fn later(&self, ctx: &Context<'_>) -> Result<Option<Cow<'_, str>>> {
        let _ = ctx;
        Ok(Some(Cow::Borrowed(&self.title)))
    }
    fn shared(&self) -> Arc<String> {
        Arc::new(self.title.clone())
    }
}

fn main() {}
