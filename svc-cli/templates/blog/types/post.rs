use svc::prelude::*;

use super::{Comment, User};

/// A text that an author publishes.
#[svc_type(sql_source = "v_post")]
#[derive(Debug)]
pub struct Post {
    /// The unique identifier.
    pub id: Uuid,
    /// The headline.
    pub title: String,
    /// The text.
    pub body: String,
    /// The time at which the post was published.
    pub created_at: DateTime<Utc>,
    /// The author.
    #[relation]
    pub author: One<User>,
    /// The comments of readers.
    #[relation]
    pub comments: Many<Comment>,
}

#[svc_type]
impl Post {
    /// The beginning of the text.
    fn excerpt(
        &self,
        /// At most this many characters.
        #[svc(default = 80)]
        length: i32,
    ) -> String {
        self.body
            .chars()
            .take(length.try_into().unwrap_or(0))
            .collect()
    }
}
