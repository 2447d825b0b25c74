//! Addresses of networks and of devices on them.

use std::fmt::{self, Display};
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

use crate::scalar::library::ScalarError;
use crate::scalar::library::form::text_form;

/// The address of a host, with the network it is in: PostgreSQL's `inet`.
///
/// Canonical is the address alone when the prefix covers all of it, else `address/prefix`; IPv6 as
/// [RFC 5952](https://www.rfc-editor.org/rfc/rfc5952) writes it. The host's bits stay.
///
/// ```
/// use svc::scalar::Inet;
///
/// let host: Inet = "10.0.0.1/8".parse()?;
/// assert_eq!((host.ip().to_string(), host.prefix()), ("10.0.0.1".to_owned(), 8));
/// assert_eq!("2001:DB8:0:0::1/128".parse::<Inet>()?.to_string(), "2001:db8::1");
/// # Ok::<(), svc::scalar::ScalarError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Inet(IpNet);

impl Inet {
    /// Returns the address.
    #[must_use]
    pub fn ip(self) -> IpAddr {
        self.0.addr()
    }

    /// Returns the number of bits of the address that name its network.
    #[must_use]
    pub fn prefix(self) -> u8 {
        self.0.prefix_len()
    }

    /// Returns the network.
    #[must_use]
    pub fn network(self) -> Cidr {
        Cidr(self.0.trunc())
    }
}

impl From<IpAddr> for Inet {
    fn from(address: IpAddr) -> Self {
        Self(address.into())
    }
}

impl FromStr for Inet {
    type Err = ScalarError;
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let rule =
            "expected an IPv4 or IPv6 address (RFC 4291, RFC 5952), with or without `/prefix`";
        network(text)
            .map(Self)
            .ok_or_else(|| ScalarError::new(rule, text))
    }
}

impl Display for Inet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.prefix_len() == self.0.max_prefix_len() {
            self.0.addr().fmt(f)
        } else {
            self.0.fmt(f)
        }
    }
}

text_form!(
    Inet,
    description =
        "An IPv4 or IPv6 address, with `/prefix` when its network is narrower than the address.",
    specified_by = "https://www.rfc-editor.org/rfc/rfc5952",
    sql_type = "inet"
);

/// A network: PostgreSQL's `cidr`.
///
/// Canonical is always `address/prefix`. Bits to the right of the prefix must be zero
/// ([RFC 4632](https://www.rfc-editor.org/rfc/rfc4632)); an address alone is a network of one.
///
/// ```
/// use svc::scalar::Cidr;
///
/// let network: Cidr = "10.0.0.0/8".parse()?;
/// assert!(network.contains([10, 1, 2, 3].into()));
/// assert!("10.0.0.1/8".parse::<Cidr>().is_err());
/// # Ok::<(), svc::scalar::ScalarError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cidr(IpNet);

impl Cidr {
    /// Returns the first address.
    #[must_use]
    pub fn ip(self) -> IpAddr {
        self.0.addr()
    }

    /// Returns the number of bits that name the network.
    #[must_use]
    pub fn prefix(self) -> u8 {
        self.0.prefix_len()
    }

    /// Whether the address is in the network.
    #[must_use]
    pub fn contains(self, address: IpAddr) -> bool {
        self.0.contains(&address)
    }
}

impl FromStr for Cidr {
    type Err = ScalarError;
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let Some(network) = network(text) else {
            return Err(ScalarError::new(
                "expected a network as `address/prefix` (RFC 4632)",
                text,
            ));
        };

        if network.trunc() != network {
            let rule = "expected a network without bits set to the right of its prefix (RFC 4632)";
            return Err(ScalarError::new(rule, text));
        }

        Ok(Self(network))
    }
}

impl Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

text_form!(
    Cidr,
    description = "An IPv4 or IPv6 network as `address/prefix`.",
    specified_by = "https://www.rfc-editor.org/rfc/rfc4632",
    sql_type = "cidr"
);

/// The standard library reads the address, since it refuses octal-looking parts such as `010`.
pub(crate) fn network(text: &str) -> Option<IpNet> {
    let Some((address, prefix)) = text.split_once('/') else {
        return text.parse::<IpAddr>().ok().map(IpNet::from);
    };

    // `parse` also accepts a plus sign.
    let digits = prefix.bytes().all(|byte| byte.is_ascii_digit());
    IpNet::new(
        address.parse().ok()?,
        prefix.parse().ok().filter(|_| digits)?,
    )
    .ok()
}

/// The address of a network card: PostgreSQL's `macaddr` (48 bits) and `macaddr8` (64 bits).
///
/// Canonical is pairs of lower-case hexadecimal digits joined by colons, as PostgreSQL prints it.
/// Read are also the other forms that PostgreSQL reads: hyphens or dots between groups, and no
/// separators at all ([RFC 9542](https://www.rfc-editor.org/rfc/rfc9542)).
///
/// ```
/// use svc::scalar::MacAddress;
///
/// let address: MacAddress = "08-00-2B-01-02-03".parse()?;
/// assert_eq!(address.to_string(), "08:00:2b:01:02:03");
/// assert_eq!(address.as_bytes()[0], 8);
/// # Ok::<(), svc::scalar::ScalarError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MacAddress {
    bytes: [u8; 8],
    len: usize,
}

impl MacAddress {
    /// Returns the six or eight bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

impl From<[u8; 6]> for MacAddress {
    fn from([a, b, c, d, e, f]: [u8; 6]) -> Self {
        Self {
            bytes: [a, b, c, d, e, f, 0, 0],
            len: 6,
        }
    }
}

impl From<[u8; 8]> for MacAddress {
    fn from(bytes: [u8; 8]) -> Self {
        Self { bytes, len: 8 }
    }
}

impl FromStr for MacAddress {
    type Err = ScalarError;
    fn from_str(text: &str) -> Result<Self, ScalarError> {
        let rule = "expected a MAC address (EUI-48 or EUI-64) such as `08:00:2b:01:02:03`";
        mac_address(text).ok_or_else(|| ScalarError::new(rule, text))
    }
}

fn mac_address(text: &str) -> Option<MacAddress> {
    let separator = text.chars().find(|c| matches!(c, ':' | '-' | '.'));
    let groups: Vec<&str> =
        separator.map_or_else(|| vec![text], |separator| text.split(separator).collect());
    let size = groups[0].len();

    // PostgreSQL also reads `08002b:010203` and `0800.2b01.0203`, but no groups of other sizes.
    let even = groups.iter().all(|group| group.len() == size)
        && (separator.is_none() || matches!(size, 2 | 4 | 6));
    let digits: Vec<u8> = groups
        .concat()
        .chars()
        .map(|c| c.to_digit(16))
        .map(|digit| digit?.try_into().ok())
        .collect::<Option<_>>()?;

    if !even || !matches!(digits.len(), 12 | 16) {
        return None;
    }

    let mut bytes = [0; 8];
    for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
        *byte = pair[0] << 4 | pair[1];
    }

    Some(MacAddress {
        bytes,
        len: digits.len() / 2,
    })
}

impl Display for MacAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<String> = self
            .as_bytes()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        f.pad(&pairs.join(":"))
    }
}

text_form!(
    MacAddress,
    description = "The address of a network card, as pairs of hexadecimal digits joined by colons.",
    specified_by = "https://www.rfc-editor.org/rfc/rfc9542",
    // PostgreSQL reads addresses of 48 bits as this type too.
    sql_type = "macaddr8"
);
