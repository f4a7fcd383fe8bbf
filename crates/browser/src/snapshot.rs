//! A snapshot of the page's document with layout, as Chromium's `DOMSnapshot` domain gives it: the documents of all frames
//! of a process, with shadow roots, boxes and listeners, in one answer.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

/// A box in CSS pixels: left, top, width, height.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rect {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

/// One document of a snapshot, with indices of nodes as Chromium counts them.
#[derive(Debug)]
pub(crate) struct Document {
    pub(crate) frame: String,
    pub(crate) url: String,
    pub(crate) scroll: (f64, f64),
    pub(crate) nodes: Vec<Node>,
    /// The documents of frames in this one, by the node of the frame.
    pub(crate) frames: HashMap<usize, usize>,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) parent: Option<usize>,
    /// In lower case; empty for texts and others that are no elements.
    pub(crate) tag: String,
    pub(crate) text: String,
    pub(crate) id: i64,
    pub(crate) attributes: Vec<(String, String)>,
    pub(crate) has_listener: bool,
    pub(crate) value: Option<String>,
    pub(crate) checked: bool,
    pub(crate) selected: bool,
    pub(crate) layout: Option<Layout>,
}

#[derive(Debug)]
pub(crate) struct Layout {
    /// In the coordinates of its document.
    pub(crate) bounds: Rect,
    /// The left and top corner of its content, where the document of a frame begins.
    pub(crate) content: (f64, f64),
    pub(crate) cursor: String,
    pub(crate) visible: bool,
}

/// The styles that a snapshot is asked for, in the order in which they are read.
pub(crate) const STYLES: [&str; 7] = [
    "cursor",
    "visibility",
    "opacity",
    "border-left-width",
    "padding-left",
    "border-top-width",
    "padding-top",
];

impl Node {
    pub(crate) fn attribute(&self, name: &str) -> Option<&str> {
        let found = self.attributes.iter().find(|(it, _)| it == name);
        found.map(|(_, value)| value.as_str())
    }
}

/// The documents of an answer; the first is that of the main frame.
pub(crate) fn read(answer: &Value) -> Vec<Document> {
    let strings: Vec<&str> = list(&answer["strings"])
        .map(|it| it.as_str().unwrap_or_default())
        .collect();
    list(&answer["documents"])
        .map(|it| document(it, &strings))
        .collect()
}

fn document(value: &Value, strings: &[&str]) -> Document {
    let string = |value: &Value| -> String {
        let index = value.as_i64().and_then(|it| usize::try_from(it).ok());
        index
            .and_then(|it| strings.get(it))
            .map_or_else(String::new, |it| (*it).to_owned())
    };
    let nodes = &value["nodes"];
    let listeners: HashSet<u64> = list(&nodes["isClickable"]["index"])
        .filter_map(Value::as_u64)
        .collect();
    let checked: HashSet<u64> = list(&nodes["inputChecked"]["index"])
        .filter_map(Value::as_u64)
        .collect();
    let selected: HashSet<u64> = list(&nodes["optionSelected"]["index"])
        .filter_map(Value::as_u64)
        .collect();
    let mut values: HashMap<u64, String> = HashMap::new();
    for kind in ["inputValue", "textValue"] {
        let index = list(&nodes[kind]["index"]).filter_map(Value::as_u64);
        values.extend(index.zip(list(&nodes[kind]["value"]).map(&string)));
    }
    let mut all = Vec::new();
    let kinds = list(&nodes["nodeType"]);
    for (place, kind) in kinds.enumerate() {
        let key = place as u64;
        let mut attributes = Vec::new();
        let mut flat = list(&nodes["attributes"][place]);
        while let (Some(name), Some(value)) = (flat.next(), flat.next()) {
            attributes.push((string(name), string(value)));
        }
        let is_element = kind.as_u64() == Some(1);
        let is_text = kind.as_u64() == Some(3);
        all.push(Node {
            parent: nodes["parentIndex"][place]
                .as_u64()
                .and_then(|it| usize::try_from(it).ok()),
            tag: if is_element {
                string(&nodes["nodeName"][place]).to_lowercase()
            } else {
                String::new()
            },
            text: if is_text {
                string(&nodes["nodeValue"][place])
            } else {
                String::new()
            },
            id: nodes["backendNodeId"][place].as_i64().unwrap_or_default(),
            attributes,
            has_listener: listeners.contains(&key),
            value: values.remove(&key),
            checked: checked.contains(&key),
            selected: selected.contains(&key),
            layout: None,
        });
    }
    let layout = &value["layout"];
    for (place, node) in list(&layout["nodeIndex"]).enumerate() {
        let node = node.as_u64().and_then(|it| usize::try_from(it).ok());
        let Some(node) = node.and_then(|it| all.get_mut(it)) else {
            continue;
        };
        let styles = &layout["styles"][place];
        let bounds = rect(&layout["bounds"][place]);
        let content = match &*node.tag {
            "iframe" | "frame" => {
                let width = |at: usize| pixels(&string(&styles[at]));
                let (left, top) = (width(3) + width(4), width(5) + width(6));
                (bounds.x + left, bounds.y + top)
            }
            _ => (bounds.x, bounds.y),
        };
        node.layout = Some(Layout {
            bounds,
            content,
            cursor: string(&styles[0]),
            visible: string(&styles[1]) != "hidden" && string(&styles[2]) != "0",
        });
    }
    let content = &nodes["contentDocumentIndex"];
    let frames = list(&content["index"]).zip(list(&content["value"]));
    let number = |it: &Value| it.as_u64().and_then(|it| usize::try_from(it).ok());
    Document {
        frame: string(&value["frameId"]),
        url: string(&value["documentURL"]),
        scroll: (
            value["scrollOffsetX"].as_f64().unwrap_or_default(),
            value["scrollOffsetY"].as_f64().unwrap_or_default(),
        ),
        nodes: all,
        frames: frames
            .filter_map(|(node, it)| Some((number(node)?, number(it)?)))
            .collect(),
    }
}

/// A length such as `3px`.
fn pixels(text: &str) -> f64 {
    let number = text.strip_suffix("px").and_then(|it| it.parse().ok());
    number.unwrap_or_default()
}

fn rect(value: &Value) -> Rect {
    let number = |place: usize| value[place].as_f64().unwrap_or_default();
    Rect {
        x: number(0),
        y: number(1),
        width: number(2),
        height: number(3),
    }
}

fn list(value: &Value) -> std::slice::Iter<'_, Value> {
    value
        .as_array()
        .map_or_else(Default::default, |it| it.iter())
}
