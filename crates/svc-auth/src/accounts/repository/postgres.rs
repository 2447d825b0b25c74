//! Users in PostgreSQL.

use serde_json::{Value, json};
use uuid::Uuid;

use super::UserRepository;
use crate::accounts::database::functions;
use crate::accounts::{Account, AccountDatabase, AccountError, PasswordHash};

functions! {
    BY_USERNAME: "user_by_username($1)";
    BY_ID: "user_by_id($1)";
    BY_EMAIL: "user_by_email($1)";
    CREATE: "create_user($1, $2, $3)";
    SALT: "password_salt($1)";
    MATCHES: "password_matches($1, $2)";
    SET_PASSWORD: "set_password($1, $2, $3)";
    VERIFY_EMAIL: "verify_email($1, $2)";
    DELETE: "delete_user($1)";
}

/// Users in the schema `svc_auth` of PostgreSQL.
#[derive(Debug, Clone)]
pub struct PostgresUserRepository(AccountDatabase);

impl PostgresUserRepository {
    /// The users of a database.
    pub fn new(database: &AccountDatabase) -> Self {
        Self(database.clone())
    }
}

impl UserRepository for PostgresUserRepository {
    async fn get_user_by_username(&self, username: &str) -> Result<Option<Account>, AccountError> {
        account(self.0.read(&BY_USERNAME, vec![json!(username)]).await?)
    }

    async fn get_user_by_id(&self, user_id: Uuid) -> Result<Option<Account>, AccountError> {
        account(self.0.read(&BY_ID, vec![json!(user_id)]).await?)
    }

    async fn get_user_by_email(&self, email: &str) -> Result<Option<Account>, AccountError> {
        account(self.0.read(&BY_EMAIL, vec![json!(email)]).await?)
    }

    async fn create_user(
        &self,
        username: &str,
        hash: &PasswordHash,
        email: &str,
    ) -> Result<Account, AccountError> {
        let made = self
            .0
            .write(
                &CREATE,
                vec![json!(username), json!(hash.as_str()), json!(email)],
            )
            .await?;
        account(made)?.ok_or(AccountError::Taken)
    }

    async fn password_salt(&self, user_id: Uuid) -> Result<Option<String>, AccountError> {
        Ok(self
            .0
            .read(&SALT, vec![json!(user_id)])
            .await?
            .as_str()
            .map(str::to_owned))
    }

    async fn password_matches(
        &self,
        user_id: Uuid,
        hash: &PasswordHash,
    ) -> Result<bool, AccountError> {
        Ok(self
            .0
            .read(&MATCHES, vec![json!(user_id), json!(hash.as_str())])
            .await?
            == Value::Bool(true))
    }

    async fn set_password(
        &self,
        user_id: Uuid,
        hash: &PasswordHash,
        in_place_of: Option<&PasswordHash>,
    ) -> Result<bool, AccountError> {
        let args = vec![
            json!(user_id),
            json!(hash.as_str()),
            json!(in_place_of.map(PasswordHash::as_str)),
        ];
        Ok(self.0.write(&SET_PASSWORD, args).await? == Value::Bool(true))
    }

    async fn verify_email(&self, user_id: Uuid, email: &str) -> Result<bool, AccountError> {
        Ok(self
            .0
            .write(&VERIFY_EMAIL, vec![json!(user_id), json!(email)])
            .await?
            == Value::Bool(true))
    }

    async fn delete_user(&self, user_id: Uuid) -> Result<bool, AccountError> {
        Ok(self.0.write(&DELETE, vec![json!(user_id)]).await? == Value::Bool(true))
    }

    fn password_database(&self) -> Option<&AccountDatabase> {
        Some(&self.0)
    }
}

fn account(json: Value) -> Result<Option<Account>, AccountError> {
    serde_json::from_value(json).map_err(AccountError::unavailable)
}
