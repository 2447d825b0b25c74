//! Functions with a body, computed fields, and how values become answers.

mod answers;
mod failures;
mod inputs;
mod own_reads;

use svc::prelude::*;
use svc_tests::{App, TestDatabase};

#[svc_type(sql_source = "v_cat")]
#[derive(Clone)]
struct Cat {
    id: i32,
    name: String,
}

#[svc_type]
impl Cat {
    /// Says something.
    fn says(
        &self,
        #[svc(default = "meow")] word: String,
        #[svc(default = 1)] times: i32,
    ) -> String {
        vec![format!("{}: {}", self.name, word); usize::try_from(times).unwrap_or(0)].join(" ")
    }

    async fn slow_name(&self) -> &str {
        tokio::task::yield_now().await;
        &self.name
    }

    fn broken(&self) -> Result<Option<i32>> {
        Err(Error::new(ErrorCode::BadUserInput, "broken as declared"))
    }

    fn very_broken(&self) -> Result<i32> {
        Ok("x".parse::<i32>()?)
    }

    async fn panics(&self) -> Option<i32> {
        panic!("a secret")
    }
}

#[svc_type(sql_source = "v_dog")]
#[derive(Clone)]
struct Dog {
    id: i32,
    name: String,
    good: bool,
}

#[svc_interface(sql_source = "v_pet", fields(id: i32, name: String))]
enum Pet {
    Cat(Cat),
    Dog(Dog),
}

#[svc_union]
enum Found {
    Cat(Cat),
    Dog(Dog),
}

fn cat() -> Cat {
    Cat {
        id: 1,
        name: "Tom".into(),
    }
}

#[svc::query]
fn one() -> Cat {
    cat()
}

#[svc::query]
async fn cats() -> Vec<Option<Cat>> {
    vec![
        Some(cat()),
        None,
        Some(Cat {
            id: 2,
            name: "Kit \"ü\"".into(),
        }),
    ]
}

#[svc::query]
fn pets() -> Vec<Pet> {
    vec![
        Pet::Dog(Dog {
            id: 3,
            name: "Rex".into(),
            good: true,
        }),
        Pet::Cat(cat()),
    ]
}

#[svc::query]
async fn stored_pets() -> Vec<Pet>;

#[svc::query]
fn found() -> Vec<Found> {
    vec![
        Found::Cat(cat()),
        Found::Dog(Dog {
            id: 3,
            name: "Rex".into(),
            good: true,
        }),
    ]
}

#[svc::query]
async fn stored_cats() -> Vec<Cat>;

const SQL: &str = "
CREATE VIEW v_cat AS SELECT i AS id, 'cat ' || i AS name FROM generate_series(1, 3) AS i;
CREATE VIEW v_grain AS SELECT i AS id FROM generate_series(1, 1001) AS i;
CREATE VIEW v_dog AS SELECT 7 AS id, 'dog' AS name, true AS good;
CREATE VIEW v_pet AS
  SELECT 'Cat' AS __typename, id, name, NULL::jsonb AS data FROM v_cat
  UNION ALL SELECT 'Dog', id, name, jsonb_build_object('good', good) FROM v_dog;";

async fn app() -> App {
    let url = TestDatabase::shared("resolved", SQL).await;
    let queries = queries![
        one,
        cats,
        pets,
        stored_pets,
        found,
        inputs::measure,
        inputs::find,
        own_reads::typed,
        own_reads::counted,
        own_reads::unlimited,
        own_reads::last_cat,
        stored_cats,
        failures::grid
    ];
    let options = AppOptions::new().database_url(url).auto_camel_case(true);
    App::serve(
        options
            .queries(queries)
            .types(types![own_reads::Grain])
            .mutations(mutations![failures::add]),
    )
    .await
}
