//! Charges, and where a budget ends.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt as _;
use proptest::prelude::*;

use super::{Allowance, Amount, Budget, Budgeted, Cost, Payer, Price};
use crate::scripted::{Scripted, Turn};
use crate::{Error, Model, Request, Usage};

/// Three a million to read, fifteen to write.
const PRICE: Price = Price {
    input: Cost(3_000_000),
    output: Cost(15_000_000),
};

fn paid(
    allowance: Allowance,
    turns: impl IntoIterator<Item = Turn>,
) -> (Scripted, Arc<Budget>, Budgeted) {
    let script = Scripted::new(turns);
    let budget = Arc::new(Budget::new(allowance));
    let model = Budgeted::new(Arc::new(script.clone()), PRICE, budget.clone());
    (script, budget, model)
}

fn tokens(most: u64) -> Allowance {
    Allowance {
        tokens: Some(most),
        cost: None,
    }
}

#[tokio::test]
async fn what_the_model_says_it_used_is_charged() {
    let turn = Turn::text("some words").usage(1000, 200);
    let (_, budget, model) = paid(Allowance::default(), [turn]);
    model
        .ask(Request::new("a question of some length"))
        .await
        .unwrap();
    // 1000 × 3 + 200 × 15 millionths.
    assert_eq!(budget.spent(), (Usage::new(1000, 200), Cost(6000)));
    assert_eq!(Cost(6000).to_string(), "0.006000");
}

#[tokio::test]
async fn a_spent_budget_lets_nothing_be_asked() {
    let (script, _, model) = paid(
        tokens(100),
        [Turn::text("a").usage(90, 20), Turn::text("b")],
    );
    assert!(model.ask(Request::new("?")).await.is_ok());
    let error = model.ask(Request::new("?")).await.unwrap_err();
    assert_eq!(script.left(), 1);
    assert_eq!(
        error.to_string(),
        "the budget is spent: 110 of 100 tokens (model.max_tokens); renewed in 24 h 0 min"
    );
}

/// Once the estimate of the very first question was "spent", and the model was never called.
#[tokio::test]
async fn a_question_is_not_refused_for_an_estimate_but_the_next_one_for_what_it_cost() {
    let turns = [Turn::text("a").usage(50, 1), Turn::text("b")];
    let (script, _, model) = paid(tokens(10), turns);
    let reply = model.ask(Request::new("x".repeat(100))).await;
    assert_eq!(reply.unwrap().text, "a");
    assert_eq!(script.requests()[0].max_tokens, Some(10));
    let failed = model.ask(Request::new("?")).await;
    assert!(matches!(failed, Err(Error::Budget(_))));
    assert_eq!(script.left(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_caller_that_has_spent_its_share_leaves_the_rest_to_others_until_the_next_period() {
    let script = Scripted::new((0..6).map(|_| Turn::text("a").usage(60, 0)));
    let (all, day) = (tokens(200), Duration::from_secs(24 * 3600));
    let budget = Arc::new(Budget::shared(all, all.percent(50), day));
    let model: Arc<dyn Model> = Arc::new(Budgeted::new(Arc::new(script), PRICE, budget));
    let ask = async |caller: &str| {
        let model = Payer::new(model.clone(), caller);
        model.ask(Request::new("?")).await
    };
    assert!(ask("bob").await.is_ok() && ask("bob").await.is_ok());
    let refused = ask("bob").await.unwrap_err().to_string();
    let share = "120 of 100 tokens of this caller's share (model.caller_share)";
    assert!(refused.contains(share), "{refused}");
    assert!(ask("ada").await.is_ok() && ask("ada").await.is_ok());
    tokio::time::advance(day).await;
    assert!(ask("bob").await.is_ok());
}

#[tokio::test]
async fn one_payer_may_have_all_of_it() {
    let script = Scripted::new((0..4).map(|_| Turn::text("a").usage(60, 0)));
    let (all, day) = (tokens(200), Duration::from_secs(24 * 3600));
    let budget = Budget::shared(all, all.percent(50), day).whole_for("local");
    let model: Arc<dyn Model> = Arc::new(Budgeted::new(Arc::new(script), PRICE, Arc::new(budget)));
    let owner = Payer::new(model, "local");
    for _ in 0..4 {
        assert!(owner.ask(Request::new("?")).await.is_ok());
    }
    let refused = owner.ask(Request::new("?")).await.unwrap_err().to_string();
    assert!(refused.contains("(model.max_tokens)"), "{refused}");
}

#[tokio::test]
async fn an_answer_ends_where_the_budget_does() {
    let endless = (0..100).fold(Turn::new(), |turn, _| turn.say("four more tokens"));
    let (_, budget, model) = paid(tokens(21), [endless]);
    let deltas: Vec<_> = model.reply(Request::new("?")).collect().await;
    // One token for the question, four for each piece.
    assert_eq!(deltas.len(), 5);
    assert!(matches!(
        deltas[4],
        Err(Error::Budget(spent)) if spent.amount == Amount::Tokens { used: 21, of: 21 }
    ));
    assert_eq!(budget.spent().0, Usage::new(1, 20));
}

#[tokio::test]
async fn money_can_be_what_is_limited() {
    let allowance = Allowance {
        tokens: None,
        cost: Some(Cost(100)),
    };
    let (_, _, model) = paid(allowance, [Turn::text("a").usage(40, 0)]);
    assert!(model.ask(Request::new("?")).await.is_ok());
    let Err(Error::Budget(spent)) = model.ask(Request::new("?")).await else {
        panic!("120 of 100 were spent");
    };
    let amount = Amount::Cost {
        used: Cost(120),
        of: Cost(100),
    };
    assert_eq!(spent.amount, amount);
}

#[tokio::test]
async fn the_model_is_told_how_much_is_left() {
    let (script, _, model) = paid(tokens(101), [Turn::text("a"), Turn::text("b")]);
    model.ask(Request::new("?")).await.unwrap();
    model.ask(Request::new("?").max_tokens(7)).await.unwrap();
    let told: Vec<_> = script.requests().iter().map(|it| it.max_tokens).collect();
    assert_eq!(told, [Some(100), Some(7)]);
}

#[tokio::test]
async fn an_answer_that_is_dropped_stays_charged_for_what_had_come() {
    let (_, budget, model) = paid(tokens(100), [Turn::text("four more tokens").say("unheard")]);
    let mut deltas = model.reply(Request::new("?"));
    assert!(deltas.next().await.is_some());
    drop(deltas);
    assert_eq!(budget.spent().0, Usage::new(1, 4));
}

#[tokio::test]
async fn one_that_is_never_polled_costs_nothing() {
    let (_, budget, model) = paid(tokens(100), [Turn::text("a")]);
    drop(model.reply(Request::new("?")));
    assert_eq!(budget.spent().0, Usage::default());
}

proptest! {
    /// For any reply in any pieces, the end of it is charged as the model says, and nothing was lost
    /// or charged twice on the way.
    #[test]
    fn what_is_charged_is_the_sum_of_what_was_used(
        turns in prop::collection::vec((prop::collection::vec(".{0,40}", 0..5), 0_u64..5000, 0_u64..5000), 0..6)
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let script = turns.iter().map(|(pieces, input, output)| {
                let turn = pieces.iter().fold(Turn::new(), |turn, piece| turn.say(piece));
                turn.usage(*input, *output)
            });
            let (_, budget, model) = paid(Allowance::default(), script);
            for _ in &turns {
                model.ask(Request::new("?")).await.unwrap();
            }
            let used = turns.iter().fold(Usage::default(), |sum, it| sum + Usage::new(it.1, it.2));
            assert_eq!(budget.spent(), (used, Cost(used.input * 3 + used.output * 15)));
        });
    }
}
