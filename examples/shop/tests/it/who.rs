//! The users of the tests, with the ids of `db/seed.sql`.

use std::time::Duration;

use svc::testing::{Client, Database};
use svc::{SvcConfig, UserContext};

/// The two shops.
pub(crate) const NORTH: &str = "10000000-0000-4000-8000-000000000001";
pub(crate) const SOUTH: &str = "20000000-0000-4000-8000-000000000001";

/// Customers.
pub(crate) const ADA: &str = "10000000-0000-4000-8000-0000000000a1";
pub(crate) const BOB: &str = "10000000-0000-4000-8000-0000000000b1";
pub(crate) const CLEO: &str = "10000000-0000-4000-8000-0000000000c1";
pub(crate) const SOFIA: &str = "20000000-0000-4000-8000-0000000000a1";

/// A user or a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Who {
    /// Nobody that is known, in the north.
    Guest,
    Ada,
    Bob,
    Cleo,
    /// The clerk and the manager of the north.
    Clerk,
    Manager,
    /// A customer and the manager of the south.
    Sofia,
    SouthManager,
    /// A guest whom no gateway has told the shop.
    Lost,
}

impl Who {
    /// Makes a client of this person.
    pub(crate) fn of(self, client: &Client) -> Client {
        let (id, role, tenant) = match self {
            Self::Guest => return client.with_header("x-tenant-id", NORTH),
            Self::Lost => return client.clone(),
            Self::Ada => (ADA, "customer", NORTH),
            Self::Bob => (BOB, "customer", NORTH),
            Self::Cleo => (CLEO, "customer", NORTH),
            Self::Clerk => ("10000000-0000-4000-8000-0000000000e1", "clerk", NORTH),
            Self::Manager => ("10000000-0000-4000-8000-0000000000e2", "manager", NORTH),
            Self::Sofia => (SOFIA, "customer", SOUTH),
            Self::SouthManager => ("20000000-0000-4000-8000-0000000000e2", "manager", SOUTH),
        };

        // A header of the client's own changes nothing for a user.
        let other = if tenant == NORTH { SOUTH } else { NORTH };
        client
            .as_user(
                UserContext::new(id)
                    .roles([role])
                    .metadata("tenant", tenant),
            )
            .with_header("x-tenant-id", other)
    }
}

/// A client of a shop with this database.
pub(crate) async fn shop(database: &Database) -> Client {
    let mut config = SvcConfig::default();

    // All wait for their turn, however slow the machine is.
    config.database.pool_timeout = Duration::from_secs(300);
    config.protection.load_shedding = false;

    Client::new(shop::with_shop(
        database
            .options()
            .config(config)
            .database_url(database.url()),
    ))
    .await
    .unwrap()
}

/// The id of a product of the north.
pub(crate) async fn product(client: &Client, sku: &str) -> String {
    let answer = Who::Manager
        .of(client)
        .query("query ($sku: String!) { product(sku: $sku) { id } }")
        .variable("sku", sku)
        .await;
    answer.data()["product"]["id"].as_str().unwrap().to_owned()
}
