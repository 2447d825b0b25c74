//! The memory used by a plan.

use super::{ArgPlan, Children, OutType, PlanField, Selection};
use crate::graphql::heap_size::{ALLOCATION, slice, text};

impl PlanField {
    /// Bytes on the heap, without arguments and selections, which are shared between fields.
    pub(super) fn weight(&self) -> usize {
        text(&self.key)
            + text(&self.name)
            + text(&self.coordinate)
            + slice::<u8>(self.prefix.len())
            + slice::<usize>(self.offsets.len())
            + self.ty.weight()
            + match &self.children {
                Children::Any(members) => ALLOCATION + size_of_val::<[_]>(members),
                _ => 0,
            }
    }
}

impl Selection {
    /// Bytes on the heap, without the heap data of its fields.
    pub(super) fn weight(&self) -> usize {
        ALLOCATION
            + size_of::<Self>()
            + text(&self.type_name)
            + slice::<PlanField>(self.fields.capacity())
            + slice::<usize>(self.fields.len())
            + slice::<&str>(self.keys.names.capacity())
    }
}

impl OutType {
    fn weight(&self) -> usize {
        match self {
            Self::NonNull(inner) | Self::List(inner) => slice::<Self>(1) + inner.weight(),
            Self::Leaf(_) | Self::Composite => 0,
        }
    }
}

/// Bytes on the heap of arguments.
pub(super) fn arguments(args: &[ArgPlan]) -> usize {
    slice::<ArgPlan>(args.len()) + args.iter().map(ArgPlan::weight).sum::<usize>()
}
