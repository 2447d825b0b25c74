//! A Rust file, as far as tidy reads it: the functions, the paths that name other modules, and the
//! modules it declares.

use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::vec::IntoIter;

use anyhow::{Result, anyhow};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// A Rust file.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) path: PathBuf,
    pub(crate) functions: Vec<Function>,
    pub(crate) references: Vec<Reference>,
    /// Names of modules with files of their own that are compiled for tests only.
    pub(crate) test_modules: Vec<String>,
}

/// A function with a body.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Function {
    pub(crate) name: String,
    pub(crate) line: usize,
    /// The number of its lines, without blank lines and plain comments.
    pub(crate) lines: usize,
}

/// A path that begins with `crate`, `super` or `self`, or a path of a `use`. Those of tests are
/// left out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The inline modules around it, outermost first.
    pub(crate) inside: Vec<String>,
    pub(crate) path: Vec<String>,
    pub(crate) line: usize,
    /// The name that a `use` gives it.
    pub(crate) name: Option<String>,
}

impl Source {
    /// Reads a file.
    pub(crate) fn parse(path: &Path, text: &str) -> Result<Self> {
        let tokens: TokenStream = text
            .parse()
            .map_err(|error| anyhow!("{}: {error}", path.display()))?;
        let mut source = Self {
            path: path.to_owned(),
            functions: Vec::new(),
            references: Vec::new(),
            test_modules: Vec::new(),
        };

        source.functions(&tokens, &text.lines().collect::<Vec<_>>());
        source.walk(tokens, &mut Vec::new());

        Ok(source)
    }

    /// Adds every `fn name … { … }`, at any depth. `text` has all lines of the file.
    fn functions(&mut self, tokens: &TokenStream, text: &[&str]) {
        let mut open = None;
        let mut tokens = tokens.clone().into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Ident(word) if word == "fn" => {
                    if let Some(TokenTree::Ident(name)) = tokens.peek() {
                        open = Some((name.to_string(), word.span().start().line));
                    }
                }
                TokenTree::Punct(point) if point.as_char() == ';' => open = None,
                TokenTree::Group(group) => {
                    if group.delimiter() == Delimiter::Brace
                        && let Some((name, line)) = open.take()
                    {
                        let end = group.span_close().end().line;
                        self.functions.push(Function {
                            name,
                            line,
                            lines: counted_lines(&text[line - 1..end]),
                        });
                    }
                    self.functions(&group.stream(), text);
                }
                _ => {}
            }
        }
    }

    /// Adds the references of some tokens, inside the inline modules `inside`.
    fn walk(&mut self, tokens: TokenStream, inside: &mut Vec<String>) {
        let mut tokens = Tokens {
            rest: tokens
                .into_iter()
                .collect::<Vec<_>>()
                .into_iter()
                .peekable(),
        };

        let mut colons = 0;
        while let Some(token) = tokens.rest.next() {
            let goes_on = colons > 1;
            colons = if is_colon(&token) { colons + 1 } else { 0 };

            match token {
                TokenTree::Punct(point) if point.as_char() == '#' => match tokens.attribute() {
                    Some(attribute) if is_for_tests(&attribute) => {
                        self.test_modules.extend(tokens.skip_item());
                    }
                    Some(attribute) => self.walk(attribute.stream(), inside),
                    None => {}
                },
                TokenTree::Ident(word) if word == "use" => {
                    let statement = tokens.statement();
                    self.use_tree(&mut Tokens::of(statement), &[], inside);
                }
                TokenTree::Ident(word) if word == "mod" => {
                    let Some(TokenTree::Ident(name)) = tokens.rest.next() else {
                        continue;
                    };

                    if let Some(TokenTree::Group(group)) = tokens
                        .rest
                        .next_if(|token| matches!(token, TokenTree::Group(_)))
                    {
                        inside.push(name.to_string());
                        self.walk(group.stream(), inside);
                        inside.pop();
                    }
                }
                TokenTree::Ident(word)
                    if !goes_on && ["crate", "super", "self"].iter().any(|root| word == root) =>
                {
                    let path = tokens.path(word.to_string());
                    if path.len() > 1 {
                        let line = word.span().start().line;
                        self.references.push(Reference {
                            inside: inside.clone(),
                            path,
                            line,
                            name: None,
                        });
                    }
                }
                // Who may see an item is not a use of it.
                TokenTree::Group(group) if starts_with_in(&group) => {}
                TokenTree::Group(group) => self.walk(group.stream(), inside),
                _ => {}
            }
        }
    }

    /// Adds the paths of a `use` after its word, which begin with `prefix`.
    fn use_tree(&mut self, tokens: &mut Tokens, prefix: &[String], inside: &[String]) {
        let mut used = Used::after(prefix);
        while let Some(token) = tokens.rest.next() {
            match token {
                TokenTree::Ident(word) if word == "as" => {
                    used.name = tokens.rest.next().map(|name| name.to_string());
                }
                TokenTree::Ident(word) => {
                    used.line = Some(word.span().start().line);
                    used.path.push(word.to_string());
                }
                TokenTree::Punct(point) if point.as_char() == ',' => {
                    self.add_use(std::mem::replace(&mut used, Used::after(prefix)), inside);
                }
                TokenTree::Punct(point) if point.as_char() == '*' => {
                    used.line = Some(point.span().start().line);
                    used.name = Some("*".to_owned());
                }
                TokenTree::Group(group) => {
                    self.use_tree(&mut Tokens::of(group.stream()), &used.path, inside);
                    used = Used::after(prefix);
                }
                _ => {}
            }
        }

        self.add_use(used, inside);
    }

    fn add_use(
        &mut self,
        Used {
            mut path,
            name,
            line,
        }: Used,
        inside: &[String],
    ) {
        let Some(line) = line else { return };
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }

        let name = name.or_else(|| path.last().cloned());
        self.references.push(Reference {
            inside: inside.to_vec(),
            path,
            line,
            name,
        });
    }
}

/// One path of a `use`, as far as it has been read.
struct Used {
    path: Vec<String>,
    name: Option<String>,
    line: Option<usize>,
}

impl Used {
    fn after(prefix: &[String]) -> Self {
        Self {
            path: prefix.to_vec(),
            name: None,
            line: None,
        }
    }
}

struct Tokens {
    rest: Peekable<IntoIter<TokenTree>>,
}

impl Tokens {
    fn of(tokens: TokenStream) -> Self {
        Self {
            rest: tokens
                .into_iter()
                .collect::<Vec<_>>()
                .into_iter()
                .peekable(),
        }
    }

    /// The brackets after a `#`.
    fn attribute(&mut self) -> Option<Group> {
        self.rest
            .next_if(|token| matches!(token, TokenTree::Punct(point) if point.as_char() == '!'));

        match self
            .rest
            .next_if(|token| matches!(token, TokenTree::Group(_)))
        {
            Some(TokenTree::Group(group)) => Some(group),
            _ => None,
        }
    }

    fn is_at_end(&mut self) -> bool {
        matches!(self.rest.peek(), Some(TokenTree::Punct(point)) if point.as_char() == ';')
    }

    /// The tokens before the next `;`.
    fn statement(&mut self) -> TokenStream {
        let is_end =
            |token: &TokenTree| matches!(token, TokenTree::Punct(point) if point.as_char() == ';');
        std::iter::from_fn(|| self.rest.next_if(|token| !is_end(token))).collect()
    }

    /// A path that begins with `first`.
    fn path(&mut self, first: String) -> Vec<String> {
        let mut path = vec![first];
        while self.rest.next_if(is_colon).is_some() && self.rest.next_if(is_colon).is_some() {
            match self
                .rest
                .next_if(|token| matches!(token, TokenTree::Ident(_)))
            {
                Some(word) => path.push(word.to_string()),
                None => break,
            }
        }

        path
    }

    /// Passes an item, and returns its name when it is a module in a file of its own.
    fn skip_item(&mut self) -> Option<String> {
        let (mut module, mut is_module) = (None, false);
        while let Some(token) = self.rest.next() {
            match token {
                TokenTree::Ident(word) if is_module && module.is_none() => {
                    module = Some(word.to_string());
                }
                TokenTree::Ident(word) => is_module = word == "mod",
                TokenTree::Punct(point) if point.as_char() == ';' => return module,
                // A `use` of several names goes on after its braces.
                TokenTree::Group(group)
                    if group.delimiter() == Delimiter::Brace && !self.is_at_end() =>
                {
                    return None;
                }
                _ => {}
            }
        }

        None
    }
}

/// Whether a file has nothing but tests and their parts.
pub(crate) fn is_of_tests(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());

    name.is_some_and(|name| name == "tests.rs" || name.ends_with("_tests.rs"))
        || path.iter().any(|folder| folder == "tests")
}

/// The number of lines that are neither blank nor a plain comment. Documentation counts.
fn counted_lines(lines: &[&str]) -> usize {
    let is_documentation = |line: &str| line.starts_with("///") || line.starts_with("//!");
    let is_plain_comment = |line: &str| line.starts_with("//") && !is_documentation(line);

    lines
        .iter()
        .map(|line| line.trim_start())
        .filter(|line| !line.is_empty() && !is_plain_comment(line))
        .count()
}

fn is_colon(token: &TokenTree) -> bool {
    matches!(token, TokenTree::Punct(point) if point.as_char() == ':')
}

fn is_for_tests(attribute: &Group) -> bool {
    let text = attribute.stream().to_string().replace(' ', "");
    ["cfg(test)", "cfg(any(test,", "cfg(all(test,"]
        .iter()
        .any(|start| text.starts_with(start))
}

fn starts_with_in(group: &Group) -> bool {
    group.delimiter() == Delimiter::Parenthesis
        && matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(word)) if word == "in")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Source, is_of_tests};

    fn parse(text: &str) -> Source {
        Source::parse(Path::new("a.rs"), text).unwrap()
    }

    #[test]
    fn paths_are_read_wherever_they_stand() {
        let source = parse(
            "use crate::a::{self, b::C as D, *};\nmod inner { use super::x; }\n#[cfg(test)]\nmod tests { use crate::no; }\n\
             pub(in crate::no) fn f(x: crate::t::T) { vec![crate::m::n()]; self::y::z(); self.crate_(); }",
        );
        let paths: Vec<String> = source
            .references
            .iter()
            .map(|found| found.path.join("::"))
            .collect();

        assert_eq!(
            paths,
            [
                "crate::a",
                "crate::a::b::C",
                "crate::a",
                "super::x",
                "crate::t::T",
                "crate::m::n",
                "self::y::z"
            ]
        );

        assert_eq!(source.references[1].name.as_deref(), Some("D"));
        assert_eq!(source.references[3].inside, ["inner"]);

        assert_eq!(source.references[4].line, 5);
    }

    #[test]
    fn test_modules_are_recognized() {
        let source = parse(
            "#[cfg(test)]\nmod tests;\nmod real;\n#[cfg(test)]\npub(crate) use a::{B, C};\nuse crate::d;",
        );
        assert_eq!(source.test_modules, ["tests"]);
        assert_eq!(source.references.len(), 1);
    }

    #[test]
    fn functions_are_measured_at_any_depth() {
        let source = parse(
            "trait T { fn declared(); }\nimpl X {\n    fn f()\n    where\n        A: B,\n    {\n        fn g() {}\n    }\n}",
        );
        let found: Vec<_> = source
            .functions
            .iter()
            .map(|f| (f.name.as_str(), f.line, f.lines))
            .collect();

        assert_eq!(found, [("f", 3, 6), ("g", 7, 1)]);
    }

    #[test]
    fn blank_lines_and_plain_comments_do_not_count() {
        let source = parse(
            "fn f() {\n\n    // A comment.\n    let a = 1; // Another.\n    \n    /// Of `g`.\n    fn g() {}\n}",
        );
        let lines: Vec<_> = source.functions.iter().map(|f| f.lines).collect();

        assert_eq!(lines, [5, 1]);
    }

    #[test]
    fn test_files_are_recognized_by_their_paths() {
        for (path, expected) in [
            ("tests/it/main.rs", true),
            ("svc/src/a/tests/b.rs", true),
            ("svc/src/a/tests.rs", true),
            ("svc/src/a/b_tests.rs", true),
            ("svc/src/a/contests.rs", false),
            ("xtask/src/test/mod.rs", false),
        ] {
            assert_eq!(is_of_tests(Path::new(path)), expected, "{path}");
        }
    }
}
