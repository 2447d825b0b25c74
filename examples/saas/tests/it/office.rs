//! An application with two workspaces, through its routes alone.

use serde_json::{Value, json};
use svc::testing::Database;
use svc_tests::App;

const SECRET: &str = "a secret of the example, longer than 32 bytes";

/// The application as it serves.
pub(crate) struct Office {
    app: App,
}

/// A client with its token.
#[derive(Clone)]
pub(crate) struct Person<'a> {
    office: &'a Office,
    token: String,
}

impl Office {
    pub(crate) async fn open(database: &Database) -> Self {
        let router = saas::app(database.options(), SECRET).await.unwrap();
        Self {
            app: App::serve_router(router).await,
        }
    }

    /// A new account.
    pub(crate) async fn register(&self, name: &str) -> Person<'_> {
        let account =
            json!({ "username": name, "password": "Correct-horse-7", "email": address(name) });
        let request = self
            .app
            .request("POST", "/auth/register")
            .header("content-type", "application/json");
        let reply = self.app.send(request.body(account.to_string())).await;
        assert_eq!(reply.status, 201, "{}", reply.text);
        let token = reply.json()["access_token"].as_str().unwrap().to_owned();

        Person {
            office: self,
            token,
        }
    }

    /// A workspace with an owner, a member, a project that all see and one that only the owner
    /// sees.
    pub(crate) async fn workspace(&self, name: &str) -> Workspace<'_> {
        let owner = self.register(&format!("{name}-owner")).await;
        let member = self.register(&format!("{name}-member")).await;
        owner
            .ask(
                "mutation ($name: String!) { createWorkspace(name: $name) { id } }",
                json!({ "name": name }),
            )
            .await;

        let add = "mutation ($email: String!) { addMember(email: $email) { id } }";
        owner
            .ask(add, json!({ "email": address(&format!("{name}-member")) }))
            .await;
        let open = owner.project("Open", false).await;
        let private = owner.project("Private", true).await;
        let task = owner.task(&private, "Secret").await.unwrap();

        Workspace {
            owner,
            member,
            open,
            private,
            task,
        }
    }
}

/// A workspace, and the ids of what it holds.
pub(crate) struct Workspace<'a> {
    pub(crate) owner: Person<'a>,
    pub(crate) member: Person<'a>,
    pub(crate) open: String,
    pub(crate) private: String,
    /// A task of the private project.
    pub(crate) task: String,
}

pub(crate) fn address(name: &str) -> String {
    format!("{name}@example.com")
}

impl<'a> Person<'a> {
    /// The same office with another token.
    pub(crate) fn with_token(&self, token: &str) -> Person<'a> {
        Person {
            office: self.office,
            token: token.to_owned(),
        }
    }

    /// The whole answer.
    pub(crate) async fn send(&self, query: &str, variables: Value) -> Value {
        let request = self
            .office
            .app
            .request("POST", "/graphql")
            .header("content-type", "application/json");

        let body = json!({ "query": query, "variables": variables }).to_string();
        self.office
            .app
            .send(request.bearer_auth(&self.token).body(body))
            .await
            .json()
    }

    /// The data of an answer without errors.
    pub(crate) async fn ask(&self, query: &str, variables: Value) -> Value {
        let mut answer = self.send(query, variables).await;
        assert!(answer["errors"].is_null(), "{answer:#}");
        answer["data"].take()
    }

    async fn project(&self, name: &str, private: bool) -> String {
        let create = "mutation ($input: NewProject!) { createProject(input: $input) { id } }";
        let made = self
            .ask(
                create,
                json!({ "input": { "name": name, "private": private } }),
            )
            .await;
        made["createProject"]["id"].as_str().unwrap().to_owned()
    }

    /// Adds a task; the code of the error where that is refused.
    pub(crate) async fn task(&self, project: &str, title: &str) -> Result<String, String> {
        let create = "mutation ($input: NewTask!) { createTask(input: $input) { id } }";
        let answer = self
            .send(
                create,
                json!({ "input": { "projectId": project, "title": title } }),
            )
            .await;

        let id = answer["data"]["createTask"]["id"]
            .as_str()
            .map(str::to_owned);

        id.ok_or_else(|| {
            answer["errors"][0]["extensions"]["code"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
    }
}
