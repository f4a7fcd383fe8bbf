//! Counters of a call, a caller and an agent, and who is told.

use super::*;

fn budgets(change: impl FnOnce(&mut Settings)) -> Budgets {
    let mut settings = Settings::default();
    change(&mut settings);
    Budgets::new(settings)
}

fn of(exceeded: Exceeded) -> (Holder, Resource) {
    (exceeded.holder, exceeded.resource)
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_call_ends_it_where_it_waits() {
    let budgets = budgets(|it| it.call.time = Some(Duration::from_secs(2)));
    let account = budgets.open("ada", None, Clock::Counted).unwrap();
    let ended = account.run(std::future::pending::<()>()).await.unwrap_err();
    assert_eq!(of(ended), (Holder::Call, Resource::Time));
    assert_eq!(
        ended.to_string(),
        "budget exceeded: this call may take 2s (budget.call_time)"
    );
    let waits = budgets.open("ada", None, Clock::Waiting).unwrap();
    let slow = waits.run(tokio::time::sleep(Duration::from_secs(9)));
    assert_eq!(slow.await, Ok(()));
    assert!(budgets.exceeded().contains(&("call_time", 1)));
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_caller_share_its_time_until_the_period_is_over() {
    let budgets = budgets(|it| it.caller.time = Some(Duration::from_secs(10)));
    let work = async |caller: &str, seconds| {
        let account = budgets.open(caller, None, Clock::Counted)?;
        account
            .run(tokio::time::sleep(Duration::from_secs(seconds)))
            .await
    };
    assert_eq!(work("ada", 6).await, Ok(()));
    let ended = work("ada", 6).await.unwrap_err();
    assert_eq!(of(ended), (Holder::Caller, Resource::Time));
    let refused = work("ada", 0).await.unwrap_err();
    assert_eq!(refused.seconds(), Some(50), "{refused}");
    assert_eq!(work("bob", 6).await, Ok(()));
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(work("ada", 6).await, Ok(()));
}

#[tokio::test]
async fn processor_time_is_the_time_of_polls_and_what_is_charged() {
    let budgets = budgets(|it| {
        it.call.cpu = Some(Duration::from_millis(5));
        it.agent.cpu = Some(Duration::from_secs(60));
    });
    let account = budgets.open("ada", Some("echo"), Clock::Counted).unwrap();
    let busy = async {
        loop {
            let began = std::time::Instant::now();
            while began.elapsed() < Duration::from_millis(1) {}
            tokio::task::yield_now().await;
        }
    };
    let ended = account.run(busy).await.unwrap_err();
    assert_eq!(of(ended), (Holder::Call, Resource::Cpu));
    let account = budgets.open("ada", Some("echo"), Clock::Counted).unwrap();
    let child = async {
        current().charge(Duration::from_secs(61));
        std::future::pending::<()>().await;
    };
    let ended = account.run(child).await.unwrap_err();
    assert_eq!(of(ended), (Holder::Call, Resource::Cpu));
    let refused = budgets.open("bob", Some("echo"), Clock::Counted);
    let refused = refused.unwrap_err();
    assert_eq!(of(refused), (Holder::Agent, Resource::Cpu));
    assert!(budgets.open("bob", None, Clock::Counted).is_ok());
}

#[tokio::test]
async fn an_inner_account_takes_its_part_of_a_poll() {
    let settings = |it: &mut Settings| it.caller.cpu = Some(Duration::from_secs(60));
    let budgets = budgets(settings);
    let outer = budgets.open("ada", None, Clock::Waiting).unwrap();
    let inner = budgets.open("agent", None, Clock::Counted).unwrap();
    let busy = inner.run(async {
        let began = std::time::Instant::now();
        while began.elapsed() < Duration::from_millis(20) {}
    });
    outer.run(busy).await.unwrap().unwrap();
    let cpu = |account: &Account| account.0.as_ref().unwrap().state.lock().cpu;
    assert!(cpu(&inner) >= Duration::from_millis(20));
    assert!(cpu(&outer) < cpu(&inner), "{:?}", cpu(&outer));
}

#[tokio::test]
async fn bytes_are_held_until_the_call_ends() {
    let budgets = budgets(|it| {
        it.call.memory = Some(100);
        it.caller.memory = Some(150);
    });
    let first = budgets.open("ada", None, Clock::Counted).unwrap();
    assert_eq!(first.hold(100), Ok(()));
    let second = budgets.open("ada", None, Clock::Counted).unwrap();
    let refused = second.hold(51).unwrap_err();
    assert_eq!(of(refused), (Holder::Caller, Resource::Memory));
    drop((first, second));
    let third = budgets.open("ada", None, Clock::Counted).unwrap();
    let held = third.run(async {
        let _ = current().hold(101);
        std::future::pending::<()>().await;
    });
    assert_eq!(
        of(held.await.unwrap_err()),
        (Holder::Call, Resource::Memory)
    );
}

#[tokio::test]
async fn without_limits_nothing_is_counted() {
    let budgets = budgets(|_| ());
    let account = budgets.open("ada", Some("echo"), Clock::Counted).unwrap();
    assert_eq!(account.hold(u64::MAX), Ok(()));
    assert_eq!(account.run(async { 7 }).await, Ok(7));
    assert!(budgets.exceeded().is_empty());
}
