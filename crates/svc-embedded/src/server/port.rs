//! A free port on loopback.

use std::{
    hash::{BuildHasher, RandomState},
    net::{Ipv4Addr, TcpListener},
    ops::Range,
};

/// Below Linux's range for outgoing connections (32768 to 60999), so that none of them takes the
/// port between two starts.
const RANGE: Range<u16> = 20_000..32_768;

/// Returns a free TCP port of 127.0.0.1 between 20000 and 32767; `None` if there is none.
///
/// Use it for a server that can't choose its port, or that restarts on the same port: Linux doesn't
/// use these ports for outgoing connections. The search starts at a random port, so programs that
/// start at the same time seldom find the same one.
///
/// ```
/// let port = svc_embedded::free_port().expect("a port");
/// std::net::TcpListener::bind(("127.0.0.1", port))?;
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn free_port() -> Option<u16> {
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
        // Another program may take one of the ports first.
        let is_free = (0..100).any(|_| {
            let port = free_port().unwrap();
            assert!(RANGE.contains(&port));
            TcpListener::bind((Ipv4Addr::LOCALHOST, port)).is_ok()
        });
        assert!(is_free);
    }
}
