//! The cookies of a session.

use serde::Serialize;
use serde_json::{Value, json};

use super::Turn;
use crate::error::Error;

/// A cookie of the session.
#[derive(Clone, Debug, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Cookie {
    pub name: String,
    pub value: String,
    pub domain: String,
    pub path: String,
    pub secure: bool,
    pub http_only: bool,
}

impl Turn {
    /// All cookies of the session.
    pub async fn cookies(&self) -> Result<Vec<Cookie>, Error> {
        let params = json!({ "browserContextId": self.session().context() });
        let answer = self
            .session()
            .connection()
            .call("", "Storage.getCookies", params)
            .await?;
        let cookies = answer["cookies"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|it| {
                let word = |name: &str| it[name].as_str().unwrap_or_default();
                Cookie {
                    name: word("name").to_owned(),
                    value: self.session().redact(word("value")),
                    domain: word("domain").to_owned(),
                    path: word("path").to_owned(),
                    secure: it["secure"] == true,
                    http_only: it["httpOnly"] == true,
                }
            });
        Ok(cookies.collect())
    }

    /// Sets a cookie for the page that is open.
    pub async fn set_cookie(&self, name: &str, value: &str) -> Result<(), Error> {
        let url = self.url().await?;
        self.note(format!("set the cookie {name}"));
        let cookie = json!({ "name": name, "value": value, "url": url });
        let params = json!({ "cookies": [cookie], "browserContextId": self.session().context() });
        self.session()
            .connection()
            .call("", "Storage.setCookies", params)
            .await
            .map(drop)
    }

    /// Removes all cookies of the session.
    pub async fn clear_cookies(&self) -> Result<(), Error> {
        self.note("removed all cookies".to_owned());
        let params = json!({ "browserContextId": self.session().context() });
        self.session()
            .connection()
            .call("", "Storage.clearCookies", params)
            .await
            .map(|_: Value| ())
    }
}
