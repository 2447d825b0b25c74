//! A function that can be a root field.

use proc_macro2::Ident;
use syn::{Attribute, FnArg, LitStr, Meta, Path, Type, Visibility};

use super::caching::Caching;
use super::parse::{Args, OnFailure, TargetRow};
use super::rows::{self, RowSource};
use super::stream::EventStream;
use super::table::TableWrite;
use crate::access::field_check::FieldChecks;
use crate::access::guard_attribute::{self, Guards};
use crate::argument::Parameters;
use crate::element::{self, Element};
use crate::errors::Errors;
use crate::function::Function;
use crate::keys::{DefaultOrder, RateLimit};
use crate::krate::Crate;
use crate::name;

/// Attributes allowed on a function without a body.
const HARMLESS: [&str; 8] = [
    "doc",
    "cfg",
    "deprecated",
    "allow",
    "expect",
    "warn",
    "deny",
    "must_use",
];

/// The root type that a function belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Query,
    Mutation,
    Subscription,
}

impl Kind {
    /// The variant of `OperationKind`, which is also the marker trait.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Query => "Query",
            Self::Mutation => "Mutation",
            Self::Subscription => "Subscription",
        }
    }

    /// The attribute, for messages.
    pub(super) fn attribute(self) -> &'static str {
        match self {
            Self::Query => "svc::query",
            Self::Mutation => "svc::mutation",
            Self::Subscription => "svc::subscription",
        }
    }
}

impl Kind {
    /// An example of such a function, for messages.
    pub(super) fn example(self) -> &'static str {
        match self {
            Self::Query | Self::Mutation => "async fn users() -> Vec<User>",
            Self::Subscription => "async fn user_changed() -> impl Stream<Item = User>",
        }
    }
}

/// A root field.
pub(super) struct RootField {
    pub(super) krate: Crate,
    pub(super) kind: Kind,
    pub(super) ident: Ident,
    pub(super) vis: Visibility,
    pub(super) cfgs: Vec<Attribute>,
    pub(super) element: Element,
    pub(super) params: Parameters,
    /// Missing only after an error.
    pub(super) output: Option<Type>,
    pub(super) resolver: Resolver,
    /// Whether the function is `async`.
    pub(super) asynchronous: bool,
    /// The values of the request passed to a function of the database.
    pub(super) context: Vec<LitStr>,
    pub(super) on_failure: OnFailure,
    /// The row that the mutation acts on.
    pub(super) acts_on: Option<TargetRow>,
    /// The authorizer that replaces the application's.
    pub(super) authorizer: Option<Path>,
    pub(super) guards: Guards,
    /// The field's own rate limit.
    pub(super) rate_limit: Option<RateLimit>,
    pub(super) caching: Caching,
    /// Whether clients may run the mutation in one transaction with others.
    pub(super) atomic: bool,
    /// The order of rows if the client requests none.
    pub(super) order_by: Option<DefaultOrder>,
}

/// The code or the statement behind the field.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Resolver {
    /// No body: one SQL statement. The rows come from the view, or from another source if one is
    /// given.
    Planned(Option<RowSource>),
    /// No body: the rows named by the events of this channel.
    Events(LitStr),
    /// No body: the function of the database with this name.
    Function(String),
    /// No body: writes rows of a table.
    Write(TableWrite),
    Sync,
    Async,
    /// A body that returns a stream.
    Stream(Box<EventStream>),
}

/// Checks the function and removes our attributes from it.
pub(super) fn build(
    kind: Kind,
    args: Args,
    function: &mut Function,
    errors: &mut Errors,
) -> RootField {
    // First, so that the check of a function without a body only finds attributes that nothing
    // reads.
    let guards = Guards::take(&mut function.attrs, errors);
    FieldChecks::refuse(&mut function.attrs, errors);
    let (stream, output) = returned(kind, function, errors);
    if let Some(FnArg::Receiver(receiver)) = function.sig.inputs.first() {
        errors.at(
            receiver,
            "a root field has no object; write a free function, or a method of an \
             `#[svc_type] impl` block",
        );
    }

    let params = Parameters::read(&mut function.sig.inputs, errors);
    if function.body.is_none() {
        check_planned(function, &params, errors);
    }

    check_keys(kind, &args, function, &params, errors);
    let resolver = stream.map_or_else(
        || resolver(kind, &args, function),
        |stream| Resolver::Stream(Box::new(stream)),
    );

    let element = Element::new(
        &function.sig.ident,
        args.name.as_ref(),
        &function.attrs,
        errors,
    );

    RootField {
        krate: args.krate,
        kind,
        ident: function.sig.ident.clone(),
        vis: function.vis.clone(),
        cfgs: element::cfgs(&function.attrs).cloned().collect(),
        element,
        params,
        output,
        resolver,
        asynchronous: function.sig.asyncness.is_some(),
        context: args.context,
        acts_on: args.acts_on,
        authorizer: args.authorizer,
        guards,
        rate_limit: args.rate_limit,
        caching: args.caching,
        atomic: args.atomic.is_some(),
        order_by: args.order_by,
        on_failure: args
            .on_failure
            .map(|(_, on_failure)| on_failure)
            .unwrap_or_default(),
    }
}

/// Returns the stream of a subscription with a body, and the type of the field; reports types that
/// a schema cannot express.
fn returned(
    kind: Kind,
    function: &Function,
    errors: &mut Errors,
) -> (Option<EventStream>, Option<Type>) {
    if kind != Kind::Subscription || function.body.is_none() {
        return (None, function.check(errors));
    }

    let stream = EventStream::of(function, errors);
    let output = stream.as_ref().map(|stream| stream.output.clone());

    (stream, output)
}

/// Reports keys that do not fit together, or that do not fit the function and its parameters.
fn check_keys(
    kind: Kind,
    args: &Args,
    function: &Function,
    params: &Parameters,
    errors: &mut Errors,
) {
    let has_body = function.body.is_some();
    let write = args.table.write();

    // Null has a special meaning only in conditions, and only planned statements have these.
    if has_body || args.function.is_some() || args.sql.is_some() || write.is_some() {
        params.refuse_null(errors);
    }

    match kind {
        Kind::Subscription => check_channel(args, function, errors),
        Kind::Mutation => check_function(args, function, errors),
        Kind::Query => rows::check(args, has_body, params.args().count(), errors),
    }

    args.table
        .check(args.function.as_ref(), has_body, params, errors);

    check_acted(args, &function.sig.ident, params, errors);
    if let (Some(order), true) = (&args.order_by, has_body) {
        errors.at(
            &order.at,
            "a body orders its rows itself; remove this, and return \
             `ctx.db().find().default_order(…)`",
        );
    }

    args.caching.check(errors);
}

fn resolver(kind: Kind, args: &Args, function: &Function) -> Resolver {
    let rows = if kind == Kind::Query {
        rows::source(args)
    } else {
        None
    };

    match (&function.body, function.sig.asyncness) {
        (None, _) if rows.is_some() => Resolver::Planned(rows),
        (None, _) => match (&args.channel, &args.function, args.table.write()) {
            (Some(channel), ..) => Resolver::Events(channel.clone()),
            (None, Some(name), _) => Resolver::Function(name.value()),
            (None, None, Some(write)) => Resolver::Write(write),
            (None, None, None) => Resolver::Planned(None),
        },
        (Some(_), None) => Resolver::Sync,
        (Some(_), Some(_)) => Resolver::Async,
    }
}

/// A mutation has either a body or a function of the database.
fn check_function(args: &Args, function: &Function, errors: &mut Errors) {
    if let (Some((span, _)), None) = (&args.on_failure, &args.function) {
        let message = "only a function of the database answers with a status; add \
                       `function = \"schema.name\"`";
        errors.push(syn::Error::new(*span, message));
    }

    if let (Some(atomic), Some((_, OnFailure::Commit))) = (args.atomic, &args.on_failure) {
        let message = "clients could undo what `on_failure = commit` keeps; remove one of the two";
        errors.push(syn::Error::new(atomic, message));
    }

    match (&args.function, &function.body) {
        (Some(name), Some(_)) => {
            errors.at(
                name,
                "a mutation has a body or calls a function; write `;` instead of the body, or \
                 remove this",
            );
        }
        (Some(name), None) => name::check_function(name, errors),
        (None, None) if args.table.write().is_none() => errors.at(
            &function.sig.ident,
            "a mutation calls a function or has a body; \
             write `#[svc::mutation(function = \"schema.name\")]`, or `{ … }` instead of the `;`",
        ),
        (None, _) => {
            if let Some(context) = args.context.first() {
                errors.at(
                    context,
                    "only a function of the database gets these; add `function = \"schema.name\"`",
                );
            }
        }
    }
}

/// The row that a mutation acts on requires a function call, which can be undone if the row may not
/// be written.
fn check_acted(args: &Args, mutation: &Ident, params: &Parameters, errors: &mut Errors) {
    let Some(TargetRow { row, id }) = &args.acts_on else {
        return;
    };

    if args.table.write().is_some() {
        errors.at(
            row,
            "what is written to a table acts on its rows already; remove `acts_on`",
        );
    } else if args.function.is_none() {
        errors.at(
            row,
            "only a mutation that calls a function acts on a row; add \
             `function = \"schema.name\"`, or read the row in a transaction of the body",
        );
    } else if !params.args().any(|arg| arg.ident == *id) {
        errors.at(
            id,
            format!(
                "`{id}` is not an argument of `{mutation}`; name the one that holds the row's id"
            ),
        );
    }
}

/// A subscription has either a body or a channel.
fn check_channel(args: &Args, function: &Function, errors: &mut Errors) {
    match (&args.channel, &function.body) {
        (Some(channel), Some(_)) => errors.at(
            channel,
            "a subscription has a body or a channel; write `;` instead of the body, or remove this \
             and return `ctx.events(\"…\").await`",
        ),
        (Some(channel), None) => name::check_channel(channel, errors),
        (None, None) => errors.at(
            &function.sig.ident,
            "a subscription reads the rows that a channel names, or has a body that returns a \
             stream; write `#[svc::subscription(channel = \"post_changed\")]`, or `{ … }` instead \
             of the `;`",
        ),
        (None, Some(_)) => {}
    }
}

fn check_planned(function: &Function, params: &Parameters, errors: &mut Errors) {
    for context in params.contexts() {
        errors.at(
            context,
            "a function without a body does not use the context; remove it, or write a body",
        );
    }

    // Silently dropping an attribute, for example a guard, would leave the field open.
    for attr in function
        .attrs
        .iter()
        .filter(|attr| !is_harmless(&attr.meta))
    {
        if guard_attribute::is_guarding(attr) {
            errors.at(attr, guard_attribute::instead(attr));
        } else {
            errors.at(
                attr,
                "this attribute does nothing on a function without a body; remove it, or write a \
                 body",
            );
        }
    }
}

fn is_harmless(attr: &Meta) -> bool {
    match attr.path().is_ident("cfg_attr") {
        true => element::conditional(attr).iter().all(is_harmless),
        false => HARMLESS.iter().any(|name| attr.path().is_ident(name)),
    }
}
