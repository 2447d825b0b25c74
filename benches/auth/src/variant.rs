//! A way of asking, and the most that it may cost beside another.

use testbed::Request;

/// A server's settings, and the requests that it gets in turn.
pub(crate) struct Variant {
    pub(crate) name: &'static str,
    pub(crate) settings: Vec<(&'static str, &'static str)>,
    pub(crate) requests: Vec<Request>,
    /// The most that it may cost above another.
    pub(crate) limit: Option<Limit>,
}

/// A bound on the cost.
#[derive(Clone, Copy)]
pub(crate) struct Limit {
    /// The position of the variant that it is compared with.
    pub(crate) beside: usize,
    pub(crate) most: Most,
}

/// The most that may be added.
#[derive(Clone, Copy)]
pub(crate) enum Most {
    /// Of CPU time, as a part of the other's.
    Time(f64),
    /// So many microseconds of the server's CPU time.
    Server(f64),
}

impl Most {
    /// Whether it is passed by what is added, in its own unit.
    pub(crate) fn is_passed(self, added: f64) -> bool {
        match self {
            Self::Time(most) | Self::Server(most) => added > most,
        }
    }

    pub(crate) fn shown(self) -> String {
        match self {
            Self::Time(most) => format!("{:+.0} %", most * 100.0),
            Self::Server(most) => format!("{most:+.0} µs"),
        }
    }
}
