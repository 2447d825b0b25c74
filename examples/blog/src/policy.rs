//! The policy, where the settings name a provider of users. Without one the blog is open.

use svc::authz::OperationType;
use svc::prelude::*;

use crate::comment::NewComment;
use crate::post::Post;
use crate::publishing::NewPost;
use crate::user::User;

/// Adds the policy to a blog whose users are known.
pub fn with_policy(options: AppOptions) -> AppOptions {
    options
        .authorizer(policy)
        .row_policy::<Post>(posts)
        .mask_where::<User>("email", addresses)
}

/// Everyone reads. Readers comment, authors publish, both under their own name; editors and admins
/// for anyone, and only admins remove.
async fn policy(request: AuthorizationRequest) -> Result<bool> {
    if request.operation_type() != OperationType::Mutation {
        return Ok(true);
    }

    let context = request.context();
    let user = context.require_user()?;
    let is_editor = user.has_any_role(["editor", "admin"]);
    let writes_as = |author: Uuid| is_editor || user.user_id == author.to_string();

    Ok(match request.operation_name() {
        "createComment" => {
            user.has_any_role(["reader", "author", "editor", "admin"])
                && writes_as(request.argument::<NewComment>("input")?.author)
        }
        "createPost" => {
            user.has_any_role(["author", "editor", "admin"])
                && writes_as(request.argument::<NewPost>("input")?.author)
        }
        "updatePost" => is_editor,
        "deletePost" => user.has_role("admin"),
        _ => false,
    })
}

/// Drafts are for their authors, and for those who edit.
fn posts(ctx: &Context<'_>) -> Result<RowDecision> {
    let published = col("draft").eq(false);
    Ok(match ctx.user() {
        Some(user) if user.has_any_role(["editor", "admin"]) => RowDecision::allow(),
        user => RowDecision::allow_where(match user.and_then(id_of) {
            Some(id) => published.or(col("author_id").eq(id)),
            None => published,
        }),
    })
}

/// A user's address is for the user, and for admins.
fn addresses(ctx: &Context<'_>) -> Result<RowDecision> {
    Ok(match ctx.user() {
        Some(user) if user.has_role("admin") => RowDecision::allow(),
        user => user.and_then(id_of).map_or_else(RowDecision::deny, |id| {
            RowDecision::allow_where(col("id").eq(id))
        }),
    })
}

/// The id of a user of the blog; other users have none that is a UUID.
fn id_of(user: &UserContext) -> Option<Uuid> {
    user.user_id.parse().ok()
}
