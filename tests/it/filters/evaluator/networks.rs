//! Addresses and networks.

use std::net::IpAddr;

use serde_json::Value;

use super::super::fields::Kind;
use super::text_of;

/// An address as its bits from the left, and how many of them name the network.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Network {
    is_v6: bool,
    bits: u128,
    prefix: u32,
}

impl Network {
    pub(super) fn of(text: &str) -> Self {
        let (address, prefix) = text.split_once('/').unzip();
        let address: IpAddr = address.unwrap_or(text).parse().expect("an address");
        let (is_v6, bits, most) = match address {
            IpAddr::V4(address) => (false, u128::from(address.to_bits()) << 96, 32),
            IpAddr::V6(address) => (true, address.to_bits(), 128),
        };
        Self {
            is_v6,
            bits,
            prefix: prefix.map_or(most, |prefix| prefix.parse().expect("a prefix")),
        }
    }

    fn mask(self) -> u128 {
        u128::MAX.checked_shl(128 - self.prefix).unwrap_or(0)
    }

    fn is_within(self, other: &Self) -> bool {
        self.is_v6 == other.is_v6
            && self.prefix >= other.prefix
            && (self.bits ^ other.bits) & other.mask() == 0
    }

    /// The last address of the network.
    fn last(self) -> u128 {
        let host = if self.is_v6 {
            u128::MAX
        } else {
            u128::MAX << 96
        };
        self.bits | (!self.mask() & host)
    }
}

pub(super) fn holds(kind: Kind, operator: &str, stored: &Value, given: &Value) -> bool {
    let network = Network::of(text_of(stored));
    let within_any = |networks: &[&str]| {
        networks
            .iter()
            .any(|other| network.is_within(&Network::of(other)))
    };
    let is = match operator {
        "in_subnet" => return network.is_within(&Network::of(text_of(given))),
        "in_range" => {
            let [from, to] = ["from", "to"].map(|key| Network::of(text_of(&given[key])));
            let last = |network: Network| {
                if kind == Kind::Cidr {
                    network.last()
                } else {
                    network.bits
                }
            };
            return network.is_v6 == from.is_v6
                && network.bits >= from.bits
                && last(network) <= last(to);
        }
        "is_private" => within_any(&["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "fc00::/7"]),
        "is_loopback" => within_any(&["127.0.0.0/8", "::1"]),
        "is_ipv4" => !network.is_v6,
        _ => network.is_v6,
    };
    given.as_bool() == Some(is)
}
