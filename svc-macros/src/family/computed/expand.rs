//! The constant that lists the computed fields.

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};

use super::model::{Computed, Method};
use crate::element;
use crate::function::Caller;
use crate::krate::Crate;
use crate::types;

/// The second `impl` block.
pub(super) fn full(computed: &Computed) -> TokenStream {
    let Computed {
        krate,
        ty,
        cfgs,
        methods,
    } = computed;

    let methods = methods.iter().map(|method| meta(krate, method));

    // A second block is reported at its type. rustc names the constant in that error, so its name
    // is the advice.
    let constant = quote_spanned! {types::span(ty)=>
        #[doc(hidden)]
        pub(crate) const __SVC_COMPUTED_FIELDS_GO_INTO_ONE_IMPL: &'static [#krate::ComputedMeta] =
            &[#(#methods),*];
    };

    let import = krate.import();

    // The last constant makes rustc report a block whose type is no `#[svc_type]`.
    quote! {
        #(#cfgs)*
        #[allow(deprecated)]
        const _: () = {
            #import
            #[automatically_derived]
            impl #ty {
                #constant
            }
            const _: #krate::KeyFn = <#ty as #krate::Object>::key;
        };
    }
}

fn meta(krate: &Crate, method: &Method) -> TokenStream {
    let element = method.element.meta(krate);
    let args = method
        .params
        .args()
        .map(|arg| arg.meta(krate, &arg.type_ref(krate, None), None));
    let output = types::outside(&method.output, None);
    let answers = if method.function.is_some() {
        quote!(RowFunctionReturn)
    } else if method.batch {
        quote!(ReturnsBatch)
    } else {
        quote!(Returns)
    };

    let ty = quote_spanned!(types::span(&method.output)=> <#output as #krate::#answers>::type_ref);
    let run = run(krate, method);
    let (guards, checks) = (
        method.guards.tokens(krate),
        method.checks.tokens(krate, &quote!(Self)),
    );
    let cost = match &method.cost {
        Some(cost) => quote!(::core::option::Option::Some(#cost)),
        None => quote!(::core::option::Option::None),
    };

    quote! {
        #krate::ComputedMeta {
            element: #element, args: &[#(#args),*], ty: #ty, run: #run, cost: #cost,
            guards: #guards, checks: #checks,
        }
    }
}

/// The code or the function that computes the field.
fn run(krate: &Crate, method: &Method) -> TokenStream {
    let ident = &method.ident;
    if let Some(name) = &method.function {
        let place = element::place(krate, ident);
        let checks = method.params.args().map(|arg| {
            let ty = types::outside(&arg.ty, None);
            quote_spanned!(types::span(&arg.ty)=> #krate::check_input::<#ty>)
        });
        return quote!(#krate::ComputedRun::Function(&#krate::RowFunctionMeta {
            name: #name,
            checks: &[#(#checks),*],
            place: #place,
        }));
    }

    let receiver = if method.batch {
        quote!(#krate::receivers::<Self>)
    } else {
        quote!(#krate::receiver::<Self>)
    };
    let method = Caller {
        krate,
        callee: quote!(Self::#ident),
        receiver: Some(receiver),
        params: &method.params,
        output: &method.output,
        asynchronous: method.asynchronous,
        batch: method.batch,
        events: None,
    }
    .variant("Method");

    quote!(#krate::ComputedRun::Method(#method))
}
