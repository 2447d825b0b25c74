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
    /// So many of the server's instructions.
    Count(f64),
    /// So many microseconds of the server's CPU time.
    Server(f64),
}

/// The cost that a variant adds to that of another.
#[derive(Clone, Copy)]
pub(crate) struct Added {
    /// CPU time of server and PostgreSQL, as a part of the other's; or microseconds of the server's, where these are
    /// bounded.
    pub(crate) time: f64,
    pub(crate) instructions: f64,
}

impl Most {
    /// Whether it is passed by what is added.
    pub(crate) fn is_passed(self, added: Added) -> bool {
        match self {
            Self::Time(most) | Self::Server(most) => added.time > most,
            Self::Count(most) => added.instructions > most,
        }
    }

    pub(crate) fn shown(self) -> String {
        match self {
            Self::Time(most) => format!("{:+.0} %", most * 100.0),
            Self::Count(most) => format!("{most:+.0} instructions"),
            Self::Server(most) => format!("{most:+.0} µs"),
        }
    }
}
