//! The covered components of a request, and the text that is signed (RFC 9421 2).

use http::request::Parts;
use http::uri::{Authority, Scheme, Uri};
use http::{HeaderMap, HeaderName, Method};
use sfv::{FieldType as _, InnerList, Item, List, ListEntry};

use super::SignatureFault;

/// How many components a signature may cover.
const MAX_COMPONENTS: usize = 32;

/// The address that a request was made for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    scheme: String,
    /// In small letters, without the port of its scheme.
    authority: String,
    path: String,
    query: Option<String>,
}

impl Target {
    /// The target of a request to a host by this scheme. A WebSocket is opened by a request of `http` or `https`.
    pub fn new(scheme: &str, authority: &Authority, path: &str, query: Option<&str>) -> Self {
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "wss" | "https" => "https",
            _ => "http",
        };
        let usual = if scheme == "https" { 443 } else { 80 };
        let host = authority.host().to_ascii_lowercase();
        let authority = match authority.port_u16() {
            Some(port) if port != usual => format!("{host}:{port}"),
            _ => host,
        };
        Self {
            scheme: scheme.to_owned(),
            authority,
            path: if path.is_empty() { "/" } else { path }.to_owned(),
            query: query.map(str::to_owned),
        }
    }

    /// The target of a whole address. `None` if it has no host.
    pub fn of(uri: &Uri) -> Option<Self> {
        let scheme = uri.scheme().map_or("http", Scheme::as_str);
        Some(Self::new(scheme, uri.authority()?, uri.path(), uri.query()))
    }

    /// Path and query, as the first line of a request has them.
    fn request_target(&self) -> String {
        match &self.query {
            Some(query) => format!("{}?{query}", self.path),
            None => self.path.clone(),
        }
    }

    /// The value of a derived component; `None` for one that is not known here.
    fn component(&self, name: &str, method: &Method) -> Option<String> {
        Some(match name {
            "@method" => method.to_string(),
            "@target-uri" => format!(
                "{}://{}{}",
                self.scheme,
                self.authority,
                self.request_target()
            ),
            "@authority" => self.authority.clone(),
            "@scheme" => self.scheme.clone(),
            "@request-target" => self.request_target(),
            "@path" => self.path.clone(),
            "@query" => format!("?{}", self.query.as_deref().unwrap_or_default()),
            _ => return None,
        })
    }
}

/// The components that a signature covers, with its parameters.
pub(super) struct Covered {
    names: Vec<String>,
    /// The list as it is signed.
    parameters: String,
}

impl Covered {
    /// Reads the list of a signature. Parameters of components change what is signed, and none is known here.
    pub(super) fn read(list: &InnerList) -> Result<Self, SignatureFault> {
        if list.items.len() > MAX_COMPONENTS {
            return Err(SignatureFault::Form);
        }
        let mut names: Vec<String> = Vec::new();
        for Item { bare_item, params } in &list.items {
            let name = bare_item.as_string().ok_or(SignatureFault::Form)?;
            let name = name.as_str().to_owned();
            if !params.is_empty() {
                let strange = format!("{name:?} with a parameter");
                return Err(SignatureFault::Component(strange));
            }
            // RFC 9421 2: each component once.
            if names.contains(&name) {
                return Err(SignatureFault::Form);
            }
            names.push(name);
        }
        let whole: List = vec![ListEntry::InnerList(list.clone())];
        Ok(Self {
            names,
            parameters: whole.serialize().ok_or(SignatureFault::Form)?,
        })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.iter().any(|it| it == name)
    }

    /// Whether it covers what makes a request another one: the method, and the target as a whole or in its parts.
    pub(super) fn check(&self, target: &Target) -> Result<(), SignatureFault> {
        let need = |name: &'static str, given: bool| match given {
            true => Ok(()),
            false => Err(SignatureFault::Uncovered(name)),
        };
        need("@method", self.has("@method"))?;
        if self.has("@target-uri") {
            return Ok(());
        }
        need("@target-uri or @authority", self.has("@authority"))?;
        if self.has("@request-target") {
            return Ok(());
        }
        need("@path", self.has("@path"))?;
        need("@query", self.has("@query") || target.query.is_none())
    }

    /// The text that is signed, for a request to this target.
    pub(super) fn base(&self, request: &Parts, target: &Target) -> Result<String, SignatureFault> {
        base(
            &self.names,
            &self.parameters,
            &request.method,
            &request.headers,
            target,
        )
    }
}

/// The text that is signed: a line for each component, and the parameters of the signature.
pub(super) fn base(
    names: &[String],
    parameters: &str,
    method: &Method,
    headers: &HeaderMap,
    target: &Target,
) -> Result<String, SignatureFault> {
    let mut text = String::new();
    for name in names {
        let value = match name.starts_with('@') {
            true => target.component(name, method),
            false => field(headers, name),
        };
        let value = value.ok_or_else(|| SignatureFault::Component(format!("{name:?}")))?;
        text.push_str(&format!("\"{name}\": {value}\n"));
    }
    text.push_str(&format!("\"@signature-params\": {parameters}"));
    Ok(text)
}

/// The value of a header: its lines without spaces around them, with commas between. `None` for one that is not there, or is
/// not ASCII, so that its value cannot be meant in two ways.
fn field(headers: &HeaderMap, name: &str) -> Option<String> {
    // Names are written in small letters (RFC 9421 2.1).
    let header: HeaderName = name
        .parse()
        .ok()
        .filter(|it: &HeaderName| it.as_str() == name)?;
    let values = headers.get_all(header).iter();
    let values: Option<Vec<&str>> = values.map(|it| it.to_str().ok().map(str::trim)).collect();
    let values = values.filter(|values| !values.is_empty())?;
    Some(values.join(", "))
}
