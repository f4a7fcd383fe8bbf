//! The elements of a document that can be clicked or typed into, with what the document alone says of them.

use crate::snapshot::{Document, Node};

/// How much text below an element is read for its name, in bytes.
const TEXT: usize = 400;

const ROLES: [&str; 19] = [
    "button",
    "link",
    "checkbox",
    "radio",
    "switch",
    "tab",
    "menuitem",
    "menuitemcheckbox",
    "menuitemradio",
    "option",
    "combobox",
    "textbox",
    "searchbox",
    "spinbutton",
    "slider",
    "treeitem",
    "gridcell",
    "listbox",
    "scrollbar",
];

/// The places of the elements of a document, in its order.
pub(super) fn of(document: &Document) -> Vec<usize> {
    let nodes = &document.nodes;
    let shown = |node: &Node| {
        let layout = node.layout.as_ref();
        layout.is_some_and(|it| it.visible && it.bounds.width >= 1.0 && it.bounds.height >= 1.0)
    };
    let mut sure = vec![false; nodes.len()];
    let mut maybe = vec![false; nodes.len()];
    // Whether an element lies in one that is surely clickable.
    let mut inside = vec![false; nodes.len()];
    for (place, node) in nodes.iter().enumerate() {
        let parent = node.parent.filter(|it| *it < place);
        inside[place] = parent.is_some_and(|it| inside[it] || sure[it]);
        if node.tag.is_empty() || !shown(node) {
            continue;
        }
        if is_control(node) {
            sure[place] = true;
            continue;
        }
        let outer = parent
            .and_then(|it| nodes[it].layout.as_ref())
            .map(|it| it.cursor.as_str());
        let own = node.layout.as_ref().map(|it| it.cursor.as_str());
        let points = own == Some("pointer") && outer != Some("pointer");
        let root = matches!(&*node.tag, "html" | "body" | "main" | "form");
        maybe[place] =
            !root && !inside[place] && node.tag != "label" && (points || node.has_listener);
    }
    // An element that only listens for events inside of it is not clicked itself.
    let mut holds = vec![false; nodes.len()];
    for place in (0..nodes.len()).rev() {
        let parent = nodes[place].parent.filter(|it| *it < place);
        if let Some(parent) = parent
            && (holds[place] || sure[place] || maybe[place])
        {
            holds[parent] = true;
        }
    }
    (0..nodes.len())
        .filter(|it| sure[*it] || (maybe[*it] && !holds[*it]))
        .collect()
}

fn is_control(node: &Node) -> bool {
    let control = match &*node.tag {
        "a" | "area" => node.attribute("href").is_some(),
        "button" | "select" | "textarea" | "summary" => true,
        "input" => node
            .attribute("type")
            .is_none_or(|it| !it.eq_ignore_ascii_case("hidden")),
        "audio" | "video" => node.attribute("controls").is_some(),
        _ => false,
    };
    let role = node.attribute("role").is_some_and(|it| ROLES.contains(&it));
    let focus = node
        .attribute("tabindex")
        .and_then(|it| it.trim().parse::<i32>().ok());
    let editable = node
        .attribute("contenteditable")
        .is_some_and(|it| it != "false");
    control
        || role
        || editable
        || node.attribute("onclick").is_some()
        || focus.is_some_and(|it| it >= 0)
}

/// The role of an element as its tag says it.
pub(super) fn role(node: &Node) -> String {
    if let Some(role) = node.attribute("role").filter(|it| !it.is_empty()) {
        return role.to_lowercase();
    }
    let kind = node.attribute("type").unwrap_or_default().to_lowercase();
    let role = match (&*node.tag, &*kind) {
        ("a" | "area", _) => "link",
        ("button" | "summary", _) | ("input", "submit" | "button" | "reset" | "image") => "button",
        ("input", "checkbox") => "checkbox",
        ("input", "radio") => "radio",
        ("input", "range") => "slider",
        ("input", "number") => "spinbutton",
        ("input", "search") => "searchbox",
        ("input", "file") => "file",
        ("input" | "textarea", _) => "textbox",
        ("select", _) => "combobox",
        _ if node.attribute("contenteditable").is_some() => "textbox",
        _ => "clickable",
    };
    role.to_owned()
}

/// The name of an element as its attributes and texts say it, and whether the accessibility tree may know better.
pub(super) fn name(document: &Document, place: usize) -> (String, bool) {
    let Some(node) = document.nodes.get(place) else {
        return (String::new(), true);
    };
    let said = |name: &str| {
        node.attribute(name)
            .filter(|it| !it.trim().is_empty())
            .map(str::to_owned)
    };
    if node.attribute("aria-labelledby").is_none()
        && let Some(label) = said("aria-label")
    {
        return (label, false);
    }
    if matches!(&*node.tag, "input" | "select" | "textarea") {
        let button = role(node) == "button";
        let value = node
            .value
            .clone()
            .filter(|_| button)
            .or_else(|| said("value").filter(|_| button));
        let named = value
            .or_else(|| said("placeholder"))
            .or_else(|| said("title"))
            .or_else(|| said("name"));
        return (named.unwrap_or_default(), true);
    }
    let text = text_below(document, place);
    match text.is_empty() {
        false => (text, false),
        true => (
            said("title").or_else(|| said("alt")).unwrap_or_default(),
            true,
        ),
    }
}

/// The text below an element, as far as it is shown.
fn text_below(document: &Document, place: usize) -> String {
    let mut text = String::new();
    let nodes = &document.nodes;
    // Nodes come in the order of the document: what is below an element follows it without a gap.
    let mut below = std::collections::HashSet::from([place]);
    for (at, node) in nodes.iter().enumerate().skip(place + 1) {
        if !node.parent.is_some_and(|it| below.contains(&it)) {
            // Text that is made by styles comes after its element's other children; nothing else leaves the order.
            break;
        }
        below.insert(at);
        if node.tag == "img"
            && let Some(alt) = node.attribute("alt")
        {
            text.push_str(alt);
            text.push(' ');
        }
        if !node.text.trim().is_empty() && node.layout.is_some() {
            text.push_str(node.text.trim());
            text.push(' ');
        }
        if text.len() > TEXT {
            break;
        }
    }
    text.trim().to_owned()
}

/// The text of the chosen option of a select.
pub(super) fn chosen(document: &Document, place: usize) -> Option<String> {
    let nodes = &document.nodes;
    let is_below = |mut at: usize| {
        while let Some(parent) = nodes.get(at).and_then(|it| it.parent).filter(|it| *it < at) {
            if parent == place {
                return true;
            }
            at = parent;
        }
        false
    };
    let mut after = nodes.iter().enumerate().skip(place + 1).take(2_000);
    let (option, node) =
        after.find(|(at, node)| node.tag == "option" && node.selected && is_below(*at))?;
    let label = node.attribute("label").map(str::to_owned);
    label.or_else(|| {
        let text = nodes
            .iter()
            .skip(option + 1)
            .find(|it| it.parent == Some(option) && !it.text.is_empty());
        text.map(|it| it.text.clone())
    })
}
