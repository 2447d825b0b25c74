//! An `impl` block whose methods can be fields.

use proc_macro2::Ident;
use syn::{Attribute, FnArg, LitInt, LitStr, Receiver, Type};

use super::parse::{self, Block, Item, MethodArgs};
use crate::access::field_check::FieldChecks;
use crate::access::guard_attribute::Guards;
use crate::argument::Parameters;
use crate::element::{self, Element};
use crate::errors::Errors;
use crate::function::Function;
use crate::keys;
use crate::krate::Crate;
use crate::name;
use crate::types;

/// The computed fields of a type.
pub(super) struct Computed {
    pub(super) krate: Crate,
    pub(super) ty: Type,
    pub(super) cfgs: Vec<Attribute>,
    pub(super) methods: Vec<Method>,
}

/// A computed field.
pub(super) struct Method {
    pub(super) ident: Ident,
    pub(super) element: Element,
    pub(super) params: Parameters,
    pub(super) output: Type,
    pub(super) asynchronous: bool,
    /// Whether one call computes the field for all objects of a level.
    pub(super) batch: bool,
    pub(super) guards: Guards,
    pub(super) checks: FieldChecks,
    pub(super) cost: Option<LitInt>,
    /// The function of the database that computes the field.
    pub(super) function: Option<LitStr>,
}

/// Checks the block and removes our attributes from it; `None` if nothing can be generated.
pub(super) fn build(krate: Crate, block: &mut Block, errors: &mut Errors) -> Option<Computed> {
    if let Some((of, _)) = &block.of {
        errors.at(
            of,
            "`#[svc_type]` goes on the type's own `impl` block, not on a trait's; for a scalar, \
             write `#[svc_scalar]`",
        );
        return None;
    }

    if !types::check_concrete(&block.generics, errors) {
        // A guard stays on the method, where its own macro reports it.
        return None;
    }

    let methods: Vec<Method> = block
        .items
        .iter_mut()
        .filter_map(|item| match item {
            Item::Method(function) => method(function, errors),
            Item::Other(_) => None,
        })
        .collect();

    element::check_unique(
        methods
            .iter()
            .map(|method| (&method.element, &method.ident)),
        errors,
    );

    Some(Computed {
        krate,
        ty: block.ty.clone(),
        cfgs: element::cfgs(&block.attrs).cloned().collect(),
        methods,
    })
}

fn method(function: &mut Function, errors: &mut Errors) -> Option<Method> {
    let args = parse::method(&mut function.attrs, errors);
    if args.skip {
        refuse_keys(&args, &function.sig.ident, errors);
        return None;
    }

    element::check_cfg(&mut function.attrs, errors);
    let guards = Guards::take(&mut function.attrs, errors);
    let checks = FieldChecks::take(&mut function.attrs, errors);
    let batch = args.batch.is_some() && args.function.is_none();
    let objects = if batch {
        take_objects(function, errors)
    } else {
        check_receiver(function, errors);
        0
    };
    let output = function.check(errors);
    let params = Parameters::read(function.sig.inputs.iter_mut().skip(objects), errors);
    params.refuse_null(errors);
    let element = Element::new(
        &function.sig.ident,
        args.name.as_ref(),
        &function.attrs,
        errors,
    );

    check_body(&args, function, &params, errors);

    Some(Method {
        ident: function.sig.ident.clone(),
        element,
        params,
        // Only here, so that the other mistakes of a method without a return type are reported too.
        output: output?,
        asynchronous: function.sig.asyncness.is_some(),
        batch,
        guards,
        checks,
        cost: args.cost,
        function: args.function,
    })
}

/// Reports the keys of a method that is not a field.
fn refuse_keys(args: &MethodArgs, method: &Ident, errors: &mut Errors) {
    let message = format!("`{method}` is skipped; remove this key, or remove `skip`");
    if let Some(name) = &args.name {
        errors.at(name, &message);
    }

    if let Some(cost) = &args.cost {
        errors.at(cost, &message);
    }

    if let Some(function) = &args.function {
        errors.at(function, &message);
    }

    if let Some(batch) = &args.batch {
        errors.at(batch, &message);
    }
}

/// A field has either a body or a function of the database.
fn check_body(args: &MethodArgs, function: &Function, params: &Parameters, errors: &mut Errors) {
    let Some(name) = &args.function else {
        if function.body.is_none() {
            errors.at(
                &function.sig.ident,
                "a computed field has a body or a function of the database; write `{ … }` instead \
                 of the `;`, or `#[svc(function = \"schema.name\")]`",
            );
        }
        return;
    };

    name::check_function(name, errors);
    if function.body.is_some() {
        errors.at(
            name,
            "a computed field has a body or calls a function; write `;` instead of the body, or \
             remove this",
        );
    }

    if let Some(asynchronous) = &function.sig.asyncness {
        errors.at(
            asynchronous,
            "nothing waits for a field that the statement computes; remove `async`",
        );
    }

    for context in params.contexts() {
        errors.at(
            context,
            "a function of the database does not use the context; remove it, or write a body",
        );
    }

    if let Some(batch) = &args.batch {
        errors.at(
            batch,
            "the statement computes the field together with its rows; remove `batch`, or write a \
             body",
        );
    }
}

/// Checks that a batch method takes its objects first, and removes our attributes from them.
/// Returns the number of parameters for objects.
fn take_objects(function: &mut Function, errors: &mut Errors) -> usize {
    const FIRST: &str = "a batch method takes all objects of a level first; write `objects: \
                         &[&Self]`";
    match function.sig.inputs.first_mut() {
        Some(FnArg::Typed(objects)) if types::is_self_slice(&objects.ty) => {
            keys::read_svc(&mut objects.attrs, &[], errors, |_, _| Ok(()));
            1
        }
        Some(FnArg::Typed(objects)) if types::is_slice(&objects.ty) => {
            errors.at(&objects.ty, FIRST);
            1
        }
        Some(FnArg::Receiver(receiver)) => {
            errors.at(
                receiver,
                "a batch method is called once for all objects; write `objects: &[&Self]`, or \
                 remove `batch`",
            );
            0
        }
        // An argument or the context, which is checked like any other.
        Some(FnArg::Typed(_)) | None => {
            errors.at(&function.sig.ident, FIRST);
            0
        }
    }
}

fn check_receiver(function: &Function, errors: &mut Errors) {
    match function.sig.inputs.first() {
        Some(FnArg::Receiver(Receiver {
            reference: Some(_),
            mutability: None,
            ..
        })) => {}
        Some(FnArg::Receiver(receiver)) if types::is_self_ref(&receiver.ty) => {}
        Some(FnArg::Receiver(receiver)) => {
            errors.at(receiver, "a field only reads its object; write `&self`");
        }
        _ => errors.at(
            &function.sig.ident,
            "a computed field takes `&self` first; put `#[svc(skip)]` on a function that is not a \
             field",
        ),
    }
}
