//! Rules as they are written: YAML documents of Sigma, with our part under the key `monas`.

use serde::Deserialize as _;
use serde_json::Value;

use super::correlation::Correlation;
use super::detection::{Detection, field};
use super::{Author, Logic, Response, Rule, Rules, Severity, examples};
use crate::Error;

/// The longest file of rules, in bytes.
const LONGEST: usize = 1 << 20;
/// How many rules a file may have.
const MOST: usize = 500;
/// The longest title, description or template.
const TEXT: usize = 500;

impl Rules {
    /// Reads a file of rules and runs the examples of each. `pack` is the name under which people know the file.
    pub fn parse(pack: &str, author: Author, text: &str) -> Result<Self, Error> {
        if text.len() > LONGEST {
            return Err(Error::form(
                pack,
                &format!("a file of rules has at most {LONGEST} bytes"),
            ));
        }
        let mut forms = Vec::new();
        for document in yaml_serde::Deserializer::from_str(text) {
            let form = Value::deserialize(document).map_err(|error| Error::form(pack, &error))?;
            if !form.is_null() {
                forms.push(form);
            }
            if forms.len() > MOST {
                return Err(Error::form(
                    pack,
                    &format!("a file has at most {MOST} rules"),
                ));
            }
        }
        let rules = compile(pack, author, &forms)?;
        for form in &forms {
            examples::run(&rules, form)?;
        }
        Ok(rules)
    }
}

/// The name by which errors know a rule.
pub(super) fn name_of(form: &Value) -> &str {
    let mut names = ["name", "id", "title"].into_iter();
    let found = names.find_map(|it| form[it].as_str());
    found.unwrap_or("without a name")
}

fn compile(pack: &str, author: Author, forms: &[Value]) -> Result<Rules, Error> {
    let mut rules = Rules::default();
    let referred: Vec<&str> = forms
        .iter()
        .filter_map(|it| it["correlation"]["rules"].as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    for form in forms.iter().filter(|it| it.get("detection").is_some()) {
        let name = name_of(form);
        let detection = Detection::read(name, &form["detection"])?;
        let is_base = ["name", "id"]
            .iter()
            .any(|it| form[*it].as_str().is_some_and(|it| referred.contains(&it)));
        if is_base {
            rules.bases.push((name.to_owned(), detection.clone()));
        }
        if !is_base || form["monas"]["generate"] == Value::Bool(true) {
            rules
                .rules
                .push(rule(pack, author, form, Logic::One(detection))?);
        }
    }
    for form in forms.iter().filter(|it| it.get("correlation").is_some()) {
        let name = name_of(form);
        let mut correlation = Correlation::read(name, &form["correlation"])?;
        for wanted in &correlation.names {
            // Sigma refers by name or by id; both were taken as the name of the base.
            let is = |it: &&Value| {
                it.get("detection").is_some()
                    && [&it["name"], &it["id"]]
                        .iter()
                        .any(|it| it.as_str() == Some(wanted))
            };
            let base = forms.iter().find(is).map(name_of);
            let number = rules
                .bases
                .iter()
                .position(|it| Some(it.0.as_str()) == base);
            let number = number.ok_or_else(|| {
                Error::rule(
                    name,
                    format!("there is no rule {wanted:?} in this file, so it would never match"),
                )
            })?;
            correlation.bases.push(number);
        }
        rules
            .rules
            .push(rule(pack, author, form, Logic::Several(correlation))?);
    }
    if let Some(form) = forms
        .iter()
        .find(|it| it.get("detection").is_none() && it.get("correlation").is_none())
    {
        return Err(Error::rule(
            name_of(form),
            "it has neither detection nor correlation",
        ));
    }
    for (at, rule) in rules.rules.iter().enumerate() {
        if rules.rules.iter().take(at).any(|it| it.id == rule.id) {
            return Err(Error::rule(
                &rule.title,
                format!("the id {:?} is used twice", rule.id),
            ));
        }
    }
    Ok(rules)
}

fn rule(pack: &str, author: Author, form: &Value, logic: Logic) -> Result<Rule, Error> {
    let name = name_of(form);
    let text = |key: &str| form[key].as_str().unwrap_or_default().trim().to_owned();
    let (id, title, description) = (text("id"), text("title"), text("description"));
    if id.is_empty() || title.is_empty() {
        return Err(Error::rule(name, "a rule needs a title and an id"));
    }
    if title.len() > TEXT || description.len() > TEXT {
        return Err(Error::rule(
            name,
            format!("title and description have at most {TEXT} bytes"),
        ));
    }
    let level = form["level"].as_str().unwrap_or("info");
    let severity = Severity::of(level);
    let severity = severity.ok_or_else(|| {
        Error::rule(
            name,
            format!("level {level:?} is none of informational, low, medium, high, critical"),
        )
    })?;
    let own = &form["monas"];
    let response = match own["response"].as_str().unwrap_or("note") {
        "note" => Response::Note,
        "nudge" => Response::Nudge,
        "ask" => Response::Ask,
        "pause" if author == Author::Operator => Response::Pause,
        "pause" => {
            return Err(Error::rule(
                name,
                "only rules of the operator may pause an agent",
            ));
        }
        other => {
            return Err(Error::rule(
                name,
                format!("response {other:?} is none of note, nudge, ask, pause"),
            ));
        }
    };
    let list = |value: &Value| match value {
        Value::Array(items) => items
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    };
    let key = list(&own["key"]);
    let key = key
        .iter()
        .map(|it| field(name, it))
        .collect::<Result<_, _>>()?;
    Ok(Rule {
        id,
        title,
        description,
        pack: pack.to_owned(),
        author,
        severity,
        alert_type: own["alert_type"]
            .as_str()
            .unwrap_or("pattern_detected")
            .to_owned(),
        response,
        action: own["action"].as_str().map(str::to_owned),
        nodes: list(&own["nodes"]),
        key,
        logic,
    })
}
