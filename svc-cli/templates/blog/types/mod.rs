//! The types of the schema.

mod comment;
mod post;
mod user;

pub use comment::Comment;
pub use post::Post;
pub use user::User;
