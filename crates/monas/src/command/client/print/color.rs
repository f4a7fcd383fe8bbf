//! Colours, for terminals that show them.

use std::io::{self, IsTerminal as _};

/// Whether colours are used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Color {
    /// Where the output is a terminal.
    #[default]
    Terminal,
    Always,
    Never,
}

impl Color {
    /// What the environment wants: none with `NO_COLOR`, or where `TERM` says that the terminal shows none.
    pub(in crate::command) fn auto(environment: &dyn Fn(&str) -> Option<String>) -> Self {
        let refused = environment("NO_COLOR").is_some_and(|it| !it.is_empty());
        let dumb = environment("TERM").is_some_and(|it| it == "dumb");
        match refused || dumb {
            true => Self::Never,
            false => Self::Terminal,
        }
    }

    pub(super) fn out(self) -> Paint {
        self.paint(|| io::stdout().is_terminal())
    }

    pub(super) fn err(self) -> Paint {
        self.paint(|| io::stderr().is_terminal())
    }

    fn paint(self, terminal: impl FnOnce() -> bool) -> Paint {
        Paint(match self {
            Self::Terminal => terminal(),
            Self::Always => true,
            Self::Never => false,
        })
    }
}

/// Puts text in colour, or leaves it as it is. The text must be free of control characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::command) struct Paint(pub(super) bool);

const RED: &str = "31";
const GREEN: &str = "32";
const CYAN: &str = "36";
const DIM: &str = "2";
const BOLD: &str = "1";

impl Paint {
    pub(in crate::command) fn dim(self, text: &str) -> String {
        self.with(DIM, text)
    }

    pub(in crate::command) fn bold(self, text: &str) -> String {
        self.with(BOLD, text)
    }

    pub(in crate::command) fn red(self, text: &str) -> String {
        self.with(RED, text)
    }

    /// A text with a difference of files in it: what goes is red, what comes is green.
    pub(in crate::command) fn diff(self, text: &str) -> String {
        let line = |line: &str| match line.as_bytes() {
            [b'@', b'@', ..] => self.with(CYAN, line),
            [b'+', ..] => self.with(GREEN, line),
            [b'-', ..] => self.with(RED, line),
            _ => line.to_owned(),
        };
        let lines: Vec<String> = text.split('\n').map(line).collect();
        lines.join("\n")
    }

    fn with(self, code: &str, text: &str) -> String {
        match self.0 && !text.is_empty() {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Color, Paint};

    #[test]
    fn a_difference_is_coloured_line_by_line() {
        let text = "May I?\n-old\n+new";
        assert_eq!(Paint(false).diff(text), text);
        let painted = Paint(true).diff(text);
        assert_eq!(painted, "May I?\n\x1b[31m-old\x1b[0m\n\x1b[32m+new\x1b[0m");
    }

    #[test]
    fn the_environment_can_refuse_colours() {
        let with = |name: &'static str, value: &'static str| {
            Color::auto(&move |asked| (asked == name).then(|| value.to_owned()))
        };
        assert_eq!(with("NO_COLOR", "1"), Color::Never);
        assert_eq!(with("NO_COLOR", ""), Color::Terminal);
        assert_eq!(with("TERM", "dumb"), Color::Never);
        assert_eq!(with("TERM", "xterm"), Color::Terminal);
    }
}
