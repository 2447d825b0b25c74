//! The handlers of the routes.

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use uuid::Uuid;

use super::body::{Json, Sender};
use super::reply::{done, registered, reply};
use super::token::Access;
use crate::accounts::NativeAuthProvider;
use crate::accounts::audit::{self, Event};
use crate::accounts::refused::Refused;

type Provider = State<NativeAuthProvider>;
type Answer = Result<Response, Refused>;

#[derive(Deserialize)]
pub(super) struct Registration {
    username: String,
    password: String,
    email: String,
}

pub(super) async fn register(State(provider): Provider, request: Json<Registration>) -> Answer {
    let Registration {
        username,
        password,
        email,
    } = request.body;

    request.cookie.check()?;
    let (account, tokens) = provider
        .register(&username, &password, &email, &request.client)
        .await?;
    request.cookie.renew()?;

    Ok(registered(&account, &tokens))
}

#[derive(Deserialize)]
pub(super) struct Credentials {
    username: String,
    password: String,
}

pub(super) async fn login(State(provider): Provider, request: Json<Credentials>) -> Answer {
    let Credentials { username, password } = request.body;
    request.cookie.check()?;
    let tokens = provider
        .login(&username, &password, &request.client)
        .await?;
    request.cookie.renew()?;
    Ok(reply(StatusCode::OK, &tokens))
}

#[derive(Deserialize)]
pub(super) struct Refresh {
    refresh_token: String,
}

pub(super) async fn refresh(State(provider): Provider, request: Json<Refresh>) -> Answer {
    Ok(reply(
        StatusCode::OK,
        &provider
            .refresh(&request.body.refresh_token, &request.client)
            .await?,
    ))
}

pub(super) async fn logout(
    State(provider): Provider,
    Access(token): Access,
    Sender(client, cookie): Sender,
) -> Answer {
    provider.end_session(&token).await?;
    cookie.clear()?;
    audit::note(Event::LoggedOut, Some(token.user_id), &client);
    Ok(done(StatusCode::OK, "logged out"))
}

pub(super) async fn logout_all(
    State(provider): Provider,
    Access(token): Access,
    Sender(client, cookie): Sender,
) -> Answer {
    provider.end_all(token.user_id).await?;
    cookie.clear()?;
    audit::note(Event::LoggedOutEverywhere, Some(token.user_id), &client);
    Ok(done(StatusCode::OK, "logged out everywhere"))
}

pub(super) async fn me(State(provider): Provider, Access(token): Access) -> Answer {
    Ok(reply(
        StatusCode::OK,
        &json!({ "user": provider.account_of(&token).await? }),
    ))
}

#[derive(Deserialize)]
pub(super) struct Confirmation {
    password: String,
}

pub(super) async fn delete_me(
    State(provider): Provider,
    Access(token): Access,
    request: Json<Confirmation>,
) -> Answer {
    request.cookie.check()?;
    provider
        .delete(&token, &request.body.password, &request.client)
        .await?;
    request.cookie.clear()?;
    Ok(done(StatusCode::OK, "the account is deleted"))
}

pub(super) async fn sessions(State(provider): Provider, Access(token): Access) -> Answer {
    let sessions = provider.0.database.sessions(token.user_id).await?;
    let sessions = sessions.iter().map(|session| {
        let mut described = json!(session);
        described["current"] = json!(session.id == token.session);
        described
    });

    Ok(reply(
        StatusCode::OK,
        &json!({ "sessions": sessions.collect::<Vec<_>>() }),
    ))
}

pub(super) async fn end_session(
    State(provider): Provider,
    Access(token): Access,
    Path(session): Path<String>,
    Sender(client, cookie): Sender,
) -> Answer {
    let session = Uuid::parse_str(&session).map_err(|_| Refused::NoSession)?;

    // The user is part of the condition, so a session of another user is as unknown as none.
    if !provider
        .0
        .database
        .end_session(token.user_id, session)
        .await?
    {
        return Err(Refused::NoSession);
    }

    provider.revoke_session(session).await?;
    if session == token.session {
        cookie.clear()?;
    }

    audit::note(Event::SessionEnded, Some(token.user_id), &client);

    Ok(done(StatusCode::OK, "the session has ended"))
}

#[derive(Deserialize)]
pub(super) struct Change {
    current_password: String,
    new_password: String,
}

pub(super) async fn change_password(
    State(provider): Provider,
    Access(token): Access,
    request: Json<Change>,
) -> Answer {
    let Change {
        current_password,
        new_password,
    } = request.body;

    request.cookie.check()?;
    let tokens = provider
        .change_password(&token, &current_password, &new_password, &request.client)
        .await?;
    request.cookie.renew()?;

    Ok(reply(StatusCode::OK, &tokens))
}

#[derive(Deserialize)]
pub(super) struct Forgotten {
    email: String,
}

pub(super) async fn forgot_password(State(provider): Provider, request: Json<Forgotten>) -> Answer {
    provider
        .forgot_password(&request.body.email, &request.client)
        .await?;
    Ok(done(
        StatusCode::ACCEPTED,
        "if there is an account with this address, a mail is on its way",
    ))
}

#[derive(Deserialize)]
pub(super) struct Reset {
    token: String,
    password: String,
}

pub(super) async fn reset_password(State(provider): Provider, request: Json<Reset>) -> Answer {
    request.cookie.check()?;
    provider
        .reset_password(&request.body.token, &request.body.password, &request.client)
        .await?;
    request.cookie.renew()?;
    Ok(done(StatusCode::OK, "the password is set; log in with it"))
}

pub(super) async fn send_verification(
    State(provider): Provider,
    Access(token): Access,
    Sender(client, _): Sender,
) -> Answer {
    provider.send_verification(&token, &client).await?;
    Ok(done(
        StatusCode::ACCEPTED,
        "a mail is on its way unless the address is verified",
    ))
}

#[derive(Deserialize)]
pub(super) struct Verification {
    token: String,
}

pub(super) async fn verify_email(State(provider): Provider, request: Json<Verification>) -> Answer {
    provider
        .verify_email(&request.body.token, &request.client)
        .await?;
    Ok(done(StatusCode::OK, "the address is verified"))
}
