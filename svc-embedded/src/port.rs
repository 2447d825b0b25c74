//! A free port on loopback.

use std::{
    hash::{BuildHasher, RandomState},
    net::{Ipv4Addr, TcpListener},
    ops::Range,
};

/// Below the range that Linux hands to outgoing connections (32768 to 60999), so that none of
/// those takes the port between two starts.
const RANGE: Range<u16> = 20_000..32_768;

/// A port that nobody listens on now. It begins at a random one, so that programs that start at
/// the same time seldom choose the same.
pub(crate) fn free() -> Option<u16> {
    let count = u64::from(RANGE.end - RANGE.start);
    let first = RandomState::new().hash_one(()) % count;
    (0..count)
        .filter_map(|step| u16::try_from((first + step) % count).ok())
        .map(|offset| RANGE.start + offset)
        .find(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_in_the_range_and_free() {
        let port = free().unwrap();
        assert!(RANGE.contains(&port));
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
    }
}
