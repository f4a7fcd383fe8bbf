//! All programs that are one small change away. They are enumerated and not drawn, so that none is tried twice and the end
//! of a neighbourhood is known.

use tree_sitter::Node;

use crate::candidate::Edit;
use crate::operator::{Parent, edit_of, replacement};
use crate::syntax::{Parsed, Tables};

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;

/// The most edits of one candidate.
const MOST: usize = 4_000;

/// The most other expressions that one is replaced by.
const OTHERS: usize = 12;

/// The first-order edits of a candidate, in the order of the text: statements deleted, swapped and doubled, loops left
/// early, operators replaced, numbers changed by one and by a factor of two, a side of an expression dropped, conditions
/// negated and fixed, names and arguments exchanged. Nothing where there is no grammar.
pub(crate) fn neighbours(parent: Parent<'_>) -> Vec<Edit> {
    let mut found = Vec::new();
    for (first, file) in parent.parsed() {
        let Some((_, tables)) = &file.tree else {
            continue;
        };
        let mut edits = Edits {
            first,
            file,
            tables,
            names: names(file),
            found: Vec::new(),
        };
        for node in file.nodes() {
            if file.place(node.byte_range()).is_some() {
                edits.node(node);
            }
            if edits.found.len() > MOST {
                break;
            }
        }
        found.append(&mut edits.found);
    }
    found.truncate(MOST);
    found
}

/// The different names that stand in the blocks of a file, in their order.
fn names(file: &Parsed) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for node in file.nodes() {
        let is_name = node.kind() == "identifier" && file.place(node.byte_range()).is_some();
        let is_value = is_name && node.parent().is_none_or(|it| !is_function(it, node));
        let name = file.words(node);
        if is_value && !names.iter().any(|it| it == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Whether a name is that of a function, or of a module: no value.
fn is_function(parent: Node<'_>, name: Node<'_>) -> bool {
    let is = |field: &str| {
        parent
            .child_by_field_name(field)
            .is_some_and(|it| it.id() == name.id())
    };
    let kind = parent.kind();
    is("function")
        || (is("name") && kind.contains("function"))
        || kind.contains("import")
        || kind.contains("package")
}

/// Whether a name is declared by its parent, or is what is called: others would not fit there.
fn is_declared(parent: Node<'_>, name: Node<'_>) -> bool {
    let is = |field: &str| {
        parent
            .child_by_field_name(field)
            .is_some_and(|it| it.id() == name.id())
    };
    ["name", "pattern", "parameters", "left"]
        .into_iter()
        .any(is)
        || parent.kind().contains("parameter")
        || is_function(parent, name)
}

struct Edits<'a> {
    first: usize,
    file: &'a Parsed,
    tables: &'static Tables,
    names: Vec<String>,
    found: Vec<Edit>,
}

impl<'a> Edits<'a> {
    fn node(&mut self, node: Node<'a>) {
        let kind = node.kind();
        if (self.tables.is_body)(kind) {
            self.body(node);
        }
        if (self.tables.is_binary)(kind) {
            self.binary(node);
        }
        if (self.tables.is_arguments)(kind) {
            self.arguments(node);
        }
        if (self.tables.is_call)(kind) {
            self.call(node);
        }
        if (self.tables.is_integer)(kind) {
            self.integer(node);
        }
        if let Some(condition) = node.child_by_field_name("condition") {
            self.condition(condition);
        }
        if kind == "identifier" && node.parent().is_some_and(|it| !is_declared(it, node)) {
            self.name(node);
        }
        if kind.contains("assignment") {
            self.operator(node);
        }
    }

    fn add(&mut self, node: Node<'_>, text: impl Into<String>) {
        let range = node.byte_range();
        let edit = replacement(self.first, self.file, range, text).and_then(|it| edit_of(vec![it]));
        self.found.extend(edit);
    }

    /// Statements of a body: each deleted, doubled, swapped with the next, and followed by the end of the loop.
    fn body(&mut self, body: Node<'a>) {
        let mut cursor = body.walk();
        let statements: Vec<Node<'a>> = body
            .named_children(&mut cursor)
            .filter(|it| !(self.tables.is_comment)(it.kind()))
            .collect();
        let alone = statements.len() == 1;
        let in_loop = self.is_in_loop(body);
        for (index, statement) in statements.iter().enumerate() {
            let text = self.file.words(*statement);
            // A text that stands alone is a comment for people.
            let is_note = statement.child_count() == 1
                && statement
                    .child(0)
                    .is_some_and(|it| (self.tables.is_text)(it.kind()));
            if is_note {
                continue;
            }
            self.add(*statement, if alone { self.tables.nothing } else { "" });
            if !(self.tables.is_statement)(statement.kind()) {
                continue;
            }
            let line = self.line_break(*statement);
            if in_loop {
                self.add(*statement, format!("{text}{line}break{}", self.tables.end));
            }
            if let Some(next) = statements.get(index + 1) {
                let range = statement.start_byte()..next.end_byte();
                let between = self.file.text.get(statement.end_byte()..next.start_byte());
                let swapped = format!(
                    "{}{}{text}",
                    self.file.words(*next),
                    between.unwrap_or_default()
                );
                let edit = replacement(self.first, self.file, range, swapped);
                self.found.extend(edit.and_then(|it| edit_of(vec![it])));
            }
            self.add(*statement, format!("{text}{line}{text}"));
            // A loop or a branch without its head: its body alone.
            if let Some(inner) = statement
                .child_by_field_name("body")
                .or_else(|| statement.child_by_field_name("consequence"))
                && !self.tables.nothing.is_empty()
            {
                self.add(*statement, outdented(self.file.words(inner)));
            }
        }
    }

    fn is_in_loop(&self, body: Node<'_>) -> bool {
        let mut node = body.parent();
        while let Some(it) = node {
            if (self.tables.is_loop)(it.kind()) {
                return true;
            }
            if it.kind().contains("function") || it.kind().contains("method") {
                return false;
            }
            node = it.parent();
        }
        false
    }

    /// The line break and the indentation before a statement.
    fn line_break(&self, statement: Node<'_>) -> String {
        let before = self
            .file
            .text
            .get(..statement.start_byte())
            .unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        match line.trim().is_empty() {
            true => format!("\n{line}"),
            false => " ".to_owned(),
        }
    }

    /// An expression of two sides: another operator, one side, the sides exchanged.
    fn binary(&mut self, node: Node<'a>) {
        self.operator(node);
        let sides = [node.named_child(0), node.named_child(1)];
        if let [Some(left), Some(right)] = sides {
            let (left, right) = (self.file.words(left), self.file.words(right));
            self.add(node, left);
            self.add(node, right);
            let text = self.file.words(node);
            let between = text.get(left.len()..text.len().saturating_sub(right.len()));
            if let Some(between) = between {
                self.add(node, format!("{right}{between}{left}"));
            }
        }
    }

    fn operator(&mut self, node: Node<'a>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'a>> = node.children(&mut cursor).collect();
        for child in children.iter().filter(|it| !it.is_named()) {
            let word = self.file.words(*child);
            let group = self.tables.operators.iter().find(|it| it.contains(&word));
            for other in group.into_iter().flat_map(|it| it.iter()) {
                if *other != word {
                    self.add(*child, *other);
                }
            }
        }
    }

    /// Arguments: neighbours exchanged, one left out.
    fn arguments(&mut self, node: Node<'a>) {
        let mut cursor = node.walk();
        let all: Vec<Node<'a>> = node.named_children(&mut cursor).collect();
        for pair in all.windows(2) {
            let [one, two] = pair else { continue };
            let (a, b) = (self.file.words(*one), self.file.words(*two));
            let first = replacement(self.first, self.file, one.byte_range(), b);
            let second = replacement(self.first, self.file, two.byte_range(), a);
            if let (Some(first), Some(second)) = (first, second) {
                self.found.extend(edit_of(vec![first, second]));
            }
        }
    }

    /// A call with one argument: the argument itself, without the call. With none: the value that it is called on.
    fn call(&mut self, node: Node<'a>) {
        let Some(arguments) = node.child_by_field_name("arguments") else {
            return;
        };
        if arguments.named_child_count() == 1
            && let Some(only) = arguments.named_child(0)
        {
            self.add(node, self.file.words(only));
        }
        let function = node.child_by_field_name("function");
        let receiver = function.and_then(|it| {
            ["object", "value", "operand"]
                .iter()
                .find_map(|field| it.child_by_field_name(field))
        });
        if let Some(receiver) = receiver {
            self.add(node, self.file.words(receiver));
        }
    }

    fn integer(&mut self, node: Node<'a>) {
        let Ok(value) = self.file.words(node).parse::<i64>() else {
            return;
        };
        let mut tried = vec![value];
        for other in [
            value.saturating_add(1),
            value - 1,
            value.saturating_mul(2),
            value / 2,
            0,
        ] {
            if !tried.contains(&other) {
                tried.push(other);
                self.add(node, other.to_string());
            }
        }
    }

    fn condition(&mut self, node: Node<'a>) {
        let text = self.file.words(node);
        let inner = text.strip_prefix('(').and_then(|it| it.strip_suffix(')'));
        let is_wrapped = node.kind() == "parenthesized_expression" && inner.is_some();
        let wrap = |it: String| if is_wrapped { format!("({it})") } else { it };
        let (before, after) = self.tables.not;
        self.add(node, wrap(format!("{before}{text}{after}")));
        for constant in self.tables.truth {
            self.add(node, wrap(constant.to_owned()));
        }
    }

    /// A name in the place of another.
    fn name(&mut self, node: Node<'a>) {
        let own = self.file.words(node).to_owned();
        let others: Vec<String> = self
            .names
            .iter()
            .filter(|it| **it != own)
            .take(OTHERS)
            .cloned()
            .collect();
        for other in others {
            self.add(node, other);
        }
    }
}

/// The lines of a body with the indentation that its first line has where it stands: one level less.
fn outdented(text: &str) -> String {
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().to_owned();
    lines.fold(first, |mut text, line| {
        text.push('\n');
        text.push_str(
            line.strip_prefix("    ")
                .or_else(|| line.strip_prefix('\t'))
                .unwrap_or(line),
        );
        text
    })
}
