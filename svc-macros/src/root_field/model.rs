//! A function that can be a root field.

use proc_macro2::Ident;
use syn::{Attribute, FnArg, LitStr, Meta, Path, Type, Visibility};

use super::parse::{Args, OnFailure};
use crate::argument::Parameters;
use crate::element::{self, Element};
use crate::errors::Errors;
use crate::field_check::FieldChecks;
use crate::function::Function;
use crate::guard::Guards;
use crate::krate::Crate;
use crate::name;

/// Attributes that may stand on a function without a body.
const HARMLESS: [&str; 8] = ["doc", "cfg", "deprecated", "allow", "expect", "warn", "deny", "must_use"];

/// The root type that a function belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Query,
    Mutation,
}

impl Kind {
    /// The variant of `OperationKind`, which is also the marker trait.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Query => "Query",
            Self::Mutation => "Mutation",
        }
    }

    /// The attribute, for messages.
    pub(super) fn attribute(self) -> &'static str {
        match self {
            Self::Query => "svc::query",
            Self::Mutation => "svc::mutation",
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
    /// The values of the request that a function of the database gets.
    pub(super) context: Vec<LitStr>,
    pub(super) on_failure: OnFailure,
    /// The authorizer that decides in place of the application's.
    pub(super) authorizer: Option<Path>,
    pub(super) guards: Guards,
}

/// The code or the statement behind the field.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Resolver {
    /// No body: one SQL statement.
    Planned,
    /// No body: the function of the database with this name.
    Function(String),
    Sync,
    Async,
}

/// Checks the function and takes our attributes off it.
pub(super) fn build(kind: Kind, args: Args, function: &mut Function, errors: &mut Errors) -> RootField {
    let guards = Guards::take(&mut function.attrs, errors);
    FieldChecks::refuse(&mut function.attrs, errors);
    let output = function.check(errors);
    if let Some(FnArg::Receiver(receiver)) = function.sig.inputs.first() {
        errors.at(
            receiver,
            "a root field has no object; write a free function, or a method of an `#[svc_type] impl` block",
        );
    }
    let params = Parameters::read(&mut function.sig.inputs, errors);
    if function.body.is_none() {
        check_planned(function, &params, errors);
    }
    check_function(kind, &args, function, errors);
    let element = Element::new(&function.sig.ident, args.name.as_ref(), &function.attrs, errors);
    RootField {
        krate: args.krate,
        kind,
        ident: function.sig.ident.clone(),
        vis: function.vis.clone(),
        cfgs: element::cfgs(&function.attrs).cloned().collect(),
        element,
        params,
        output,
        resolver: resolver(args.function.as_ref(), function),
        context: args.context,
        authorizer: args.authorizer,
        guards,
        on_failure: args.on_failure.map(|(_, on_failure)| on_failure).unwrap_or_default(),
    }
}

fn resolver(name: Option<&LitStr>, function: &Function) -> Resolver {
    match (&function.body, function.sig.asyncness) {
        (None, _) => name.map_or(Resolver::Planned, |name| Resolver::Function(name.value())),
        (Some(_), None) => Resolver::Sync,
        (Some(_), Some(_)) => Resolver::Async,
    }
}

/// A mutation has either a body or a function of the database.
fn check_function(kind: Kind, args: &Args, function: &Function, errors: &mut Errors) {
    if let (Some((span, _)), None) = (&args.on_failure, &args.function) {
        let message = "only a function of the database answers with a status; add `function = \"schema.name\"`";
        errors.push(syn::Error::new(*span, message));
    }
    match (&args.function, &function.body) {
        (Some(name), Some(_)) => {
            errors.at(name, "a mutation has a body or calls a function; write `;` instead of the body, or remove this");
        }
        (Some(name), None) => name::check_function(name, errors),
        (None, None) if kind == Kind::Mutation => errors.at(
            &function.sig.ident,
            "a mutation calls a function or has a body; \
             write `#[svc::mutation(function = \"schema.name\")]`, or `{ … }` instead of the `;`",
        ),
        (None, _) => {
            if let Some(context) = args.context.first() {
                errors.at(context, "only a function of the database gets these; add `function = \"schema.name\"`");
            }
        }
    }
}

fn check_planned(function: &Function, params: &Parameters, errors: &mut Errors) {
    for context in params.contexts() {
        errors.at(context, "a function without a body does not use the context; remove it, or write a body");
    }
    // Dropping, say, a guard in silence would leave the field open.
    for attr in function.attrs.iter().filter(|attr| !is_harmless(&attr.meta)) {
        errors.at(attr, "this attribute does nothing on a function without a body; remove it, or write a body");
    }
}

fn is_harmless(attr: &Meta) -> bool {
    match attr.path().is_ident("cfg_attr") {
        true => element::conditional(attr).iter().all(is_harmless),
        false => HARMLESS.iter().any(|name| attr.path().is_ident(name)),
    }
}
