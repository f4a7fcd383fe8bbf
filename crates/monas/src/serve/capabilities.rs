//! Which operations a capability may name: those of every table.

use a2a::operation as a2a_table;
use acp::operation as acp_table;

/// The name of an operation in its table: of A2A by its name or as a method of Cap'n Web, of ACP.
pub(crate) fn find_operation(name: &str) -> Option<String> {
    let a2a = a2a_table::method(name).or_else(|| a2a_table::calling_back(name));
    let a2a = a2a.map(|row| row.name);
    let found = a2a.or_else(|| acp_table::named(name).map(|row| row.name));
    found.map(str::to_owned)
}
