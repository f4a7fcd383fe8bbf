//! Candidates that reach for more than a score. Each is the program at the beginning, so that the search ends with its fault.

use std::fs;
use std::time::{Duration, Instant};

use crate::support::Place;

const EVALUATOR: &str = "
import importlib.util

def evaluate(path):
    spec = importlib.util.spec_from_file_location('program', path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return {'combined_score': float(program.score())}
";

/// Runs a program, and returns its score or why it has none.
async fn outcome(place: &Place) -> Result<f64, String> {
    match place.run(1, 1).await {
        Ok(report) => Ok(report.best.unwrap()),
        Err(error) => Err(error.to_string()),
    }
}

#[tokio::test]
async fn what_does_not_end_is_ended_with_all_that_it_started() {
    let program = "
import subprocess, sys, time
def score():
    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(77.125)'], start_new_session=True)
    time.sleep(60)
    return 1
";
    let place = Place::with(program, EVALUATOR);
    let began = Instant::now();
    let why = outcome(&place).await.unwrap_err();
    assert!(why.contains("time of 1 s was over"), "{why}");
    assert!(began.elapsed() < Duration::from_secs(15));
    let left = fs::read_dir("/proc")
        .unwrap()
        .filter_map(Result::ok)
        .filter(|it| {
            let line = fs::read(it.path().join("cmdline")).unwrap_or_default();
            String::from_utf8_lossy(&line).contains("77.125")
        });
    assert_eq!(left.count(), 0);
}

#[tokio::test]
async fn files_and_keys_and_networks_are_out_of_reach() {
    let program = "
import os, socket
def score():
    reached = 0
    for attempt in (outside, project, evaluator, network, key):
        try:
            attempt()
            reached += 1
        except OSError:
            pass
    return reached
def outside():
    open(os.path.join(os.path.dirname(os.environ['TMPDIR']), '..', 'outside'), 'w')
def project():
    open('FOLDER/stray', 'w')
def evaluator():
    open('FOLDER/evaluator.py', 'a')
def network():
    socket.create_connection(('127.0.0.1', 9), timeout=0.2)
def key():
    if not any('KEY' in name or 'TOKEN' in name for name in os.environ):
        raise OSError
";
    let place = Place::with("", EVALUATOR);
    let program = program.replace("FOLDER", &place.folder.display().to_string());
    fs::write(place.folder.join("initial_program.py"), program).unwrap();
    assert_eq!(outcome(&place).await, Ok(0.0));
    assert!(!place.folder.join("stray").exists());
}

#[tokio::test]
async fn a_result_that_is_no_number_is_invalid() {
    for (program, part) in [
        ("def score():\n    return float('nan')\n", "nan"),
        ("def score():\n    return float('inf')\n", "inf"),
        (
            "import os\ndef score():\n    os._exit(0)\n",
            "without a result",
        ),
        (
            "import os, signal\ndef score():\n    os.kill(os.getppid(), signal.SIGKILL)\n    os.kill(os.getpid(), signal.SIGKILL)\n",
            "ended",
        ),
        (
            "import sys\ndef score():\n    print('{\"score\": 9}'); sys.exit(0)\n",
            "SystemExit",
        ),
    ] {
        let place = Place::with(program, EVALUATOR);
        let why = outcome(&place).await.unwrap_err();
        assert!(why.contains(part), "{program}: {why}");
    }
}
