//! The policy, where the settings name a provider of users. Without one the blog is open.

use svc::authz::OperationType;
use svc::prelude::*;

use crate::comment::NewComment;
use crate::publishing::NewPost;
use crate::user::User;

/// The mark of a blog that has a policy.
#[derive(Debug)]
struct HasPolicy;

/// Adds the policy to a blog whose users are known.
pub fn with_policy(options: AppOptions) -> AppOptions {
    options.data(HasPolicy).authorizer(policy)
}

/// Everyone reads. Readers comment, authors publish, both under their own name; editors and admins for anyone, and only
/// admins remove.
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
            user.has_any_role(["author", "editor", "admin"]) && writes_as(request.argument::<NewPost>("input")?.author)
        }
        "updatePost" => is_editor,
        "deletePost" => user.has_role("admin"),
        _ => false,
    })
}

/// A user's address is for the user, and for admins.
#[expect(clippy::needless_pass_by_value, reason = "a check gets the request")]
pub(crate) fn may_read_email(user: &User, request: AuthorizationRequest) -> bool {
    let is_open = request.context().data::<HasPolicy>().is_err();
    is_open || request.user().is_some_and(|known| known.has_role("admin") || known.user_id == user.id.to_string())
}
