//! The schema: types over the views, queries and mutations, with their guards.

use svc::prelude::*;

/// The company that a client works for.
#[svc_type(sql_source = "v_workspace")]
#[derive(Debug)]
pub struct Workspace {
    /// Never reused.
    pub id: Uuid,
    /// The name as shown.
    pub name: String,
}

/// An account in a workspace.
#[svc_type(sql_source = "v_member")]
#[derive(Debug)]
pub struct Member {
    /// The account's.
    pub id: Uuid,
    /// The address of mail.
    pub email: String,
    /// `owner` or `member`.
    pub role: String,
}

/// A list of tasks.
#[svc_type(sql_source = "v_project")]
#[derive(Debug)]
pub struct Project {
    /// Never reused.
    pub id: Uuid,
    /// The name as shown.
    pub name: String,
    /// Whether only owners see it.
    pub private: bool,
    /// The tasks.
    #[relation]
    pub tasks: Many<Task>,
}

/// Something to do.
#[svc_type(sql_source = "v_task")]
#[derive(Debug)]
pub struct Task {
    /// Never reused.
    pub id: Uuid,
    /// The words for it.
    pub title: String,
    /// Whether it is done.
    pub done: bool,
    /// Its project.
    #[relation]
    pub project: One<Project>,
    /// The member who does it.
    #[relation(from = "assignee_id", to = "id")]
    pub assignee: Option<One<Member>>,
}

/// A project to add.
#[svc_input]
#[derive(Debug)]
pub struct NewProject {
    /// The name as shown.
    #[svc(length(1..=80))]
    pub name: String,
    /// Whether only owners see it.
    #[svc(not_null)]
    pub private: Option<bool>,
}

/// A task to add.
#[svc_input]
#[derive(Debug)]
pub struct NewTask {
    /// Its project.
    pub project_id: Uuid,
    /// The member who does it.
    pub assignee_id: Option<Uuid>,
    /// The words for it.
    #[svc(length(1..=200))]
    pub title: String,
}

/// The changes to a task. A field that is left out stays as it is.
#[svc_input]
#[derive(Debug)]
pub struct TaskPatch {
    /// The project that it moves to.
    #[svc(not_null)]
    pub project_id: Patch<Uuid>,
    /// The member who does it.
    pub assignee_id: Patch<Uuid>,
    /// Whether it is done.
    #[svc(not_null)]
    pub done: Patch<bool>,
}

/// The client's workspace; null before there is one.
#[svc::query]
#[svc::requires_auth]
async fn workspace(ctx: &Context<'_>) -> Result<Option<Workspace>> {
    Ok(ctx.db().find::<Workspace>().await?.into_iter().next())
}

/// The members of the workspace.
#[svc::query(order_by = "email")]
#[svc::requires_any_role("owner", "member")]
async fn members() -> Vec<Member>;

/// The projects of the workspace that the client may see.
#[svc::query(order_by = "name")]
#[svc::requires_any_role("owner", "member")]
async fn projects() -> Vec<Project>;

/// The tasks of these projects.
#[svc::query(order_by = "title")]
#[svc::requires_any_role("owner", "member")]
async fn tasks() -> Connection<Task>;

/// Makes a workspace, whose owner the client becomes.
#[svc::mutation(function = "app.create_workspace")]
#[svc::requires_auth]
async fn create_workspace(name: String) -> Workspace;

/// Takes an account into the workspace.
#[svc::mutation(function = "app.add_member")]
#[svc::requires_role("owner")]
async fn add_member(email: String) -> Member;

/// Issues an API key, which is shown this once.
#[svc::mutation(function = "app.issue_api_key")]
#[svc::requires_role("owner")]
async fn issue_api_key(name: String) -> String;

/// Adds a project.
#[svc::mutation(insert = "tb_project")]
#[svc::requires_role("owner")]
async fn create_project(input: NewProject) -> Project;

/// Adds a task.
#[svc::mutation(insert = "tb_task")]
#[svc::requires_any_role("owner", "member")]
async fn create_task(input: NewTask) -> Task;

/// Changes a task.
#[svc::mutation(update = "tb_task")]
#[svc::requires_any_role("owner", "member")]
async fn update_task(id: Uuid, input: TaskPatch) -> Task;

/// Adds the schema to options that say where its database is.
pub fn with_schema(options: AppOptions) -> AppOptions {
    options
        .auto_camel_case(true)
        .queries(queries![workspace, members, projects, tasks])
        .mutations(mutations![
            create_workspace,
            add_member,
            issue_api_key,
            create_project,
            create_task,
            update_task
        ])
}
