//! The shops, of which a request sees one.

use svc::prelude::*;

/// A shop.
#[svc_type(sql_source = "v_tenant")]
#[derive(Debug)]
pub struct Tenant {
    /// Never reused.
    pub id: Uuid,
    /// The identifier in URLs.
    pub identifier: String,
    /// The name as shown.
    pub name: String,
    /// That of all prices.
    pub currency: String,
}

/// The shop that the request is for.
#[svc::query]
pub async fn shop() -> Option<Tenant>;
