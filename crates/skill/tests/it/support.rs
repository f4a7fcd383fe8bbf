//! Two skills: one that only answers, and one that asks and has effects.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skill::{Context, Registry, Reply, SkillError, SkillInput, skill};

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Greet {
    /// Who is greeted.
    pub(crate) who: String,
    #[schemars(range(min = 1, max = 3))]
    #[serde(default = "one")]
    pub(crate) times: u8,
}

fn one() -> u8 {
    1
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct Greeting {
    pub(crate) text: String,
}

/// Greets a person.
#[skill(tags = ["demo", "a < b"], examples = ["greet Ada"], read_only)]
pub(crate) async fn greet(input: Greet) -> Result<Greeting, SkillError> {
    let text = vec![format!("Hello, {}!", input.who); usize::from(input.times)].join(" ");
    Ok(Greeting { text })
}

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Order {
    pub(crate) what: String,
}

#[derive(Deserialize, JsonSchema, SkillInput)]
pub(crate) struct Approval {
    pub(crate) approved: bool,
}

/// Orders something, once it is approved. What it orders is counted by the test.
#[derive(Clone, Default)]
pub(crate) struct Shop {
    pub(crate) orders: Arc<std::sync::Mutex<Vec<String>>>,
}

impl skill::Skill for Shop {
    const SPEC: skill::Spec = {
        let mut traits = skill::Traits::new();
        traits.replayable = true;
        skill::Spec::new(
            skill::Id::new("order"),
            "Order",
            "Orders something, once it is approved.",
            skill::OneOrMore::new(&["shop"]),
            skill::OneOrMore::new(&["order a lamp"]),
        )
        .with(traits)
    };
    type Input = Order;
    type Output = String;

    async fn run(&self, input: Order, ctx: Context) -> Result<Reply<String>, SkillError> {
        ctx.progress(1.0, Some(2.0), "asking").await?;
        let number = ctx
            .once("reserve", async {
                let mut orders = self.orders.lock().unwrap();
                orders.push(format!("reserve {}", input.what));
                Ok(orders.len())
            })
            .await?;
        let answer: Approval = ctx.ask(format!("Order {}?", input.what)).await?;
        if !answer.approved {
            return Err(SkillError::Refused("not approved".to_owned()));
        }
        let sure: Approval = ctx.ask("Really?").await?;
        ctx.progress(2.0, Some(2.0), "ordering").await?;
        Ok(Reply::Done(format!(
            "{} as {number}: {}",
            input.what, sure.approved
        )))
    }
}

pub(crate) fn registry() -> Registry {
    let skills = Registry::new().with(greet).unwrap();
    skills.with(Shop::default()).unwrap()
}
