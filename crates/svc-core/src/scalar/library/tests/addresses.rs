//! Addresses of networks, hosts, people and pages.

use super::check;
use crate::scalar::library::{Cidr, EmailAddress, Hostname, Inet, MacAddress, Url};

#[test]
fn network_addresses_are_canonical() {
    check::<Inet>(
        &[
            ("10.0.0.1", "10.0.0.1"),
            ("10.0.0.1/32", "10.0.0.1"),
            ("10.0.0.1/8", "10.0.0.1/8"),
            ("2001:DB8:0:0:0:0:0:1", "2001:db8::1"),
            ("2001:db8::1/64", "2001:db8::1/64"),
            ("::ffff:10.0.0.1/128", "::ffff:10.0.0.1"),
        ],
        "IPv4 or IPv6 address",
        &[
            "",
            "10.0.0",
            "10.0.0.256",
            "010.0.0.1",
            "10.0.0.1/33",
            "10.0.0.1/",
            "10.0.0.1/+8",
            "::1%eth0",
            " ::1",
        ],
    );

    check::<Cidr>(
        &[
            ("10.0.0.0/8", "10.0.0.0/8"),
            ("10.0.0.1", "10.0.0.1/32"),
            ("2001:DB8::/32", "2001:db8::/32"),
        ],
        "(RFC 4632)",
        &["", "10.0.0.1/8", "10.0.0.0/33", "10/8"],
    );

    assert_eq!(
        "10.0.0.1/8".parse::<Inet>().unwrap().network().to_string(),
        "10.0.0.0/8"
    );

    check::<MacAddress>(
        &[
            ("08:00:2b:01:02:03", "08:00:2b:01:02:03"),
            ("08-00-2B-01-02-03", "08:00:2b:01:02:03"),
            ("08002b:010203", "08:00:2b:01:02:03"),
            ("0800.2b01.0203", "08:00:2b:01:02:03"),
            ("08002b010203", "08:00:2b:01:02:03"),
            ("08:00:2b:ff:fe:01:02:03", "08:00:2b:ff:fe:01:02:03"),
        ],
        "MAC address",
        &[
            "",
            "08:00:2b:01:02",
            "08:00:2b:01:02:0g",
            "08:00-2b:01:02:03",
            "0:800:2b01:02:03",
            "08:00:2b:01:02:é",
        ],
    );
}

#[test]
fn host_addresses_are_canonical() {
    let long = format!("{}.example", "a".repeat(64));
    check::<Hostname>(
        &[
            ("localhost", "localhost"),
            ("A-1.Example", "a-1.example"),
            ("bücher.example", "xn--bcher-kva.example"),
        ],
        "(RFC 1123)",
        &[
            "",
            ".",
            "a..b",
            "-a.example",
            "a-.example",
            "a_b.example",
            "10.0.0.1",
            "example.",
            "ü%41.example",
            &long,
        ],
    );

    check::<EmailAddress>(
        &[
            ("Ada@Example.COM", "Ada@example.com"),
            ("a.b+c@sub.example.com", "a.b+c@sub.example.com"),
            ("zoë@bücher.example", "zoë@xn--bcher-kva.example"),
        ],
        "(RFC 5321)",
        &[
            "",
            "ada",
            "@example.com",
            "a@",
            "a..b@example.com",
            "a b@example.com",
            "a@b@example.com",
            "a@10.0.0.1",
            "Ada <ada@example.com>",
            "a@exa!mple.com",
            &format!("{}@example.com", "a".repeat(65)),
        ],
    );

    check::<Url>(
        &[
            ("HTTPS://Example.com:443/a/../b", "https://example.com/b"),
            ("mailto:ada@example.com", "mailto:ada@example.com"),
            (
                "http://bücher.example/ü",
                "http://xn--bcher-kva.example/%C3%BC",
            ),
        ],
        "expected an absolute URL (URL Standard: ",
        &["", "/path", "example.com", "http://", "http://[::1"],
    );
}
