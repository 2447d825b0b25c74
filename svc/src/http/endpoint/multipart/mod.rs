//! Requests with files: the multipart request specification,
//! <https://github.com/jaydenseric/graphql-multipart-request-spec>.
//!
//! The fields come in a fixed order: `operations`, `map`, and then the files, which are written to
//! temporary files while they arrive. The operation starts when all files have arrived.

mod map;
mod store;

use std::net::IpAddr;

use axum::BoxError;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, StatusCode, header};
use futures_util::Stream;
use multer::{Constraints, Field, Multipart, SizeLimit};
use uuid::Uuid;

use self::map::FileMap;
use self::store::store;
use super::parameters;
use crate::http::protection::is_preflighted;
use crate::http::reply::Refusal;
use crate::http::{HttpState, body};
use svc_core::ErrorCode;
use svc_core::exact_json::ExactJson;
use svc_engine::graphql::Request;
use svc_engine::request::{AllowedOperations, RequestParts, Transport};
use svc_engine::upload::{UploadConfig, UploadedFiles};

/// Returns the upload limits, if uploads are enabled and the media type of the request is
/// multipart. Files are for mutations, so `QUERY` sends none.
pub(in crate::http) fn wanted<'a>(
    service: &'a HttpState,
    parts: &RequestParts,
) -> Option<&'a UploadConfig> {
    let takes = matches!(
        parts.transport,
        Transport::HttpPost | Transport::EventStream
    ) && parts.allowed != AllowedOperations::QueriesAndSubscriptions;
    service
        .uploads
        .as_ref()
        .filter(|_| takes && boundary(&parts.headers).is_some())
}

fn boundary(headers: &HeaderMap) -> Option<String> {
    multer::parse_boundary(headers.get(header::CONTENT_TYPE)?.to_str().ok()?).ok()
}

/// Receives a request with files, which are then in its parts. The client determines how long that
/// takes, so the request holds no permit meanwhile.
pub(in crate::http) async fn receive(
    service: &HttpState,
    config: &UploadConfig,
    mut parts: RequestParts,
    body: Body,
    address: Option<IpAddr>,
) -> Result<(Request<'static>, RequestParts), Refusal> {
    let headers = &parts.headers;

    // A form could send it too, if protection against forged requests is switched off.
    if !is_preflighted(headers) {
        let message =
            "a form of any site could send files; send them with the header `GraphQL-Preflight: 1`";
        return Err(Refusal::new(
            StatusCode::FORBIDDEN,
            ErrorCode::CsrfProtectionFailed,
            message,
        ));
    }

    if body::at_least(&body) > config.max_size {
        return Err(too_large(format!(
            "the request is larger than {} bytes",
            config.max_size
        )));
    }

    // The files go to disk, so their bytes do not count as memory; the number of such bodies does.
    let pending = service.protection.pending_bodies.register(address);
    let limit = service.engine.app.limits.body;
    let received = tokio::time::timeout(
        config.timeout,
        read(config, headers, body::parts(body, &pending), limit),
    );
    let Ok(received) = pending.arrive(received).await? else {
        let message = "the files took too long to arrive";
        return Err(Refusal::new(
            StatusCode::REQUEST_TIMEOUT,
            ErrorCode::Timeout,
            message,
        ));
    };

    let (request, files) = received?;
    parts.extensions.to_mut().insert(files);

    Ok((request, parts))
}

async fn read(
    config: &UploadConfig,
    headers: &HeaderMap,
    body: impl Stream<Item = Result<Bytes, BoxError>> + Send,
    limit: usize,
) -> Result<(Request<'static>, UploadedFiles), Refusal> {
    let boundary = boundary(headers).ok_or_else(|| bad_request("the body has no boundary"))?;
    let limit = limit as u64;
    let sizes = SizeLimit::new()
        .whole_stream(config.max_size)
        .for_field("operations", limit)
        .for_field("map", limit);
    let constraints = Constraints::new().size_limit(sizes.per_field(config.max_file_size));
    let mut parts = Multipart::with_constraints(body, boundary, constraints);
    let operations = json(&mut parts, "operations").await?;
    let map = json(&mut parts, "map").await?;
    let ExactJson::Object(mut operation) = operations else {
        return Err(Refusal::not_a_request(
            "`operations` must be a JSON object with `query`; a batch has no files",
        ));
    };

    let request = Uuid::new_v4();
    let mut files = FileMap::read(map, config.max_files)?;

    // Before the files are read: a mistake in `map` is then found before anything is written to
    // disk.
    files.put_into(&mut operation, |index| UploadedFiles::value(request, index))?;

    while let Some(field) = parts.next_field().await.map_err(refused)? {
        let index = files.expected(field.name().unwrap_or_default())?;
        let file = store(field, config).await?;
        files.arrived(index, file);
    }

    let files = files.into_files()?;

    Ok((
        parameters::from_fields(operation)?,
        UploadedFiles::new(request, files),
    ))
}

/// Reads the next field, which must have this name and contain JSON.
async fn json(parts: &mut Multipart<'_>, name: &str) -> Result<ExactJson, Refusal> {
    let field: Option<Field<'_>> = parts.next_field().await.map_err(refused)?;
    let field = field.filter(|field| field.name() == Some(name));
    let missing = || {
        bad_request(format!(
            "the fields must be `operations`, `map` and the files; `{name}` is missing"
        ))
    };

    let text = field.ok_or_else(missing)?.bytes().await.map_err(refused)?;
    let text = std::str::from_utf8(&text)
        .ok()
        .and_then(|text| ExactJson::read(text).ok());

    text.ok_or_else(|| bad_request(format!("`{name}` is not JSON")))
}

/// Returns the rejection of a body that cannot be read.
fn refused(error: multer::Error) -> Refusal {
    match error {
        multer::Error::StreamSizeExceeded { limit } => {
            too_large(format!("the request is larger than {limit} bytes"))
        }
        multer::Error::FieldSizeExceeded { limit, field_name } => {
            let name = field_name.as_deref().map_or("a field", |name| name);
            too_large(format!(
                "`{}` is larger than {limit} bytes",
                svc_core::exact_json::shorten(name)
            ))
        }
        multer::Error::StreamReadFailed(_) => bad_request("the body could not be read"),
        _ => bad_request("the body is not multipart/form-data, or not all of it"),
    }
}

fn bad_request(message: impl Into<String>) -> Refusal {
    Refusal::new(StatusCode::BAD_REQUEST, ErrorCode::BadRequest, message)
}

fn too_large(message: String) -> Refusal {
    Refusal::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        ErrorCode::QueryTooLarge,
        message,
    )
}
