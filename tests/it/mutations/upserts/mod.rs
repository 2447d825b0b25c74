//! Upserts where the value that is stored differs from the one that is given.

mod kinds;
mod random;
mod stored;
mod twins;
