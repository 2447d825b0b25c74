//! Collects and merges fields (GraphQL specification, section 6.3.2) for every object type that can
//! occur.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, OnceLock};

use apollo_compiler::executable::{
    DirectiveList, Field, Operation, OperationType, Selection as Ast, SelectionSet, Value,
};
use apollo_compiler::{ExecutableDocument, Node};
use indexmap::IndexMap;

use super::cost::{Bounds, IntrospectionCost};
use super::heap_size::arguments;
use super::same::same_lists;
use super::{
    ArgPlan, Cacheable, Calls, Checked, Children, Keys, OutType, Plan, PlanField, PlanKind,
    Selection, Slot,
};
use crate::graphql::coerce::{LiftedLiterals, Variables, condition};
use crate::graphql::error::{MAX_LOCATIONS, RequestError};
use crate::limits::Limits;
use svc_core::ErrorCode;
use svc_core::schema::{FieldDef, FieldKind, Gated, Model, OperationKind, TypeIndex, TypeKind};
use svc_telemetry::metrics::OperationSlot;

const ROOT_FIELDS: &str = "SVC_LIMIT_ROOT_FIELDS";

/// Builds the plan of one operation.
pub(crate) struct Planner<'a> {
    model: &'a Model,
    limits: &'a Limits,
    document: &'a ExecutableDocument,
    variables: &'a Variables,
    /// The literals that the plan leaves to each request.
    lifted: Option<&'a LiftedLiterals>,
    /// Selections by object type and merged selection sets, so that fragments are planned once.
    known: HashMap<(TypeIndex, Vec<*const SelectionSet>), Arc<Selection>>,
    /// Arguments by field definition and field of the document.
    args: HashMap<(*const FieldDef, *const Field), Arc<[ArgPlan]>>,
    introspection: IntrospectionCost<'a>,
    bounds: Bounds,
}

type Groups<'a> = IndexMap<&'a str, Vec<&'a Node<Field>>>;

/// The parts of a planned field that follow from its definition.
struct Source {
    kind: PlanKind,
    ty: OutType,
    args: Arc<[ArgPlan]>,
    children: Children,
    gated: Option<Gated>,
    is_boundary: bool,
}

impl Source {
    /// A field that the schema does not define, as every GraphQL schema has it.
    fn built_in(kind: PlanKind) -> Self {
        Self {
            kind,
            ty: OutType::Composite,
            args: Arc::default(),
            children: Children::None,
            gated: None,
            is_boundary: false,
        }
    }
}

impl<'a> Planner<'a> {
    pub(crate) fn new(
        model: &'a Model,
        limits: &'a Limits,
        document: &'a ExecutableDocument,
        variables: &'a Variables,
        lifted: Option<&'a LiftedLiterals>,
    ) -> Self {
        Self {
            model,
            limits,
            document,
            variables,
            lifted,
            known: HashMap::new(),
            args: HashMap::new(),
            introspection: IntrospectionCost::new(&model.extent, document),
            bounds: Bounds::default(),
        }
    }

    pub(crate) fn plan(mut self, operation: &'a Operation) -> Result<Plan, RequestError> {
        let unknown = || {
            RequestError::new(
                ErrorCode::GraphqlValidationFailed,
                "the schema has no such root type",
            )
        };

        let (root, _) = self
            .model
            .type_named(operation.object_type())
            .ok_or_else(unknown)?;
        let root = self.selection(root, &[&operation.selection_set])?;
        let kind = match operation.operation_type {
            OperationType::Query => OperationKind::Query,
            OperationType::Mutation => OperationKind::Mutation,
            OperationType::Subscription => OperationKind::Subscription,
        };
        let queried = root.queried(kind)?;

        // Counted after merging: fields with the same response key run once.
        self.limits.within(
            ErrorCode::QueryTooLarge,
            "root fields",
            root.fields.len() + queried.unwrap_or(0),
            self.limits.root_fields,
            ROOT_FIELDS,
        )?;

        let introspects = root
            .fields
            .iter()
            .any(|field| matches!(field.kind, PlanKind::Introspection));
        let is_atomic = is_atomic(kind, operation, &root)?;
        let cacheable = Cacheable::of(self.model, kind, &root);
        let weight = size_of::<Plan>()
            + self.bounds.weight()
            + cacheable.as_ref().map_or(0, Cacheable::weight);

        Ok(Plan {
            kind,
            root,
            is_atomic,
            has_query: queried.is_some(),
            introspects,
            cacheable,
            introspection: self.introspection.complexity(self.limits.complexity),
            fixed_cost: OnceLock::new(),
            series: OperationSlot::default(),
            weight,
            statements: AtomicUsize::new(0),
        })
    }

    fn selection(
        &mut self,
        type_index: TypeIndex,
        sets: &[&'a SelectionSet],
    ) -> Result<Arc<Selection>, RequestError> {
        // The document outlives the planner, so an address identifies one selection set.
        let key = (
            type_index,
            sets.iter()
                .map(|set| std::ptr::from_ref(*set))
                .collect::<Vec<_>>(),
        );

        // Planned once per type: fragments that spread each other twice would otherwise double the
        // work at each level.
        if let Some(known) = self.known.get(&key) {
            return Ok(known.clone());
        }

        let mut groups = Groups::new();

        // Shared by the merged sets: a fragment adds its fields once to each merged selection
        // (GraphQL specification, CollectFields).
        let mut visited = HashSet::new();
        for set in sets {
            self.collect(type_index, set, &mut visited, &mut groups)?;
        }

        let fields = groups
            .into_iter()
            .map(|(key, nodes)| self.field(type_index, key, &nodes))
            .collect::<Result<Vec<_>, _>>()?;
        let selection = Arc::new(Selection {
            type_index,
            type_name: self.model.types[type_index].name.clone(),
            calls: fields
                .iter()
                .map(PlanField::calls)
                .max()
                .unwrap_or(Calls::None),
            relations: fields.iter().any(PlanField::relations),
            gates: fields.iter().any(PlanField::may_touch_gates),
            rules: fields.iter().any(PlanField::has_rules),
            keys: Keys::new(fields.iter().map(PlanField::stored)),
            fields,
        });

        self.bounds.weigh(selection.weight())?;
        self.known.insert(key, selection.clone());

        Ok(selection)
    }

    fn collect(
        &mut self,
        type_index: TypeIndex,
        set: &'a SelectionSet,
        visited: &mut HashSet<&'a str>,
        groups: &mut Groups<'a>,
    ) -> Result<(), RequestError> {
        self.bounds.look_at(set.selections.len())?;

        for selection in &set.selections {
            if !self.is_included(selection.directives())? {
                continue;
            }

            match selection {
                Ast::Field(field) => groups
                    .entry(field.response_key().as_str())
                    .or_default()
                    .push(field),
                Ast::InlineFragment(fragment) => {
                    if fragment
                        .type_condition
                        .as_ref()
                        .is_none_or(|name| self.applies(name, type_index))
                    {
                        self.collect(type_index, &fragment.selection_set, visited, groups)?;
                    }
                }
                Ast::FragmentSpread(spread) => {
                    if !visited.insert(spread.fragment_name.as_str()) {
                        continue;
                    }
                    if let Some(fragment) = self.document.fragments.get(&spread.fragment_name)
                        && self.applies(fragment.type_condition(), type_index)
                    {
                        self.collect(type_index, &fragment.selection_set, visited, groups)?;
                    }
                }
            }
        }

        Ok(())
    }

    fn applies(&self, condition: &str, type_index: TypeIndex) -> bool {
        self.model
            .type_named(condition)
            .is_some_and(|(index, _)| self.model.possible_types(index).contains(&type_index))
    }

    fn is_included(&self, directives: &DirectiveList) -> Result<bool, RequestError> {
        let given = |name: &str| match directives
            .get(name)
            .and_then(|one| one.specified_argument_by_name("if"))
        {
            None => Ok(None),
            Some(value) => self.condition(value).map(Some),
        };
        Ok(given("skip")? != Some(true) && given("include")? != Some(false))
    }

    fn condition(&self, value: &Value) -> Result<bool, RequestError> {
        match value {
            Value::Boolean(value) => Ok(*value),
            Value::Variable(name) => condition(self.variables, name).ok_or_else(|| {
                let message =
                    format!("the variable `${name}` is null, but a condition is true or false");
                RequestError::new(ErrorCode::BadUserInput, message)
            }),
            _ => Ok(false),
        }
    }

    fn field(
        &mut self,
        parent: TypeIndex,
        key: &str,
        nodes: &[&'a Node<Field>],
    ) -> Result<PlanField, RequestError> {
        // The arguments of the first field are used for all, so differing arguments would be
        // ignored.
        check_same(key, nodes)?;

        let mut prefix = Vec::with_capacity(key.len() + 4);
        prefix.push(b',');
        svc_core::exact_json::write_text(&mut prefix, key);
        prefix.push(b':');

        let name = nodes[0].name.as_str();
        let source = match name {
            "__typename" => Source::built_in(PlanKind::Typename),
            "__schema" | "__type" => {
                nodes.iter().for_each(|node| self.introspection.add(node));
                Source::built_in(PlanKind::Introspection)
            }
            _ => self.source(parent, name, nodes)?,
        };

        let field = PlanField {
            key: key.to_owned(),
            prefix: prefix.into(),
            name: name.to_owned(),
            coordinate: format!("{}.{name}", self.model.types[parent].name),
            kind: source.kind,
            ty: source.ty,
            args: source.args,
            children: source.children,
            // An error lists these places, and a document may select the same field thousands of
            // times.
            offsets: nodes
                .iter()
                .filter_map(|node| node.location())
                .map(|span| span.offset())
                .take(MAX_LOCATIONS)
                .collect(),
            gated: source.gated,
            is_boundary: source.is_boundary,
            denial: None,
            statements: Slot::default(),
        };

        self.bounds.weigh(field.weight())?;

        Ok(field)
    }

    /// Plans a field that the schema defines.
    fn source(
        &mut self,
        parent: TypeIndex,
        name: &str,
        nodes: &[&'a Node<Field>],
    ) -> Result<Source, RequestError> {
        let model = self.model;
        let def = model
            .object(parent)
            .and_then(|object| object.fields.get(name))
            .ok_or_else(|| {
                RequestError::new(
                    ErrorCode::GraphqlValidationFailed,
                    format!("there is no field `{name}`"),
                )
            })?;

        let kind = match PlanKind::of(def.kind) {
            Some(_) if def.is_checked() => PlanKind::Checked(Checked::new(def)),
            Some(kind) => kind,
            None => {
                return Err(RequestError::new(
                    ErrorCode::InternalServerError,
                    format!("`{name}` is only promised"),
                ));
            }
        };

        // Charged before its children are planned, so that a document that is too complex stops
        // early.
        self.bounds.charge(self.limits)?;
        let args = self.args(def, nodes[0])?;
        let sets: Vec<_> = nodes.iter().map(|node| &node.selection_set).collect();

        Ok(Source {
            kind,
            ty: OutType::of_field(model, parent, def),
            args,
            children: self.children(def.ty.named(), &sets)?,
            gated: def.gated,
            is_boundary: def.is_boundary,
        })
    }

    fn args(
        &mut self,
        def: &FieldDef,
        node: &'a Node<Field>,
    ) -> Result<Arc<[ArgPlan]>, RequestError> {
        // A fragment on an interface is planned for several object types, whose definitions of a
        // field may differ in their arguments.
        let key = (std::ptr::from_ref(def), std::ptr::from_ref(node.as_ref()));
        if def.args.is_empty() {
            return Ok(Arc::default());
        }

        if let Some(known) = self.args.get(&key) {
            return Ok(known.clone());
        }

        let filters = matches!(def.kind, FieldKind::Root(run, ..) if run.filters());
        let args: Arc<[_]> = def
            .args
            .iter()
            .map(|arg| ArgPlan::new((self.model, self.lifted), arg, node, filters))
            .collect();

        self.bounds.weigh(arguments(&args))?;
        self.args.insert(key, args.clone());

        Ok(args)
    }

    fn children(
        &mut self,
        type_index: TypeIndex,
        sets: &[&'a SelectionSet],
    ) -> Result<Children, RequestError> {
        match &self.model.types[type_index].kind {
            TypeKind::Object(_) => Ok(Children::One(self.selection(type_index, sets)?)),
            TypeKind::Abstract(abstract_type) => {
                let members = abstract_type.members.iter();

                // A value has only one of the types, so the costliest type counts.
                let (before, mut costliest) = (self.bounds.cost, self.bounds.cost);
                let selections = members.map(|member| {
                    self.bounds.cost = before;
                    let selection = self.selection(*member, sets)?;
                    costliest = costliest.max(self.bounds.cost);
                    Ok((*member, selection))
                });

                let selections = selections.collect::<Result<Vec<_>, RequestError>>()?;
                self.bounds.cost = costliest;

                Ok(Children::Any(selections.into()))
            }
            _ => Ok(Children::None),
        }
    }
}

/// Rejects fields with the same response key whose arguments differ.
fn check_same(key: &str, nodes: &[&Node<Field>]) -> Result<(), RequestError> {
    if nodes[1..].iter().all(|other| same_lists(nodes[0], other)) {
        return Ok(());
    }

    Err(RequestError::new(
        ErrorCode::GraphqlValidationFailed,
        format!("the fields `{key}` cannot be merged, as their arguments differ; use aliases"),
    ))
}

/// Whether the root fields of an operation run in one transaction. A document with the directive is
/// valid only if the schema has it, and only on mutations.
///
/// # Errors
/// A mutation without `atomic`: clients could have its record of a failed attempt undone. A `query`
/// in a result: it reads committed data.
fn is_atomic(
    kind: OperationKind,
    operation: &Operation,
    root: &Selection,
) -> Result<bool, RequestError> {
    if kind != OperationKind::Mutation || !operation.directives.has("atomic") {
        return Ok(false);
    }

    let is_alone = |field: &&PlanField| field.root().is_some_and(|root| !root.rules().atomic);
    let message = match root.fields.iter().find(is_alone) {
        Some(field) => format!(
            "`{}` cannot be a part of an operation with `@atomic`",
            field.name
        ),
        None if root.queries().next().is_some() => {
            "`query` is not available in an operation with `@atomic`".to_owned()
        }
        None => return Ok(true),
    };

    Err(RequestError::new(
        ErrorCode::GraphqlValidationFailed,
        message,
    ))
}
