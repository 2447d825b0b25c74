//! Native accounts: users with names and passwords, in PostgreSQL.
//!
//! [`MIGRATION`] creates the schema, [`NativeAuthFactory`] the provider, and [`create_auth_router`]
//! the routes. Passwords are hashed with Argon2id on separate threads, and hashes never leave the
//! database. A refresh token can be exchanged once: using it again ends its session. The chapter
//! "Accounts" of the book has a table of the routes.

mod account;
mod audit;
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
pub use database::{
    AccountDatabase, MIGRATION, PostgresRevocationStore, PostgresUserRepository, Session,
};
pub use error::AccountError;
pub use mailer::{AccountMail, AccountMailer};
pub use password::{PasswordHash, PasswordHashing, PasswordRules};
pub use provider::{AttemptLimits, NativeAuthError, NativeAuthFactory, NativeAuthProvider};
pub use repository::UserRepository;
pub use routes::create_auth_router;
pub(crate) use routes::identify_users;
pub use tokens::TokenPair;

use client::Client;
