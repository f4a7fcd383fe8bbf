//! What a model is asked: what was said so far, what it may call, and what the answer shall look like.

use serde_json::Value;

/// A question to a model. What is not set is up to the model.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Request {
    /// What the model is told before anybody speaks.
    pub system: Option<String>,
    /// What was said so far, the oldest first. The last is what is to be answered.
    pub messages: Vec<Message>,
    /// What the model may call instead of answering.
    pub tools: Vec<Tool>,
    /// What the text of the answer shall be: JSON of this schema.
    pub output: Option<Value>,
    /// How long the answer may become.
    pub max_tokens: Option<u32>,
    /// How freely the model chooses its words: 0 is as little as possible.
    pub temperature: Option<f32>,
}

impl Request {
    /// A single question.
    pub fn new(question: impl Into<String>) -> Self {
        Self::of(vec![Message::User(question.into())])
    }

    /// What was said so far.
    pub fn of(messages: Vec<Message>) -> Self {
        Self {
            messages,
            ..Self::default()
        }
    }

    /// The same, with something that the model is told first.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// The same, with what the model may call.
    #[must_use]
    pub fn tools(mut self, tools: impl IntoIterator<Item = Tool>) -> Self {
        self.tools.extend(tools);
        self
    }

    /// The same, for an answer that is JSON of this schema.
    #[must_use]
    pub fn output(mut self, schema: Value) -> Self {
        self.output = Some(schema);
        self
    }

    /// The same, for an answer of at most so many tokens.
    #[must_use]
    pub fn max_tokens(mut self, most: u32) -> Self {
        self.max_tokens = Some(most);
        self
    }

    /// The same, for words that are chosen this freely.
    #[must_use]
    pub fn temperature(mut self, temperature: f32) -> Self {
        self.temperature = Some(temperature);
        self
    }
}

/// Something that was said.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Message {
    /// By whoever asks.
    User(String),
    /// By the model.
    Model(Said),
    /// What came of a call that the model asked for. Every call of a message of the model is answered by one
    /// of these before anybody else speaks.
    Result(CallResult),
}

/// What a model said, as it is shown to it again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    /// In words.
    pub text: String,
    /// What it asked to be called.
    pub calls: Vec<Call>,
    /// What only the model understands: some want to see again what they thought before a call. Kept as it
    /// came, and of use to the model that it came from alone.
    pub thoughts: Vec<String>,
}

/// Something that a model may call: a skill.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// What it is called by programs.
    pub name: String,
    /// What it is called by people; empty if they call it the same.
    pub title: String,
    /// What it does, and when to call it.
    pub description: String,
    /// What it takes: a schema of an object.
    pub input: Value,
    /// What one could ask for. A language model is told of it in the description; [`rules`](crate::rules) go
    /// by it.
    pub examples: Vec<String>,
}

impl Tool {
    /// A tool of this name, with a schema of what it takes.
    pub fn new(name: impl Into<String>, description: impl Into<String>, input: Value) -> Self {
        Self {
            name: name.into(),
            title: String::new(),
            description: description.into(),
            input,
            examples: Vec::new(),
        }
    }

    /// The same with what people call it.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// The same with things one could ask for.
    #[must_use]
    pub fn examples<T: Into<String>>(mut self, examples: impl IntoIterator<Item = T>) -> Self {
        self.examples.extend(examples.into_iter().map(Into::into));
        self
    }
}

/// A call that a model asks for. Nothing was called yet, and nothing about it was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// What its result refers to.
    pub id: String,
    /// Which tool.
    pub name: String,
    /// With what: an object, if the model keeps to the schema.
    pub arguments: Value,
}

/// What came of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallResult {
    /// Which call.
    pub id: String,
    /// Which tool was called.
    pub name: String,
    /// What the model is told of it: what it gave, or why it gave nothing.
    pub content: String,
}

impl CallResult {
    /// What came of this call.
    pub fn of(call: &Call, content: impl Into<String>) -> Self {
        Self {
            id: call.id.clone(),
            name: call.name.clone(),
            content: content.into(),
        }
    }
}
