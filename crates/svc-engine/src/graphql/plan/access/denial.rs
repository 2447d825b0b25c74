//! Plans without the fields that a client may not access. Such a field is null with an error, and
//! nothing of it is read, called or compared.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

use super::gates::Touched;
use crate::graphql::coerce::Variables;
use crate::graphql::plan::{
    Calls, Children, Keys, OutType, Plan, PlanField, PlanKind, Selection, Slot,
};
use crate::request::ErrorBehavior;
use svc_core::Error;
use svc_core::error::Origin;
use svc_core::schema::{Model, OperationKind};

/// Why a client does not get a field.
#[derive(Debug, Clone)]
pub(crate) struct Denial {
    reason: Arc<Reason>,
    /// Whether the field cannot be null.
    pub(crate) is_required: bool,
}

#[derive(Debug)]
struct Reason {
    code: String,
    message: String,
    extensions: serde_json::Map<String, serde_json::Value>,
    /// The part that is only logged.
    cause: Option<String>,
    origin: Origin,
}

impl Denial {
    /// Creates a denial from an error that clients may see.
    pub(crate) fn new(error: &Error) -> Self {
        let reason = Reason {
            code: error.code().to_owned(),
            message: error.message().to_owned(),
            extensions: error.extensions().clone(),
            cause: error.source().map(ToString::to_string),
            origin: error.origin(),
        };

        Self {
            reason: Arc::new(reason),
            is_required: false,
        }
    }

    /// Its error.
    pub(crate) fn error(&self) -> Error {
        let Reason {
            code,
            message,
            extensions,
            cause,
            origin,
        } = &*self.reason;

        let error = Error::with_code(code.clone(), message.clone()).with_origin(*origin);
        let error = extensions.iter().fold(error, |error, (key, value)| {
            error.with_extension(key.clone(), value.clone())
        });

        match cause {
            Some(cause) => error.with_source(cause.clone()),
            None => error,
        }
    }
}

/// The denials of a document, by the gated field that is touched.
pub(crate) type Denials = HashMap<Touched, Denial>;

impl Plan {
    /// Returns the plan with each denied field replaced by null and an error.
    pub(crate) fn without(
        &self,
        denials: &Denials,
        model: &Model,
        variables: &Variables,
        on_error: ErrorBehavior,
    ) -> Self {
        let mut pruning = Pruning {
            denials,
            model,
            variables,
            on_error,
            known: HashMap::new(),
        };

        let fields = self
            .root
            .fields
            .iter()
            .map(|field| pruning.root(field, self.kind))
            .collect();

        self.with_root(fields)
    }

    /// Returns the plan with all root fields denied.
    pub(crate) fn denied(&self, denial: &Denial) -> Self {
        let denied = |field: &PlanField| PlanField {
            denial: field.root().is_some().then(|| denial.clone()),
            ..field.copy(field.children.clone())
        };
        self.with_root(self.root.fields.iter().map(denied).collect())
    }

    fn with_root(&self, fields: Vec<PlanField>) -> Self {
        Self {
            kind: self.kind,
            root: Arc::new(self.root.with(fields)),
            is_atomic: self.is_atomic,
            has_query: self.has_query,
            introspects: self.introspects,
            introspection: self.introspection,
            // Its response has errors.
            cacheable: None,
            // The cost of the original plan includes the denied fields.
            fixed_cost: OnceLock::new(),
            series: self.series.clone(),
            weight: self.weight,
            statements: AtomicUsize::new(0),
        }
    }
}

struct Pruning<'a> {
    denials: &'a Denials,
    model: &'a Model,
    variables: &'a Variables,
    on_error: ErrorBehavior,
    /// Selections are shared; each is pruned once.
    known: HashMap<*const Selection, Arc<Selection>>,
}

impl Pruning<'_> {
    /// Rejects a root field entirely if its arguments touch a denied field. A mutation is also
    /// rejected if the error of a denied field in its selection does not end at that field: it
    /// would be executed and its response lost.
    fn root(&mut self, field: &PlanField, kind: OperationKind) -> PlanField {
        let pruned = field.copy(self.children(&field.children));
        let lost = || match kind {
            OperationKind::Mutation => pruned.lost(self.on_error, &mut HashSet::new()),
            _ => None,
        };
        let denial = self.denial(field).or_else(lost);
        PlanField { denial, ..pruned }
    }

    fn denial(&self, field: &PlanField) -> Option<Denial> {
        let mut denial = None;
        field.gates(self.model, self.variables, |touched, _| {
            denial = denial
                .take()
                .or_else(|| self.denials.get(&touched).cloned());
        });
        denial
    }

    fn field(&mut self, field: &PlanField) -> PlanField {
        // Below `query`: it is denied as in a query, where a null ends at the field if it can.
        if let PlanKind::Root(_) = field.kind {
            return self.root(field, OperationKind::Query);
        }

        if let Some(denial) = self.denial(field) {
            return field.denied(denial);
        }
        field.copy(self.children(&field.children))
    }

    fn children(&mut self, children: &Children) -> Children {
        match children {
            Children::None => Children::None,
            Children::One(selection) => Children::One(self.selection(selection)),
            Children::Any(members) => Children::Any(
                members
                    .iter()
                    .map(|(index, selection)| (*index, self.selection(selection)))
                    .collect(),
            ),
        }
    }

    fn selection(&mut self, selection: &Arc<Selection>) -> Arc<Selection> {
        // The address is a safe key: the original plan keeps its selections alive meanwhile.
        let key = Arc::as_ptr(selection);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }

        let fields = selection
            .fields
            .iter()
            .map(|field| self.field(field))
            .collect();

        let pruned = Arc::new(selection.with(fields));
        self.known.insert(key, pruned.clone());

        pruned
    }
}

impl Selection {
    fn with(&self, fields: Vec<PlanField>) -> Self {
        Self {
            type_index: self.type_index,
            type_name: self.type_name.clone(),
            // Derived from the remaining fields only: a denied field must not even be read from
            // `data`.
            keys: Keys::new(fields.iter().map(PlanField::stored)),
            calls: fields
                .iter()
                .map(PlanField::calls)
                .max()
                .unwrap_or(Calls::None),
            relations: fields.iter().any(PlanField::relations),
            gates: fields.iter().any(PlanField::may_touch_gates),
            rules: fields.iter().any(PlanField::has_rules),
            fields,
        }
    }
}

impl PlanField {
    /// Returns a copy of the field with these children and without statements.
    fn copy(&self, children: Children) -> Self {
        Self {
            key: self.key.clone(),
            prefix: self.prefix.clone(),
            name: self.name.clone(),
            coordinate: self.coordinate.clone(),
            kind: self.kind,
            ty: self.ty.clone(),
            args: self.args.clone(),
            children,
            offsets: self.offsets.clone(),
            gated: self.gated,
            is_boundary: self.is_boundary,
            denial: None,
            // The cached statements of the original field read the denied fields as well.
            statements: Slot::default(),
        }
    }

    /// Returns a copy of the field that reads nothing. Its type is non-null, so that completing it
    /// takes the path for unexpected nulls, and no other value is checked twice.
    fn denied(&self, denial: Denial) -> Self {
        Self {
            kind: PlanKind::Denied,
            ty: OutType::NonNull(Box::new(OutType::Composite)),
            args: Arc::default(),
            denial: Some(Denial {
                is_required: self.ty.nullable().1 && !self.is_boundary,
                ..denial
            }),
            ..self.copy(Children::None)
        }
    }

    /// Returns the first denial below this field whose error does not end at its field. Selections
    /// are shared; each is visited once.
    fn lost(
        &self,
        on_error: ErrorBehavior,
        seen: &mut HashSet<*const Selection>,
    ) -> Option<Denial> {
        let selections = self
            .children
            .iter()
            .filter(|selection| seen.insert(Arc::as_ptr(selection)));

        // Collected first, as the recursion also borrows `seen`.
        selections
            .collect::<Vec<_>>()
            .into_iter()
            .flat_map(|selection| &selection.fields)
            .find_map(|field| {
                let own = field
                    .denial
                    .as_ref()
                    .filter(|denial| !on_error.ends_at(!denial.is_required))
                    .cloned();
                own.or_else(|| field.lost(on_error, seen))
            })
    }
}
