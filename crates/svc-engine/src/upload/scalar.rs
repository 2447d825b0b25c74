//! The scalar `Upload`.

use async_graphql::Value;

use super::token::{FIELD, Token};
use super::{UploadedFile, UploadedFiles};
use crate::request::Context;
use svc_core::schema::{
    CustomScalar, Input, InputError, Registry, ScalarKind, ScalarMeta, TypeRef, UPLOAD,
};
use svc_core::{Error, ErrorCode};

/// A file that a client sends, as an argument of a mutation with a body. [`open`](Self::open)
/// returns it.
///
/// ```
/// use svc::Upload;
/// use svc::prelude::*;
///
/// /// The number of bytes of an image.
/// #[svc::mutation]
/// async fn add_image(ctx: &Context<'_>, image: Upload) -> Result<i32> {
///     let file = image.open(ctx)?;
///     if !matches!(file.content_type(), Some("image/png" | "image/jpeg")) {
///         return Err(Error::new(ErrorCode::BadUserInput, "an image is a PNG or a JPEG"));
///     }
///     Ok(file.read().await?.len().try_into()?)
/// }
/// # let options = AppOptions::new().mutations(mutations![add_image]);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload(Token);

const EXPECTED: &str = "expected a file: send a multipart request whose `map` names this variable";

static META: ScalarMeta = ScalarMeta {
    name: "Upload",
    description: Some("A file, sent in a multipart request."),
    specified_by: Some("https://github.com/jaydenseric/graphql-multipart-request-spec"),
    kind: ScalarKind::Custom(CustomScalar {
        recode,
        sql_type: UPLOAD,
    }),
};

fn recode(value: Value) -> Result<Value, String> {
    let Value::Object(mut fields) = value else {
        return Err(EXPECTED.to_owned());
    };

    match fields.swap_remove(FIELD) {
        Some(Value::String(text)) if fields.is_empty() && text.parse::<Token>().is_ok() => {
            Ok(Value::String(text))
        }
        _ => Err(EXPECTED.to_owned()),
    }
}

impl Input for Upload {
    fn type_ref(registry: &mut Registry) -> TypeRef {
        registry.scalar(&META)
    }

    fn parse(value: Option<Value>) -> Result<Self, InputError> {
        match value {
            Some(Value::String(text)) => text
                .parse()
                .map(Self)
                .map_err(|()| InputError::new(EXPECTED)),
            _ => Err(InputError::new(EXPECTED)),
        }
    }
}

impl Upload {
    /// Returns the file. It is deleted when the request has ended, unless it was moved before.
    ///
    /// # Errors
    /// If the request has no such file.
    pub fn open<'a>(&self, ctx: &Context<'a>) -> svc_core::Result<&'a UploadedFile> {
        let files = ctx.extensions().get::<UploadedFiles>();
        files
            .and_then(|files| files.get(&self.0))
            .ok_or_else(|| Error::new(ErrorCode::BadUserInput, EXPECTED))
    }
}
