//! Reading a page: its text as Markdown, links and tables.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Turn;
use crate::error::Error;
use crate::tab::value_of;

const EXTRACT: &str = include_str!("../script/extract.js");

/// A kind of content of a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Extract {
    /// The main text, as Markdown.
    #[default]
    Text,
    Links,
    Tables,
}

/// The content of a page that was read.
#[derive(Clone, Debug, Default, Serialize, schemars::JsonSchema)]
#[non_exhaustive]
pub struct Page {
    pub url: String,
    pub title: String,
    /// The text, links or tables.
    pub text: String,
    /// True when there is more than was read: `from` of the next call is `next`.
    pub cut: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<usize>,
}

/// A part of a text.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The place of its first byte.
    pub from: usize,
    pub bytes: usize,
}

impl Turn {
    /// Reads the page, or the elements that a selector names.
    pub async fn extract(
        &self,
        what: Extract,
        selector: Option<&str>,
        part: Part,
    ) -> Result<Page, Error> {
        let tab = self.tab().await?;
        let name = match what {
            Extract::Text => "text",
            Extract::Links => "links",
            Extract::Tables => "tables",
        };
        let most = part.from.saturating_add(part.bytes).saturating_add(1);
        let read = tab.ask(EXTRACT, &json!([name, selector, most])).await?;
        let unfit = |problem: String| Error::Unfit {
            doing: "read the page".to_owned(),
            problem,
        };
        if read["invalid"] == true {
            return Err(unfit(format!(
                "{:?} is no CSS selector",
                selector.unwrap_or_default()
            )));
        }
        if read["count"] == 0 {
            return Err(unfit(format!(
                "no element fits {:?}",
                selector.unwrap_or_default()
            )));
        }
        let text = match what {
            Extract::Text => read["text"].as_str().unwrap_or_default().to_owned(),
            Extract::Links => links(&read["links"]),
            Extract::Tables => tables(&read["tables"]),
        };
        let text = self.session().redact(&text);
        let begin = text.floor_char_boundary(part.from);
        let end = text.floor_char_boundary(begin.saturating_add(part.bytes));
        let cut = end < text.len() || read["cut"] == true;
        Ok(Page {
            url: self.session().redact(&tab.url()),
            title: self
                .session()
                .redact(read["title"].as_str().unwrap_or_default()),
            text: text[begin..end].to_owned(),
            cut,
            next: cut.then_some(end),
        })
    }

    /// Runs a script of the agent in the page and returns what it comes to, as JSON.
    pub async fn evaluate(&self, script: &str) -> Result<Value, Error> {
        let tab = self.tab().await?;
        self.note(format!("ran a script of {} bytes", script.len()));
        let limit = self.session().options().limits.text_bytes;
        // The answer is bounded in the page: one of any size would have to be read here.
        let bounded = format!(
            "(async () => {{ const it = await (0, eval)({script}); const text = JSON.stringify(it); \
             return text === undefined ? null : text.length > {limit} ? {{ cut: text.slice(0, {limit}) }} : {{ whole: text }}; }})()",
            script = Value::from(script),
        );
        let params = json!({
            "expression": bounded, "awaitPromise": true, "returnByValue": true, "userGesture": true,
            "allowUnsafeEvalBlockedByCSP": true,
        });
        let mark = tab.mark();
        let value = match value_of(tab.call("Runtime.evaluate", params).await?) {
            Err(Error::Script(thrown)) => {
                return Err(Error::Script(self.session().redact(&thrown)));
            }
            other => other?,
        };
        let _ = tab.settle(mark).await;
        match (value["whole"].as_str(), value["cut"].as_str()) {
            (Some(whole), _) => {
                let whole = self.session().redact(whole);
                Ok(serde_json::from_str(&whole).unwrap_or(Value::String(whole)))
            }
            (None, Some(cut)) => Ok(Value::String(format!(
                "{}… (cut)",
                self.session().redact(cut)
            ))),
            _ => Ok(Value::Null),
        }
    }
}

fn links(value: &Value) -> String {
    let mut text = String::new();
    for link in value.as_array().into_iter().flatten() {
        let word = |name: &str| link[name].as_str().unwrap_or_default();
        text.push_str(&format!("- [{}]({})\n", word("text"), word("url")));
    }
    text
}

fn tables(value: &Value) -> String {
    let mut text = String::new();
    for table in value.as_array().into_iter().flatten() {
        let caption = table["caption"].as_str().unwrap_or_default();
        if !caption.is_empty() {
            text.push_str(&format!("{caption}\n\n"));
        }
        for (place, row) in table["rows"].as_array().into_iter().flatten().enumerate() {
            let cells: Vec<&str> = row
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .collect();
            text.push_str(&format!("| {} |\n", cells.join(" | ")));
            if place == 0 {
                text.push_str(&format!("|{}\n", " --- |".repeat(cells.len())));
            }
        }
        text.push('\n');
    }
    text
}
