//! Builds the root types from the listed operations.

use indexmap::IndexMap;

use super::checks::{self, filters, inputs, writes};
use super::companions::Companions;
use super::fields::{is_leaf, relations, stored_fields};
use super::{Builder, expr};
use crate::schema::error::SchemaError;
use crate::schema::model::{
    ArgDef, ArgRole, FieldDef, FieldKind, ObjectDef, TypeDef, TypeExpr, TypeIndex, TypeKind,
    gate_of, is_checked, same_fields,
};
use crate::schema::registration::ArgRef;
use crate::schema::{
    NullArgument, OperationKind, PlannedMeta, Registry, ResultMeta, RootFieldMeta, Run, Shape,
    TypeRef, WriteMeta,
};

/// An operation with its registered types.
pub(super) struct Operation {
    meta: &'static RootFieldMeta,
    ty: TypeRef,
    args: Vec<ArgRef>,
    row: Option<TypeIndex>,
    result: Option<&'static ResultMeta>,
}

impl Operation {
    pub(super) fn register(meta: &'static RootFieldMeta, registry: &mut Registry) -> Self {
        let row = meta.run.planned().map(|planned| (planned.row)(registry).0);
        let ty = (meta.ty)(registry);
        let result = ty.key().and_then(|key| registry.results.get(&key).copied());

        Self {
            meta,
            ty,
            args: registry.args(meta.args, meta.path),
            row,
            result,
        }
    }
}

impl Builder {
    pub(super) fn add_roots(&mut self, operations: &[Operation], companions: &mut Companions<'_>) {
        let roots = [
            (OperationKind::Query, "Query"),
            (OperationKind::Mutation, "Mutation"),
            (OperationKind::Subscription, "Subscription"),
        ];

        for (kind, name) in roots {
            let mut fields: IndexMap<String, FieldDef> = IndexMap::new();
            for operation in operations
                .iter()
                .filter(|operation| operation.meta.kind == kind)
            {
                let def = self.root_field(operation, companions);
                if let Some(index) = fields.get_index_of(&def.name) {
                    let first = operations.iter().filter(|o| o.meta.kind == kind).nth(index);
                    self.errors.push(clash(
                        kind,
                        def.name,
                        first.map_or("", |first| first.meta.path),
                        operation.meta.path,
                    ));
                    continue;
                }

                fields.insert(def.name.clone(), def);
            }

            if fields.is_empty() {
                // The specification requires a query root and no other.
                if kind == OperationKind::Query {
                    self.errors.push(SchemaError::NoQuery);
                }
                continue;
            }

            let index = self.types.len();

            self.types.push(TypeDef {
                name: name.to_owned(),
                description: None,
                path: format!("the root type {name}"),
                kind: TypeKind::Object(ObjectDef::made(index, fields)),
            });
        }
    }

    fn root_field(&mut self, operation: &Operation, companions: &mut Companions<'_>) -> FieldDef {
        let meta = operation.meta;
        let named = expr(&operation.ty).named();
        let has_rows = || self.types[named].kind.source().is_some().then_some(named);
        let written = match meta.run {
            Run::Write(_) => {
                let entity = operation
                    .result
                    .and_then(|result| writes::entity(&self.types, &result.success));
                entity.map(|field| field.ty.clone())
            }
            _ => None,
        };

        let row = operation
            .row
            .or_else(|| companions.row_of(named))
            .or_else(has_rows);
        let row = row.or_else(|| written.as_ref().map(TypeExpr::named));
        let kind = FieldKind::Root(meta.run, row, meta.rules);
        let module = meta.path.rsplit_once("::").map_or("", |(module, _)| module);
        let def = self.field(
            &meta.element,
            expr(&operation.ty),
            &operation.args,
            kind,
            module,
        );

        let mut def = def.guarded(meta.rules.guards);
        self.check_args(operation, &def);

        match meta.run {
            Run::Function(_) => self.check_function(meta, operation, &def),
            Run::Write(write) => {
                self.check_write(meta, write, written.as_ref(), &mut def, companions);
            }
            _ => {}
        }

        if matches!(meta.run, Run::Function(_) | Run::Write(_)) {
            self.check_error(meta, operation);
        }

        if let (Some(planned), Some(row)) = (meta.run.planned(), operation.row) {
            self.planned_args(meta, (planned, row), &mut def, companions);
        }

        def
    }

    /// Adds the standard arguments of a planned field, and sets the roles and gates of its declared
    /// arguments.
    fn planned_args(
        &mut self,
        meta: &RootFieldMeta,
        (planned, row): (PlannedMeta, TypeIndex),
        def: &mut FieldDef,
        companions: &mut Companions<'_>,
    ) {
        self.check_planned(meta, row, def);

        for arg in &mut def.args {
            // The arguments go to the source of the rows and are no conditions on them.
            if planned.source.is_some() {
                arg.role = ArgRole::Given;
                continue;
            }

            let key = relation_key(&self.types, row, &arg.rust);
            let gates = [
                gate_of(&self.types, row, &arg.rust),
                key.and_then(|(row, key)| gate_of(&self.types, row, key.rust)),
            ];
            if gates.iter().all(Option::is_some) {
                let (argument, path) = (arg.rust.clone(), meta.path.to_owned());
                self.errors.push(SchemaError::TwoGates { argument, path });
            }

            arg.gated = gates.into_iter().flatten().next();

            if asks_for_all_when_null(&self.types, row, meta, &arg.rust) {
                arg.role = ArgRole::DeclaredUnlessNull;
            }
        }

        let args = match planned.shape {
            Shape::List => companions.list_args(&mut self.types, row),
            Shape::Connection => companions.connection_args(&mut self.types, row),
            Shape::Aggregate => companions.where_arg(&mut self.types, row),
            Shape::Optional | Shape::One => Vec::new(),
        };

        if !args.is_empty() {
            // An argument of the program replaces the standard one with its name. If it goes to the
            // source of the rows, clients would lose the standard one, so that is an error.
            let taken: Vec<_> = def.args.iter().map(|arg| arg.name.clone()).collect();
            let hidden = args
                .iter()
                .find(|arg| planned.source.is_some() && taken.contains(&arg.name));
            self.errors
                .extend(hidden.map(|arg| SchemaError::HiddenArgument {
                    argument: arg.name.clone(),
                    path: meta.path.to_owned(),
                }));

            def.args
                .extend(args.into_iter().filter(|arg| !taken.contains(&arg.name)));
        }
    }

    /// Rejects pages and files in the arguments of operations that cannot take them.
    fn check_args(&mut self, operation: &Operation, def: &FieldDef) {
        let meta = operation.meta;

        // Only code can take a struct; a statement binds each argument by itself.
        if !matches!(meta.run, Run::Code(_) | Run::Stream(_)) {
            let spread = operation.args.iter().find(|arg| arg.spread);
            let misplaced = spread
                .and_then(|arg| meta.args.get(arg.slot))
                .map(|arg| (arg.element.rust, meta.path));
            self.errors
                .extend(misplaced.map(SchemaError::misplaced_page));
        }

        if !matches!(
            (meta.kind, meta.run),
            (OperationKind::Mutation, Run::Code(_))
        ) {
            let file = def
                .args
                .iter()
                .find(|arg| inputs::holds_file(&self.types, &arg.ty));
            self.errors
                .extend(file.map(|arg| SchemaError::MisplacedFile {
                    argument: arg.rust.clone(),
                    path: meta.path.to_owned(),
                }));
        }
    }

    /// Checks a mutation that writes to a table, and gates the arguments that select its row.
    /// `written` is the type of the entity in its result, if it returns one.
    fn check_write(
        &mut self,
        meta: &RootFieldMeta,
        write: WriteMeta,
        written: Option<&TypeExpr>,
        def: &mut FieldDef,
        companions: &mut Companions<'_>,
    ) {
        let rows = written.unwrap_or(&def.ty);
        let row = rows.named();
        let bad = |why| SchemaError::BadWrite {
            path: meta.path.to_owned(),
            why,
        };

        if let Some(why) = writes::check(&self.types, write, &def.args, rows) {
            self.errors.push(bad(why));
        } else if write.is_by_filter() {
            self.filter_args(meta, row, def, companions);
            return;
        }

        let two = writes::gate_keys(&self.types, write, row, &mut def.args);
        self.errors
            .extend(two.map(|argument| SchemaError::TwoGates {
                argument,
                path: meta.path.to_owned(),
            }));
    }

    /// Makes the arguments beside the input object conditions on the written rows, as in a list, and
    /// adds the client's filter.
    fn filter_args(
        &mut self,
        meta: &RootFieldMeta,
        row: TypeIndex,
        def: &mut FieldDef,
        companions: &mut Companions<'_>,
    ) {
        for arg in &mut def.args {
            if writes::input(&self.types, arg).is_some() {
                arg.role = ArgRole::Given;
                continue;
            }

            self.check_condition(meta, row, arg);
            arg.gated = gate_of(&self.types, row, &arg.rust);
        }

        let path = meta.path.to_owned();
        let Some(filter) = companions.where_arg(&mut self.types, row).pop() else {
            let why = "the rows have no field to filter by".to_owned();
            self.errors.push(SchemaError::BadWrite { path, why });
            return;
        };

        if def.args.iter().any(|arg| arg.name == filter.name) {
            let why = format!(
                "`{}` is the filter of the client; give the argument another name",
                filter.name
            );
            self.errors.push(SchemaError::BadWrite { path, why });
            return;
        }

        def.args.push(ArgDef {
            ty: TypeExpr::NonNull(Box::new(filter.ty)),
            ..filter
        });
    }

    /// Rejects a list of results: no status could report the outcome of the other results.
    fn check_function(&mut self, meta: &RootFieldMeta, operation: &Operation, def: &FieldDef) {
        if operation.result.is_some() && def.ty.is_list() {
            self.errors.push(SchemaError::ListOfResults {
                path: meta.path.to_owned(),
            });
        }
    }

    /// Checks the first field of an error. It is the entity, which svc fills in, so a value in its
    /// place would never receive the data that its name suggests.
    fn check_error(&mut self, meta: &RootFieldMeta, operation: &Operation) {
        let Some(result) = operation.result else {
            return;
        };

        let plain =
            writes::plain_entity(&self.types, result).map(|field| SchemaError::PlainEntity {
                field: field.rust.to_owned(),
                error: result.error.name.to_owned(),
                path: meta.path.to_owned(),
            });

        self.errors.extend(plain);
    }

    fn check_planned(&mut self, meta: &RootFieldMeta, row_index: TypeIndex, def: &FieldDef) {
        if self.types[row_index].kind.source().is_none() {
            self.errors.push(SchemaError::NoSource {
                path: meta.path.to_owned(),
                row: self.types[row_index].path.clone(),
            });
        }

        if meta
            .run
            .planned()
            .is_some_and(|planned| planned.source.is_some())
        {
            return;
        }

        for arg in &def.args {
            self.check_condition(meta, row_index, arg);
        }
    }

    /// Checks an argument that is compared with the field of its name.
    fn check_condition(&mut self, meta: &RootFieldMeta, row_index: TypeIndex, arg: &ArgDef) {
        let fields = stored_fields(&self.types, row_index);
        let field = fields
            .into_iter()
            .find(|field| field.rust == arg.rust && is_leaf(&self.types, &field.ty));

        // A field of the rows takes precedence; an event may also name a row by the key of a
        // relation.
        let key = match (field, meta.run) {
            (None, Run::Event(_)) => relation_key(&self.types, row_index, &arg.rust),
            _ => None,
        };

        let is_checked = is_checked(&self.types, row_index, &arg.rust)
            || key.is_some_and(|(row, key)| is_checked(&self.types, row, key.rust));
        let field = field.or(key.map(|(_, key)| key));
        let (argument, path, row) = (
            arg.rust.clone(),
            meta.path.to_owned(),
            self.types[row_index].path.clone(),
        );

        self.errors.extend(match field {
            Some(_) if is_checked => Some(SchemaError::CheckedFilter {
                argument,
                path,
                row,
            }),
            None => Some(SchemaError::UnknownFilter {
                argument,
                path,
                row,
            }),
            Some(field) if filters::fit(&self.types, &arg.ty, &field.ty) => None,
            Some(field) => {
                let [given, expected] =
                    [&arg.ty, &field.ty].map(|ty| checks::show(&self.types, ty));
                Some(SchemaError::FilterType {
                    argument,
                    path,
                    given,
                    row,
                    expected,
                })
            }
        });
    }
}

/// Whether null for an argument selects all rows: clients send null for arguments that they leave
/// unset.
fn asks_for_all_when_null(
    types: &[TypeDef],
    row: TypeIndex,
    meta: &RootFieldMeta,
    rust: &str,
) -> bool {
    match meta
        .args
        .iter()
        .find(|arg| arg.element.rust == rust)
        .map(|arg| arg.null)
    {
        Some(NullArgument::AllRows) => true,
        Some(NullArgument::IsNull) | None => false,
        Some(NullArgument::ByField) => {
            let holds = |field: &FieldDef| match field.kind {
                FieldKind::Stored { .. } => true,
                FieldKind::Relation(relation) => !relation.is_derived(),
                _ => false,
            };
            let mut fields = same_fields(types, row, rust)
                .into_iter()
                .filter(|(_, field)| holds(field))
                .peekable();
            // `all` is also true without any fields.
            fields.peek().is_some() && fields.all(|(_, field)| field.ty.is_non_null())
        }
    }
}

/// The key of the row that a to-one relation leads to, which an event may contain, with the type of
/// that row.
fn relation_key<'t>(
    types: &'t [TypeDef],
    row: TypeIndex,
    rust: &str,
) -> Option<(TypeIndex, &'t FieldDef)> {
    let (_, relation) = relations(types, row)
        .into_iter()
        .find(|(field, _)| field.rust == rust)?;
    let (_, to) = relation.only_key()?;
    let stored =
        |field: &FieldDef| matches!(field.kind, FieldKind::Stored { stored, .. } if stored == to);
    let key = stored_fields(types, relation.row)
        .into_iter()
        .find(|field| !relation.is_many() && stored(field))?;

    Some((relation.row, key))
}

/// The error for two listed functions with the same name, or for a function that is listed twice.
fn clash(kind: OperationKind, name: String, first: &str, second: &str) -> SchemaError {
    let kind = match kind {
        OperationKind::Query => "query",
        OperationKind::Mutation => "mutation",
        OperationKind::Subscription => "subscription",
    };

    if first == second {
        return SchemaError::ListedTwice {
            kind,
            path: first.to_owned(),
        };
    }

    SchemaError::OperationClash {
        kind,
        name,
        first: first.to_owned(),
        second: second.to_owned(),
    }
}
