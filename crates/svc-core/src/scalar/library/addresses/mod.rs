//! Addresses of hosts, networks and devices, and of mailboxes and resources.

#[cfg(feature = "scalars")]
mod host;
mod network;

#[cfg(feature = "scalars")]
pub use host::{EmailAddress, Hostname, Url};
pub use network::{Cidr, Inet, MacAddress};
