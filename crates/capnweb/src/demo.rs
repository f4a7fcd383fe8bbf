//! A small target to try a client on: what the first run, the guide and the benchmarks serve.

use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use crate::convert::Callback;
use crate::error::{Error, Result};
use crate::value::Value;
use crate::{Promise, target};

/// The longest list the demo makes, and the most callbacks it calls.
const MOST: u32 = 1_000_000;

/// The main object: one method for each thing the protocol can do.
#[derive(Debug, Default)]
pub struct Demo;

#[target]
impl Demo {
    /// The square of a number; NaN of anything else.
    pub fn square(&self, n: Value) -> f64 {
        n.as_f64().map_or(f64::NAN, |n| n * n)
    }

    /// Gives back what it is given, capabilities and streams included.
    pub fn echo(&self, x: Value) -> Value {
        x
    }

    pub fn greet(&self, name: String) -> String {
        format!("Hello, {name}!")
    }

    pub fn bytes(&self, bytes: Bytes) -> Bytes {
        bytes
    }

    /// The numbers from 0 to n - 1, to be mapped over.
    pub fn list(&self, n: u32) -> Result<Vec<u32>> {
        Ok((0..at_most(n)?).collect())
    }

    pub fn make_counter(&self, start: Option<f64>) -> Counter {
        Counter {
            value: Mutex::new(start.unwrap_or(0.0)),
        }
    }

    /// Calls the callback with 0 to n - 1, all at once, and adds up what it gives.
    pub async fn call_me(&self, callback: Callback<(u32,), f64>, n: u32) -> Result<f64> {
        // Awaiting asks for the result, so all are asked for before the first is waited for.
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
pub struct Counter {
    value: Mutex<f64>,
}

#[target]
impl Counter {
    /// Adds to the value, 1 if not said otherwise, and gives the new one.
    pub fn increment(&self, by: Option<f64>) -> f64 {
        let mut value = self.value.lock().unwrap_or_else(PoisonError::into_inner);
        *value += by.unwrap_or(1.0);
        *value
    }

    #[getter]
    pub fn value(&self) -> f64 {
        *self.value.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn at_most(n: u32) -> Result<u32> {
    if n > MOST {
        return Err(Error::range_error(format!("{n} is more than {MOST}")));
    }
    Ok(n)
}
