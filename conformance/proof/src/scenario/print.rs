//! A scenario as text.

use std::fmt;

use super::{How, List, Operation, Scenario, Send, Step, Webhook, With};

/// A text as JSON writes it, which is how it is read.
fn quoted(text: &str) -> serde_json::Value {
    text.into()
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.steps.iter().try_for_each(|step| writeln!(f, "{step}"))
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.who, self.what)
    }
}

/// Writes what there is, with a word before it.
macro_rules! maybe {
    ($f:ident, $($word:literal $value:expr),* $(,)?) => {
        $(if let Some(value) = &$value {
            write!($f, " {} {value}", $word)?;
        })*
    };
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Send(send) => write!(f, "{send}"),
            Self::Get { task, history } => {
                write!(f, "get {task}")?;
                maybe!(f, "history" history);
                Ok(())
            }
            Self::List(list) => write!(f, "{list}"),
            Self::Cancel(task) => write!(f, "cancel {task}"),
            Self::Subscribe { task, from, stream } => {
                write!(f, "subscribe {task}")?;
                maybe!(f, "from" from, "->" stream);
                Ok(())
            }
            Self::Read { stream, count } => {
                write!(f, "read {stream}")?;
                count.iter().try_for_each(|count| write!(f, " {count}"))
            }
            Self::Cut(stream) => write!(f, "cut {stream}"),
            Self::Resume(stream) => write!(f, "resume {stream}"),
            Self::Push(webhook) => write!(f, "push {webhook}"),
            Self::PushGet(webhook) => write!(f, "push-get {webhook}"),
            Self::PushList(task) => write!(f, "push-list {task}"),
            Self::PushDelete(webhook) => write!(f, "push-delete {webhook}"),
            Self::Card => f.write_str("card"),
            Self::Bad(bad) => write!(f, "bad {}", bad.word()),
            Self::Go(task) => write!(f, "go {task}"),
        }
    }
}

impl fmt::Display for Send {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = match self.how {
            How::Send => "send",
            How::Start => "start",
            How::Stream => "stream",
        };
        write!(f, "{verb} {}", quoted(&self.script))?;
        match &self.with {
            Some(With::Bytes(text)) => write!(f, " with bytes {}", quoted(text))?,
            Some(With::Link(url)) => write!(f, " with link {}", quoted(url))?,
            Some(With::Data) => write!(f, " with data")?,
            None => {}
        }
        maybe!(f, "to" self.to, "beside" self.beside, "at" self.at);
        maybe!(f, "history" self.history, "as" self.message, "->" self.task);
        match (&self.task, &self.stream) {
            (Some(_), Some(stream)) => write!(f, " {stream}"),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "list")?;
        maybe!(f, "beside" self.beside, "in" self.state, "size" self.size);
        maybe!(f, "after" self.after, "->" self.page);
        Ok(())
    }
}

impl fmt::Display for Webhook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.task, self.id)
    }
}
