//! Relations: fields that lead to rows of another view.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Registry, Resolved, StoredFields, SvcType, TypeKey, TypeRef};
use crate::exact_json::ExactJson;
use crate::scalar::sql_value::SqlValue;

/// The row of another view that a key of this row leads to; `Option<One<T>>` if there may be none.
///
/// The value only contains the key. The rows are read when a client selects the field, for all
/// parents at once: as a part of the statement that reads the parents, or with one statement for
/// each relation if the parents are values.
///
/// The field needs `#[relation]`. A key on this side is compared with a key on the other side; each
/// is a column of the view, or else a key of its `data`.
///
/// | Field | `from`, the key here | `to`, the key there |
/// |---|---|---|
/// | `author: One<User>` | `author_id` | `id` |
/// | `posts: Many<Post>` of `User` | `id` | `user_id` |
///
/// `#[relation(from = "…", to = "…")]` specifies other keys.
///
/// ```
/// use svc::prelude::*;
///
/// #[svc_type(sql_source = "v_user")]
/// pub struct User {
///     id: Uuid,
///     name: String,
///     /// Posts of this user: rows of `v_post` whose `user_id` is this `id`.
///     #[relation]
///     posts: Many<Post>,
/// }
///
/// #[svc_type(sql_source = "v_post")]
/// pub struct Post {
///     id: Uuid,
///     title: String,
///     /// The author: the row of `v_user` whose `id` is this `user_id`.
///     #[relation]
///     user: One<User>,
///     /// The editor, if there is one: the row of `v_user` whose `id` is this `looked_after_by`.
///     #[relation(from = "looked_after_by")]
///     editor: Option<One<User>>,
/// }
///
/// // Structs that are made by hand get their relations from keys.
/// let (id, title) = (Uuid::nil(), "draft".to_owned());
/// let post = Post { id, title, user: One::new(Uuid::nil()), editor: None };
/// assert_eq!(post.user.key(), Some("00000000-0000-0000-0000-000000000000"));
/// ```
///
/// A key without a row is null in an `Option<One<T>>`, and a field error in a `One<T>`.
pub struct One<T> {
    key: Option<String>,
    // A function pointer keeps the relation `Send` and `Sync` for every type of row.
    row: PhantomData<fn() -> T>,
}

/// The rows of another view that a key of this row leads to: a list with `where`, `orderBy`,
/// `limit` and `offset`.
///
/// Each parent has its own page, so `limit` applies per parent. The keys are as for [`One`].
///
/// `#[relation(connection, aggregate)]` adds two more fields to the list: `postsConnection` for
/// pages with cursors, and `postsAggregate` for aggregates of the rows. `connection = "…"` and
/// `aggregate = "…"` rename them.
///
/// ```
/// use svc::prelude::*;
///
/// /// `{ users { name posts(orderBy: [{title: ASC}], limit: 3) { title } } }`
/// #[svc_type(sql_source = "v_user")]
/// pub struct User {
///     id: Uuid,
///     name: String,
///     #[relation(to = "author_id")]
///     posts: Many<Post>,
/// }
///
/// #[svc_type(sql_source = "v_post")]
/// pub struct Post {
///     id: Uuid,
///     title: String,
/// }
/// ```
pub struct Many<T> {
    key: Option<String>,
    row: PhantomData<fn() -> T>,
}

/// A field that leads to rows of another view: [`One`], `Option<One<T>>` or [`Many`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a relation",
    label = "write `One<T>`, `Option<One<T>>` or `Many<T>` of the type of the rows",
    note = "a field with `#[relation]` leads to rows of another view, which are read when a client asks for them"
)]
pub trait Relation: Send + Sync + Sized {
    /// The type of the rows.
    type Row: SvcType;

    /// Whether it leads to multiple rows.
    const MANY: bool;

    /// Registers the type of the rows.
    fn row(registry: &mut Registry) -> TypeKey;

    /// Creates the relation of a row with this key.
    fn from_key(key: Option<String>) -> Self;

    /// Creates the relation of a row whose keys are stored under these names. The keys remain
    /// available to other fields.
    fn read(fields: &StoredFields, stored: &[&str]) -> Self {
        Self::from_key(joined(
            stored
                .iter()
                .map(|stored| fields.get(stored).and_then(key_text)),
        ))
    }

    /// The field's GraphQL type.
    fn type_ref(registry: &mut Registry) -> TypeRef;

    /// Returns the key for traversal by the engine.
    fn resolve(&self) -> Resolved<'_>;
}

macro_rules! relation {
    ($name:ident, $many:literal) => {
        impl<T> $name<T> {
            /// Creates the relation that starts at a key, for structs that are constructed
            /// manually. A composite key is a tuple, in the order of the attribute.
            pub fn new(key: impl RelationKey) -> Self {
                Self {
                    key: key.into_text(),
                    row: PhantomData,
                }
            }

            /// Returns the key as text; `None` if the row has no key, so that the relation leads
            /// nowhere. A composite key is a JSON list of the texts of its parts.
            pub fn key(&self) -> Option<&str> {
                self.key.as_deref()
            }
        }

        impl<T: SvcType> Relation for $name<T> {
            type Row = T;
            const MANY: bool = $many;
            fn row(registry: &mut Registry) -> TypeKey {
                T::register(registry)
            }
            fn from_key(key: Option<String>) -> Self {
                Self {
                    key,
                    row: PhantomData,
                }
            }
            fn type_ref(registry: &mut Registry) -> TypeRef {
                let row = TypeRef::named(T::register(registry));
                if $many { row.list() } else { row }
            }
            fn resolve(&self) -> Resolved<'_> {
                Resolved::Key(self.key())
            }
        }

        /// The key.
        impl<T> Serialize for $name<T> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                self.key.serialize(serializer)
            }
        }

        /// The key, as text or null.
        impl<'de, T> Deserialize<'de> for $name<T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Option::deserialize(deserializer).map(|key| Self {
                    key,
                    row: PhantomData,
                })
            }
        }

        // Not derived, like the traits around it: a derive would require the same trait of the row.
        impl<T> Hash for $name<T> {
            fn hash<H: Hasher>(&self, state: &mut H) {
                self.key.hash(state);
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> Self {
                Self {
                    key: self.key.clone(),
                    row: PhantomData,
                }
            }
        }

        impl<T> Default for $name<T> {
            fn default() -> Self {
                Self {
                    key: None,
                    row: PhantomData,
                }
            }
        }

        impl<T> PartialEq for $name<T> {
            fn eq(&self, other: &Self) -> bool {
                self.key == other.key
            }
        }

        impl<T> Eq for $name<T> {}

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_tuple(stringify!($name)).field(&self.key).finish()
            }
        }
    };
}

relation!(One, false);
relation!(Many, true);

impl<T: SvcType> Relation for Option<One<T>> {
    type Row = T;
    const MANY: bool = false;
    fn row(registry: &mut Registry) -> TypeKey {
        T::register(registry)
    }
    fn from_key(key: Option<String>) -> Self {
        key.map(|key| One::from_key(Some(key)))
    }
    fn type_ref(registry: &mut Registry) -> TypeRef {
        <One<T> as Relation>::type_ref(registry).nullable()
    }
    fn resolve(&self) -> Resolved<'_> {
        self.as_ref().map_or(Resolved::Null, Relation::resolve)
    }
}

/// A key of a relation: a value, or a tuple of values if the relation compares several columns.
///
/// ```
/// use svc::prelude::*;
///
/// #[svc_type(sql_source = "v_product")]
/// pub struct Product {
///     tenant_id: i32,
///     id: i32,
/// }
///
/// #[svc_type(sql_source = "v_order_line")]
/// pub struct Line {
///     id: i32,
///     #[relation(from = ["tenant_id", "product_id"], to = ["tenant_id", "id"])]
///     product: Option<One<Product>>,
/// }
///
/// let line = Line { id: 1, product: Some(One::new((7, 12))) };
/// assert_eq!(line.product.unwrap().key(), Some(r#"["7","12"]"#));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a key of a relation",
    label = "write a value that a column can hold, or a tuple of two to four of them"
)]
pub trait RelationKey {
    #[doc(hidden)]
    fn into_text(self) -> Option<String>;
}

impl<T: Into<SqlValue>> RelationKey for T {
    fn into_text(self) -> Option<String> {
        self.into().text().map(Into::into)
    }
}

macro_rules! tuples {
    ($($name:ident)*) => {
        impl<$($name: Into<SqlValue>),*> RelationKey for ($($name,)*) {
            fn into_text(self) -> Option<String> {
                #[expect(non_snake_case, reason = "each value is called as its type")]
                let ($($name,)*) = self;
                joined([$($name.into_text()),*].into_iter())
            }
        }
    };
}

tuples!(A B);
tuples!(A B C);
tuples!(A B C D);

/// Encodes the keys of a row as one text: the key itself, or a JSON list of several keys; `None` if
/// one is missing.
pub fn joined(keys: impl Iterator<Item = Option<String>>) -> Option<String> {
    let mut keys: Vec<String> = keys.collect::<Option<_>>()?;
    if keys.len() == 1 {
        keys.pop()
    } else {
        // With a mere separator, two different lists of keys could have the same text.
        Some(serde_json::Value::from(keys).to_string())
    }
}

/// Whether a text encodes this many keys. Any text may be a single key.
pub fn is_key_of(text: &str, count: usize) -> bool {
    count == 1 || serde_json::from_str::<Vec<String>>(text).is_ok_and(|keys| keys.len() == count)
}

/// A stored key as text; `None` for null and values that cannot be a key.
pub fn key_text(value: &ExactJson) -> Option<String> {
    match value {
        ExactJson::String(text) => Some(text.clone()),
        ExactJson::Number(number) => Some(number.to_string()),
        ExactJson::Bool(value) => Some(value.to_string()),
        _ => None,
    }
}
