//! Everything that is reachable from some targets, each with a name of its own.

use std::collections::{HashMap, HashSet, VecDeque};

use super::{Choice, Description, Reference, Structure, Type};

/// All targets and types that are reachable from some descriptions, in the order they are mentioned.
///
/// Two different types of one name get different names: the second one of `Event` is `Event2`.
#[derive(Clone, Debug, Default)]
pub struct Schema {
    pub(super) targets: Vec<Named<Description>>,
    pub(super) structures: Vec<Named<Structure>>,
    pub(super) choices: Vec<Named<Choice>>,
    /// The names of types by their paths.
    names: HashMap<&'static str, String>,
    taken: HashSet<String>,
    /// What has been gathered and not looked through.
    unread: VecDeque<Type>,
}

/// A description and the name it is declared under.
#[derive(Clone, Debug)]
pub(super) struct Named<T> {
    pub(super) name: String,
    pub(super) described: T,
}

impl Schema {
    /// Gathers what is reachable from these targets.
    pub fn of(roots: impl IntoIterator<Item = Description>) -> Self {
        let mut schema = Self::default();
        for root in roots {
            schema.add_target(root);
        }
        while let Some(found) = schema.unread.pop_front() {
            schema.read(found);
        }
        schema
    }

    /// TypeScript declarations, for clients that use the npm package `capnweb`.
    pub fn typescript(&self) -> String {
        super::typescript::print(self)
    }

    /// A reference for people, in Markdown.
    pub fn reference(&self) -> String {
        super::reference::print(self)
    }

    /// The name under which a type is declared; `None` when it is written out.
    pub(super) fn name_of<T>(&self, reference: &Reference<T>) -> Option<&str> {
        self.names
            .get(reference.path())
            .map(String::as_str)
            .filter(|name| !name.is_empty())
    }

    fn read(&mut self, found: Type) {
        match found {
            Type::Optional(inner)
            | Type::Array(inner)
            | Type::Record(inner)
            | Type::Rest(inner)
            | Type::Readable(inner) => self.unread.push_back(*inner),
            Type::Function { takes, gives } => {
                self.unread.extend(takes);
                self.unread.push_back(*gives);
            }
            Type::Stub(reference) if !self.names.contains_key(reference.path()) => {
                let name = self.add_target(reference.describe());
                self.names.insert(reference.path(), name);
            }
            Type::Object(reference) if !self.names.contains_key(reference.path()) => {
                let described = reference.describe();
                // Known before its fields are read, which may mention it.
                let name = self.free_name(&described.name);
                self.names.insert(reference.path(), name.clone());
                let fields = described.fields.iter();
                self.unread.extend(fields.map(|field| field.holds.clone()));
                if !name.is_empty() {
                    self.structures.push(Named { name, described });
                }
            }
            Type::Choice(reference) if !self.names.contains_key(reference.path()) => {
                let described = reference.describe();
                let name = self.free_name(&described.name);
                self.names.insert(reference.path(), name.clone());
                if !name.is_empty() {
                    self.choices.push(Named { name, described });
                }
            }
            _ => {}
        }
    }

    /// Adds a target, unless it is there, and gives the name it has.
    fn add_target(&mut self, described: Description) -> String {
        let known = self.targets.iter();
        if let Some(known) = known.clone().find(|known| known.described == described) {
            return known.name.clone();
        }
        let name = self.free_name(&described.name);
        for member in &described.members {
            let takes = member.parameters.iter().flatten();
            self.unread.extend(takes.map(|taken| taken.takes.clone()));
            self.unread.push_back(member.gives.clone());
        }
        self.targets.push(Named {
            name: name.clone(),
            described,
        });
        name
    }

    /// A name that nothing else has, as near to the wanted one as possible.
    fn free_name(&mut self, wanted: &str) -> String {
        let numbered = (2..).map(|number| format!("{wanted}{number}"));
        let free = std::iter::once(wanted.to_owned())
            .chain(numbered)
            .find(|name| name.is_empty() || !self.taken.contains(name))
            .unwrap_or_default();
        self.taken.insert(free.clone());
        free
    }
}
