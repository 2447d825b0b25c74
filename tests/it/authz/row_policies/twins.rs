//! Two types over one view, of which one has a policy: the service says at the start that the other
//! has none.

use svc::prelude::*;
use svc_tests::{Log, TestDatabase};

#[svc_type(sql_source = "v_parcel")]
struct Parcel {
    id: i32,
}

#[svc_type(sql_source = "v_parcel")]
struct Label {
    id: i32,
}

#[svc_type(sql_source = "v_van")]
struct Van {
    id: i32,
}

#[svc::query]
async fn parcels() -> Vec<Parcel>;
#[svc::query]
async fn labels() -> Vec<Label>;
#[svc::query]
async fn vans() -> Vec<Van>;

async fn start(database: &TestDatabase, change: impl FnOnce(AppOptions) -> AppOptions) -> String {
    let log = Log::start();
    let options = AppOptions::new()
        .database_url(database.url())
        .queries(queries![parcels, labels, vans]);
    drop(create_svc_app(change(options)).await.unwrap());
    let warnings = log.text();
    warnings
        .lines()
        .filter(|line| line.contains("types read the same view"))
        .collect()
}

#[tokio::test]
async fn an_ungoverned_type_of_a_governed_view_is_logged() {
    let database = TestDatabase::new("").await;
    let all = |_: &Context<'_>| Ok(RowDecision::allow());
    let told = start(&database, |options| options.row_policy::<Parcel>(all)).await;
    for part in [
        "WARN",
        "view=\"v_parcel\"",
        "governed=\"Parcel\"",
        "open=\"Label\"",
    ] {
        assert!(told.contains(part), "{part} in {told}");
    }
    assert_eq!(
        start(&database, |options| options
            .row_policy::<Parcel>(all)
            .row_policy::<Label>(all))
        .await,
        ""
    );
    assert_eq!(
        start(&database, |options| options.row_policy::<Van>(all)).await,
        ""
    );
    assert_eq!(start(&database, |options| options).await, "");
}
