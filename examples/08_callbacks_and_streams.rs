//! Cap'n Web: callbacks and streams as arguments and results.
//!
//! You learn that a function of the client can be passed to the server, which then calls it, and that streams can be passed
//! in both directions. A stream is read as its values arrive.
//!
//!     cargo run -p examples --example 08_callbacks_and_streams
//!
//! Prints:
//!
//!     progress: 1 of 3
//!     progress: 2 of 3
//!     progress: 3 of 3
//!     done
//!     squares: [1.0, 4.0, 9.0]
//!     sum: 6

#![expect(clippy::print_stdout, reason = "an example shows what it does")]

use capnweb::{Callback, Capability, Options, ReadableStream, Result, Stub, pair, target};
use futures_util::{StreamExt, TryStreamExt};

struct Worker;

#[target]
impl Worker {
    /// Works in steps and tells the callback after each.
    pub async fn work(&self, steps: u32, progress: Callback<(u32, u32), ()>) -> Result<String> {
        for step in 1..=steps {
            progress.call((step, steps)).await?;
        }
        Ok("done".to_owned())
    }

    /// The squares of the numbers that come in, as they come.
    pub fn squares(&self, numbers: ReadableStream<f64>) -> ReadableStream<f64> {
        ReadableStream::new(numbers.map_ok(|n| n * n)).cast()
    }

    /// Adds up a stream.
    pub async fn sum(&self, mut numbers: ReadableStream<f64>) -> Result<f64> {
        let mut sum = 0.0;
        while let Some(number) = numbers.next().await {
            sum += number?;
        }
        Ok(sum)
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Two sessions connected within this process. Over a WebSocket, the code below is the same.
    let (client, _server) = pair(
        Capability::nothing(),
        Worker.into_stub(),
        &Options::default(),
    );
    let worker: Stub<Worker> = client.remote();

    let progress = Callback::new(|(step, steps): (u32, u32)| async move {
        println!("progress: {step} of {steps}");
    });
    println!("{}", worker.work(3, progress).await?);

    let numbers = || ReadableStream::from_items([1.0, 2.0, 3.0]).cast();
    let squares: Vec<f64> = worker.squares(numbers()).await?.try_collect().await?;
    println!("squares: {squares:?}");
    println!("sum: {}", worker.sum(numbers()).await?);
    Ok(())
}
