//! The eight messages of the protocol, between text and typed form.

use crate::expression::{Expression, Form, ParseError, Parser, write_form, write_integer};
use crate::limits::Limits;

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;

/// One message. Ids are as its sender names them.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// `["push", expression]`: evaluate this and keep the result under the next positive id.
    Push(Expression),
    /// `["pull", id]`: tell me what this resolves to.
    Pull(i64),
    /// `["resolve", id, expression]`: the promise has this value.
    Resolve(i64, Expression),
    /// `["reject", id, expression]`: the promise failed with this, normally an error.
    Reject(i64, Expression),
    /// `["release", id, count]`: I give back this many of the times you introduced the id to me.
    Release(i64, u64),
    /// `["stream", expression]`: a push that is pulled and released by itself.
    Stream(Expression),
    /// `["pipe"]`: make a pipe under the next positive id.
    Pipe,
    /// `["abort", expression]`: the session is over, for this reason.
    Abort(Expression),
}

impl Message {
    /// Reads the message that is the whole of `text`.
    pub fn parse(text: &str, limits: &Limits) -> Result<Self, ParseError> {
        Parser::parse(text, limits, |parser| {
            parser.tagged(ParseError::Message, read)
        })
    }

    pub fn print(&self) -> String {
        let mut out = String::new();
        self.write_to(&mut out);
        out
    }

    pub fn write_to(&self, out: &mut String) {
        match self {
            Self::Push(expression) => write_form(out, "push", |out| expression.write_to(out)),
            Self::Pull(id) => write_form(out, "pull", |out| write_integer(out, *id)),
            Self::Resolve(id, value) => {
                write_form(out, "resolve", |out| write_answer(out, *id, value))
            }
            Self::Reject(id, reason) => {
                write_form(out, "reject", |out| write_answer(out, *id, reason))
            }
            Self::Release(id, count) => write_form(out, "release", |out| {
                write_integer(out, *id);
                out.push(',');
                write_integer(out, i64::try_from(*count).unwrap_or(i64::MAX));
            }),
            Self::Stream(expression) => write_form(out, "stream", |out| expression.write_to(out)),
            Self::Pipe => out.push_str(r#"["pipe"]"#),
            Self::Abort(reason) => write_form(out, "abort", |out| reason.write_to(out)),
        }
    }
}

/// The message with this tag. Elements beyond those it knows are ignored, as the reference does.
fn read(form: &mut Form<'_, '_>, tag: &str) -> Result<Message, ParseError> {
    let message = match tag {
        "push" => Message::Push(form.expression(0)?),
        "pull" => Message::Pull(form.id()?),
        "resolve" => Message::Resolve(form.id()?, form.expression(0)?),
        "reject" => Message::Reject(form.id()?, form.expression(0)?),
        "release" => {
            let id = form.id()?;
            let count = u64::try_from(form.id()?).map_err(|_| form.misshapen())?;
            Message::Release(id, count)
        }
        "stream" => Message::Stream(form.expression(0)?),
        "pipe" => Message::Pipe,
        "abort" => Message::Abort(form.expression(0)?),
        _ => return Err(form.misshapen()),
    };
    form.ignore_rest()?;
    Ok(message)
}

fn write_answer(out: &mut String, id: i64, expression: &Expression) {
    write_integer(out, id);
    out.push(',');
    expression.write_to(out);
}
