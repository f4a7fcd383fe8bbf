//! How browsers begin and end: absent, crashed, killed, idle, too large, too busy.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use browser::{Browser, Options, Sandbox, WaitUntil};

use crate::support::{number, options, run, site};

/// The processes of Chromium that work in a folder.
fn processes(folder: &Path) -> Vec<String> {
    let folder = folder.display().to_string();
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.filter_map(|it| std::fs::read_to_string(it.path().join("cmdline")).ok());
    lines
        .filter(|it| it.contains(&folder))
        .map(|it| it.replace('\0', " "))
        .collect()
}

fn profiles(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|it| it.path())
        .collect()
}

async fn wait_until(what: &str, wanted: impl Fn() -> bool) {
    let began = Instant::now();
    while !wanted() {
        assert!(began.elapsed() < Duration::from_secs(15), "{what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[test]
fn a_missing_browser_is_an_error_that_says_how_to_install_it() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let mut options = Options::new(folder.path());
        options.program = Some(folder.path().join("nothing"));
        let error = Browser::new(options).session("s").await.unwrap_err();
        assert_eq!(error.code(), "no-browser");
        assert!(
            error.to_string().contains("apt-get install chromium"),
            "{error}"
        );
        let mut options = Options::new(folder.path());
        options.folders = vec![folder.path().to_owned()];
        let error = Browser::new(options).check().unwrap_err().to_string();
        let folder = folder.path().display();
        assert!(
            error.contains(&format!("no Chromium in {folder}")),
            "{error}"
        );
    });
}

#[test]
fn a_program_that_is_no_browser_is_an_error_with_its_words() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("wrong");
        std::fs::write(&program, "#!/bin/sh\necho no display here >&2\nexit 3\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        std::fs::set_permissions(&program, mode).unwrap();
        let mut options = Options::new(folder.path().join("profiles"));
        options.program = Some(program);
        options.sandbox = Sandbox::Off;
        let error = Browser::new(options).session("s").await.unwrap_err();
        assert!(error.to_string().contains("no display here"), "{error}");
        assert_eq!(
            profiles(&folder.path().join("profiles")),
            Vec::<PathBuf>::new()
        );
    });
}

#[test]
fn root_is_told_that_the_sandbox_must_be_off() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(folder.path(), site());
        options.sandbox = Sandbox::On;
        let browser = Browser::new(options);
        let is_root = std::fs::metadata("/proc/self")
            .map(|it| std::os::unix::fs::MetadataExt::uid(&it))
            .unwrap()
            == 0;
        match browser.session("s").await {
            Err(error) if is_root => assert!(
                error.to_string().contains("browser.sandbox = \"off\""),
                "{error}"
            ),
            other => assert!(!is_root, "{other:?}"),
        }
        browser.close().await;
    });
}

#[test]
fn a_crash_in_the_middle_of_work_leaves_no_process_and_no_profile_and_the_next_call_starts_anew() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let browser = Browser::new(options(folder.path(), site()));
        let session = browser.session("s").await.unwrap();
        let turn = session.turn().await.unwrap();
        turn.navigate(&site().url("/"), WaitUntil::Load, None)
            .await
            .unwrap();
        let id = browser.status().await.process.unwrap();
        let waiting = turn.evaluate("new Promise(() => {})");
        let kill = async {
            tokio::time::sleep(Duration::from_millis(100)).await;
            let killed = std::process::Command::new("kill")
                .args(["-9", &id.to_string()])
                .status();
            assert!(killed.unwrap().success());
        };
        let (ended, ()) = tokio::join!(waiting, kill);
        assert_eq!(ended.unwrap_err().code(), "browser-ended");
        wait_until("the processes end", || processes(folder.path()).is_empty()).await;
        wait_until("the profile is removed", || {
            profiles(folder.path()).is_empty()
        })
        .await;
        drop(turn);
        let session = browser.session("s").await.unwrap();
        let turn = session.turn().await.unwrap();
        turn.navigate(&site().url("/"), WaitUntil::Load, None)
            .await
            .unwrap();
        drop(turn);
        browser.close().await;
        assert_eq!(profiles(folder.path()), Vec::<PathBuf>::new());
        wait_until("the processes end", || processes(folder.path()).is_empty()).await;
    });
}

#[test]
fn a_browser_that_is_dropped_or_left_by_a_killed_server_leaves_nothing() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        // A server that was killed leaves a profile with a lock that no process holds.
        std::fs::create_dir(folder.path().join("profile-old")).unwrap();
        std::fs::write(folder.path().join("profile-old.lock"), "").unwrap();
        let browser = Browser::new(options(folder.path(), site()));
        browser.session("s").await.unwrap();
        assert_eq!(
            profiles(folder.path()).len(),
            2,
            "one profile and its lock: {:?}",
            profiles(folder.path())
        );
        assert!(!processes(folder.path()).is_empty());
        drop(browser);
        wait_until("the processes end", || processes(folder.path()).is_empty()).await;
        wait_until("the profile is removed", || {
            profiles(folder.path()).is_empty()
        })
        .await;
    });
}

#[test]
fn idle_sessions_end_and_the_browser_with_the_last_one() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(folder.path(), site());
        options.limits.idle = Duration::from_millis(600);
        options.limits.look = Duration::from_millis(100);
        let browser = Browser::new(options);
        let session = browser.session("s").await.unwrap();
        session.ended().await;
        let began = Instant::now();
        while browser.status().await.version.is_some() {
            assert!(began.elapsed() < Duration::from_secs(10));
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!(session.turn().await.unwrap_err().code(), "browser-ended");
        wait_until("the processes end", || processes(folder.path()).is_empty()).await;
    });
}

#[test]
fn a_page_that_takes_all_memory_is_ended_and_others_go_on() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(folder.path(), site());
        options.limits.page_bytes = 400 << 20;
        check_ended(Browser::new(options), "/eat", "Eat", "memory").await;
    });
}

#[test]
fn a_page_that_takes_all_time_is_ended_and_others_go_on() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(folder.path(), site());
        // Long enough for a process that begins on a machine with much to do.
        options.limits.busy = Duration::from_secs(4);
        check_ended(Browser::new(options), "/spin", "Spin", "whole processor").await;
    });
}

/// Clicks the button of a page and waits until the page is ended for that reason.
async fn check_ended(browser: Browser, path: &str, button: &str, why: &str) {
    let other = browser.session("other").await.unwrap();
    let other = other.turn().await.unwrap();
    let home = site().url("/");
    other.navigate(&home, WaitUntil::Load, None).await.unwrap();
    let session = browser.session("one").await.unwrap();
    let turn = session.turn().await.unwrap();
    let url = site().url(path);
    turn.navigate(&url, WaitUntil::Load, None).await.unwrap();
    let list = turn.elements().await.unwrap();
    // The page may have ended before it answers.
    let _ = turn.click(number(&list, button), None, false, None).await;
    let began = Instant::now();
    loop {
        match turn.elements().await {
            // Its reason is known a moment later.
            Err(error) if error.to_string().contains(why) => {
                assert_eq!(error.code(), "page-crashed");
                break;
            }
            seen => assert!(began.elapsed() < Duration::from_secs(30), "{seen:?}"),
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    turn.navigate(&home, WaitUntil::Load, None).await.unwrap();
    let title = turn.title().await.unwrap();
    assert_eq!(title, "Home", "the tab can be used again");
    assert_eq!(other.title().await.unwrap(), "Home");
    assert!(!other.elements().await.unwrap().elements.is_empty());
    browser.close().await;
}

#[test]
fn sessions_and_tabs_have_limits() {
    run(async {
        let folder = tempfile::tempdir().unwrap();
        let mut options = options(folder.path(), site());
        options.limits.sessions = 1;
        options.limits.tabs = 2;
        let browser = Browser::new(options);
        let session = browser.session("one").await.unwrap();
        let turn = session.turn().await.unwrap();
        turn.new_tab().await.unwrap();
        assert_eq!(turn.new_tab().await.unwrap_err().code(), "limit");
        assert_eq!(browser.session("two").await.unwrap_err().code(), "limit");
        drop(turn);
        browser.close_session("one").await;
        browser.session("two").await.unwrap();
        browser.close().await;
    });
}
