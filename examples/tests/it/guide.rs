//! The guide shows the code of the programs it names, and what they print.

use std::fs;

use crate::program::checkout;

/// A fenced block of the guide.
struct Block {
    kind: String,
    /// The file that the text before the block names.
    from: Option<String>,
    lines: Vec<String>,
}

fn blocks(guide: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let (mut from, mut inside, mut text) = (None, false, String::new());
    for line in guide.lines().map(str::trim) {
        match (line.strip_prefix("```"), inside) {
            (Some(kind), false) => {
                inside = true;
                blocks.push(Block {
                    kind: kind.to_owned(),
                    from: from.take(),
                    lines: Vec::new(),
                });
            }
            (Some(_), true) => {
                inside = false;
                text.clear();
            }
            (None, true) => blocks.last_mut().unwrap().lines.push(line.to_owned()),
            (None, false) => {
                text.push(' ');
                text.push_str(line);
                let named = text.rsplit_once("From `").map(|(_, rest)| rest);
                let named = named.and_then(|rest| rest.strip_suffix("`:"));
                from = named.map(str::to_owned).or(from);
            }
        }
    }
    blocks
}

fn guide() -> String {
    fs::read_to_string(checkout().join("docs/capnweb-guide.md")).unwrap()
}

#[test]
fn the_code_of_the_guide_is_that_of_the_programs() {
    let mut checked = 0;
    for block in blocks(&guide()) {
        let Some(path) = block.from else {
            assert!(
                ["sh", "text"].contains(&&*block.kind),
                "where is this from?\n{}",
                block.lines.join("\n")
            );
            continue;
        };
        let file = fs::read_to_string(checkout().join(&path)).unwrap();
        let file: Vec<_> = file.lines().map(str::trim).collect();
        for part in block.lines.split(|line| line == "…") {
            let found = file.windows(part.len()).any(|lines| lines == part);
            assert!(found, "{path} does not have\n{}", part.join("\n"));
            checked += 1;
        }
    }
    assert!(checked > 15, "only {checked} pieces were found");
}

#[test]
fn the_examples_of_the_guide_print_what_it_says() {
    let blocks = blocks(&guide());
    let mut checked = 0;
    for (command, printed) in blocks.iter().zip(blocks.iter().skip(1)) {
        let [line] = &command.lines[..] else { continue };
        let Some(example) = line.strip_prefix("cargo run -p examples --example ") else {
            continue;
        };
        // `cargo xtask examples` runs the program and compares what it prints with this file.
        let expected = checkout().join(format!("examples/expected/{example}.txt"));
        let expected = fs::read_to_string(expected).unwrap();
        assert_eq!(
            expected,
            format!("{}\n", printed.lines.join("\n")),
            "{example}"
        );
        checked += 1;
    }
    assert_eq!(checked, 4);
}
