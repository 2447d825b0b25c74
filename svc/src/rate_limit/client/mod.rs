//! Clients, as limits count them.

mod count_key;
mod forwarded;
mod list;
mod trusted_proxies;

use std::hash::{Hash, Hasher};
use std::net::IpAddr;
use std::ops::Deref;

pub(super) use count_key::CountKey;
pub use list::ClientList;
pub(super) use list::Clients;
pub(super) use trusted_proxies::{ClientAddress, client_address};
pub use trusted_proxies::{ForwardedHeader, TrustedProxies};

/// The key under which a client is counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Client {
    #[cfg_attr(
        not(feature = "auth"),
        expect(dead_code, reason = "no request has a user")
    )]
    User(String),
    /// The key returned by the program's key function.
    Own(String),
    /// An address; for IPv6, the first address of the client's network.
    Address(IpAddr),
    /// A client without an address or a key; all such clients are counted together.
    Unknown,
}

impl Client {
    /// The client at an address.
    pub(super) fn at(address: Option<IpAddr>, ipv6_prefix: u8) -> Self {
        address.map_or(Self::Unknown, |address| {
            Self::Address(network(address, ipv6_prefix))
        })
    }
}

/// Returns the first address of an IPv6 network; an IPv4 address is returned as it is.
pub(super) fn network(address: IpAddr, ipv6_prefix: u8) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            // A prefix of no bits gives a shift by 128, which overflows.
            let shift = 128_u32.saturating_sub(ipv6_prefix.into());
            let network = u128::from(address)
                .checked_shr(shift)
                .unwrap_or(0)
                .checked_shl(shift)
                .unwrap_or(0);
            IpAddr::V6(network.into())
        }
        address => address,
    }
}

/// Returns the address under which connections are counted: for IPv6, the first address of the /64
/// network, which may belong to one client.
pub(crate) fn network_of(address: IpAddr) -> IpAddr {
    network(address, 64)
}

/// Hashes an address as one number: most clients are addresses, and the derived implementation
/// hashes each part separately.
impl Hash for Client {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            // The first number keeps the kinds of clients apart.
            Self::Address(IpAddr::V4(address)) => {
                state.write_u64((4 << 32) | u64::from(address.to_bits()));
            }
            Self::Address(IpAddr::V6(address)) => {
                state.write_u64(6);
                state.write_u128(address.to_bits());
            }
            Self::User(text) => (0_u64, text).hash(state),
            Self::Own(text) => (1_u64, text).hash(state),
            Self::Unknown => state.write_u64(2),
        }
    }
}

/// A client and its key in the counts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct KnownClient {
    client: Client,
    pub(super) key: CountKey,
}

impl From<Client> for KnownClient {
    fn from(client: Client) -> Self {
        let key = CountKey::of(&client);
        Self { client, key }
    }
}

impl KnownClient {
    /// Returns the key under which clients share counts if there is no room: that of the client's
    /// /24 or /48 network.
    pub(super) fn group(&self) -> CountKey {
        match &self.client {
            Client::Address(IpAddr::V4(address)) => CountKey::of(&(address.to_bits() >> 8)),
            Client::Address(IpAddr::V6(address)) => CountKey::of(&(address.to_bits() >> 80)),
            _ => self.key,
        }
    }
}

impl Deref for KnownClient {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

/// Writes the key in the form that the lists use.
impl std::fmt::Display for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::User(id) => write!(f, "user:{id}"),
            Self::Own(key) => write!(f, "key:{key}"),
            Self::Address(address) => write!(f, "ip:{address}"),
            Self::Unknown => f.write_str("ip:unknown"),
        }
    }
}
