//! Native accounts: users with names and passwords, in PostgreSQL.

mod account;
mod audit;
mod body_reader;
mod client;
mod database;
mod error;
mod mailer;
mod password;
mod provider;
mod refused;
mod repository;
mod routes;
mod tokens;
mod username;

pub use account::Account;
pub use body_reader::BodyReader;
pub use database::{AccountDatabase, MIGRATION, PostgresRevocationStore, Session};
pub use error::AccountError;
pub use mailer::{AccountMail, AccountMailer};
pub use password::{BreachedPasswords, PasswordHash, PasswordHashing, PasswordRules};
pub use provider::{AttemptLimits, NativeAuthError, NativeAuthFactory, NativeAuthProvider};
pub use repository::{PostgresUserRepository, UserRepository};
pub use routes::create_auth_router;
pub use routes::identify_users;
pub use tokens::TokenPair;

use client::Client;
