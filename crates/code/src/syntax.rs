//! Outlines by tree-sitter: one walk over the syntax tree of a text, by the tables of its language.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::time::Instant;

use tree_sitter::{Node, ParseOptions, ParseState, Parser, Tree, TreeCursor};

use crate::language::Language;
use crate::limits::Limits;
use crate::outline::{CallSite, Outline, Symbol, SymbolKind};

mod tables;

use tables::{Part, Tables};

/// How many nodes are visited between two looks at the clock.
const NODES: u32 = 4096;

/// Adds the symbols, imports and calls of a text.
pub(crate) fn walk(language: Language, text: &str, limits: &Limits, outline: &mut Outline) {
    let Some((grammar, tables)) = tables::of(language) else {
        outline.incomplete = true;
        return;
    };
    let mut parser = Parser::new();
    if parser.set_language(&grammar).is_err() {
        outline.incomplete = true;
        return;
    }
    let Some(tree) = parse(&mut parser, text, limits) else {
        outline.incomplete = true;
        return;
    };
    let mut found = Found {
        text,
        limits,
        tables,
        outline,
        scopes: Vec::new(),
        imports: HashSet::new(),
        calls: HashSet::new(),
    };
    found.visit(&tree);
}

/// The syntax tree, or none if it takes longer than the limit.
fn parse(parser: &mut Parser, text: &str, limits: &Limits) -> Option<Tree> {
    let began = Instant::now();
    let mut in_time = |_: &ParseState| match began.elapsed() > limits.time {
        true => ControlFlow::Break(()),
        false => ControlFlow::Continue(()),
    };
    let bytes = text.as_bytes();
    let mut read = |at: usize, _| bytes.get(at..).unwrap_or_default();
    let options = ParseOptions::new().progress_callback(&mut in_time);
    parser.parse_with_options(&mut read, None, Some(options))
}

/// A named place that the walk is in.
struct Scope {
    depth: u32,
    name: String,
    /// Functions in it are methods.
    has_methods: bool,
    /// The names that are called in it belong to it: it is a function or a method.
    calls: bool,
}

struct Found<'a> {
    text: &'a str,
    limits: &'a Limits,
    tables: &'static Tables,
    outline: &'a mut Outline,
    scopes: Vec<Scope>,
    imports: HashSet<String>,
    calls: HashSet<CallSite>,
}

impl<'a> Found<'a> {
    /// Visits every node in the order of the text. It does not recurse: a tree can be as deep as the text is long.
    fn visit(&mut self, tree: &'a Tree) {
        let began = Instant::now();
        let mut cursor: TreeCursor<'a> = tree.walk();
        let mut visited = 0u32;
        loop {
            visited += 1;
            if visited.is_multiple_of(NODES) && began.elapsed() > self.limits.time {
                self.outline.incomplete = true;
                return;
            }
            let depth = cursor.depth();
            while self.scopes.last().is_some_and(|it| it.depth >= depth) {
                self.scopes.pop();
            }
            self.node(cursor.node(), depth);
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    fn node(&mut self, node: Node<'a>, depth: u32) {
        if !node.is_named() {
            return;
        }
        let Some(part) = (self.tables.part)(node.kind()) else {
            return;
        };
        match part {
            Part::Symbol(kind) => self.symbol(node, kind, depth),
            Part::Assigned => self.assigned(node, depth),
            Part::Scope(field) => {
                if let Some(name) = self.field(node, field) {
                    self.enter(name, depth, true, false);
                }
            }
            Part::Import(field) => self.import(node, field),
            Part::Call(field) => {
                if let Some(called) = node.child_by_field_name(field) {
                    self.call(called);
                }
            }
        }
    }

    fn symbol(&mut self, node: Node<'a>, kind: SymbolKind, depth: u32) {
        let Some(name) = self.field(node, "name") else {
            return;
        };
        let kind = match kind {
            SymbolKind::Function if self.scopes.last().is_some_and(|it| it.has_methods) => {
                SymbolKind::Method
            }
            SymbolKind::Type => self.type_kind(node),
            // A constant of a function is nothing that another file could name.
            SymbolKind::Constant if self.scopes.iter().any(|it| it.calls) => return,
            kind => kind,
        };
        self.define(node, name, kind, depth);
    }

    /// A variable that is given a function is one; another is a constant of its file.
    fn assigned(&mut self, node: Node<'a>, depth: u32) {
        let value = node.child_by_field_name("value").map(|it| it.kind());
        let is_function = matches!(
            value,
            Some("arrow_function" | "function_expression" | "generator_function")
        );
        let name = node.child_by_field_name("name");
        let Some(name) = name.filter(|it| it.kind() == "identifier") else {
            return;
        };
        let Some(name) = self.words(name) else { return };
        match is_function {
            true => self.define(node, name, SymbolKind::Function, depth),
            false if self.scopes.is_empty() && value.is_some() => {
                self.define(node, name, SymbolKind::Constant, depth);
            }
            false => {}
        }
    }

    fn define(&mut self, node: Node<'a>, name: String, kind: SymbolKind, depth: u32) {
        let line = |row: usize| u32::try_from(row + 1).unwrap_or(u32::MAX);
        let symbol = Symbol {
            name: name.clone(),
            kind,
            line: line(node.start_position().row),
            end_line: line(node.end_position().row),
            inside: self.scopes.last().map(|it| it.name.clone()),
        };
        if self.outline.symbols.len() < self.limits.symbols {
            self.outline.symbols.push(symbol);
        } else {
            self.outline.incomplete = true;
        }
        let has_methods = matches!(
            kind,
            SymbolKind::Class | SymbolKind::Trait | SymbolKind::Interface
        );
        let calls = matches!(kind, SymbolKind::Function | SymbolKind::Method);
        if kind != SymbolKind::Constant {
            self.enter(name, depth, has_methods, calls);
        }
    }

    fn enter(&mut self, name: String, depth: u32, has_methods: bool, calls: bool) {
        self.scopes.push(Scope {
            depth,
            name,
            has_methods,
            calls,
        });
    }

    /// The kind of a type by its form, where the language writes all of them alike.
    fn type_kind(&self, node: Node<'a>) -> SymbolKind {
        match node.child_by_field_name("type").map(|it| it.kind()) {
            Some("struct_type") => SymbolKind::Struct,
            Some("interface_type") => SymbolKind::Interface,
            _ => SymbolKind::Type,
        }
    }

    fn import(&mut self, node: Node<'a>, field: &str) {
        let mut cursor = node.walk();
        let named: Vec<Node<'a>> = node.children_by_field_name(field, &mut cursor).collect();
        for part in named {
            // `import numpy as np` imports numpy.
            let part = match part.kind() {
                "aliased_import" => part.child_by_field_name("name").unwrap_or(part),
                _ => part,
            };
            if let Some(name) = self.words(part) {
                self.import_name(&name);
            }
        }
    }

    fn import_name(&mut self, name: &str) {
        let name: String = name.trim_matches(['"', '\'', '`']).to_owned();
        if name.is_empty() || !self.imports.insert(name.clone()) {
            return;
        }
        if self.outline.imports.len() == self.limits.imports {
            self.outline.incomplete = true;
            return;
        }
        self.outline.imports.push(name);
    }

    /// The last name of what is called: `read` of `fs::read` and of `file.read`.
    fn call(&mut self, called: Node<'a>) {
        let mut node = called;
        // `a::<b>::<c>()`: each step is one child down, so that the loop ends.
        while let Some(field) = (self.tables.last_name)(node.kind()) {
            match node.child_by_field_name(field) {
                Some(inner) => node = inner,
                None => return,
            }
        }
        if !(self.tables.is_name)(node.kind()) {
            return;
        }
        let Some(to) = self.words(node) else { return };
        if to == "require" {
            self.required(called);
        }
        let from = self.scopes.iter().rev().find(|it| it.calls);
        let call = CallSite {
            from: from.map(|it| it.name.clone()),
            to,
        };
        if !self.calls.insert(call.clone()) {
            return;
        }
        if self.outline.calls.len() == self.limits.calls {
            self.outline.incomplete = true;
            return;
        }
        self.outline.calls.push(call);
    }

    /// `require("x")` is how older JavaScript imports.
    fn required(&mut self, called: Node<'a>) {
        let call = called.parent();
        let arguments = call.and_then(|it| it.child_by_field_name("arguments"));
        let first = arguments.and_then(|it| it.named_child(0));
        if let Some(name) = first.filter(|it| it.kind() == "string")
            && let Some(name) = self.words(name)
        {
            self.import_name(&name);
        }
    }

    fn field(&self, node: Node<'a>, field: &str) -> Option<String> {
        self.words(node.child_by_field_name(field)?)
    }

    /// The text of a node on one line. None: it is empty, or longer than names may be.
    fn words(&self, node: Node<'a>) -> Option<String> {
        let range = node.byte_range();
        if range.len() > self.limits.name_bytes {
            return None;
        }
        let words = self.text.get(range)?.split_whitespace();
        let words = words.collect::<Vec<_>>().join(" ");
        (!words.is_empty()).then_some(words)
    }
}
