//! Converts a function's result to the JSON of the field's type.

use serde_json::json;

use super::acted_row::ActedRow;
use super::entity::{Entity, EntityType, entity, has_source, holds_status};
use super::given::own_id;
use super::member::{Member, entity_field, graphql_names};
use crate::graphql::complete::Unread;
use crate::graphql::plan::{Children, PlanField};
use crate::mutation_result::{Failure, Response, Status, StatusCheck};
use crate::repository::Db;
use svc_core::exact_json::{ExactJson, Fields};
use svc_core::schema::{FieldDef, Model, OnFailure, ResultMember, ResultMeta, TypeIndex};
use svc_core::{Error, ErrorCode};
use svc_postgres::{ArgForm, Call};

/// The field and type that the result of a function is converted for.
pub(crate) struct Target<'a> {
    /// The function, for messages.
    pub(crate) function: &'a str,
    /// The named type of the result, if the schema has it.
    pub(crate) ty: Option<TypeIndex>,
    /// Whether the result is a list.
    pub(crate) list: bool,
    /// The field that selects from the result; `None` selects everything.
    pub(crate) field: Option<&'a PlanField>,
    pub(crate) on_failure: OnFailure,
    /// The row that it acts on, if row policies apply to its type.
    pub(crate) acts_on: Option<ActedRow>,
}

/// The outcome of a call.
#[derive(Debug)]
pub(crate) struct CallOutcome {
    /// The JSON of the field's type.
    pub(crate) json: String,
    /// The part of it that could not be read.
    pub(crate) unread: Option<Unread>,
}

/// Calls a function, decides whether it succeeded, and returns the JSON of its value.
///
/// # Errors
/// A failure that the type cannot represent, and every error that the author of the function did
/// not declare.
pub(crate) async fn call_function(
    db: &Db,
    target: &Target<'_>,
    args: &[(ArgForm, Option<ExactJson>)],
) -> Result<CallOutcome, Error> {
    let model = &db.app.model;
    let result = target.ty.and_then(|ty| model.results.get(&ty).copied());
    let entity_has_status = target.entity_has_status(model, result);
    let check = (target.on_failure == OnFailure::Rollback).then_some(StatusCheck {
        entity_has_status,
        refuses_null: result.is_some(),
    });
    let call = Call {
        name: target.function,
        args,
        list: target.list,
        undone_if: check.map(StatusCheck::sql),
    };

    let called = match &target.acts_on {
        Some(row) => Box::pin(row.call(db, &call)).await,
        None => db.app.database.call(db.caller(), &call).await,
    };

    let called = match called {
        Ok(called) => called,
        Err(error) => {
            let failure = Failure::of_error(error, &db.app.constraints)?;
            let response = Response::default();
            return Box::pin(fail_undone(db, target, result, failure, &response)).await;
        }
    };

    let Some(response) = Response::read(&called.json, entity_has_status)? else {
        return plain(db, target, result, called.json).await;
    };

    if called.kept && check.is_some() && Status::read(&response.status) != Status::Success {
        report_kept(db, target.function);
    }

    match Status::read(&response.status) {
        Status::Success if !called.kept => Err(Error::internal(format!(
            "the call of `{}` was undone, though it succeeded",
            target.function
        ))),
        Status::Success => Box::pin(succeed(db, target, result, &response)).await,
        Status::Failure(kind, identifier) => {
            let failure = Failure::of_response(kind, identifier, &response);
            if called.kept {
                Box::pin(fail(db, target, result, failure, &response)).await
            } else {
                Box::pin(fail_undone(db, target, result, failure, &response)).await
            }
        }
        // Not a success by default: a misspelled failure would otherwise pass as one.
        Status::Unknown => Err(target.unknown_status(&response.status)),
    }
}

/// Reports a failing call whose writes are kept.
fn report_kept(db: &Db, function: &str) {
    db.app.database.may_have_changed();
    tracing::error!(
        function,
        "a failed call was not rolled back: its return type has changed"
    );
}

/// Completes a result without a status, which is the entity itself.
async fn plain(
    db: &Db,
    target: &Target<'_>,
    result: Option<&'static ResultMeta>,
    answer: String,
) -> Result<CallOutcome, Error> {
    let Some(result) = result else {
        // Without a view there are no further fields to read, so the result is the value as it is.
        if !target.ty.is_some_and(|ty| has_source(&db.app.model, ty)) {
            return Ok(CallOutcome {
                json: answer,
                unread: None,
            });
        }

        let response = Response {
            entity: Some(serde_json::from_str(&answer)?),
            ..Response::default()
        };

        return Box::pin(succeed(db, target, None, &response)).await;
    };

    if answer == "null" {
        return Err(Error::internal(format!(
            "the function `{}` answered with nothing",
            target.function
        )));
    }

    let entity = serde_json::from_str(&answer)?;
    let response = Response {
        status: "success".to_owned(),
        entity: Some(entity),
        ..Response::default()
    };

    Box::pin(success(db, target, result, &response)).await
}

/// Returns the value of a success.
///
/// # Errors
/// If the written rows cannot be read, and there is no member of a result to report that.
pub(crate) async fn succeed(
    db: &Db,
    target: &Target<'_>,
    result: Option<&'static ResultMeta>,
    response: &Response<'_>,
) -> Result<CallOutcome, Error> {
    if let Some(result) = result {
        return success(db, target, result, response).await;
    }

    let Entity { json, unread } = match target.ty {
        Some(ty) => {
            let selected = target.field.map(|field| vec![&field.children]);
            let entity = entity(
                db,
                EntityType {
                    ty,
                    list: target.list,
                },
                response,
                selected,
            )
            .await;

            entity.map_err(|error| response.identify(error))?
        }
        None => Entity::whole(response.entity.map(|raw| raw.get().to_owned())),
    };

    let unread = unread.map(|values| Unread::Values {
        field: None,
        values,
    });

    Ok(CallOutcome {
        json: json.unwrap_or_else(|| "null".to_owned()),
        unread,
    })
}

async fn success(
    db: &Db,
    target: &Target<'_>,
    result: &'static ResultMeta,
    response: &Response<'_>,
) -> Result<CallOutcome, Error> {
    let meta = &result.success;
    let (entity, unread) = target.entity(db, meta, response).await;
    let id_of_entity = || entity.as_deref().and_then(own_id);
    let id = response
        .entity_id
        .as_ref()
        .map(|id| json!(id).to_string())
        .or_else(id_of_entity);

    let ty = entity_field(&db.app.model, meta).map(|field| field.ty.named());
    let updated = response
        .updated_fields
        .as_ref()
        .map(|fields| graphql_names(&db.app.model, ty, fields));
    let automatic = [
        ("status", json!(response.status).to_string()),
        ("message", json!(response.message).to_string()),
        ("updated_fields", json!(updated).to_string()),
        ("id", id.unwrap_or_else(|| "null".to_owned())),
    ];

    let member = Member {
        meta,
        automatic,
        entity,
        response,
        extensions: &Fields::default(),
    };

    Ok(CallOutcome {
        json: member.write(&db.app.model),
        unread,
    })
}

/// Returns the value of a failure.
///
/// # Errors
/// The failure, if the type cannot represent it, and in an operation with `@atomic`.
pub(crate) async fn fail(
    db: &Db,
    target: &Target<'_>,
    result: Option<&'static ResultMeta>,
    failure: Failure,
    response: &Response<'_>,
) -> Result<CallOutcome, Error> {
    // A failure undoes an operation with `@atomic`, whose data is then null.
    let Some(result) = result.filter(|_| !db.is_enclosed()) else {
        return Err(failure.into_error());
    };

    let meta = &result.error;
    let (entity, unread) = target.entity(db, meta, response).await;
    let automatic = [
        ("status", json!(failure.status).to_string()),
        ("message", json!(failure.message).to_string()),
        ("code", failure.code().to_string()),
        ("errors", failure.errors_json().to_string()),
    ];

    let member = Member {
        meta,
        automatic,
        entity,
        response,
        extensions: &failure.extensions,
    };

    Ok(CallOutcome {
        json: member.write(&db.app.model),
        unread,
    })
}

/// Returns the value of a failure whose call was undone.
///
/// # Errors
/// The failure, if the type cannot represent it.
async fn fail_undone(
    db: &Db,
    target: &Target<'_>,
    result: Option<&'static ResultMeta>,
    failure: Failure,
    response: &Response<'_>,
) -> Result<CallOutcome, Error> {
    // A failed transaction reads nothing more.
    let db = db.without_transaction();
    fail(&db, target, result, failure, response).await
}

impl Target<'_> {
    /// Whether the entity may have a `status` that is not the status of a response.
    fn entity_has_status(&self, model: &Model, result: Option<&'static ResultMeta>) -> bool {
        match result {
            Some(result) => entity_field(model, &result.success)
                .is_some_and(|field| holds_status(model, field.ty.named())),
            None => self.ty.is_none_or(|ty| holds_status(model, ty)),
        }
    }

    /// The error of a status that has no meaning.
    fn unknown_status(&self, status: &str) -> Error {
        Error::internal(format!(
            "the function `{}` answered with the status {status:?}, which is neither a word of success nor a kind of failure",
            self.function
        ))
    }

    /// The entity of a member, if the client selects it, or the reason why a required one is
    /// missing.
    async fn entity(
        &self,
        db: &Db,
        member: &ResultMember,
        response: &Response<'_>,
    ) -> (Option<String>, Option<Unread>) {
        let Some(field) = entity_field(&db.app.model, member)
            .filter(|own| self.asks_for(&db.app.model, member, own))
        else {
            return (response.entity.map(|raw| raw.get().to_owned()), None);
        };

        let ty = EntityType {
            ty: field.ty.named(),
            list: field.ty.is_list(),
        };

        let error = match entity(
            db,
            ty,
            response,
            self.selected(&db.app.model, member, field),
        )
        .await
        {
            Ok(Entity { json: None, .. }) if field.ty.is_non_null() => {
                let message = format!(
                    "Cannot return null for non-nullable field {}.{}.",
                    member.name, field.name
                );
                let cause = format!(
                    "`{}` gave no entity, and the status {:?}",
                    self.function, response.status
                );
                Error::new(ErrorCode::InternalServerError, message).with_source(cause)
            }

            Ok(Entity { json, unread }) => {
                let field = Some(field.name.clone());
                return (json, unread.map(|values| Unread::Values { field, values }));
            }

            Err(error) => error,
        };

        (
            None,
            Some(Unread::Entity {
                field: field.name.clone(),
                error: response.identify(error),
            }),
        )
    }

    fn asks_for(&self, model: &Model, member: &ResultMember, own: &FieldDef) -> bool {
        let Some(field) = self.field else { return true };
        let selection = model
            .type_named(member.name)
            .and_then(|(index, _)| field.children.of(index));

        // A method of the member may read it.
        selection.is_some_and(|selection| {
            selection.needs_whole_rows()
                || selection.fields.iter().any(|field| field.name == own.name)
        })
    }

    /// Returns the selections below the member's entity; `None` is everything.
    fn selected(
        &self,
        model: &Model,
        member: &ResultMember,
        own: &FieldDef,
    ) -> Option<Vec<&Children>> {
        let selection = self.field?.children.of(model.type_named(member.name)?.0)?;
        if selection.needs_whole_rows() {
            return None;
        }

        let entities = selection
            .fields
            .iter()
            .filter(|field| field.name == own.name);

        Some(entities.map(|field| &field.children).collect())
    }
}
