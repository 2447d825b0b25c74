//! The types that a program reaches, collected by walking from its operations.

use std::any::TypeId;
use std::collections::HashMap;

use super::{
    AbstractMeta, ArgMeta, EnumMeta, FromStored, InputMeta, ObjectMeta, Output, ResultMeta, ScalarMeta, StoredError,
    SvcType,
};

/// Reads a row into the user's type.
pub(crate) type Decode = fn(serde_json::Value) -> Result<Box<dyn Output>, StoredError>;

/// Where a type stands in the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeKey(pub(crate) usize);

/// A GraphQL type reference. Rust types are non-null; `Option` makes them nullable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeRef {
    /// A named type.
    Named(TypeKey),
    /// `[T]`.
    List(Box<TypeRef>),
    /// `T!`.
    NonNull(Box<TypeRef>),
}

impl TypeRef {
    /// The non-null reference to a named type.
    pub fn named(key: TypeKey) -> Self {
        Self::NonNull(Box::new(Self::Named(key)))
    }

    /// A non-null list of this.
    #[must_use]
    pub fn list(self) -> Self {
        Self::NonNull(Box::new(Self::List(Box::new(self))))
    }

    /// The same without the outermost `!`.
    #[must_use]
    pub fn nullable(self) -> Self {
        match self {
            Self::NonNull(inner) => *inner,
            other => other,
        }
    }

    /// The named type inside lists and non-nulls.
    pub fn key(&self) -> TypeKey {
        match self {
            Self::Named(key) => *key,
            Self::List(inner) | Self::NonNull(inner) => inner.key(),
        }
    }
}

/// A registered type, with the references of its parts in the order of its description.
#[derive(Debug)]
pub(crate) enum Entry {
    Scalar(&'static ScalarMeta),
    Enum(&'static EnumMeta),
    Input(&'static InputMeta, Vec<TypeRef>),
    Object(&'static ObjectMeta, ObjectRefs),
    Abstract(&'static AbstractMeta, AbstractRefs),
    /// Being walked; only seen from inside a cycle.
    Pending,
}

/// The references of an object type.
#[derive(Debug, Default)]
pub(crate) struct ObjectRefs {
    pub(crate) fields: Vec<TypeRef>,
    pub(crate) computed: Vec<(TypeRef, Vec<TypeRef>)>,
    pub(crate) implements: Vec<TypeKey>,
}

/// The references of an interface or union.
#[derive(Debug, Default)]
pub(crate) struct AbstractRefs {
    pub(crate) fields: Vec<(TypeRef, Vec<TypeRef>)>,
    pub(crate) members: Vec<TypeKey>,
}

/// Collects types; each is walked once.
#[derive(Debug, Default)]
pub struct Registry {
    pub(crate) entries: Vec<Entry>,
    pub(crate) rust: HashMap<TypeId, TypeKey>,
    pub(crate) decoders: HashMap<TypeKey, Decode>,
    /// The members of results of mutations.
    pub(crate) results: HashMap<TypeKey, &'static ResultMeta>,
}

impl Registry {
    /// Registers a scalar. Rust types that share a description share the scalar.
    pub fn scalar(&mut self, meta: &'static ScalarMeta) -> TypeRef {
        let known = self.entries.iter().position(|entry| matches!(entry, Entry::Scalar(other) if **other == *meta));
        TypeRef::named(known.map_or_else(|| self.push(Entry::Scalar(meta)), TypeKey))
    }

    /// Registers an enum.
    pub fn enumeration<T: 'static>(&mut self, meta: &'static EnumMeta) -> TypeRef {
        TypeRef::named(self.once::<T>(|_| Entry::Enum(meta)))
    }

    /// Registers an input object and what its fields reach.
    pub fn input<T: 'static>(&mut self, meta: &'static InputMeta) -> TypeRef {
        TypeRef::named(self.once::<T>(|registry| Entry::Input(meta, registry.args(meta.fields))))
    }

    /// Registers an object type and what its fields reach.
    pub fn object<T: FromStored + Output + 'static>(&mut self, meta: &'static ObjectMeta) -> TypeKey {
        self.rows::<T>(|registry| {
            let refs = ObjectRefs {
                fields: meta.fields.iter().map(|field| (field.ty)(registry)).collect(),
                computed: meta.computed.iter().map(|field| ((field.ty)(registry), registry.args(field.args))).collect(),
                implements: meta.implements.iter().map(|key| key(registry)).collect(),
            };
            Entry::Object(meta, refs)
        })
    }

    /// Registers an interface or union and its members.
    pub fn abstraction<T: SvcType>(&mut self, meta: &'static AbstractMeta) -> TypeKey {
        let key = self.rows::<T>(|registry| {
            let fields = meta.interface.unwrap_or_default();
            let refs = AbstractRefs {
                fields: fields.iter().map(|field| ((field.ty)(registry), registry.args(field.args))).collect(),
                members: meta.members.iter().map(|key| key(registry)).collect(),
            };
            Entry::Abstract(meta, refs)
        });
        self.results.extend(T::RESULT.map(|result| (key, result)));
        key
    }

    pub(crate) fn args(&mut self, args: &'static [ArgMeta]) -> Vec<TypeRef> {
        args.iter().map(|arg| (arg.ty)(self)).collect()
    }

    /// A type with rows, which can be read back.
    fn rows<T: FromStored + Output + 'static>(&mut self, walk: impl FnOnce(&mut Self) -> Entry) -> TypeKey {
        let key = self.once::<T>(walk);
        self.decoders.insert(key, |value| Ok(Box::new(T::from_stored(value)?)));
        key
    }

    fn once<T: 'static>(&mut self, walk: impl FnOnce(&mut Self) -> Entry) -> TypeKey {
        if let Some(key) = self.rust.get(&TypeId::of::<T>()) {
            return *key;
        }
        let key = self.push(Entry::Pending);
        self.rust.insert(TypeId::of::<T>(), key);
        self.entries[key.0] = walk(self);
        key
    }

    fn push(&mut self, entry: Entry) -> TypeKey {
        self.entries.push(entry);
        TypeKey(self.entries.len() - 1)
    }
}
