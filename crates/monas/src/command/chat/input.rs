//! Where the lines of a conversation come from: a line editor on a terminal, else standard input as it is.

use std::fs::{self, DirBuilder};
use std::io::{self, IsTerminal as _};
use std::path::{Path, PathBuf};

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};
use rustyline::completion::Completer;
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{Config, Context, Editor, Helper};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines, Stdin};

use crate::command::client::failure::Failure;

/// The file of the history in the data folder, and how many lines it has at most.
const HISTORY: &str = "chat-history";
const LINES: usize = 1000;

const PROMPT: &str = "> ";

/// What was read.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Read {
    Line(String),
    /// Ctrl-C at the prompt.
    Interrupt,
    /// The end of the input, which is Ctrl-D on a terminal.
    End,
}

/// The source of lines.
pub(super) enum Input {
    Terminal(Box<LineEditor>),
    /// A pipe or a file.
    Plain(Lines<BufReader<Stdin>>),
}

impl Input {
    /// A line editor if standard input and output are a terminal. `words` are completed; the history is kept in the data
    /// folder, if there is one.
    pub(super) fn open(data: Option<&Path>, words: Vec<String>) -> Self {
        let terminal = io::stdin().is_terminal() && io::stdout().is_terminal();
        let editor = terminal.then(|| LineEditor::open(data, words)).flatten();
        match editor {
            Some(editor) => Self::Terminal(Box::new(editor)),
            None => Self::Plain(BufReader::new(tokio::io::stdin()).lines()),
        }
    }

    /// Whether a person sits at a terminal.
    pub(super) fn is_terminal(&self) -> bool {
        matches!(self, Self::Terminal(_))
    }

    /// The next line.
    pub(super) async fn next(&mut self) -> Result<Read, Failure> {
        let wrong = |error: String| Failure::Usage(format!("standard input: {error}"));
        match self {
            Self::Terminal(editor) => editor.next().await.map_err(wrong),
            Self::Plain(lines) => {
                let mut message: Option<String> = None;
                loop {
                    let line = lines.next_line().await;
                    let line = line.map_err(|error| wrong(error.to_string()))?;
                    let Some(line) = line else { break };
                    let text = match message.take() {
                        Some(begun) => format!("{begun}\n{line}"),
                        None => line,
                    };
                    let goes_on = goes_on(&text);
                    message = Some(text);
                    if !goes_on {
                        break;
                    }
                }
                Ok(message.map_or(Read::End, |it| Read::Line(joined(&it))))
            }
        }
    }
}

/// A line editor with history and completion. It reads on a thread of its own, because it blocks.
pub(super) struct LineEditor {
    /// None while a line is read.
    editor: Option<Editor<Words, FileHistory>>,
    history: Option<PathBuf>,
    /// The terminal as it was. A signal may end the program while a line is read, when the terminal is in the mode of
    /// the editor.
    before: Option<Termios>,
}

impl LineEditor {
    fn open(data: Option<&Path>, words: Vec<String>) -> Option<Self> {
        let config = Config::builder().max_history_size(LINES).ok()?;
        let config = config.history_ignore_dups(true).ok()?;
        let config = config.auto_add_history(true).build();
        let history = FileHistory::with_config(&config);
        let mut editor = Editor::with_history(config, history).ok()?;
        editor.set_helper(Some(Words(words)));
        let history = data.and_then(history_file);
        if let Some(path) = &history {
            // There is no history yet, or it is damaged: then this conversation begins one.
            let _ = editor.load_history(path);
        }
        Some(Self {
            editor: Some(editor),
            history,
            before: tcgetattr(io::stdin()).ok(),
        })
    }

    async fn next(&mut self) -> Result<Read, String> {
        let Some(mut editor) = self.editor.take() else {
            return Err("it is being read already".to_owned());
        };
        let history = self.history.clone();
        let reading = tokio::task::spawn_blocking(move || {
            let line = editor.readline(PROMPT);
            if let (Ok(_), Some(path)) = (&line, &history) {
                // Written after each line: the program may be killed. The file gets mode 0600.
                let _ = editor.save_history(path);
            }
            (editor, line)
        });
        let (editor, line) = reading.await.map_err(|error| error.to_string())?;
        self.editor = Some(editor);
        match line {
            Ok(line) => Ok(Read::Line(joined(&line))),
            Err(ReadlineError::Interrupted) => Ok(Read::Interrupt),
            Err(ReadlineError::Eof) => Ok(Read::End),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Drop for LineEditor {
    fn drop(&mut self) {
        if let (None, Some(before)) = (&self.editor, &self.before) {
            let _ = tcsetattr(io::stdin(), OptionalActions::Flush, before);
        }
    }
}

/// Whether a message goes on in the next line: its last line ends with a backslash.
fn goes_on(text: &str) -> bool {
    text.ends_with('\\')
}

/// A message of several lines without the backslashes that join them.
fn joined(text: &str) -> String {
    let text = text.strip_suffix('\\').unwrap_or(text);
    text.replace("\\\n", "\n")
}

/// The file of the history. The folder is made with mode 0700, also on machines without a server.
fn history_file(data: &Path) -> Option<PathBuf> {
    if !data.exists() {
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::DirBuilderExt as _;
            builder.mode(0o700);
        }
        builder.create(data).ok()?;
    }
    let path = data.join(HISTORY);
    // What a person types is not for other users: the mode is set before anything is written.
    let file = fs::OpenOptions::new().append(true).create(true).open(&path);
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = fs::Permissions::from_mode(0o600);
        file.as_ref().ok()?.set_permissions(mode).ok()?;
    }
    file.ok().map(|_| path)
}

/// Completes the first word of a line that begins with a slash: commands of the chat and skills of the agent.
struct Words(Vec<String>);

impl Completer for Words {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        at: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        let begun = line.get(..at).unwrap_or_default();
        let found = match begun.starts_with('/') {
            true => self.0.iter().filter(|word| word.starts_with(begun)),
            false => return Ok((at, Vec::new())),
        };
        Ok((0, found.map(|word| format!("{word} ")).collect()))
    }
}

impl Hinter for Words {
    type Hint = String;
}
impl Highlighter for Words {}

impl Validator for Words {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match goes_on(context.input()) {
            true => ValidationResult::Incomplete,
            false => ValidationResult::Valid(None),
        })
    }
}

impl Helper for Words {}

#[cfg(test)]
mod tests {
    use rustyline::Context;
    use rustyline::completion::Completer as _;
    use rustyline::history::MemHistory;

    use super::{Words, goes_on, joined};

    #[test]
    fn a_backslash_at_the_end_of_a_line_joins_it_with_the_next() {
        assert!(goes_on("one\\") && !goes_on("one\\ ") && !goes_on("one\\\ntwo"));
        assert_eq!(joined("one\\\ntwo"), "one\ntwo");
        assert_eq!(joined("a\\b"), "a\\b");
        // The input ended before the next line.
        assert_eq!(joined("one\\"), "one");
    }

    #[test]
    fn only_the_first_word_after_a_slash_is_completed() {
        let words = Words(
            ["/new", "/file-read", "/file-list"]
                .map(str::to_owned)
                .into(),
        );
        let history = MemHistory::new();
        let context = Context::new(&history);
        let complete = |line: &str| words.complete(line, line.len(), &context).unwrap().1;
        assert_eq!(complete("/file-r"), ["/file-read "]);
        assert_eq!(complete("/file-"), ["/file-read ", "/file-list "]);
        assert!(complete("file").is_empty());
        assert!(complete("/file-read path=/n").is_empty());
    }
}
