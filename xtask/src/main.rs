//! The project's own commands, run as `cargo xtask COMMAND`.
//!
//! - [`mod@test`] sets up what the tests need and runs every check that a change must pass;
//! - [`tidy`] holds the checks of the repository itself: crate arrows, file headers, paths;
//! - [`examples`] runs the numbered examples and compares what they print;
//! - [`types`] writes the TypeScript declarations and references of our targets;
//! - [`prove`] shows each requirement of the protocol on each binding, and writes the table;
//! - [`mod@bench`] measures us and the reference implementation in one run;
//! - [`shots`] takes the pictures of the page that are in `docs/`;
//! - [`soak`] keeps a server busy and looks whether it stays as it is.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line tool talks to its user by printing"
)]

use std::process::ExitCode;

use crate::error::{Error, Result};

mod bench;
mod error;
mod examples;
mod process;
mod prove;
mod report;
mod shots;
mod soak;
mod test;
mod tidy;
mod tools;
mod types;
mod workspace;

const HELP: &str = "\
cargo xtask COMMAND

  test                 set up what the tests need, then run everything a change must pass:
                       format, tidy, licences, clippy, docs, tests, proof, types, examples, doc tests, features
  test --fast          format, tidy, clippy and unit tests: needs nothing but cargo
  tidy                 check crate arrows, file headers, README length and machine paths
  examples [--bless]   run the numbered examples and compare their output with
                       examples/expected/NAME.txt; --bless writes those files instead
  types [--check]      write the TypeScript declarations and references of the targets that programs
                       of ours serve; --check only compares them
  prove [--check]      show each requirement of the protocol on each binding, by tests run there and then, and
                       write the table docs/proof.md; --check only compares it
  prove --self-check   break each requirement in turn and show that its cells turn red
  bench a2a            measure our A2A server, and official ones in the same run
      --peers DIR      a folder with those servers: rs_official/, js_server.mjs, py_server.py;
                       any of them may be missing
      --seconds N      how long each measurement lasts (default 3)
      --rounds N       measurements of each server, the middle one counts (default 3)
      --tasks N        how many tasks to make before memory is read (default 100000)
      --only A,B       some of: echo, task, task-sqlite, group-commit, commits, sse, sse-100,
                       sse-1000, first-event, memory, memory-sqlite
      --write          put the table of a whole run with peers into docs/benchmarks.md
  bench capnweb        measure npm capnweb and our crate in one run, and print the ratios
      --seconds N      how long each measurement lasts (default 3)
      --rounds N       measurements of each peer, the best counts (default 3)
      --sessions N     how many idle sessions to open (default 5000)
      --only A,B       some of: call, batch, callbacks, bytes, map, idle, active, crowd, sequential
      --peers A,B      some of: npm, ours (default both)
      --write          put the table of a whole run into docs/benchmarks.md
  bench access         measure what limits and the audit trail add to a call
  bench chat           measure 1,000 sessions of the chat with the agent active in 50, and a plain WebSocket echo
                       in the same run
      --seconds N      how long each measurement lasts (default 10)
      --sessions N, --active N, --pause MS
                       sessions, those with commands, the pause between two commands (default 1000, 50, 500)
      --program FILE, --floor FILE
                       a monas and an echo that are built already
      --write          put the table into docs/benchmarks.md
  bench floods         measure what a well-behaved caller notices while others send as much as they can
      --seconds N      how long each flood lasts (default 10)
      --program FILE   a monas that is built already
      --write          put the table into docs/benchmarks.md
  bench mcp            measure our server over MCP and ACP, and rmcp's and the one of npm in the same run
      --seconds N      how long each measurement lasts (default 3)
      --rounds N       measurements of each server, the middle one counts (default 3)
      --only A,B       some of: call, session, json, sse, a2a, acp
      --write          put the table of a whole run into docs/benchmarks.md
  bench memory         measure how well our server finds evidence, next to plain BM25
      --data DIR       the folder of the harness: harness.py, and questions in data/*.json
      --python FILE    what runs it (default python3)
  bench page           measure the page in Chromium, and the front end of Open WebUI in the same run
      --rounds N       loads of each, the middle one counts (default 7)
      --program FILE   a monas that is built already
      --peer DIR       the built front end of Open WebUI; downloaded from PyPI if it is not given
      --write          put the table into docs/benchmarks.md
  bench transports     measure our A2A server over its five wires, plain and encrypted
      --seconds N      how long each timed measurement lasts (default 3)
      --rounds N       timed measurements of each wire, the middle one counts (default 3)
      --clients N      how many follow a task at once (default 1000)
      --only A,B       some of: latency, throughput, shared, wire, fan-out, cut
      --write          put table and plots of a whole run into docs/
  bench-load           one measurement of one server, started by `bench`
      a2a SCENARIO URL --pid N [--seconds N] [--tasks N]
      capnweb SCENARIO URL --pid N [--seconds N] [--sessions N]
      mcp SCENARIO URL --pid N [--seconds N]
      chat SCENARIO URL --pid N [--seconds N] [--sessions N] [--active N] [--pause MS]
  shots                take pictures of every view of the page, into docs/page
      --program FILE   a monas that is built already
  soak                 mixed traffic over all wires; fails when memory or handles grow after the warm-up,
                       or when an unexpected error comes
      --minutes N      how long (default 1)
      --write          put the figures into docs/benchmarks.md
  help                 this text
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Error::Reported) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<()> {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    if words.iter().any(|word| matches!(*word, "--help" | "-h")) {
        print!("{HELP}");
        return Ok(());
    }
    let root = workspace::root();
    match words.as_slice() {
        [] | ["help"] => {
            print!("{HELP}");
            Ok(())
        }
        ["test"] => test::run(&root),
        ["test", "--fast"] => test::fast(&root),
        ["tidy"] => tidy::run(&root),
        ["examples"] => examples::run(&root, examples::Expected::Compare).map(|_| ()),
        ["examples", "--bless"] => examples::run(&root, examples::Expected::Write).map(|_| ()),
        ["types"] => types::run(&root, types::Files::Write),
        ["types", "--check"] => types::run(&root, types::Files::Check),
        ["prove"] => prove::run(&root, prove::Files::Write),
        ["prove", "--check"] => prove::run(&root, prove::Files::Check),
        ["prove", "--self-check"] => prove::self_check(&root),
        ["bench", "a2a", options @ ..] => bench::a2a::run(&root, options),
        ["bench", "capnweb", options @ ..] => bench::capnweb::run(&root, options),
        ["bench", "access", options @ ..] => bench::access::run(&root, options),
        ["bench", "chat", options @ ..] => bench::chat::run(&root, options),
        ["bench", "floods", options @ ..] => bench::floods::run(&root, options),
        ["bench", "mcp", options @ ..] => bench::mcp::run(&root, options),
        ["bench", "memory", options @ ..] => bench::memory::run(&root, options),
        ["bench", "page", options @ ..] => bench::page::run(&root, options),
        ["bench", "transports", options @ ..] => bench::transports::run(&root, options),
        ["shots", options @ ..] => shots::run(&root, options),
        ["soak", options @ ..] => soak::run(&root, options),
        ["bench-load", "a2a", scenario, url, options @ ..] => {
            bench::a2a::load::run(scenario, url, options)
        }
        ["bench-load", "capnweb", scenario, url, options @ ..] => {
            bench::capnweb::load::run(scenario, url, options)
        }
        ["bench-load", "chat", scenario, url, options @ ..] => {
            bench::chat::load::run(scenario, url, options)
        }
        ["bench-load", "mcp", scenario, url, options @ ..] => {
            bench::mcp::load::run(scenario, url, options)
        }
        _ => Err(Error::Usage(format!(
            "`cargo xtask {}` is not a command",
            words.join(" ")
        ))),
    }
}
