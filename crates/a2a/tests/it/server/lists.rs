//! Lists of tasks: filtered, newest first, page by page.

use a2a::error::Error;
use a2a::service::Service as _;
use a2a::types::*;

use super::support::{Bench, Script, config, in_memory, message, on_disk, task};

#[tokio::test]
async fn filters_narrow_the_list() {
    let bench = Bench::start().await;
    let done = bench.task("artifact:x done").await;
    let asked = bench.task("ask:?").await;
    let mut request = bench.request(message("done"));
    request.message.as_mut().unwrap().context_id = "mine".to_owned();
    let mine = task(bench.send(request).await.unwrap());

    let all = bench.list(ListTasksRequest::default()).await;
    assert_eq!(
        (all.total_size, all.page_size, &*all.next_page_token),
        (3, 50, "")
    );
    assert!(all.tasks.iter().all(|task| task.artifacts.is_empty()));
    let ids = |response: ListTasksResponse| {
        response
            .tasks
            .into_iter()
            .map(|task| task.id)
            .collect::<Vec<_>>()
    };
    let by_context = ListTasksRequest {
        context_id: "mine".to_owned(),
        ..ListTasksRequest::default()
    };
    assert_eq!(
        ids(bench.list(by_context).await),
        std::slice::from_ref(&mine.id)
    );
    let by_state = ListTasksRequest {
        status: TaskState::InputRequired,
        ..ListTasksRequest::default()
    };
    assert_eq!(ids(bench.list(by_state).await), [asked.id]);
    let since = mine.status.as_ref().unwrap().timestamp;
    let recent = ListTasksRequest {
        status_timestamp_after: since,
        ..ListTasksRequest::default()
    };
    assert!(ids(bench.list(recent).await).contains(&mine.id));
    let with_artifacts = ListTasksRequest {
        include_artifacts: Some(true),
        context_id: done.context_id,
        ..ListTasksRequest::default()
    };
    assert_eq!(
        bench.list(with_artifacts).await.tasks[0].artifacts,
        done.artifacts
    );
}

#[tokio::test]
async fn pages_follow_each_other_without_gap_or_overlap() {
    let folder = tempfile::tempdir().unwrap();
    for store in [in_memory(), on_disk(folder.path())] {
        let bench = Bench::with(config(), store, Script::new()).await;
        let mut made = Vec::new();
        for _ in 0..25 {
            made.push(bench.task("done").await.id);
        }
        let mut request = ListTasksRequest {
            page_size: Some(10),
            ..ListTasksRequest::default()
        };
        let mut listed = Vec::new();
        loop {
            let page = bench.list(request.clone()).await;
            assert_eq!(page.total_size, 25);
            listed.extend(page.tasks);
            if page.next_page_token.is_empty() {
                break;
            }
            request.page_token = page.next_page_token;
        }
        let times: Vec<_> = listed
            .iter()
            .map(|task| task.status.as_ref().unwrap().timestamp.unwrap().millis())
            .collect();
        assert!(times.is_sorted_by(|newer, older| newer >= older));
        let mut ids: Vec<_> = listed.into_iter().map(|task| task.id).collect();
        ids.sort();
        made.sort();
        assert_eq!(ids, made);
    }
}

#[tokio::test]
async fn pages_of_no_size_and_tokens_of_no_list_are_refused() {
    let bench = Bench::start().await;
    for request in [
        ListTasksRequest {
            page_size: Some(0),
            ..ListTasksRequest::default()
        },
        ListTasksRequest {
            page_size: Some(101),
            ..ListTasksRequest::default()
        },
        ListTasksRequest {
            page_token: "%%%".to_owned(),
            ..ListTasksRequest::default()
        },
        ListTasksRequest {
            history_length: Some(-1),
            ..ListTasksRequest::default()
        },
    ] {
        let refused = bench.server.list_tasks(bench.call(), request).await;
        assert!(matches!(refused, Err(Error::InvalidParams { .. })));
    }
}

/// 30 tasks of 14 MB each were an answer of 420 MB.
#[tokio::test]
async fn a_page_ends_with_the_task_that_fills_it() {
    let folder = tempfile::tempdir().unwrap();
    for store in [in_memory(), on_disk(folder.path())] {
        let bench = Bench::with(config(), store, Script::new()).await;
        let mut made = Vec::new();
        for _ in 0..10 {
            // The message is in the history, and is what the artifact is made of.
            let large = "x".repeat(1 << 20);
            made.push(bench.task(&format!("artifact:{large} done")).await.id);
        }
        made.sort();
        for (artifacts, pages) in [(false, 3), (true, 5)] {
            let mut request = ListTasksRequest {
                include_artifacts: Some(artifacts),
                ..ListTasksRequest::default()
            };
            let (mut listed, mut sizes) = (Vec::new(), Vec::new());
            loop {
                let page = bench.list(request.clone()).await;
                assert_eq!(page.total_size, 10);
                sizes.push(page.tasks.len());
                listed.extend(page.tasks.into_iter().map(|task| task.id));
                if page.next_page_token.is_empty() {
                    break;
                }
                request.page_token = page.next_page_token;
            }
            listed.sort();
            assert_eq!(listed, made);
            assert_eq!(sizes.len(), pages, "{sizes:?}");
        }
        let brief = bench
            .list(ListTasksRequest {
                history_length: Some(0),
                ..ListTasksRequest::default()
            })
            .await;
        assert_eq!((brief.tasks.len(), &*brief.next_page_token), (10, ""));
        for task in brief.tasks {
            let mut whole = bench.get(&task.id).await.unwrap();
            whole.history.clear();
            whole.artifacts.clear();
            assert_eq!(task, whole);
        }
    }
}
