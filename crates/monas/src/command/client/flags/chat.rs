//! Whether the server of an agent is one of ours and has a chat, and how the chat is reached with these flags.

use std::sync::Arc;

use a2a::client::Client;
use axum::http::{Method, Request, Uri};
use dial::Dialer;
use workspace::chat::client::ClientSettings;

use super::{Options, Output, has_same_origin};
use crate::command::client::failure::Failure;

/// Where the chat is, below the address of a server.
const CHAT: &str = "/ws/chat";

/// How the extensions begin that servers of ours declare.
const OURS: &str = "urn:monas:";

impl Options {
    /// How the chat of the server is reached, if its card says that it may have one. The flags that only A2A knows are for
    /// A2A: bindings, versions, JSON of the protocol.
    pub(in crate::command) async fn chat(
        &self,
        client: &Client,
        session: &str,
    ) -> Result<Option<ClientSettings>, Failure> {
        let plain = self.transports.is_empty() && self.version.is_none();
        let card = client.card().capabilities.as_ref();
        let extensions = card.map(|it| it.extensions.as_slice()).unwrap_or_default();
        let ours = extensions.iter().any(|it| it.uri.starts_with(OURS));
        let (server, agent) = self.target().server();
        let there = has_same_origin(&server, &client.endpoint().url);
        if !plain || !ours || !there || self.output == Output::Json {
            return Ok(None);
        }
        let settings = self.request_settings(&server).await?;
        let mut query = form_urlencoded::Serializer::new(String::new());
        if let Some(agent) = self.agent.as_deref().or(agent.as_deref()) {
            query.append_pair("agent", agent);
        }
        query.extend_pairs(&settings.query);
        let query = query.finish();
        let mark = if query.is_empty() { "" } else { "?" };
        let address = match server.split_once("://") {
            Some(("https", rest)) => format!("wss://{rest}{CHAT}{mark}{query}"),
            Some((_, rest)) => format!("ws://{rest}{CHAT}{mark}{query}"),
            None => return Ok(None),
        };
        let Ok(url) = address.parse::<Uri>() else {
            return Ok(None);
        };
        let dialer = Dialer::new(&settings.dial).map_err(crate::config::Error::from)?;
        let mut chat = ClientSettings::new(url, session, dialer);
        chat.handshake = Some(Arc::new(move |request: &mut Request<()>| {
            request.headers_mut().extend(settings.headers.clone());
            let uri = request.uri().clone();
            let signed = settings.sign(&Method::GET, &uri, request.headers_mut(), b"");
            signed.map_err(|error| error.to_string())
        }));
        chat.times.attempt = chat.times.attempt.min(self.timeout);
        Ok(Some(chat))
    }
}
