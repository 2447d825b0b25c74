//! Types of fields and arguments.

use super::TypeIndex;

/// A type with its wrappers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeExpr {
    Named(TypeIndex),
    List(Box<TypeExpr>),
    NonNull(Box<TypeExpr>),
}

impl TypeExpr {
    pub fn named(&self) -> TypeIndex {
        match self {
            Self::Named(index) => *index,
            Self::List(inner) | Self::NonNull(inner) => inner.named(),
        }
    }

    pub fn is_non_null(&self) -> bool {
        matches!(self, Self::NonNull(_))
    }

    /// The type without its outermost `!`.
    pub fn unwrapped(&self) -> &Self {
        match self {
            Self::NonNull(inner) => inner,
            other => other,
        }
    }

    pub fn is_list(&self) -> bool {
        matches!(self.unwrapped(), Self::List(_))
    }
}
