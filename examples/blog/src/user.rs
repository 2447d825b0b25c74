//! Users and their roles.

use svc::prelude::*;

use crate::post::Post;
use crate::slug::Slug;

/// A person who reads or writes.
#[svc_type(sql_source = "v_user")]
#[derive(Debug)]
pub struct User {
    /// Never reused.
    pub id: Uuid,
    /// The identifier in URLs.
    #[svc(stored = "identifier")]
    pub slug: Slug,
    /// First and last name.
    pub name: String,
    /// The address for mail; null for those who may not read it.
    pub email: Option<String>,
    /// The role, which says what the user may do.
    pub role: Role,
    /// A few words, if the user has given some.
    pub bio: Option<String>,
    /// The time at which the user joined.
    pub created_at: DateTime<Utc>,
    /// The posts that the user has published.
    #[relation(to = "author_id")]
    pub posts: Many<Post>,
}

/// The rights of a user.
#[svc_enum]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Comments.
    #[svc(stored = "reader")]
    Reader,
    /// Writes posts.
    #[svc(stored = "author")]
    Author,
    /// Changes the posts of others.
    #[svc(stored = "editor")]
    Editor,
    /// Everything.
    #[svc(stored = "admin")]
    Admin,
}

#[svc_type]
impl User {
    /// The name, with the role of those who have a special one.
    fn display_name(&self) -> String {
        match self.role {
            Role::Reader | Role::Author => self.name.clone(),
            Role::Editor => format!("{} (editor)", self.name),
            Role::Admin => format!("{} (admin)", self.name),
        }
    }

    /// Returns the number of posts that the user has published. It is a statement for each user
    /// that is asked.
    async fn post_count(&self, ctx: &Context<'_>) -> Result<i64> {
        ctx.db()
            .find::<Post>()
            .filter(col("author_id").eq(self.id))
            .count()
            .await
    }
}

/// Users.
#[svc::query]
pub async fn users() -> Vec<User>;

/// One user.
#[svc::query]
pub async fn user(id: Uuid) -> Option<User>;

/// The user with this identifier.
#[svc::query]
pub async fn user_by_slug(slug: Slug) -> Option<User>;

/// Users with one of these roles.
#[svc::query]
pub async fn staff(
    /// The roles.
    #[svc(default = [EDITOR, ADMIN])]
    role: Vec<Role>,
) -> Vec<User>;
