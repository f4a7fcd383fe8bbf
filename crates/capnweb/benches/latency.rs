//! Measures the latency of sequential calls over one WebSocket, as a caller sees it.
//!
//!     cargo bench -p capnweb --bench latency -- ws://127.0.0.1:8790/rpc --seconds 3
//!
//! Prints one JSON line with the quantiles, in microseconds.

use std::time::{Duration, Instant};

use capnweb::transport::websocket;
use capnweb::{Capability, Options, Stub, Value};

#[path = "../examples/support/demo.rs"]
mod demo;

use demo::Demo;

/// Calls before the clock starts.
const WARM_UP: u32 = 2000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // `cargo bench` adds a flag of its own.
    let words = std::env::args().skip(1).filter(|word| word != "--bench");
    let arguments: Vec<String> = words.collect();
    let (url, seconds) = match arguments.as_slice() {
        [url] => (url, 3.0),
        [url, flag, seconds] if flag == "--seconds" => (url, seconds.parse()?),
        _ => return Err("expected URL [--seconds N]".into()),
    };
    let connection = websocket::connect(url, Capability::nothing(), &Options::default()).await?;
    let api: Stub<Demo> = connection.remote();
    for n in 0..WARM_UP {
        api.square(Value::from(n)).await?;
    }
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut samples = Vec::new();
    while Instant::now() < end {
        let start = Instant::now();
        api.square(Value::from(7)).await?;
        samples.push(start.elapsed());
    }
    samples.sort_unstable();
    report(&samples);
    Ok(())
}

#[expect(
    clippy::print_stdout,
    reason = "this line is what the program is asked for"
)]
fn report(samples: &[Duration]) {
    let quantile =
        |part: f64| samples[((samples.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6;
    println!(
        r#"{{"calls":{},"p50_us":{:.1},"p90_us":{:.1},"p99_us":{:.1}}}"#,
        samples.len(),
        quantile(0.5),
        quantile(0.9),
        quantile(0.99)
    );
}
