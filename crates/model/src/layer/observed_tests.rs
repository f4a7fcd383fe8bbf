//! Counters of a request.

use std::sync::Arc;

use super::{Allowance, Budget, Budgeted, Cost, Meter, Observed, Price};
use crate::scripted::{Scripted, Turn};
use crate::{Model, Request, Usage};

const PRICE: Price = Price {
    input: Cost(3_000_000),
    output: Cost(15_000_000),
};

#[tokio::test]
async fn replies_tokens_and_cost_are_counted_also_where_a_budget_ends_them() {
    let script = Scripted::new([
        Turn::text("some words").usage(1000, 200),
        Turn::text("eight by"),
    ]);
    let allowance = Allowance {
        tokens: Some(1100),
        cost: None,
    };
    let budget = Arc::new(Budget::new(allowance));
    let meter = Arc::new(Meter::default());
    let model: Arc<dyn Model> = Arc::new(script.clone());
    let free = Observed::new(model.clone(), PRICE, meter.clone());
    let paid = Arc::new(Budgeted::new(model, PRICE, budget));
    let paid = Observed::new(paid, PRICE, meter.clone());
    paid.ask(Request::new("?")).await.unwrap();
    assert_eq!(meter.read().usage, Usage::new(1000, 200));
    assert_eq!(meter.read().cost, 6000);
    paid.ask(Request::new("?")).await.unwrap_err();
    // Without a count of the provider's, four bytes are a token.
    free.ask(Request::new("four")).await.unwrap();
    let read = meter.read();
    assert_eq!((read.replied, read.failed, read.over_budget), (2, 0, 1));
    assert_eq!(read.usage, Usage::new(1001, 202));
}
