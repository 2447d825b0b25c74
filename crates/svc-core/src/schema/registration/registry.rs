//! The types that a program uses, collected by traversing them from its operations.

use std::any::TypeId;
use std::collections::HashMap;

use super::{
    AbstractMeta, ArgMeta, DerivedMeta, ElementMeta, EnumMeta, FieldMeta, FromStored, Input,
    InputMeta, KeyFn, ObjectMeta, Output, RelationMeta, ResultMeta, StoredError, SvcType,
};
use crate::schema::ScalarMeta;
use crate::schema::naming::pascal_case;

/// Decodes a row into the user's type.
pub(crate) type Decode = fn(crate::exact_json::ExactJson) -> Result<Box<dyn Output>, StoredError>;

/// The index of a type in the registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TypeKey(#[doc(hidden)] pub usize);

/// A GraphQL type reference. Rust types are non-null; `Option` makes them nullable.
#[derive(Debug, Clone)]
pub enum TypeRef {
    /// A named type.
    Named(TypeKey),
    /// `[T]`.
    List(Box<TypeRef>),
    /// `T!`.
    NonNull(Box<TypeRef>),
    /// A parameter that expands to several arguments.
    Spread(&'static [ArgMeta]),
}

impl TypeRef {
    /// Returns the non-null reference to a named type.
    pub fn named(key: TypeKey) -> Self {
        Self::NonNull(Box::new(Self::Named(key)))
    }

    /// Returns a non-null list of this type.
    #[must_use]
    pub fn list(self) -> Self {
        Self::NonNull(Box::new(Self::List(Box::new(self))))
    }

    /// Returns the same type without the outermost `!`.
    #[must_use]
    pub fn nullable(self) -> Self {
        match self {
            Self::NonNull(inner) => *inner,
            other => other,
        }
    }
}

impl TypeRef {
    /// Whether this is, or contains, a parameter that expands to several arguments.
    fn is_spread(&self) -> bool {
        match self {
            Self::Named(_) => false,
            Self::List(inner) | Self::NonNull(inner) => inner.is_spread(),
            Self::Spread(_) => true,
        }
    }

    /// The named type inside lists and non-null wrappers.
    #[doc(hidden)]
    pub fn key(&self) -> Option<TypeKey> {
        match self {
            Self::Named(key) => Some(*key),
            Self::List(inner) | Self::NonNull(inner) => inner.key(),
            Self::Spread(_) => None,
        }
    }
}

/// A registered type, with the references of its parts in the order of its metadata.
#[derive(Debug)]
pub enum Entry {
    Scalar(&'static ScalarMeta),
    Enum(&'static EnumMeta),
    Input(&'static InputMeta, Vec<ArgRef>),
    Object(&'static ObjectMeta, ObjectRefs),
    Abstract(&'static AbstractMeta, AbstractRefs),
    /// A type that the framework generates for a row type.
    Derived(Derived, TypeKey),
    /// The page of a relation whose edges have fields.
    Joined(JoinedPage),
    /// Still being traversed; only visible inside a cycle.
    Pending,
}

/// The types that the framework generates for a row type `T`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Derived {
    /// `TConnection`.
    Connection,
    /// `TAggregate`.
    Aggregate,
    /// `TWhere`.
    Where,
    /// `TOrderBy`.
    OrderBy,
}

/// The page of a relation through a junction view with a type. Its edges have the fields of that
/// type.
#[derive(Debug, Clone)]
pub struct JoinedPage {
    /// The prefix of the names of its types, such as `ProductCategories`.
    pub name: String,
    pub row: TypeKey,
    pub joining: TypeKey,
}

/// An argument with its registered type.
#[derive(Debug)]
pub struct ArgRef {
    /// The position of the function's parameter.
    pub slot: usize,
    /// Whether the parameter expands to several arguments.
    pub spread: bool,
    pub(crate) meta: &'static ArgMeta,
    pub ty: TypeRef,
}

/// The references of an object type.
#[derive(Debug, Default)]
pub struct ObjectRefs {
    pub fields: Vec<TypeRef>,
    /// The types of the rows that the fields with `#[relation]` lead to.
    pub relations: Vec<Option<RelationRefs>>,
    pub(crate) computed: Vec<(TypeRef, Vec<ArgRef>)>,
    pub(crate) implements: Vec<TypeKey>,
}

/// The references of a field with `#[relation]`.
#[derive(Debug)]
pub struct RelationRefs {
    pub row: TypeKey,
    /// The type of the junction view's rows.
    pub joining: Option<TypeKey>,
    /// The types of the fields derived from it.
    pub(crate) connection: Option<TypeRef>,
    pub aggregate: Option<TypeRef>,
}

/// The references of an interface or union.
#[derive(Debug, Default)]
pub struct AbstractRefs {
    pub fields: Vec<(TypeRef, Vec<ArgRef>)>,
    pub members: Vec<TypeKey>,
}

/// Collects types; each is traversed once.
#[derive(Debug, Default)]
pub struct Registry {
    #[doc(hidden)]
    pub entries: Vec<Entry>,
    #[doc(hidden)]
    pub rust: HashMap<TypeId, TypeKey>,
    #[doc(hidden)]
    pub decoders: HashMap<TypeKey, Decode>,
    /// Parameters that expand to several arguments where only one is possible: their names and
    /// items.
    pub(crate) misplaced: Vec<(&'static str, &'static str)>,
    /// The members of mutation results.
    #[doc(hidden)]
    pub results: HashMap<TypeKey, &'static ResultMeta>,
}

impl Registry {
    /// Registers a scalar. Rust types with equal metadata share the scalar.
    pub fn scalar(&mut self, meta: &'static ScalarMeta) -> TypeRef {
        let known = self
            .entries
            .iter()
            // Several Rust types share a scalar, so it is found by its metadata and not by its
            // type.
            .position(|entry| matches!(entry, Entry::Scalar(other) if **other == *meta));
        TypeRef::named(known.map_or_else(|| self.push(Entry::Scalar(meta)), TypeKey))
    }

    /// Registers an enum.
    pub fn enumeration<T: 'static>(&mut self, meta: &'static EnumMeta) -> TypeRef {
        TypeRef::named(self.once::<T>(|_| Entry::Enum(meta)))
    }

    /// Registers an input object and the types of its fields.
    pub fn input<T: 'static>(&mut self, meta: &'static InputMeta) -> TypeRef {
        TypeRef::named(self.once::<T>(|registry| Entry::Input(meta, registry.fields(meta))))
    }

    /// Registers an object type and the types of its fields.
    pub fn object<T: FromStored + Output + 'static>(
        &mut self,
        meta: &'static ObjectMeta,
    ) -> TypeKey {
        self.rows::<T>(|registry| {
            let refs = ObjectRefs {
                fields: meta
                    .fields
                    .iter()
                    .map(|field| (field.ty)(registry))
                    .collect(),
                relations: meta
                    .fields
                    .iter()
                    .map(|field| Some(registry.relation(meta, field, field.relation.as_ref()?)))
                    .collect(),
                computed: meta
                    .computed
                    .iter()
                    .map(|field| ((field.ty)(registry), registry.args(field.args, meta.path)))
                    .collect(),
                implements: meta.implements.iter().map(|key| key(registry)).collect(),
            };

            Entry::Object(meta, refs)
        })
    }

    fn relation(
        &mut self,
        object: &ObjectMeta,
        field: &FieldMeta,
        relation: &RelationMeta,
    ) -> RelationRefs {
        let (row, joining) = (
            (relation.row)(self),
            relation.joining.map(|joining| joining(self)),
        );
        let mut beside = |beside: Option<DerivedMeta>| beside.map(|beside| (beside.ty)(self));
        let aggregate = beside(relation.aggregate);
        let connection = match joining.filter(|_| relation.connection.is_some()) {
            Some(joining) => {
                let page = JoinedPage {
                    name: joined_name(object, field),
                    row,
                    joining,
                };
                Some(TypeRef::named(self.push(Entry::Joined(page))))
            }
            None => beside(relation.connection),
        };

        RelationRefs {
            row,
            joining,
            connection,
            aggregate,
        }
    }

    /// Registers an interface or union and its members.
    pub fn abstract_type<T: SvcType>(&mut self, meta: &'static AbstractMeta) -> TypeKey {
        let key = self.rows::<T>(|registry| {
            let fields = meta.interface.unwrap_or_default();
            let refs = AbstractRefs {
                fields: fields
                    .iter()
                    .map(|field| ((field.ty)(registry), registry.args(field.args, meta.path)))
                    .collect(),
                members: meta.members.iter().map(|key| key(registry)).collect(),
            };
            Entry::Abstract(meta, refs)
        });

        self.results.extend(T::RESULT.map(|result| (key, result)));
        key
    }

    /// The arguments of a function. A parameter of a type such as `Page` expands to several.
    #[doc(hidden)]
    pub fn args(&mut self, args: &'static [ArgMeta], path: &'static str) -> Vec<ArgRef> {
        let mut refs = Vec::with_capacity(args.len());
        for (slot, meta) in args.iter().enumerate() {
            match (meta.ty)(self) {
                // All parts belong to one parameter, so they have the same slot.
                TypeRef::Spread(parts) => {
                    refs.extend(parts.iter().map(|meta| ArgRef {
                        slot,
                        spread: true,
                        meta,
                        ty: (meta.ty)(self),
                    }));
                }
                ty => refs.push(self.single(slot, meta, ty, path)),
            }
        }

        refs
    }

    /// The fields of an input object; each must be a single one.
    fn fields(&mut self, meta: &'static InputMeta) -> Vec<ArgRef> {
        let fields = meta.fields.iter().enumerate();
        fields
            .map(|(slot, field)| {
                let ty = (field.ty)(self);
                self.single(slot, field, ty, meta.path)
            })
            .collect()
    }

    /// A single argument or field. One that expands to several is recorded, and reported at the end
    /// of the traversal.
    fn single(
        &mut self,
        slot: usize,
        meta: &'static ArgMeta,
        ty: TypeRef,
        path: &'static str,
    ) -> ArgRef {
        if ty.is_spread() {
            self.misplaced.push((meta.element.rust, path));

            // Any type serves here: the error is reported before the schema is used.
            return ArgRef {
                slot,
                spread: false,
                meta,
                ty: <String as Input>::type_ref(self),
            };
        }

        ArgRef {
            slot,
            spread: false,
            meta,
            ty,
        }
    }

    /// Registers a type that is generated for a row type; `T` is its Rust type.
    #[doc(hidden)]
    pub fn derived<T: 'static>(&mut self, derived: Derived, row: KeyFn) -> TypeKey {
        self.once::<T>(|registry| Entry::Derived(derived, row(registry)))
    }

    /// Registers a type with rows, together with its decoder.
    fn rows<T: FromStored + Output + 'static>(
        &mut self,
        walk: impl FnOnce(&mut Self) -> Entry,
    ) -> TypeKey {
        let key = self.once::<T>(walk);
        self.decoders
            .insert(key, |value| Ok(Box::new(T::from_stored(value)?)));
        key
    }

    fn once<T: 'static>(&mut self, walk: impl FnOnce(&mut Self) -> Entry) -> TypeKey {
        if let Some(key) = self.rust.get(&TypeId::of::<T>()) {
            return *key;
        }

        // The key exists before the fields are traversed, so that a type that leads to itself ends
        // there.
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

/// The prefix of the names of the types that svc generates for a relation: `ProductCategories` for
/// `categories` of `Product`.
pub(crate) fn joined_name(object: &ObjectMeta, relation: &FieldMeta) -> String {
    let name = |element: &ElementMeta| element.name.unwrap_or(element.rust);
    format!(
        "{}{}",
        name(&object.element),
        pascal_case(name(&relation.element))
    )
}
