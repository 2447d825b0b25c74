//! Token revocation.

mod config;
mod memory;
#[cfg(feature = "redis")]
mod redis;
mod service;
mod several;
mod store;
mod token;

pub use config::RevocationConfig;
pub use memory::MemoryRevocationStore;
#[cfg(feature = "redis")]
pub use redis::RedisRevocationStore;
pub use service::TokenRevocationService;
pub use store::RevocationStore;
pub use token::RevocableToken;
