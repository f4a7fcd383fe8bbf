//! A list of elements as a text for a model, within a size.

use std::collections::HashMap;
use std::fmt::Write as _;

use super::{Element, ElementList};

/// Longest address of a link, in characters.
const HREF: usize = 60;

impl Element {
    /// The element in one line.
    pub fn line(&self) -> String {
        let mut line = format!("[{}] {} {:?}", self.index, self.role, self.text);
        if let Some(value) = &self.value {
            let _ = write!(line, " = {value:?}");
        }
        if !self.states.is_empty() {
            let _ = write!(line, " ({})", self.states.join(", "));
        }
        if let Some(href) = &self.href {
            let href: String = href.chars().take(HREF).collect();
            let _ = write!(line, " -> {href}");
        }
        line
    }

    fn is_in(&self, view: (f64, f64)) -> bool {
        let at = &self.position;
        at.x + at.width > 0.0 && at.y + at.height > 0.0 && at.x < view.0 && at.y < view.1
    }
}

pub(crate) fn lines_of(elements: &[Element]) -> Vec<(u32, String)> {
    elements.iter().map(|it| (it.index, it.line())).collect()
}

impl ElementList {
    pub fn find(&self, index: u32) -> Option<&Element> {
        self.elements.iter().find(|it| it.index == index)
    }

    /// The elements in lines, at most `bytes` long. Of a longer list the part from the element `from` on; without it, the part
    /// from the first element in the view on.
    pub fn text(&self, from: Option<u32>, bytes: usize) -> String {
        let lines: Vec<String> = self.elements.iter().map(Element::line).collect();
        let whole: usize = lines.iter().map(|it| it.len() + 1).sum();
        let start = match from {
            Some(from) => self.elements.iter().position(|it| it.index >= from),
            None if whole > bytes => self.elements.iter().position(|it| it.is_in(self.view)),
            None => None,
        };
        let start = start.unwrap_or_default();
        let mut text = String::new();
        if start > 0 {
            let _ = writeln!(text, "({start} elements before these)");
        }
        let mut frame = &None;
        // Room for the last line.
        let room = bytes.saturating_sub(120);
        for (place, (element, line)) in self.elements.iter().zip(&lines).enumerate().skip(start) {
            if element.frame != *frame {
                frame = &element.frame;
                let name = frame.as_deref().unwrap_or("the page itself");
                let name: String = name.chars().take(HREF * 2).collect();
                let _ = writeln!(text, "In {name}:");
            }
            if text.len() + line.len() > room {
                let left = self.elements.len() - place;
                let _ = writeln!(
                    text,
                    "({left} more elements; list them with from = {})",
                    element.index
                );
                break;
            }
            text.push_str(line);
            text.push('\n');
        }
        text
    }

    /// The differences from the list before: new lines with `+`, changed ones with `~`, elements that are gone with `-`.
    pub fn changes(&self, bytes: usize) -> String {
        let before: HashMap<u32, &str> = self
            .before
            .iter()
            .map(|(number, line)| (*number, line.as_str()))
            .collect();
        let mut text = String::new();
        let mut left = 0;
        let mut add = |line: String| match text.len() + line.len() > bytes.saturating_sub(60) {
            true => left += 1,
            false => text.push_str(&line),
        };
        for element in &self.elements {
            let line = element.line();
            match before.get(&element.index) {
                None => add(format!("+ {line}\n")),
                Some(known) if *known != line => add(format!("~ {line}\n")),
                Some(_) => {}
            }
        }
        let gone: Vec<String> = self
            .before
            .iter()
            .filter(|(number, _)| self.find(*number).is_none())
            .map(|(number, _)| number.to_string())
            .collect();
        if !gone.is_empty() {
            add(format!("- {}\n", gone.join(", ")));
        }
        if left > 0 {
            let _ = writeln!(text, "({left} more changes; list all elements)");
        }
        text
    }

    /// Whether the list before was of the same document, so that changes say something.
    pub fn follows(&self) -> bool {
        !self.before.is_empty()
    }
}
