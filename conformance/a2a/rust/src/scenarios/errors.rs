//! Versions, extensions and parameters that are wrong.

use a2a::{SVC_PARAM_EXTENSIONS, SVC_PARAM_VERSION, SendMessageResponse, error_code};

use crate::probe::{
    Probe, Result, check_fails, check_stream_fails, check_that, request, request_of,
};

pub(super) async fn version_not_supported(probe: &Probe) -> Result<()> {
    for version in ["9.9", "0.2"] {
        let client = probe.client_with(SVC_PARAM_VERSION, version).await?;
        let call = client.send_message(&request("probe", "echo")).await;
        check_fails(async { call }, error_code::VERSION_NOT_SUPPORTED).await?;
    }
    Ok(())
}

pub(super) async fn version_not_supported_in_a_stream(probe: &Probe) -> Result<()> {
    let client = probe.client_with(SVC_PARAM_VERSION, "9.9").await?;
    let call = client
        .send_streaming_message(&request("probe", "echo"))
        .await;
    check_stream_fails(async { call }, error_code::VERSION_NOT_SUPPORTED).await
}

pub(super) async fn patch_version_is_ignored(probe: &Probe) -> Result<()> {
    check_answers(probe, SVC_PARAM_VERSION, "1.0.7").await
}

pub(super) async fn unknown_extension_is_ignored(probe: &Probe) -> Result<()> {
    check_answers(
        probe,
        SVC_PARAM_EXTENSIONS,
        "https://example.com/unknown/v1",
    )
    .await
}

pub(super) async fn message_without_parts(probe: &Probe) -> Result<()> {
    let empty = request_of("probe", vec![]);
    check_fails(
        probe.client.send_message(&empty),
        error_code::INVALID_PARAMS,
    )
    .await
}

pub(super) async fn message_without_id(probe: &Probe) -> Result<()> {
    let mut nameless = request("probe", "echo");
    nameless.message.message_id.clear();
    check_fails(
        probe.client.send_message(&nameless),
        error_code::INVALID_PARAMS,
    )
    .await
}

pub(super) async fn bad_parameters_in_a_stream(probe: &Probe) -> Result<()> {
    let empty = request_of("probe", vec![]);
    let call = probe.client.send_streaming_message(&empty);
    check_stream_fails(call, error_code::INVALID_PARAMS).await
}

pub(super) async fn get_without_id(probe: &Probe) -> Result<()> {
    check_fails(probe.get(""), error_code::INVALID_PARAMS).await
}

async fn check_answers(probe: &Probe, parameter: &'static str, value: &str) -> Result<()> {
    let client = probe.client_with(parameter, value).await?;
    let answer = client.send_message(&request("probe", "echo")).await?;
    check_that(
        matches!(answer, SendMessageResponse::Message(_)),
        "the answer is no message",
    )
}
