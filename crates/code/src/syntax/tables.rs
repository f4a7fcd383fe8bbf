//! The names of nodes in the grammars, and their part in an outline.

use tree_sitter::Language as Grammar;

use crate::language::Language;
use crate::outline::SymbolKind;

/// The part of a node in an outline.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// A symbol; its name is in the field `name`.
    Symbol(SymbolKind),
    /// A variable with the fields `name` and `value`.
    Assigned,
    /// A place that gives its name to the symbols in it; the name is in this field.
    Scope(&'static str),
    /// An import; the module is in this field, which may stand there several times.
    Import(&'static str),
    /// A call; the called expression is in this field.
    Call(&'static str),
}

/// How the nodes of a language are read.
#[derive(Debug)]
pub(super) struct Tables {
    pub(super) part: fn(&str) -> Option<Part>,
    /// The field with the last name of an expression that is called, such as `property` of `a.b`.
    pub(super) last_name: fn(&str) -> Option<&'static str>,
    pub(super) is_name: fn(&str) -> bool,
}

/// The grammar of a language, and how its nodes are read.
pub(super) fn of(language: Language) -> Option<(Grammar, &'static Tables)> {
    Some(match language {
        Language::Rust => (tree_sitter_rust::LANGUAGE.into(), &RUST),
        Language::Python => (tree_sitter_python::LANGUAGE.into(), &PYTHON),
        Language::TypeScript => {
            let grammar = tree_sitter_typescript::LANGUAGE_TYPESCRIPT;
            (grammar.into(), &SCRIPT)
        }
        Language::Tsx | Language::JavaScript => {
            (tree_sitter_typescript::LANGUAGE_TSX.into(), &SCRIPT)
        }
        Language::Go => (tree_sitter_go::LANGUAGE.into(), &GO),
        Language::Markdown => return None,
    })
}

static RUST: Tables = Tables {
    part: |kind| {
        Some(match kind {
            "function_item" | "function_signature_item" => Part::Symbol(SymbolKind::Function),
            "struct_item" | "union_item" => Part::Symbol(SymbolKind::Struct),
            "enum_item" => Part::Symbol(SymbolKind::Enum),
            "trait_item" => Part::Symbol(SymbolKind::Trait),
            "type_item" => Part::Symbol(SymbolKind::Type),
            "const_item" | "static_item" => Part::Symbol(SymbolKind::Constant),
            "mod_item" => Part::Symbol(SymbolKind::Module),
            "macro_definition" => Part::Symbol(SymbolKind::Macro),
            "impl_item" => Part::Scope("type"),
            "use_declaration" => Part::Import("argument"),
            "extern_crate_declaration" => Part::Import("name"),
            "call_expression" => Part::Call("function"),
            "macro_invocation" => Part::Call("macro"),
            _ => return None,
        })
    },
    last_name: |kind| match kind {
        "scoped_identifier" => Some("name"),
        "field_expression" => Some("field"),
        "generic_function" => Some("function"),
        _ => None,
    },
    is_name: |kind| matches!(kind, "identifier" | "field_identifier"),
};

static PYTHON: Tables = Tables {
    part: |kind| {
        Some(match kind {
            "function_definition" => Part::Symbol(SymbolKind::Function),
            "class_definition" => Part::Symbol(SymbolKind::Class),
            "import_statement" => Part::Import("name"),
            "import_from_statement" => Part::Import("module_name"),
            "call" => Part::Call("function"),
            _ => return None,
        })
    },
    last_name: |kind| (kind == "attribute").then_some("attribute"),
    is_name: |kind| kind == "identifier",
};

static SCRIPT: Tables = Tables {
    part: |kind| {
        Some(match kind {
            "function_declaration" | "generator_function_declaration" | "function_signature" => {
                Part::Symbol(SymbolKind::Function)
            }
            "class_declaration" | "abstract_class_declaration" => Part::Symbol(SymbolKind::Class),
            "method_definition" | "method_signature" | "abstract_method_signature" => {
                Part::Symbol(SymbolKind::Method)
            }
            "interface_declaration" => Part::Symbol(SymbolKind::Interface),
            "type_alias_declaration" => Part::Symbol(SymbolKind::Type),
            "enum_declaration" => Part::Symbol(SymbolKind::Enum),
            "internal_module" | "module" => Part::Symbol(SymbolKind::Module),
            "variable_declarator" => Part::Assigned,
            "import_statement" | "export_statement" => Part::Import("source"),
            "call_expression" => Part::Call("function"),
            "new_expression" => Part::Call("constructor"),
            _ => return None,
        })
    },
    last_name: |kind| (kind == "member_expression").then_some("property"),
    is_name: |kind| matches!(kind, "identifier" | "property_identifier"),
};

static GO: Tables = Tables {
    part: |kind| {
        Some(match kind {
            "function_declaration" => Part::Symbol(SymbolKind::Function),
            "method_declaration" => Part::Symbol(SymbolKind::Method),
            "type_spec" | "type_alias" => Part::Symbol(SymbolKind::Type),
            "const_spec" | "var_spec" => Part::Symbol(SymbolKind::Constant),
            "import_spec" => Part::Import("path"),
            "call_expression" => Part::Call("function"),
            _ => return None,
        })
    },
    last_name: |kind| (kind == "selector_expression").then_some("field"),
    is_name: |kind| matches!(kind, "identifier" | "field_identifier"),
};
