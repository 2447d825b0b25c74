//! Native accounts: users with names and passwords, in PostgreSQL.
//!
//! [`MIGRATION`] makes the schema, [`NativeAuthFactory`] the provider, and [`create_auth_router`] the routes.
//! Passwords are hashed by Argon2id on threads of their own, and never leave the database. Refresh tokens are exchanged
//! once: one that comes again ends its session. The book's chapter "Accounts" has the routes in a table.

mod account;
mod attempt_limits;
mod attempts;
mod audit;
mod change;
mod client;
mod database;
mod error;
mod factory;
mod login;
mod mail;
mod mailer;
mod networks;
mod password;
mod provider;
mod refused;
mod repository;
mod routes;
mod tokens;
mod username;

pub use account::Account;
pub use attempt_limits::AttemptLimits;
pub use database::{AccountDatabase, MIGRATION, PostgresRevocationStore, PostgresUserRepository, Session};
pub use error::AccountError;
pub use factory::{NativeAuthError, NativeAuthFactory};
pub use mailer::{AccountMail, AccountMailer};
pub use password::{PasswordHash, PasswordHashing, PasswordRules};
pub use provider::NativeAuthProvider;
pub use repository::UserRepository;
pub use routes::create_auth_router;
pub use tokens::TokenPair;

use client::Client;
