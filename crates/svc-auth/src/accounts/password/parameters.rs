//! The cost of password hashes.

use argon2::{Algorithm, Argon2, Params, Version};

/// The cost of hashing a password with Argon2id, and the number of concurrent hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PasswordHashing {
    /// The memory of a hash in KiB; at least 8.
    pub memory: u32,
    /// The number of passes over that memory; at least 1.
    pub passes: u32,
    /// The maximum number of concurrent hashes, each on a thread of low priority.
    pub threads: usize,
    /// The maximum number of hashes waiting for their turn; further requests get 503.
    pub queue: usize,
}

/// The recommendation of OWASP (Password Storage Cheat Sheet): 19 MiB, two passes. Half of the
/// machine's cores are used.
impl Default for PasswordHashing {
    fn default() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            memory: Params::DEFAULT_M_COST,
            passes: Params::DEFAULT_T_COST,
            threads: cores.div_ceil(2),
            queue: 256,
        }
    }
}

/// The maximum memory that a stored hash may require, in KiB: a tampered row must not exhaust it.
const MAX_MEMORY: u32 = 1 << 20;
const MAX_PASSES: u32 = 64;

/// The parameters of one hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Parameters {
    pub(super) memory: u32,
    pub(super) passes: u32,
    pub(super) lanes: u32,
}

impl PasswordHashing {
    pub(super) fn parameters(self) -> Parameters {
        Parameters {
            memory: self.memory.clamp(Params::MIN_M_COST, MAX_MEMORY),
            passes: self.passes.clamp(Params::MIN_T_COST, MAX_PASSES),
            lanes: Params::DEFAULT_P_COST,
        }
    }
}

impl Parameters {
    /// Parses `m=19456,t=2,p=1`.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut parts = text.split(',');
        let mut next = |name: &str| parts.next()?.strip_prefix(name)?.parse().ok();
        let read = Self {
            memory: next("m=")?,
            passes: next("t=")?,
            lanes: next("p=")?,
        };

        (parts.next().is_none() && read.memory <= MAX_MEMORY && read.passes <= MAX_PASSES)
            .then_some(read)
    }

    /// Whether a hash with these parameters is weaker than one with the others.
    pub(super) fn is_below(self, other: Self) -> bool {
        self.memory < other.memory || self.passes < other.passes
    }

    /// The algorithm; `None` if it does not accept these parameters.
    pub(super) fn argon2(self) -> Option<Argon2<'static>> {
        let params = Params::new(self.memory, self.passes, self.lanes, None).ok()?;
        Some(Argon2::new(Algorithm::Argon2id, Version::V0x13, params))
    }
}

impl std::fmt::Display for Parameters {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "m={},t={},p={}", self.memory, self.passes, self.lanes)
    }
}
