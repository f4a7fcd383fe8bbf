//! The table of methods: what each needs of its caller. A method without a row is not served.

use access::{Principal, Rule};
use serde_json::Value;

use super::request::Request;
use super::resource;
use super::rpc::RpcError;

/// Every method of a client. The transports answer the first three themselves, to every caller that the door admits.
pub static METHODS: &[Rule] = &[
    Rule::reads("initialize"),
    Rule::reads("server/discover"),
    Rule::reads("ping"),
    Rule::reads("tools/list"),
    // The skill that is called has a rule of its own.
    Rule::changes("tools/call"),
    Rule::reads("prompts/list"),
    Rule::reads("prompts/get"),
    Rule::reads("resources/list"),
    Rule::reads("resources/templates/list"),
    Rule::reads("resources/read"),
    Rule::reads("tasks/get"),
    Rule::changes("tasks/update"),
    Rule::changes("tasks/cancel"),
];

/// Whether the caller may, for the task that the request names.
pub(super) fn check(request: &Request, caller: &Principal) -> Result<(), RpcError> {
    let method = &*request.method;
    let rule = METHODS.iter().find(|rule| rule.method() == method);
    let rule = rule.ok_or_else(|| RpcError::unknown_method(method))?;
    let checked = rule.check(caller);
    let checked = checked.and_then(|()| rule.check_task(caller, task(request)));
    checked.map_err(|refusal| RpcError::forbidden(&refusal))
}

/// The task that a request names, by its id or as a resource.
fn task(request: &Request) -> Option<&str> {
    let params = request.params.as_ref()?;
    let field = |name: &str| params.get(name).and_then(Value::as_str);
    field("taskId").or_else(|| resource::task_of(field("uri")?))
}
