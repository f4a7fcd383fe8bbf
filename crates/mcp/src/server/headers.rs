//! The headers of revision 2026-07-28 that repeat parts of the body, so that gateways can route without reading it. What
//! they say must be what the body says.

use ::http::HeaderMap;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::rpc::{Params, RpcError, code};

#[cfg(test)]
#[path = "headers_tests.rs"]
mod tests;

pub(crate) const VERSION: &str = "mcp-protocol-version";
pub(crate) const METHOD: &str = "mcp-method";
pub(crate) const NAME: &str = "mcp-name";
const PARAM: &str = "mcp-param-";

/// The annotation of a property that is also a header.
const ANNOTATION: &str = "x-mcp-header";

/// How deep properties within properties are searched for annotations.
const MAX_DEPTH: usize = 16;

/// Compares the headers with a message. `schema` finds the input schema of a tool.
pub(crate) fn check<'a>(
    headers: &HeaderMap,
    method: &str,
    params: &Params,
    schema: impl Fn(&str) -> Option<&'a Value>,
) -> Result<(), RpcError> {
    let mismatch = |why: String| RpcError::new(code::HEADER_MISMATCH, why);
    match one(headers, METHOD)? {
        Some(named) if named == method => {}
        Some(named) => {
            let why = format!("Mcp-Method is {named:?}, but the method of the body is {method:?}");
            return Err(mismatch(why));
        }
        None => return Err(mismatch("the header Mcp-Method is missing".to_owned())),
    }
    let Some(params) = params else {
        return Ok(());
    };
    let Some(name) = name_in(method, params) else {
        return Ok(());
    };
    match one(headers, NAME)? {
        Some(named) => same("Mcp-Name", named, name)?,
        None => {
            return Err(mismatch(format!(
                "the header Mcp-Name is missing for {method}"
            )));
        }
    }
    if method != "tools/call" {
        return Ok(());
    }
    match schema(name) {
        Some(schema) => check_arguments(headers, schema, params.get("arguments"), MAX_DEPTH),
        None => Ok(()),
    }
}

/// Compares each argument that is also a header.
fn check_arguments(
    headers: &HeaderMap,
    schema: &Value,
    arguments: Option<&Value>,
    depth: usize,
) -> Result<(), RpcError> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let Some(properties) = properties.filter(|_| depth > 0) else {
        return Ok(());
    };
    for (property, schema) in properties {
        let argument = arguments.and_then(|it| it.get(property));
        if let Some(Value::String(name)) = schema.get(ANNOTATION) {
            check_argument(headers, name, argument)?;
        }
        check_arguments(headers, schema, argument, depth - 1)?;
    }
    Ok(())
}

fn check_argument(
    headers: &HeaderMap,
    name: &str,
    argument: Option<&Value>,
) -> Result<(), RpcError> {
    let header = format!("{PARAM}{}", name.to_ascii_lowercase());
    let written = argument.and_then(|argument| match argument {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        _ => None,
    });
    match (one(headers, &header)?, written) {
        (None, None) => Ok(()),
        (Some(named), Some(written)) => same(&header, named, &written),
        (None, Some(_)) => {
            let why = format!("the header {header} is missing for an argument that is given");
            Err(RpcError::new(code::HEADER_MISMATCH, why))
        }
        (Some(_), None) => {
            let why = format!("the header {header} is there for an argument that is not given");
            Err(RpcError::new(code::HEADER_MISMATCH, why))
        }
    }
}

/// The one value of a header. Two could be read differently by a gateway and by us.
pub(crate) fn one<'a>(headers: &'a HeaderMap, name: &str) -> Result<Option<&'a str>, RpcError> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else {
        return Ok(None);
    };
    let problem = match (values.next(), value.to_str()) {
        (None, Ok(value)) => return Ok(Some(value)),
        (Some(_), _) => "is there twice",
        (None, Err(_)) => "is not plain text",
    };
    let why = format!("the header {name} {problem}");
    Err(RpcError::new(code::HEADER_MISMATCH, why))
}

fn same(header: &str, named: &str, written: &str) -> Result<(), RpcError> {
    let decoded = decoded(named);
    if decoded.as_deref() == Some(written) {
        return Ok(());
    }
    let why = format!("{header} is {named:?}, but the body has {written:?}");
    Err(RpcError::new(code::HEADER_MISMATCH, why))
}

/// What `Mcp-Name` repeats: the tool, the prompt, the resource or the task that a request is about.
pub(crate) fn name_in<'a>(method: &str, params: &'a Map<String, Value>) -> Option<&'a str> {
    let name = match method {
        "tools/call" | "prompts/get" => params.get("name"),
        "resources/read" => params.get("uri"),
        "tasks/get" | "tasks/update" | "tasks/cancel" => params.get("taskId"),
        _ => None,
    };
    name?.as_str()
}

/// A value as a header can hold it.
pub(crate) fn encoded(value: &str) -> String {
    let plain = value.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    match plain && value.trim() == value && !value.starts_with("=?base64?") {
        true => value.to_owned(),
        false => format!("=?base64?{}?=", STANDARD.encode(value)),
    }
}

/// A header value: as it is, or `=?base64?..?=` for what headers cannot hold.
fn decoded(value: &str) -> Option<String> {
    let coded = value
        .strip_prefix("=?base64?")
        .and_then(|it| it.strip_suffix("?="));
    match coded {
        Some(coded) => String::from_utf8(STANDARD.decode(coded).ok()?).ok(),
        None => Some(value.to_owned()),
    }
}

/// Compares the revision of the header with the one that the request names in `_meta`.
pub(crate) fn check_version(
    header: Option<&str>,
    meta: &Map<String, Value>,
) -> Result<(), RpcError> {
    let Some(named) = super::revision::named_in(meta) else {
        return Ok(());
    };
    match header {
        Some(header) if header == named => Ok(()),
        Some(header) => {
            let why = format!("MCP-Protocol-Version is {header:?}, but _meta names {named:?}");
            Err(RpcError::new(code::HEADER_MISMATCH, why))
        }
        None => Err(RpcError::new(
            code::HEADER_MISMATCH,
            "_meta names a revision, but the header MCP-Protocol-Version is missing",
        )),
    }
}
