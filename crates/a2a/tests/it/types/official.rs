//! The official SDK's own types, in a python process that answers questions.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, OnceLock};

use serde_json::{Value, json};

/// What a message is after the official code has read it.
#[derive(Debug, Clone)]
pub(crate) struct Forms {
    /// The short name of its kind.
    pub(crate) message: String,
    pub(crate) protobuf: Vec<u8>,
    pub(crate) json: String,
    /// JSON with the names that protobuf uses.
    pub(crate) snake: String,
}

/// A running `wire.py`; it ends with its standard input.
pub(crate) struct Official {
    _process: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Official {
    /// Asks the one process that all tests share.
    pub(crate) fn ask(question: &Value) -> Value {
        static SHARED: OnceLock<Mutex<Official>> = OnceLock::new();
        let shared = SHARED.get_or_init(|| Mutex::new(Official::start()));
        let mut official = shared.lock().unwrap();
        writeln!(official.input, "{question}").unwrap();
        let mut line = String::new();
        official.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Asks for a list of texts.
    pub(crate) fn list(question: &Value) -> Vec<String> {
        let answer = Self::ask(question);
        let Value::Array(list) = answer else {
            panic!("refused: {answer}");
        };
        let texts = list.iter().map(|text| text.as_str().unwrap().to_owned());
        texts.collect()
    }

    /// Reads JSON, or says why it does not.
    pub(crate) fn read_json(message: &str, text: &str) -> Result<Forms, String> {
        let question = json!({"do": "json", "message": message, "text": text});
        Forms::of(&Self::ask(&question))
    }

    /// Reads protobuf, or says why it does not.
    pub(crate) fn read_protobuf(message: &str, bytes: &[u8]) -> Result<Forms, String> {
        let question = json!({"do": "protobuf", "message": message, "bytes": hex(bytes)});
        Forms::of(&Self::ask(&question))
    }

    fn start() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/a2a");
        let mut command = Command::new(python(&folder));
        command.arg(folder.join("python/wire.py"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        Self {
            input: process.stdin.take().unwrap(),
            output: BufReader::new(process.stdout.take().unwrap()),
            _process: process,
        }
    }
}

impl Forms {
    pub(crate) fn of(answer: &Value) -> Result<Forms, String> {
        if let Some(error) = answer.get("error") {
            return Err(error.to_string());
        }
        let text = |name: &str| answer[name].as_str().unwrap().to_owned();
        Ok(Forms {
            message: text("message"),
            protobuf: unhex(&text("protobuf")),
            json: text("json"),
            snake: text("snake"),
        })
    }
}

/// The python that `MONAS_PYTHON` names, or that of the environment. There is no test without one.
fn python(folder: &Path) -> PathBuf {
    let named = std::env::var_os("MONAS_PYTHON").map(PathBuf::from);
    let python = named.unwrap_or_else(|| folder.join(".venv/bin/python"));
    let mut check = Command::new(&python);
    check.args(["-c", "import a2a.types.a2a_pb2"]);
    check.stderr(Stdio::null());
    assert!(
        check.status().is_ok_and(|status| status.success()),
        "{} is no python with the official SDK: run `cargo xtask test`, which makes one, or install \
         conformance/a2a/requirements.txt and set MONAS_PYTHON",
        python.display()
    );
    python
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text
        .chars()
        .map(|digit| digit.to_digit(16).unwrap() as u8)
        .collect();
    digits
        .chunks(2)
        .map(|pair| pair[0] << 4 | pair[1])
        .collect()
}
