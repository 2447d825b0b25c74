//! Tokens that end before their time.

mod config;
mod memory;
mod service;
mod store;
mod token;

pub use config::RevocationConfig;
pub use memory::MemoryRevocationStore;
pub use service::TokenRevocationService;
pub use store::RevocationStore;
pub use token::RevocableToken;
