//! Lists of clients: addresses, networks and keys.

use std::net::IpAddr;

use ipnet::IpNet;

use svc_core::settings::{ConfigError, Kind, Variables, items};

/// The allowed entries, for messages and the book.
const ALLOWED: &str = "addresses (192.0.2.7), networks (10.0.0.0/8, 2001:db8::/32) and keys (user:42, key:acme), \
                       separated by commas or as a JSON list";

/// A list of clients: by their address, their network, or the key under which they are counted:
/// `user:` with the identifier of a user, or `key:` with the value returned by the function of
/// [`RateLimiting::key`](crate::rate_limit::RateLimiting::key).
///
/// ```
/// use svc::rate_limit::ClientList;
///
/// let list: ClientList = "10.0.0.0/8, 2001:db8::7, user:42".parse()?;
/// # Ok::<(), svc::ConfigError>(())
/// ```
///
/// `Debug` shows only the number of entries, as keys may be secrets.
#[derive(Clone, PartialEq, Eq, Default)]
pub struct ClientList {
    networks: Vec<IpNet>,
    keys: Vec<String>,
}

impl ClientList {
    /// Whether the list is empty.
    pub(in crate::rate_limit) fn is_empty(&self) -> bool {
        self.networks.is_empty() && self.keys.is_empty()
    }

    /// Whether the list contains the address.
    pub(in crate::rate_limit) fn has_address(&self, address: IpAddr) -> bool {
        self.networks
            .iter()
            .any(|network| network.contains(&address))
    }

    /// Whether the list contains keys.
    pub(in crate::rate_limit) fn has_keys(&self) -> bool {
        !self.keys.is_empty()
    }

    /// Whether the list contains the key.
    pub(in crate::rate_limit) fn has_key(&self, key: &str) -> bool {
        self.keys.iter().any(|own| own == key)
    }

    fn read(text: &str) -> Option<Self> {
        let mut list = Self::default();
        for entry in items(text)? {
            let is_key = ["user:", "key:"]
                .iter()
                .any(|kind| entry.len() > kind.len() && entry.starts_with(kind));
            match network(entry.strip_prefix("ip:").unwrap_or(&entry)) {
                Some(network) => list.networks.push(network),
                None if is_key => list.keys.push(entry),
                None => return None,
            }
        }

        Some(list)
    }
}

/// Parses a network, or an address as a network of one; IPv4-mapped IPv6 is read as IPv4.
pub(super) fn network(text: &str) -> Option<IpNet> {
    if let Ok(address) = text.parse::<IpAddr>() {
        return Some(address.to_canonical().into());
    }

    let network: IpNet = text.parse().ok()?;
    match network.addr().to_canonical() {
        // The last 32 bits of an IPv4-mapped network are the IPv4 one, and addresses are compared
        // in that form (RFC 4291, section 2.5.5.2).
        IpAddr::V4(address) if network.prefix_len() >= 96 && network.addr().is_ipv6() => {
            IpNet::new(address.into(), network.prefix_len() - 96).ok()
        }
        _ => Some(network.trunc()),
    }
}

impl std::str::FromStr for ClientList {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Self, ConfigError> {
        Self::read(text).ok_or_else(|| {
            ConfigError::new("a list of clients", "***", &format!("it must be {ALLOWED}"))
        })
    }
}

impl std::fmt::Debug for ClientList {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientList")
            .field("networks", &self.networks.len())
            .field("keys", &self.keys.len())
            .finish()
    }
}

/// Client lists as settings, whose values never appear in errors.
pub(in crate::rate_limit) struct Clients;

impl Kind<ClientList> for Clients {
    fn parse(&self, text: &str) -> Result<ClientList, String> {
        ClientList::read(text).ok_or_else(|| format!("it must be {ALLOWED}"))
    }
    fn allowed(&self) -> String {
        ALLOWED.to_owned()
    }
    fn shown(&self, _: &ClientList) -> String {
        "none".to_owned()
    }
    fn read(
        &self,
        variables: &Variables<'_>,
        names: &[&'static str],
    ) -> Result<Option<ClientList>, ConfigError> {
        let Some((name, text)) = variables.first(names) else {
            return Ok(None);
        };
        self.parse(&text)
            .map(Some)
            .map_err(|allowed| ConfigError::new(name, "***", &allowed))
    }
}
