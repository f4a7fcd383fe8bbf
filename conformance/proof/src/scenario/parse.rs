//! A text as a scenario.

use std::str::FromStr;

use super::{Bad, Error, How, List, Name, Operation, STATES, Scenario, Send, Step, Webhook, With};

impl FromStr for Scenario {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let lines = text.lines().map(str::trim).zip(1..);
        let steps = lines.filter(|(line, _)| !line.is_empty() && !line.starts_with('#'));
        let steps = steps.map(|(text, line)| step(text).map_err(|why| Error { line, why }));
        Ok(Self {
            steps: steps.collect::<Result<_, _>>()?,
        })
    }
}

fn step(line: &str) -> Result<Step, String> {
    let (who, what) = line.split_once(':').ok_or("there is no `who:`")?;
    let who = Name::new(who.trim()).ok_or_else(|| format!("{who:?} is no name"))?;
    let mut words = Words::of(what)?;
    let what = operation(&mut words)?;
    match words.next() {
        None => Ok(Step { who, what }),
        Some(word) => Err(format!("{word} is too much")),
    }
}

fn operation(words: &mut Words) -> Result<Operation, String> {
    let verb = words.word("what is to be done")?;
    Ok(match &*verb {
        "send" => Operation::Send(send(How::Send, words)?),
        "start" => Operation::Send(send(How::Start, words)?),
        "stream" => Operation::Send(send(How::Stream, words)?),
        "get" => Operation::Get {
            task: words.name()?,
            history: words.number_after("history")?,
        },
        "list" => Operation::List(list(words)?),
        "cancel" => Operation::Cancel(words.name()?),
        "subscribe" => Operation::Subscribe {
            task: words.name()?,
            from: words.number_after("from")?,
            stream: words.name_after("->")?,
        },
        "read" => Operation::Read {
            stream: words.name()?,
            count: match words.is_over() {
                true => None,
                false => Some(words.number()?),
            },
        },
        "cut" => Operation::Cut(words.name()?),
        "resume" => Operation::Resume(words.name()?),
        "push" => Operation::Push(webhook(words)?),
        "push-get" => Operation::PushGet(webhook(words)?),
        "push-list" => Operation::PushList(words.name()?),
        "push-delete" => Operation::PushDelete(webhook(words)?),
        "card" => Operation::Card,
        "bad" => {
            let word = words.word("what is bad about it")?;
            let bad = Bad::ALL.iter().find(|bad| bad.word() == word);
            Operation::Bad(*bad.ok_or_else(|| format!("nothing bad is called {word:?}"))?)
        }
        "go" => Operation::Go(words.name()?),
        other => return Err(format!("unknown operation {other:?}")),
    })
}

fn send(how: How, words: &mut Words) -> Result<Send, String> {
    let mut send = Send::new(how, &words.text()?);
    if words.skip("with") {
        send.with = Some(match &*words.word("bytes, link or data")? {
            "bytes" => With::Bytes(words.text()?),
            "link" => With::Link(words.text()?),
            "data" => With::Data,
            other => return Err(format!("{other:?} is neither bytes, link nor data")),
        });
    }
    send.to = words.name_after("to")?;
    send.beside = words.name_after("beside")?;
    send.at = words.number_after("at")?;
    send.history = words.number_after("history")?;
    send.message = words.name_after("as")?;
    send.task = words.name_after("->")?;
    if send.task.is_some() && how == How::Stream && !words.is_over() {
        send.stream = Some(words.name()?);
    }
    Ok(send)
}

fn list(words: &mut Words) -> Result<List, String> {
    let beside = words.name_after("beside")?;
    let state = match words.skip("in") {
        true => {
            let word = words.word("a state")?;
            let known = STATES.iter().find(|state| **state == word);
            Some(*known.ok_or_else(|| format!("{word:?} is no state"))?)
        }
        false => None,
    };
    Ok(List {
        beside,
        state,
        size: words.number_after("size")?,
        after: words.name_after("after")?,
        page: words.name_after("->")?,
    })
}

fn webhook(words: &mut Words) -> Result<Webhook, String> {
    Ok(Webhook {
        task: words.name()?,
        id: words.name()?,
    })
}

/// What a line consists of: words, and texts as they are written.
struct Words(std::iter::Peekable<std::vec::IntoIter<String>>);

impl Words {
    fn of(line: &str) -> Result<Self, String> {
        let mut words = Vec::new();
        let mut rest = line.trim_start();
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '"' => text_length(rest).ok_or("a text does not end")?,
                _ => rest.find(char::is_whitespace).unwrap_or(rest.len()),
            };
            words.push(rest[..length].to_owned());
            rest = rest[length..].trim_start();
        }
        Ok(Self(words.into_iter().peekable()))
    }

    fn next(&mut self) -> Option<String> {
        self.0.next()
    }

    fn is_over(&mut self) -> bool {
        self.0.peek().is_none()
    }

    /// Whether the next word is this one; then it is taken.
    fn skip(&mut self, word: &str) -> bool {
        self.0.next_if(|next| next == word).is_some()
    }

    fn word(&mut self, what: &str) -> Result<String, String> {
        self.next().ok_or_else(|| format!("it does not say {what}"))
    }

    fn name(&mut self) -> Result<Name, String> {
        let word = self.word("which one")?;
        Name::new(&word).ok_or_else(|| format!("{word} is no name"))
    }

    fn name_after(&mut self, word: &str) -> Result<Option<Name>, String> {
        self.skip(word).then(|| self.name()).transpose()
    }

    fn number<T: FromStr>(&mut self) -> Result<T, String> {
        let word = self.word("how many")?;
        word.parse().map_err(|_| format!("{word} is no number"))
    }

    fn number_after<T: FromStr>(&mut self, word: &str) -> Result<Option<T>, String> {
        self.skip(word).then(|| self.number()).transpose()
    }

    fn text(&mut self) -> Result<String, String> {
        let word = self.word("what text")?;
        unquoted(&word).ok_or_else(|| format!("{word} is no text: write it in quotes"))
    }
}

/// How long the text in quotes is that begins here.
fn text_length(rest: &str) -> Option<usize> {
    let mut escaped = false;
    let mut marks = rest.char_indices().skip(1);
    let (end, _) = marks.find(|(_, mark)| {
        let ends = *mark == '"' && !escaped;
        escaped = *mark == '\\' && !escaped;
        ends
    })?;
    Some(end + 1)
}

/// What a text in quotes says; they are those of JSON.
fn unquoted(word: &str) -> Option<String> {
    serde_json::from_str(word).ok()
}
