//! The names of nodes in the grammars, as operators need them.

use super::Language;

/// How the nodes of a language are read.
#[derive(Debug)]
pub(crate) struct Tables {
    pub(crate) is_comment: fn(&str) -> bool,
    /// A text, with all that is in it.
    pub(crate) is_text: fn(&str) -> bool,
    pub(crate) is_integer: fn(&str) -> bool,
    pub(crate) is_float: fn(&str) -> bool,
    /// A sign before an expression.
    pub(crate) is_signed: fn(&str) -> bool,
    /// A list of statements.
    pub(crate) is_body: fn(&str) -> bool,
    pub(crate) is_statement: fn(&str) -> bool,
    pub(crate) is_loop: fn(&str) -> bool,
    /// An expression of two operands, with an operator between them.
    pub(crate) is_binary: fn(&str) -> bool,
    pub(crate) is_call: fn(&str) -> bool,
    /// A list of arguments.
    pub(crate) is_arguments: fn(&str) -> bool,
    /// A statement that does nothing, for a body that must not be empty.
    pub(crate) nothing: &'static str,
    /// What ends a statement.
    pub(crate) end: &'static str,
    /// How a condition is negated: before it, and after it.
    pub(crate) not: (&'static str, &'static str),
    /// Constants that a condition is replaced by.
    pub(crate) truth: [&'static str; 2],
    /// Operators that may stand in place of each other.
    pub(crate) operators: &'static [&'static [&'static str]],
}

pub(super) fn of(language: Language) -> &'static Tables {
    match language {
        Language::Rust => &RUST,
        Language::Python => &PYTHON,
        Language::TypeScript | Language::JavaScript => &SCRIPT,
        Language::Go => &GO,
    }
}

static PYTHON: Tables = Tables {
    is_comment: |kind| kind == "comment",
    is_text: |kind| kind == "string",
    is_integer: |kind| kind == "integer",
    is_float: |kind| kind == "float",
    is_signed: |kind| kind == "unary_operator",
    is_body: |kind| kind == "block",
    is_statement: |kind| kind.ends_with("_statement"),
    is_loop: |kind| matches!(kind, "for_statement" | "while_statement"),
    is_binary: |kind| {
        matches!(
            kind,
            "binary_operator" | "comparison_operator" | "boolean_operator"
        )
    },
    is_call: |kind| kind == "call",
    is_arguments: |kind| kind == "argument_list",
    nothing: "pass",
    end: "",
    not: ("not (", ")"),
    truth: ["True", "False"],
    operators: &[
        &["+", "-", "*", "/", "//", "%"],
        &["<", "<=", ">", ">=", "==", "!="],
        &["and", "or"],
        &["+=", "-=", "*=", "/="],
    ],
};

static RUST: Tables = Tables {
    is_comment: |kind| matches!(kind, "line_comment" | "block_comment"),
    is_text: |kind| {
        matches!(
            kind,
            "string_literal" | "raw_string_literal" | "char_literal"
        )
    },
    is_integer: |kind| kind == "integer_literal",
    is_float: |kind| kind == "float_literal",
    is_signed: |kind| kind == "unary_expression",
    is_body: |kind| kind == "block",
    is_statement: |kind| matches!(kind, "expression_statement" | "let_declaration"),
    is_loop: |kind| {
        matches!(
            kind,
            "for_expression" | "while_expression" | "loop_expression"
        )
    },
    is_binary: |kind| kind == "binary_expression",
    is_call: |kind| kind == "call_expression",
    is_arguments: |kind| kind == "arguments",
    nothing: "",
    end: ";",
    not: ("!(", ")"),
    truth: ["true", "false"],
    operators: C_OPERATORS,
};

static SCRIPT: Tables = Tables {
    is_comment: |kind| kind == "comment",
    is_text: |kind| matches!(kind, "string" | "template_string" | "regex"),
    is_integer: |kind| kind == "number",
    is_float: |_| false,
    is_signed: |kind| kind == "unary_expression",
    is_body: |kind| kind == "statement_block",
    is_statement: |kind| {
        kind.ends_with("_statement")
            || matches!(kind, "lexical_declaration" | "variable_declaration")
    },
    is_loop: |kind| {
        matches!(
            kind,
            "for_statement" | "for_in_statement" | "while_statement" | "do_statement"
        )
    },
    is_binary: |kind| kind == "binary_expression",
    is_call: |kind| kind == "call_expression",
    is_arguments: |kind| kind == "arguments",
    nothing: "",
    end: ";",
    not: ("!(", ")"),
    truth: ["true", "false"],
    operators: &[
        &["+", "-", "*", "/", "%"],
        &["<", "<=", ">", ">=", "===", "!=="],
        &["&&", "||"],
        &["+=", "-=", "*=", "/="],
    ],
};

static GO: Tables = Tables {
    is_comment: |kind| kind == "comment",
    is_text: |kind| {
        matches!(
            kind,
            "interpreted_string_literal" | "raw_string_literal" | "rune_literal"
        )
    },
    is_integer: |kind| kind == "int_literal",
    is_float: |kind| kind == "float_literal",
    is_signed: |kind| kind == "unary_expression",
    is_body: |kind| kind == "statement_list",
    is_statement: |kind| {
        kind.ends_with("_statement") || matches!(kind, "short_var_declaration" | "var_declaration")
    },
    is_loop: |kind| kind == "for_statement",
    is_binary: |kind| kind == "binary_expression",
    is_call: |kind| kind == "call_expression",
    is_arguments: |kind| kind == "argument_list",
    nothing: "",
    end: "",
    not: ("!(", ")"),
    truth: ["true", "false"],
    operators: C_OPERATORS,
};

const C_OPERATORS: &[&[&str]] = &[
    &["+", "-", "*", "/", "%"],
    &["<", "<=", ">", ">=", "==", "!="],
    &["&&", "||"],
    &["+=", "-=", "*=", "/="],
];
