//! The log of the real program: a line for each call, which no caller can forge.

use serde_json::Value;

use crate::support::http::{Client, Version};
use crate::support::program::{Monas, command};

#[tokio::test]
async fn each_call_is_one_object_on_one_line() {
    let home = tempfile::tempdir().unwrap();
    let mut command = command(home.path());
    command
        .env("MONAS_LOG", "info")
        .args(["--log-format", "json"]);
    let mut monas = Monas::start(&mut command).await;
    let mut client = Client::connect(monas.authority().parse().unwrap(), Version::One).await;
    // What is in a path, decoded, could end a line and begin another.
    let path = "/a2a/rest/tasks/x%0A%7B%22level%22:%22forged%22%7D%E2%80%AE";
    let request = client.request("GET", monas.authority(), path);
    let request = request
        .header("a2a-version", "1.0")
        .header("x-request-id", "r-1");
    let answer = client.send(request.body("".into()).unwrap()).await;
    assert_eq!(answer.status, 404);
    let text = monas.logged("r-1").await;
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        assert_ne!(line["level"], "forged");
    }
    let line: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(line["wire"], "a2a/rest");
    assert_eq!(line["operation"], "GetTask");
    assert_eq!(line["outcome"], "rejected");
    assert_eq!(line["caller"], "anonymous");
    assert!(line["ms"].is_number() && line["time"].is_string(), "{line}");
    monas.stop().await;
}
