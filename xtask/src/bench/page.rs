//! `cargo xtask bench page`: what the page costs its reader, and the front end of Open WebUI on the same Chromium.
//!
//! `conformance/page/bench.mjs` measures in the browser and prints its figures. The peer is the built front end out of the
//! wheel of Open WebUI, which is downloaded for this bench alone. Its server is not run, so it is compared where no server
//! is needed: what the first load weighs, and when it paints.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::document;
use super::flags::Flags;
use crate::error::{Doing, Error, Result};
use crate::{process, tools};

/// The peer, by its name and version on PyPI.
const PEER: &str = "open-webui==0.12.4";

struct Options {
    rounds: usize,
    write: bool,
    /// A server that is built already.
    program: Option<PathBuf>,
    /// The folder of the peer's built front end.
    peer: Option<PathBuf>,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Options> {
        let mut options = Options {
            rounds: 7,
            write: false,
            program: None,
            peer: None,
        };
        let mut flags = Flags::new(words);
        while let Some(flag) = flags.advance() {
            match flag {
                "--rounds" => options.rounds = flags.number()?,
                "--write" => options.write = true,
                "--program" => options.program = Some(PathBuf::from(flags.value()?)),
                "--peer" => options.peer = Some(PathBuf::from(flags.value()?)),
                _ => return Err(flags.unknown()),
            }
        }
        Ok(options)
    }
}

/// A row of the table: its title and unit, where its figures are, what one unit is of them, and the limit of ours.
struct Row {
    title: &'static str,
    unit: &'static str,
    ours: &'static str,
    peer: Option<&'static str>,
    divisor: f64,
    limit: Option<f64>,
}

const fn row(title: &'static str, unit: &'static str, ours: &'static str) -> Row {
    Row {
        title,
        unit,
        ours,
        peer: None,
        divisor: 1.0,
        limit: None,
    }
}

const KB: f64 = 1000.0;
const MB: f64 = 1_000_000.0;

const ROWS: [Row; 18] = [
    Row {
        peer: Some("/peer/bytes"),
        divisor: KB,
        limit: Some(120.0),
        ..row("first load over the wire", "KB", "/first/bytes")
    },
    Row {
        peer: Some("/peer/requests"),
        ..row("files of the first load", "", "/first/requests")
    },
    Row {
        peer: Some("/peer/first_paint"),
        limit: Some(200.0),
        ..row("first paint", "ms", "/first/first_paint")
    },
    Row {
        peer: Some("/peer/usable"),
        ..row("something to type into or to press", "ms", "/first/usable")
    },
    Row {
        peer: Some("/peer_slow/first_paint"),
        limit: Some(1000.0),
        ..row(
            "first paint, processor slowed 4 times",
            "ms",
            "/slow/first_paint",
        )
    },
    Row {
        peer: Some("/peer_slow/usable"),
        ..row("the same, usable", "ms", "/slow/usable")
    },
    Row {
        peer: Some("/peer_slow/long_tasks"),
        ..row("the same, in tasks over 50 ms", "ms", "/slow/long_tasks")
    },
    row(
        "10,000 messages, opened at the end",
        "ms",
        "/conversation/opened",
    ),
    Row {
        limit: Some(500.0),
        ..row(
            "the same, elements in the log",
            "",
            "/conversation/elements",
        )
    },
    Row {
        divisor: MB,
        ..row("the same, memory of the script", "MB", "/conversation/heap")
    },
    Row {
        limit: Some(50.0),
        ..row("the same, key to paint, p95", "ms", "/conversation/key_p95")
    },
    row(
        "50,000 events, opened at the newest",
        "ms",
        "/journal/opened",
    ),
    Row {
        limit: Some(500.0),
        ..row(
            "the same after 20 pages back, elements",
            "",
            "/journal/elements",
        )
    },
    Row {
        divisor: MB,
        ..row("the same, memory of the script", "MB", "/journal/heap")
    },
    Row {
        limit: Some(50.0),
        ..row("the same, key to paint, p95", "ms", "/journal/key_p95")
    },
    Row {
        limit: Some(50.0),
        ..row(
            "200 tokens a second stream in, key to paint, p95",
            "ms",
            "/stream/key_p95",
        )
    },
    Row {
        limit: Some(100.0),
        ..row("the same, worst key to paint", "ms", "/stream/key_worst")
    },
    Row {
        limit: Some(100.0),
        ..row("the same, longest task over 50 ms", "ms", "/stream/longest")
    },
];

pub(crate) fn run(root: &Path, words: &[&str]) -> Result<()> {
    let options = Options::parse(words)?;
    let (program, built) = match &options.program {
        Some(program) => (program.clone(), "as given".to_owned()),
        None => {
            let built = format!("built with --profile {}", process::MEASURED_PROFILE);
            let program = process::build_measured(root, "monas", &["--bin"], "monas")?;
            (program, built)
        }
    };
    let node = tools::node(root)?;
    tools::npm_packages(root, "web", &node)?;
    tools::npm_packages(root, "conformance/page", &node)?;
    let peer = match &options.peer {
        Some(folder) => folder.clone(),
        None => download(root)?,
    };
    let mut bench = Command::new(&node.path);
    node.offer_to(&mut bench);
    tools::chromium()?.offer_to(&mut bench);
    bench.current_dir(root.join("conformance/page"));
    bench.env("MONAS_PROGRAM", &program);
    bench.args(["bench.mjs", "--rounds", &options.rounds.to_string()]);
    bench.arg("--peer").arg(&peer);
    let printed = process::output(&mut bench)?;
    // The test runner whose hooks the harness uses may print a line of its own.
    let figures = printed.lines().rfind(|line| line.starts_with('{'));
    let figures: Value = figures
        .and_then(|line| serde_json::from_str(line).ok())
        .ok_or_else(|| Error::Answer(format!("the bench printed no figures: {printed}")))?;
    let table = table(&figures);
    println!("{table}");
    if options.write {
        let section = format!(
            "Measured with `cargo xtask bench page --rounds {}`; monas {built}, Chromium {}, {PEER}; medians.\n\n{table}",
            options.rounds,
            figures["chromium"].as_str().unwrap_or_default(),
        );
        document::write(root, "page", &section)?;
    }
    Ok(())
}

/// The table of all figures, the peer's where it has one.
fn table(figures: &Value) -> String {
    let mut text =
        "| measured | unit | Open WebUI | ours | limit | verdict |\n|---|---|---:|---:|---:|---|\n"
            .to_owned();
    for row in &ROWS {
        let figure = |place: &str| Some(figures.pointer(place)?.as_f64()? / row.divisor);
        let (ours, peer) = (figure(row.ours), row.peer.and_then(figure));
        let shown = |it: Option<f64>| it.map_or_else(String::new, |it| format!("{it:.1}"));
        let below = ours.zip(row.limit).map(|(ours, limit)| ours <= limit);
        let lighter = ours.zip(peer).map(|(ours, peer)| ours < peer);
        let verdict = match (below, lighter) {
            (None, None) => "",
            (Some(false), _) => "over the limit",
            (_, Some(false)) => "more than the peer",
            _ => "met",
        };
        let limit = row.limit.map_or_else(String::new, |it| it.to_string());
        text.push_str(&format!(
            "| {} | {} | {} | {} | {limit} | {verdict} |\n",
            row.title,
            row.unit,
            shown(peer),
            shown(ours),
        ));
    }
    text
}

/// The built front end of the peer, out of its wheel; downloaded once, into the folder of our builds.
fn download(root: &Path) -> Result<PathBuf> {
    let folder = root.join("target/bench-page").join(PEER);
    let front = folder.join("open_webui/frontend");
    if front.join("index.html").is_file() {
        return Ok(front);
    }
    fs::create_dir_all(&folder).doing(|| format!("create {}", folder.display()))?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--quiet", "--no-deps", "--dest"]);
    process::run(pip.arg(&folder).arg(PEER)).map_err(|error| Error::Missing {
        tool: "the wheel of Open WebUI",
        why: error.to_string(),
        install: "python3 -m pip download --no-deps open-webui, unpack it, and give --peer open_webui/frontend",
    })?;
    let files = fs::read_dir(&folder).doing(|| format!("read {}", folder.display()))?;
    let mut files = files.filter_map(|file| Some(file.ok()?.path()));
    let wheel = files.find(|it| it.extension().is_some_and(|it| it == "whl"));
    let wheel = wheel.ok_or_else(|| Error::Answer("pip downloaded no wheel".to_owned()))?;
    let mut unpack = Command::new("python3");
    process::run(
        unpack
            .args(["-m", "zipfile", "--extract"])
            .arg(&wheel)
            .arg(&folder),
    )?;
    fs::remove_file(&wheel).doing(|| format!("remove {}", wheel.display()))?;
    match front.join("index.html").is_file() {
        true => Ok(front),
        false => Err(Error::Answer(format!("{PEER} has no built front end"))),
    }
}
