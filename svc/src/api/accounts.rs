//! Native accounts: users with names and passwords, in PostgreSQL.
//!
//! [`MIGRATION`] creates the schema, [`NativeAuthFactory`] the provider, and [`create_auth_router`]
//! the routes. Passwords are hashed with Argon2id on separate threads, and hashes never leave the
//! database. A refresh token can be exchanged once: using it again ends its session. The chapter
//! "Accounts" of the book has a table of the routes.

#[doc(inline)]
pub use svc_auth::accounts::{
    Account, AccountDatabase, AccountError, AccountMail, AccountMailer, AttemptLimits,
    BreachedPasswords, MIGRATION, NativeAuthError, NativeAuthFactory, NativeAuthProvider,
    PasswordHash, PasswordHashing, PasswordRules, PostgresRevocationStore, PostgresUserRepository,
    Session, TokenPair, UserRepository, create_auth_router,
};
