//! Reads and writes of two workspaces, none of which reach the other.

use serde_json::{Value, json};
use svc::testing::Database;

use crate::office::{Office, Person, address};

const ALL: &str =
    "{ workspace { name } members { id email } projects { id name tasks { id title } }
    tasks { nodes { id title project { id } assignee { email } } totalCount } }";

/// All that a person can read, as one text.
async fn all(person: &Person<'_>) -> String {
    person.ask(ALL, Value::Null).await.to_string()
}

/// The code of the first error.
fn code(answer: &Value) -> &str {
    answer["errors"][0]["extensions"]["code"]
        .as_str()
        .unwrap_or_default()
}

#[svc::test(sql = saas::SETUP.join("\n"), role = saas::ROLE)]
async fn a_workspace_reads_its_own_rows_alone(database: Database) {
    let office = Office::open(&database).await;
    let (north, south) = (
        office.workspace("north").await,
        office.workspace("south").await,
    );
    north.member.task(&north.open, "Paint").await.unwrap();

    for (person, stranger) in [
        (&north.owner, "south"),
        (&north.member, "south"),
        (&south.owner, "north"),
    ] {
        let seen = all(person).await;
        assert!(!seen.contains(stranger), "{seen}");
    }

    let seen = all(&north.owner).await;
    for id in [&north.open, &north.private, &north.task] {
        assert!(seen.contains(id.as_str()), "{seen}");
    }

    // A private project is for owners, and so are its tasks.
    let seen = all(&north.member).await;
    assert!(
        seen.contains("Paint") && seen.contains(&north.open),
        "{seen}"
    );

    assert!(
        !seen.contains(&north.private) && !seen.contains("Secret"),
        "{seen}"
    );
}

#[svc::test(sql = saas::SETUP.join("\n"), role = saas::ROLE)]
async fn nothing_is_written_into_invisible_rows(database: Database) {
    let office = Office::open(&database).await;
    let (north, south) = (
        office.workspace("north").await,
        office.workspace("south").await,
    );

    // The foreign key names the workspace, so that of another is none; and the policy asks for a
    // project that is seen.
    for (person, project) in [
        (&north.member, &south.open),
        (&north.owner, &south.open),
        (&north.member, &north.private),
    ] {
        assert!(person.task(project, "Intruder").await.is_err());
    }

    let update =
        "mutation ($id: UUID!, $input: TaskPatch!) { updateTask(id: $id, input: $input) { id } }";
    for (person, task) in [(&south.owner, &north.task), (&north.member, &north.task)] {
        let answer = person
            .send(update, json!({ "id": task, "input": { "done": true } }))
            .await;
        assert_eq!(code(&answer), "NOT_FOUND", "{answer:#}");
    }

    // Nor is a task moved out of sight.
    let mine = north.member.task(&north.open, "Mine").await.unwrap();
    for project in [&north.private, &south.open] {
        let answer = north
            .member
            .send(
                update,
                json!({ "id": mine, "input": { "projectId": project } }),
            )
            .await;

        assert!(
            answer["errors"].is_array() && answer["data"].is_null(),
            "{answer:#}"
        );
    }

    assert!(all(&north.member).await.contains("Mine"));

    for seen in [all(&north.owner).await, all(&south.owner).await] {
        assert!(!seen.contains("Intruder"), "{seen}");
    }
}

#[svc::test(sql = saas::SETUP.join("\n"), role = saas::ROLE)]
async fn an_account_without_a_workspace_sees_nothing(database: Database) {
    let office = Office::open(&database).await;
    let north = office.workspace("north").await;
    let stranger = office.register("stranger").await;
    let none = stranger.ask("{ workspace { name } }", Value::Null).await;

    assert_eq!(none, json!({ "workspace": null }));

    for query in [
        "{ members { id } }",
        "{ projects { id } }",
        "{ tasks { totalCount } }",
    ] {
        let answer = stranger.send(query, Value::Null).await;
        assert_eq!(code(&answer), "FORBIDDEN", "{answer:#}");
        let answer = stranger.with_token("").send(query, Value::Null).await;
        assert_eq!(code(&answer), "UNAUTHENTICATED", "{answer:#}");
    }

    assert_eq!(
        stranger.task(&north.open, "Intruder").await.unwrap_err(),
        "FORBIDDEN"
    );

    // Members add nobody, and an account belongs to one workspace.
    let add = "mutation ($email: String!) { addMember(email: $email) { email } }";
    let answer = north
        .member
        .send(add, json!({ "email": address("stranger") }))
        .await;
    assert_eq!(code(&answer), "FORBIDDEN", "{answer:#}");
    north
        .owner
        .ask(add, json!({ "email": address("stranger") }))
        .await;
    assert!(all(&stranger).await.contains(&north.open));
    let answer = office
        .workspace("south")
        .await
        .owner
        .send(add, json!({ "email": address("stranger") }))
        .await;

    assert_eq!(
        answer["errors"][0]["message"], "this account belongs to a workspace already",
        "{answer:#}"
    );
}

#[svc::test(sql = saas::SETUP.join("\n"), role = saas::ROLE)]
async fn a_key_acts_as_its_owner(database: Database) {
    let office = Office::open(&database).await;
    let (north, south) = (
        office.workspace("north").await,
        office.workspace("south").await,
    );
    let issue = "mutation { issueApiKey(name: \"import\") }";
    assert_eq!(
        code(&north.member.send(issue, Value::Null).await),
        "FORBIDDEN"
    );
    let issued = north.owner.ask(issue, Value::Null).await;
    let robot = north
        .owner
        .with_token(issued["issueApiKey"].as_str().unwrap());
    let made = robot.task(&north.private, "Imported").await.unwrap();
    assert!(all(&robot).await.contains(&made));
    assert!(robot.task(&south.open, "Intruder").await.is_err());

    assert!(!all(&south.owner).await.contains("Imported"));
}
