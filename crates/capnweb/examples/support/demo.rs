//! A small target with one method for each thing the protocol can do, served by the benchmarks.

use bytes::Bytes;
use capnweb::{Callback, Error, Promise, Result, Value, target};
use parking_lot::Mutex;

/// The longest list it makes, and the most callbacks it calls.
const MOST: u32 = 1_000_000;

#[derive(Debug, Default)]
pub(crate) struct Demo;

#[target(pub(crate))]
impl Demo {
    /// The square of a number; NaN of anything else.
    pub fn square(&self, n: Value) -> f64 {
        n.as_f64().map_or(f64::NAN, |n| n * n)
    }

    /// Returns the value it is given, capabilities and streams included.
    pub fn echo(&self, x: Value) -> Value {
        x
    }

    pub fn greet(&self, name: String) -> String {
        format!("Hello, {name}!")
    }

    /// Returns the bytes it is given.
    pub fn bytes(&self, bytes: Bytes) -> Bytes {
        bytes
    }

    /// The numbers from 0 to n - 1, to be mapped over.
    pub fn list(&self, n: u32) -> Result<Vec<u32>> {
        Ok((0..at_most(n)?).collect())
    }

    /// Makes a counter that starts at `start`, or at 0.
    pub fn make_counter(&self, start: Option<f64>) -> Counter {
        Counter {
            value: Mutex::new(start.unwrap_or(0.0)),
        }
    }

    /// Calls the callback with 0 to n - 1, all at once, and adds up the results.
    pub async fn call_me(&self, callback: Callback<(u32,), f64>, n: u32) -> Result<f64> {
        // Awaiting pulls the result, so all are pulled before the first one is awaited.
        let asked: Vec<_> = (0..at_most(n)?)
            .map(|i| callback.call((i,)))
            .map(Promise::into_future)
            .collect();
        let mut sum = 0.0;
        for result in asked {
            sum += result.await?;
        }
        Ok(sum)
    }

    /// Fails with a `RangeError`.
    pub fn fail(&self, message: String) -> Result<()> {
        Err(Error::range_error(message))
    }
}

/// An object with a state of its own.
#[derive(Debug)]
pub(crate) struct Counter {
    value: Mutex<f64>,
}

#[target(pub(crate))]
impl Counter {
    /// Adds `by`, or 1, and returns the new value.
    pub fn increment(&self, by: Option<f64>) -> f64 {
        let mut value = self.value.lock();
        *value += by.unwrap_or(1.0);
        *value
    }

    /// The counter's present value.
    #[getter]
    pub fn value(&self) -> f64 {
        *self.value.lock()
    }
}

fn at_most(n: u32) -> Result<u32> {
    if n > MOST {
        return Err(Error::range_error(format!("{n} is more than {MOST}")));
    }
    Ok(n)
}
