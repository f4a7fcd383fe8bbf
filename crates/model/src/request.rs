//! Requests: the conversation so far, the tools on offer, and the form of the reply.

use std::sync::Arc;

use serde_json::Value;

/// A request to a model. Fields that are not set are left to the model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Request {
    pub system: Option<String>,
    /// The conversation, oldest first. The last message is the one to answer.
    pub messages: Vec<Message>,
    /// Tools that the model may call instead of answering.
    pub tools: Vec<Tool>,
    /// A JSON schema that the text of the reply must fulfil.
    pub output: Option<Value>,
    /// The longest reply, in tokens of the model.
    pub max_tokens: Option<u32>,
    /// The sampling temperature: 0 is the most predictable.
    pub temperature: Option<f32>,
    /// The caller that the request is made for: its share of a budget is charged. Empty is the server itself. Providers
    /// are not told.
    pub payer: String,
}

impl Request {
    /// A request of one user message.
    pub fn new(question: impl Into<String>) -> Self {
        Self::of(vec![Message::User(question.into())])
    }

    /// A request of a whole conversation.
    pub fn of(messages: Vec<Message>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }

    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools.extend(tools);
        self
    }

    #[must_use]
    pub fn output(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    #[must_use]
    pub fn max_tokens(mut self, most: u32) -> Self {
        self.max_tokens = Some(most);
        self
    }

    #[must_use]
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }
}

/// A message of a conversation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Message {
    User(String),
    /// Words of another party that stand where a user's do: what memory holds, a letter of another agent.
    Quoted(Quotation),
    Model(AssistantMessage),
    /// The result of a call. Every call in a message of the model must have its result before the next message of the
    /// user or the model; providers refuse a conversation without.
    Result(CallResult),
}

/// Words of another party. A language model is shown the title, and then each line of the text behind `> `, so that no
/// line of it looks like the beginning of a section or like words of the user. [`rules`](crate::rules) read the text as it
/// is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotation {
    /// One line that names the source of the words.
    pub title: String,
    pub text: String,
}

impl Quotation {
    /// The words as a language model is shown them.
    pub fn shown(&self) -> String {
        format!("{}\n{}", self.title, quoted(&self.text))
    }
}

/// A text with `> ` before each line.
fn quoted(text: &str) -> String {
    let ends = [
        '\n', '\r', '\u{b}', '\u{c}', '\u{85}', '\u{2028}', '\u{2029}',
    ];
    let text = text.replace("\r\n", "\n");
    let lines = text.split(ends).map(|line| format!("> {line}"));
    lines.collect::<Vec<_>>().join("\n")
}

/// A message of the model, as it is sent back to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AssistantMessage {
    pub text: String,
    pub calls: Vec<Call>,
    /// Opaque data of the model, such as signed reasoning that some want to see again with the result of a call. It is
    /// sent back unchanged, and only to the model it came from.
    pub thoughts: Vec<String>,
}

/// A tool that a model may call: a skill.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    pub name: String,
    /// The name for people; empty if it is the same.
    pub title: String,
    /// What it does, and when to call it.
    pub description: String,
    /// The JSON schema of its arguments, an object. Requests share it: a tool is offered with each of them.
    pub input: Arc<Value>,
    /// Example requests. A language model sees them in the description; [`rules`](crate::rules) match against them.
    pub examples: Vec<String>,
}

impl Tool {
    pub fn new(name: impl Into<String>, description: impl Into<String>, input: Value) -> Self {
        Self {
            name: name.into(),
            title: String::new(),
            description: description.into(),
            input: Arc::new(input),
            examples: Vec::new(),
        }
    }

    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    #[must_use]
    pub fn examples<T: Into<String>>(mut self, examples: impl IntoIterator<Item = T>) -> Self {
        self.examples.extend(examples.into_iter().map(Into::into));
        self
    }
}

/// A call that a model asks for. Nothing has been called yet, and the arguments are not checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The id that its result refers to.
    pub id: String,
    pub name: String,
    /// An object, if the model keeps to the schema.
    pub arguments: Value,
}

/// The result of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult {
    pub id: String,
    pub name: String,
    /// The result or the error, in words for the model.
    pub content: String,
    /// The result as a text for people, with which [`rules`](crate::rules) answer; None if it is the same.
    pub told: Option<String>,
}

impl CallResult {
    pub fn of(call: &Call, content: impl Into<String>) -> Self {
        Self {
            id: call.id.clone(),
            name: call.name.clone(),
            content: content.into(),
            told: None,
        }
    }

    /// With a text for people.
    #[must_use]
    pub fn told(mut self, told: Option<String>) -> Self {
        self.told = told;
        self
    }

    /// The result as a language model is shown it: each line behind `> `, because what a tool or a file says is no
    /// instruction.
    pub fn shown(&self) -> String {
        quoted(&self.content)
    }
}
