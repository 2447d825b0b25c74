//! The `map` of a request with files: the variables of each file.

use super::bad_request;
use crate::http::reply::Refusal;
use svc_core::exact_json::{ExactJson, Fields, shorten};
use svc_engine::upload::UploadedFile;

/// The maximum number of variables per file of a request, on average.
const PLACES: usize = 16;

/// The files of a request, including files that have not arrived yet.
pub(super) struct FileMap(Vec<Expected>);

struct Expected {
    /// The name of the multipart field.
    name: String,
    /// The paths of the variables that refer to the file.
    places: Vec<String>,
    file: Option<UploadedFile>,
}

impl FileMap {
    /// Reads the map, from the names of fields to the paths of variables.
    pub(super) fn read(map: ExactJson, most: usize) -> Result<Self, Refusal> {
        let malformed =
            || bad_request(r#"`map` must be a JSON object such as {"0": ["variables.file"]}"#);
        let ExactJson::Object(fields) = map else {
            return Err(malformed());
        };

        if fields.len() > most {
            let message = format!(
                "the request has {} files; at most {most} are allowed (SVC_UPLOAD_MAX_FILES)",
                fields.len()
            );
            return Err(bad_request(message));
        }

        let path = |path: ExactJson| match path {
            ExactJson::String(path) => Ok(path),
            _ => Err(malformed()),
        };

        let expected = fields.into_iter().map(|(name, places)| match places {
            // The paths are limited as well: `put_into` walks the variables once for each of them.
            ExactJson::Array(places) if !places.is_empty() && places.len() <= PLACES * most => {
                let places = places.into_iter().map(path).collect::<Result<_, _>>()?;
                Ok(Expected {
                    name,
                    places,
                    file: None,
                })
            }
            _ => Err(malformed()),
        });

        expected.collect::<Result<_, _>>().map(Self)
    }

    /// Sets the value of each variable that refers to a file; the client has left it null.
    pub(super) fn put_into(
        &self,
        operation: &mut Fields,
        value: impl Fn(usize) -> ExactJson,
    ) -> Result<(), Refusal> {
        for (index, expected) in self.0.iter().enumerate() {
            for path in &expected.places {
                // A place that is not null is an error: two files, or a file and a value, would
                // otherwise replace each other without a notice.
                let place = variable(operation, path).filter(|place| place.is_null());
                let place = place.ok_or_else(|| {
                    let path = shorten(path);
                    bad_request(format!(
                        "`map` names `{path}`, which is not a null of `operations.variables`"
                    ))
                })?;
                *place = value(index);
            }
        }

        Ok(())
    }

    /// Returns the position of an arriving file.
    pub(super) fn expected(&self, name: &str) -> Result<usize, Refusal> {
        let position = self
            .0
            .iter()
            .position(|expected| expected.name == name && expected.file.is_none());
        position.ok_or_else(|| {
            bad_request(format!(
                "`map` does not name the file `{}`, or it comes twice",
                shorten(name)
            ))
        })
    }

    pub(super) fn arrived(&mut self, index: usize, file: UploadedFile) {
        if let Some(expected) = self.0.get_mut(index) {
            expected.file = Some(file);
        }
    }

    /// Returns the files, if all have arrived.
    pub(super) fn into_files(self) -> Result<Vec<UploadedFile>, Refusal> {
        let arrived = self.0.into_iter().map(|Expected { name, file, .. }| {
            file.ok_or_else(|| {
                bad_request(format!(
                    "the file `{}` is missing, which `map` names",
                    shorten(&name)
                ))
            })
        });
        arrived.collect()
    }
}

/// Returns the value at a path such as `variables.images.0`.
fn variable<'a>(operation: &'a mut Fields, path: &str) -> Option<&'a mut ExactJson> {
    let mut place = operation.get_mut("variables")?;
    for step in path.strip_prefix("variables.")?.split('.') {
        place = match place {
            ExactJson::Object(fields) => fields.get_mut(step)?,
            ExactJson::Array(items) => items.get_mut(step.parse::<usize>().ok()?)?,
            _ => return None,
        };
    }

    Some(place)
}
