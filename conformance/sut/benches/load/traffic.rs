//! Mixed traffic: what callers do, over every wire and in both versions, for as long as wanted.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use a2a::client::{Client, Error as Failed, Version};
use a2a::types::*;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

use crate::Error;
use crate::agent::{Agent, BINDINGS, begin_long, cancel, message};
use crate::calls::echo;
use crate::hook::Hook;

/// What a worker leaves between two things it does.
const PACE: Duration = Duration::from_millis(100);

/// How often what was done is told.
const TELL: Duration = Duration::from_secs(5);

/// How long one thing may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Between two events of a task that is followed.
const SOON: Duration = Duration::from_millis(20);

/// What was done so far.
#[derive(Default)]
struct Done {
    /// By the place of what was done in [`Job::ALL`].
    jobs: [AtomicU64; Job::ALL.len()],
    failed: AtomicU64,
}

/// What a caller does.
#[derive(Clone, Copy, Debug)]
enum Job {
    Echo,
    Task,
    Stream,
    Input,
    Cancel,
    /// A stream that is cut off by its reader and taken up again.
    Follow,
    Webhook,
    /// Requests that must be refused.
    Refused,
    /// Bytes that are no request, and half of one.
    Garbage,
    /// A stream that its reader leaves by closing the connection.
    Abandon,
}

impl Job {
    const ALL: [Job; 10] = [
        Job::Echo,
        Job::Task,
        Job::Stream,
        Job::Input,
        Job::Cancel,
        Job::Follow,
        Job::Webhook,
        Job::Refused,
        Job::Garbage,
        Job::Abandon,
    ];
}

/// One worker for each wire and version. Each begins anew, with a connection of its own, when it has done everything once.
pub(crate) async fn run(url: &str, seconds: f64) -> Result<Value, Error> {
    let hook = Arc::new(Hook::start().await?);
    let done = Arc::<Done>::default();
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut workers = JoinSet::new();
    for version in [Version::V1_0, Version::V0_3] {
        for binding in BINDINGS {
            let agent = Agent::speaking(url, binding, version).await?;
            // Not every binding is of both versions.
            if agent.client().is_err() {
                continue;
            }
            let (hook, done) = (hook.clone(), done.clone());
            workers.spawn(async move {
                while Instant::now() < end {
                    work(&agent, &hook, &done, end).await;
                }
            });
        }
    }
    let wires = workers.len();
    let ended = async { while workers.join_next().await.is_some() {} };
    let telling = async {
        loop {
            sleep(TELL).await;
            println!("{}", tell(&done, &hook, wires));
        }
    };
    tokio::select! {
        () = ended => Ok(tell(&done, &hook, wires)),
        () = telling => Err("the counts were printed to their end".into()),
    }
}

fn tell(done: &Done, hook: &Hook, wires: usize) -> Value {
    let jobs = Job::ALL.iter().zip(&done.jobs);
    let jobs = jobs.map(|(job, count)| {
        (
            format!("{job:?}").to_lowercase(),
            count.load(Ordering::Relaxed).into(),
        )
    });
    json!({
        "wires": wires,
        "jobs": Value::Object(jobs.collect()),
        "deliveries": hook.deliveries(),
        "failed": done.failed.load(Ordering::Relaxed),
    })
}

async fn work(agent: &Agent, hook: &Hook, done: &Done, end: Instant) {
    let client = match agent.client() {
        Ok(client) => client,
        Err(error) => return fail(agent, done, "connect", &error),
    };
    for (job, count) in Job::ALL.into_iter().zip(&done.jobs) {
        if Instant::now() >= end {
            return;
        }
        let performed = timeout(PATIENCE, perform(job, agent, &client, hook)).await;
        match performed.unwrap_or_else(|_| Err("it takes too long".into())) {
            Ok(()) => drop(count.fetch_add(1, Ordering::Relaxed)),
            Err(error) => fail(agent, done, &format!("{job:?}"), &error),
        }
        sleep(PACE).await;
    }
}

/// Reports an unexpected error.
fn fail(agent: &Agent, done: &Done, job: &str, error: &Error) {
    done.failed.fetch_add(1, Ordering::Relaxed);
    eprintln!("{} {:?} {job}: {error}", agent.binding, agent.version());
}

async fn perform(job: Job, agent: &Agent, client: &Client, hook: &Hook) -> Result<(), Error> {
    match job {
        Job::Echo => echo(client).await,
        Job::Task => task(agent, client).await,
        Job::Stream => stream(client).await,
        Job::Input => input(client).await,
        Job::Cancel => cancelled(client).await,
        Job::Follow => follow(client).await,
        Job::Webhook => webhook(client, hook).await,
        Job::Refused => refused(client).await,
        Job::Garbage => garbage(agent).await,
        Job::Abandon => abandon(agent, client).await,
    }
}

async fn task(agent: &Agent, client: &Client) -> Result<(), Error> {
    let made = of_answer(client.send_message(message("task hello")).await?.payload)?;
    expect(TaskState::Completed, &made)?;
    expect(TaskState::Completed, &get(client, &made.id).await?)?;
    // 0.3 does not list tasks on every wire.
    if agent.version() == Version::V1_0 {
        let request = ListTasksRequest {
            page_size: Some(5),
            ..ListTasksRequest::default()
        };
        let page = client.list_tasks(request).await?;
        check(!page.tasks.is_empty(), || "no task is listed".to_owned())?;
    }
    Ok(())
}

async fn stream(client: &Client) -> Result<(), Error> {
    let mut events = client.send_streaming_message(message("burst 5")).await?;
    let (mut pieces, mut last) = (0, TaskState::Unspecified);
    while let Some(event) = events.next().await {
        let event = event?;
        last = event.state().unwrap_or(last);
        pieces += usize::from(matches!(event.response().payload, Event::ArtifactUpdate(_)));
    }
    check(pieces == 5 && last == TaskState::Completed, || {
        format!("{pieces} pieces, {last:?}")
    })
}

async fn input(client: &Client) -> Result<(), Error> {
    let asked = of_answer(
        client
            .send_message(message("tck-input-required"))
            .await?
            .payload,
    )?;
    expect(TaskState::InputRequired, &asked)?;
    let mut more = message("more");
    if let Some(more) = &mut more.message {
        more.task_id.clone_from(&asked.id);
    }
    let answered = of_answer(client.send_message(more).await?.payload)?;
    expect(TaskState::Completed, &answered)
}

async fn cancelled(client: &Client) -> Result<(), Error> {
    let begun = begin_long(client, SOON).await?;
    cancel(client, &begun).await?;
    expect(TaskState::Canceled, &get(client, &begun.id).await?)?;
    let mut late = message("late");
    if let Some(late) = &mut late.message {
        late.task_id.clone_from(&begun.id);
    }
    must_fail(client.send_message(late).await)
}

async fn follow(client: &Client) -> Result<(), Error> {
    let begun = begin_long(client, SOON).await?;
    for _ in 0..2 {
        let mut events = client.subscribe_to_task(subscription(&begun)).await?;
        for _ in 0..3 {
            events
                .next()
                .await
                .ok_or("a stream ended before its task")??;
        }
        drop(events);
    }
    let mut events = client.subscribe_to_task(subscription(&begun)).await?;
    cancel(client, &begun).await?;
    let mut last = TaskState::Unspecified;
    while let Some(event) = events.next().await {
        last = event?.state().unwrap_or(last);
    }
    check(last == TaskState::Canceled, || {
        format!("the stream ended {last:?}")
    })
}

async fn webhook(client: &Client, hook: &Hook) -> Result<(), Error> {
    let begun = begin_long(client, SOON).await?;
    let config = TaskPushNotificationConfig {
        task_id: begun.id.clone(),
        url: hook.address(&begun.id),
        id: "soak".to_owned(),
        ..TaskPushNotificationConfig::default()
    };
    client.create_push_config(config).await?;
    hook.heard_of(&begun.id).await;
    let one = GetTaskPushNotificationConfigRequest {
        task_id: begun.id.clone(),
        id: "soak".to_owned(),
        ..GetTaskPushNotificationConfigRequest::default()
    };
    client.get_push_config(one).await?;
    let one = DeleteTaskPushNotificationConfigRequest {
        task_id: begun.id.clone(),
        id: "soak".to_owned(),
        ..DeleteTaskPushNotificationConfigRequest::default()
    };
    client.delete_push_config(one).await?;
    cancel(client, &begun).await
}

async fn refused(client: &Client) -> Result<(), Error> {
    must_fail(get_answer(client, "no such task").await)?;
    must_fail(client.send_message(SendMessageRequest::default()).await)?;
    let unknown = SubscribeToTaskRequest {
        id: "unknown".to_owned(),
        ..SubscribeToTaskRequest::default()
    };
    match client.subscribe_to_task(unknown).await {
        // 0.3 refuses in the stream.
        Ok(mut events) => match events.next().await {
            Some(event) => must_fail(event),
            None => Err("an empty stream".into()),
        },
        Err(error) => must_fail::<()>(Err(error)),
    }
}

async fn garbage(agent: &Agent) -> Result<(), Error> {
    let mut half = TcpStream::connect(agent.server).await?;
    half.write_all(b"POST /a2a/jsonrpc HTTP/1.1\r\nContent-Le")
        .await?;
    drop(half);
    let body = "{\"jsonrpc\": \"2.0\", \"id\": 1, \"method\": ";
    let request = format!(
        "POST /a2a/jsonrpc HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n{body}",
        agent.server,
        body.len()
    );
    let mut whole = TcpStream::connect(agent.server).await?;
    whole.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    whole.read_to_string(&mut answer).await?;
    check(answer.contains("-32700"), || {
        format!("no parse error: {answer}")
    })
}

async fn abandon(agent: &Agent, client: &Client) -> Result<(), Error> {
    let begun = begin_long(client, SOON).await?;
    let gone = agent.client()?;
    let mut events = gone.subscribe_to_task(subscription(&begun)).await?;
    events
        .next()
        .await
        .ok_or("a stream ended before its task")??;
    drop((events, gone));
    cancel(client, &begun).await
}

async fn get(client: &Client, id: &str) -> Result<Task, Error> {
    Ok(get_answer(client, id).await?)
}

async fn get_answer(client: &Client, id: &str) -> Result<Task, Failed> {
    let request = GetTaskRequest {
        id: id.to_owned(),
        ..GetTaskRequest::default()
    };
    client.get_task(request).await
}

fn subscription(task: &Task) -> SubscribeToTaskRequest {
    SubscribeToTaskRequest {
        id: task.id.clone(),
        ..SubscribeToTaskRequest::default()
    }
}

fn of_answer(answer: Answer) -> Result<Task, Error> {
    match answer {
        Answer::Task(task) => Ok(task),
        other => Err(format!("no task: {other:?}").into()),
    }
}

fn expect(state: TaskState, task: &Task) -> Result<(), Error> {
    let found = task.status.as_ref().map(|status| status.state);
    check(found == Some(state), || {
        format!("{found:?} where {state:?} was expected")
    })
}

/// What was asked for is an error.
fn must_fail<T>(answer: Result<T, Failed>) -> Result<(), Error> {
    match answer {
        Err(Failed::Refused(_)) => Ok(()),
        Err(other) => Err(other.into()),
        Ok(_) => Err("it was not refused".into()),
    }
}

fn check(right: bool, otherwise: impl FnOnce() -> String) -> Result<(), Error> {
    match right {
        true => Ok(()),
        false => Err(otherwise().into()),
    }
}
