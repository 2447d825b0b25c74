//! The operations and the lists in the source of a package.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use apollo_compiler::ast::OperationType;
use proc_macro2::{Ident, TokenStream, TokenTree};
use syn::ext::IdentExt as _;
use syn::parse::{Parse, ParseStream};
use syn::{Attribute, Item, ItemMod, LitStr, Meta, Signature, Token, Visibility};

use super::imports::Imports;
use super::{OPERATIONS, list_of};

/// The first files of the library and of the program.
const ROOTS: [&str; 2] = ["src/lib.rs", "src/main.rs"];

/// A function with `#[svc::query]` or one of its siblings.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) kind: OperationType,
    pub(super) function: String,
    /// The name in the schema, if the attribute sets it.
    pub(super) name: Option<String>,
    pub(super) file: PathBuf,
    pub(super) line: usize,
}

/// The source of a package. Files that do not parse, and parts that depend on a condition, have no
/// operations.
#[derive(Debug, Default)]
pub(super) struct Source {
    pub(super) operations: Vec<Operation>,
    /// The names in lists, each with the name of the list's macro.
    listed: HashSet<(&'static str, String)>,
    seen: HashSet<PathBuf>,
}

/// The place of a module.
struct Place {
    file: PathBuf,
    /// The folder with the files of its modules.
    folder: PathBuf,
}

/// A function without a body, which syn does not parse as an item.
struct Declared {
    attrs: Vec<Attribute>,
    sig: Signature,
}

impl Parse for Declared {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let attrs = input.call(Attribute::parse_outer)?;
        input.parse::<Visibility>()?;
        let sig = input.parse()?;
        input.parse::<Token![;]>()?;
        Ok(Self { attrs, sig })
    }
}

impl Source {
    /// Reads the modules of the package in a folder.
    pub(super) fn read(root: &Path) -> Self {
        let mut source = Self::default();
        for file in ROOTS {
            source.read_file(&Place {
                file: root.join(file),
                folder: root.join("src"),
            });
        }
        source
    }

    /// Whether a list names an operation, even if the program does not serve that list now.
    pub(super) fn lists(&self, operation: &Operation) -> bool {
        self.listed
            .contains(&(list_of(operation.kind), operation.function.clone()))
    }

    fn read_file(&mut self, place: &Place) {
        let Ok(text) = fs::read_to_string(&place.file) else {
            return;
        };

        let Ok(file) = syn::parse_file(&text) else {
            return;
        };

        // The library and the program may share files.
        if has_condition(&file.attrs) || !self.seen.insert(place.file.clone()) {
            return;
        }

        if let Ok(tokens) = text.parse() {
            self.add_lists(tokens);
        }

        self.add_items(&file.items, place);
    }

    fn add_items(&mut self, items: &[Item], place: &Place) {
        let imports = Imports::of(items);
        for item in items {
            match item {
                Item::Fn(function) => {
                    self.add_function(&function.attrs, &function.sig.ident, &imports, place);
                }
                Item::Verbatim(tokens) => {
                    if let Ok(Declared { attrs, sig }) = syn::parse2(tokens.clone()) {
                        self.add_function(&attrs, &sig.ident, &imports, place);
                    }
                }
                Item::Mod(module) if !has_condition(&module.attrs) => {
                    self.add_module(module, place);
                }
                _ => {}
            }
        }
    }

    fn add_module(&mut self, module: &ItemMod, place: &Place) {
        let name = module.ident.unraw().to_string();
        let folder = place.folder.join(&name);
        if let Some((_, items)) = &module.content {
            self.add_items(
                items,
                &Place {
                    file: place.file.clone(),
                    folder,
                },
            );
            return;
        }

        // A module is in one of these two files; the other one cannot be read.
        for file in [
            place.folder.join(format!("{name}.rs")),
            folder.join("mod.rs"),
        ] {
            self.read_file(&Place {
                file,
                folder: folder.clone(),
            });
        }
    }

    fn add_function(
        &mut self,
        attrs: &[Attribute],
        ident: &Ident,
        imports: &Imports,
        place: &Place,
    ) {
        if has_condition(attrs) || attrs.iter().any(allows_dead_code) {
            return;
        }

        let found = attrs.iter().find_map(|attr| {
            let arguments = arguments(attr);
            Some((
                imports.kind(attr, value(&arguments, "crate").is_some())?,
                value(&arguments, "name"),
            ))
        });

        let Some((kind, name)) = found else { return };
        self.operations.push(Operation {
            kind,
            function: ident.unraw().to_string(),
            name: name
                .and_then(|name| syn::parse2::<LitStr>(name.into()).ok())
                .map(|name| name.value()),
            file: place.file.clone(),
            line: ident.span().start().line,
        });
    }

    /// Adds the names in `queries![…]` and its siblings, also inside of other macros.
    fn add_lists(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        for (index, token) in tokens.iter().enumerate() {
            let TokenTree::Group(group) = token else {
                continue;
            };
            match list(&tokens[index.saturating_sub(2)..index]) {
                Some(list) => self.add_names(list, group.stream()),
                None => self.add_lists(group.stream()),
            }
        }
    }

    fn add_names(&mut self, list: &'static str, tokens: TokenStream) {
        for token in tokens {
            match token {
                TokenTree::Ident(name) => {
                    self.listed.insert((list, name.unraw().to_string()));
                }
                TokenTree::Group(group) => self.add_names(list, group.stream()),
                TokenTree::Punct(_) | TokenTree::Literal(_) => {}
            }
        }
    }
}

/// The macro of a list, if `before` is its name and the `!`.
fn list(before: &[TokenTree]) -> Option<&'static str> {
    let [TokenTree::Ident(name), TokenTree::Punct(mark)] = before else {
        return None;
    };
    OPERATIONS
        .map(list_of)
        .into_iter()
        .find(|list| mark.as_char() == '!' && name == list)
}

/// Whether an item exists only under a condition, or where this tool does not look for it.
fn has_condition(attrs: &[Attribute]) -> bool {
    attrs.iter().any(|attr| {
        ["cfg", "path"]
            .iter()
            .any(|name| attr.path().is_ident(name))
    })
}

/// Whether an attribute says that a function is unused on purpose.
fn allows_dead_code(attr: &Attribute) -> bool {
    attr.path().is_ident("allow")
        && arguments(attr)
            .into_iter()
            .any(|token| token.to_string() == "dead_code")
}

fn arguments(attr: &Attribute) -> TokenStream {
    match &attr.meta {
        Meta::List(list) => list.tokens.clone(),
        Meta::Path(_) | Meta::NameValue(_) => TokenStream::new(),
    }
}

/// The value of a key among the arguments of an attribute.
fn value(arguments: &TokenStream, key: &str) -> Option<TokenTree> {
    let tokens: Vec<TokenTree> = arguments.clone().into_iter().collect();
    let mut keys =
        tokens.split(|token| matches!(token, TokenTree::Punct(mark) if mark.as_char() == ','));
    keys.find_map(|tokens| match tokens {
        [TokenTree::Ident(name), TokenTree::Punct(_), value, ..] if name == key => {
            Some(value.clone())
        }
        _ => None,
    })
}
