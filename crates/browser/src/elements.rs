//! The list of what can be clicked and typed into, numbered.
//!
//! The document decides about membership (tags, roles, listeners, the cursor): the accessibility tree misses
//! what has a listener only. Their role and name come from the accessibility tree where it knows them: it follows labels and
//! references that texts alone do not show. Both are joined by Chromium's numbers of nodes. The tree of a large page takes
//! seconds, so there only elements without a text of their own are looked up.

use std::collections::HashMap;

use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};

use crate::error::Error;
use crate::numbers::ElementId;
use crate::snapshot::{self, Document, Node, Rect, STYLES};
use crate::tab::Tab;

mod members;
mod text;

pub(crate) use text::lines_of;

/// Documents with more nodes than this have no whole accessibility tree made.
const WHOLE_TREE: usize = 1_500;

/// How many elements are looked up one by one in the accessibility tree of a large page.
const LOOKED_UP: usize = 80;

/// Most elements of one list.
const MOST: usize = 5_000;

/// Longest name and value, in characters.
const NAME: usize = 80;

/// An element that can be clicked or typed into.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Element {
    /// The number that clicks and pictures name it by.
    pub index: u32,
    /// button, link, textbox and others: the role that accessibility tools see.
    #[serde(rename = "type")]
    pub role: String,
    /// Its name, as accessibility tools read it out.
    pub text: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// checked, selected, disabled, password and the like.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub states: Vec<String>,
    /// Where a link leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub href: Option<String>,
    pub position: Position,
    /// The address of the frame that it is in, if that is not the page itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
}

/// A box in the view, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Position {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// All elements of a page at one moment.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ElementList {
    /// The id of this list. A click that names another one is refused.
    pub snapshot: u32,
    pub url: String,
    pub elements: Vec<Element>,
    /// The size of the view.
    pub view: (f64, f64),
    #[serde(skip)]
    pub(crate) before: Vec<(u32, String)>,
}

/// An element before it has a number.
#[derive(Debug)]
struct Found {
    id: ElementId,
    role: String,
    name: String,
    value: Option<String>,
    states: Vec<String>,
    href: Option<String>,
    rect: Rect,
    frame: Option<String>,
    /// Its name is to be looked up.
    unsure: bool,
}

/// Reads the page and makes a new list.
pub(crate) async fn list(tab: &Tab) -> Result<ElementList, Error> {
    let main = capture(tab, &tab.session);
    let view = tab.call("Page.getLayoutMetrics", json!({}));
    let (main, view) = futures_util::future::try_join(main, view).await?;
    let view = &view["cssLayoutViewport"];
    let view = (number(&view["clientWidth"]), number(&view["clientHeight"]));
    let mut found = Vec::new();
    let mut nodes = 0;
    collect(&tab.session, &main, (0.0, 0.0), &mut found, &mut nodes);
    let frames = tab.state().frames.clone();
    for (session, frame) in frames {
        // A frame that ends meanwhile has no elements.
        let Ok(documents) = capture(tab, &session).await else {
            continue;
        };
        let at = match main.first() {
            Some(_) => frame_place(tab, &frame, &main).await,
            None => None,
        };
        let before = found.len();
        collect(
            &session,
            &documents,
            at.unwrap_or_default(),
            &mut found,
            &mut nodes,
        );
        let url = documents.first().map(|it| it.url.clone());
        for element in found.iter_mut().skip(before) {
            element.frame = element.frame.take().or_else(|| url.clone());
        }
    }
    found.truncate(MOST);
    name(tab, &main, nodes, &mut found).await;
    Ok(numbered(tab, found, view))
}

async fn capture(tab: &Tab, session: &str) -> Result<Vec<Document>, Error> {
    let params =
        json!({ "computedStyles": STYLES, "includePaintOrder": false, "includeDOMRects": false });
    let answer = tab
        .call_in(session, "DOMSnapshot.captureSnapshot", params)
        .await?;
    Ok(snapshot::read(&answer))
}

/// The place in the view of a frame that has a process of its own.
async fn frame_place(tab: &Tab, frame: &str, documents: &[Document]) -> Option<(f64, f64)> {
    let params = json!({ "frameId": frame });
    let owner = tab.call("DOM.getFrameOwner", params).await.ok()?;
    let owner = owner["backendNodeId"].as_i64()?;
    let mut places = vec![(0_usize, 0.0, 0.0)];
    while let Some((place, x, y)) = places.pop() {
        let document = documents.get(place)?;
        let (x, y) = (x - document.scroll.0, y - document.scroll.1);
        for (node, inner) in &document.frames {
            let at = document.nodes.get(*node).and_then(|it| it.layout.as_ref());
            if let Some(layout) = at {
                places.push((*inner, x + layout.content.0, y + layout.content.1));
            }
        }
        let own = document.nodes.iter().find(|it| it.id == owner);
        if let Some(layout) = own.and_then(|it| it.layout.as_ref()) {
            return Some((x + layout.content.0, y + layout.content.1));
        }
    }
    None
}

/// Collects the elements of documents; `at` is the place of the first one in the view.
fn collect(
    session: &str,
    documents: &[Document],
    at: (f64, f64),
    found: &mut Vec<Found>,
    nodes: &mut usize,
) {
    let mut left = vec![(0_usize, at)];
    let mut seen = 0;
    while let Some((place, at)) = left.pop() {
        let Some(document) = documents.get(place) else {
            continue;
        };
        seen += 1;
        if seen > documents.len() {
            return;
        }
        *nodes += document.nodes.len();
        let at = (at.0 - document.scroll.0, at.1 - document.scroll.1);
        let frame = (place > 0).then(|| document.url.clone());
        for member in members::of(document) {
            let Some(node) = document.nodes.get(member) else {
                continue;
            };
            found.push(describe(document, member, node, session, at, frame.clone()));
        }
        for (node, inner) in &document.frames {
            let layout = document.nodes.get(*node).and_then(|it| it.layout.as_ref());
            if let Some(layout) = layout.filter(|it| it.visible) {
                left.push((*inner, (at.0 + layout.content.0, at.1 + layout.content.1)));
            }
        }
    }
}

fn describe(
    document: &Document,
    place: usize,
    node: &Node,
    session: &str,
    at: (f64, f64),
    frame: Option<String>,
) -> Found {
    let bounds = node.layout.as_ref().map(|it| it.bounds).unwrap_or_default();
    let (name, unsure) = members::name(document, place);
    let mut states = Vec::new();
    let kind = node.attribute("type").unwrap_or_default().to_lowercase();
    let is_password = node.tag == "input" && kind == "password";
    if is_password {
        states.push("password".to_owned());
    }
    if node.checked {
        states.push("checked".to_owned());
    }
    if node.attribute("disabled").is_some() || node.attribute("aria-disabled") == Some("true") {
        states.push("disabled".to_owned());
    }
    for (attribute, state) in [
        ("aria-expanded", "expanded"),
        ("aria-selected", "selected"),
        ("aria-pressed", "pressed"),
        ("aria-checked", "checked"),
        ("aria-current", "current"),
    ] {
        let on = node.attribute(attribute).is_some_and(|it| it != "false");
        if on && !states.iter().any(|it| it == state) {
            states.push(state.to_owned());
        }
    }
    let typed = matches!(&*node.tag, "input" | "textarea" | "select")
        && !matches!(
            &*kind,
            "checkbox" | "radio" | "submit" | "button" | "reset" | "image" | "file"
        );
    let value = match (is_password, &*node.tag) {
        (true, _) => {
            let filled = node.value.as_ref().is_some_and(|it| !it.is_empty());
            states.push(if filled { "filled" } else { "empty" }.to_owned());
            None
        }
        (_, "select") => members::chosen(document, place),
        _ => node.value.clone().filter(|_| typed),
    };
    Found {
        id: ElementId {
            session: session.to_owned(),
            node: node.id,
        },
        role: members::role(node),
        name: short(&name),
        value: value.filter(|it| !it.is_empty()).map(|it| short(&it)),
        states,
        href: (node.tag == "a").then(|| node.attribute("href").unwrap_or_default().to_owned()),
        rect: Rect {
            x: bounds.x + at.0,
            y: bounds.y + at.1,
            ..bounds
        },
        frame,
        unsure,
    }
}

/// Takes roles and names from the accessibility tree.
async fn name(tab: &Tab, main: &[Document], nodes: usize, found: &mut [Found]) {
    let mut known: HashMap<ElementId, (String, String)> = HashMap::new();
    let mut asked = Vec::new();
    if nodes <= WHOLE_TREE {
        let frames = main
            .iter()
            .map(|it| (tab.session.clone(), it.frame.clone()));
        let others = tab.state().frames.clone();
        for (session, frame) in frames.chain(others) {
            asked.push((
                session,
                "Accessibility.getFullAXTree",
                json!({ "frameId": frame }),
            ));
        }
    } else {
        for element in found.iter().filter(|it| it.unsure).take(LOOKED_UP) {
            let params = json!({ "backendNodeId": element.id.node, "fetchRelatives": false });
            asked.push((
                element.id.session.clone(),
                "Accessibility.getPartialAXTree",
                params,
            ));
        }
    }
    let answers = asked
        .into_iter()
        .map(|(session, method, params)| async move {
            // Without an answer the text of the element is its name.
            let answer = tab.call_in(&session, method, params).await.ok();
            answer.map(|answer| (session, answer))
        });
    for (session, answer) in join_all(answers).await.into_iter().flatten() {
        for node in answer["nodes"].as_array().into_iter().flatten() {
            let (Some(id), false) = (node["backendDOMNodeId"].as_i64(), node["ignored"] == true)
            else {
                continue;
            };
            let word = |it: &Value| it["value"].as_str().unwrap_or_default().to_owned();
            let id = ElementId {
                session: session.clone(),
                node: id,
            };
            known.insert(id, (word(&node["role"]), word(&node["name"])));
        }
    }
    for element in found {
        let Some((role, name)) = known.remove(&element.id) else {
            continue;
        };
        let name = short(&name);
        if !name.is_empty() {
            element.name = name;
        }
        let says_little = matches!(
            &*role,
            "" | "generic" | "none" | "LabelText" | "StaticText" | "paragraph" | "ListItem"
        );
        if !says_little {
            element.role = role.to_lowercase();
        }
    }
}

fn numbered(tab: &Tab, found: Vec<Found>, view: (f64, f64)) -> ElementList {
    let mut state = tab.state();
    let elements: Vec<Element> = found
        .into_iter()
        .map(|it| Element {
            index: state.numbers.number(&it.id),
            role: it.role,
            text: it.name,
            value: it.value,
            states: it.states,
            href: it.href,
            position: Position {
                x: it.rect.x.round(),
                y: it.rect.y.round(),
                width: it.rect.width.round(),
                height: it.rect.height.round(),
            },
            frame: it.frame,
        })
        .collect();
    let (snapshot, before) = state.numbers.list(lines_of(&elements));
    ElementList {
        snapshot,
        url: state.url.clone(),
        elements,
        view,
        before,
    }
}

fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    match text.char_indices().nth(NAME) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_default()
}
