//! Every scenario by its name, in the order in which they run.

use futures::future::LocalBoxFuture;

use crate::probe::{BINDINGS, Probe, Result};

mod card;
mod errors;
mod listing;
mod messages;
mod parts;
mod push;
mod streams;
mod tasks;

/// One thing to do with a server, and the bindings over which this client can do it.
pub(crate) struct Scenario {
    function: &'static str,
    pub(crate) bindings: &'static [&'static str],
    pub(crate) run: for<'a> fn(&'a Probe) -> LocalBoxFuture<'a, Result<()>>,
}

impl Scenario {
    /// `send_task` is called `send-task`.
    pub(crate) fn name(&self) -> String {
        self.function.replace('_', "-")
    }
}

macro_rules! scenarios {
    ($($module:ident::$function:ident $(over $bindings:expr)?,)*) => {
        &[$(Scenario {
            function: stringify!($function),
            bindings: scenarios!(@bindings $($bindings)?),
            run: |probe| Box::pin($module::$function(probe)),
        }),*]
    };
    (@bindings) => { &BINDINGS };
    (@bindings $bindings:expr) => { $bindings };
}

pub(crate) const SCENARIOS: &[Scenario] = scenarios![
    card::card,
    card::extended_card,
    messages::send_message_answer,
    messages::send_task,
    messages::send_status_message,
    messages::send_rejected,
    messages::send_failed,
    messages::send_return_immediately,
    messages::send_history_length,
    messages::send_again_is_one_task,
    messages::send_again_with_other_text,
    messages::send_with_used_id_is_new,
    messages::context_is_kept,
    messages::input_required,
    messages::history_length,
    messages::follow_up_to_finished,
    messages::follow_up_to_unknown,
    messages::follow_up_in_other_context,
    parts::text_artifact,
    parts::file_bytes_artifact,
    parts::file_url_artifact,
    parts::data_artifact,
    parts::parts_come_back,
    parts::large_message,
    streams::stream_message_answer,
    streams::stream_in_order,
    streams::stream_chunks,
    streams::stream_many_chunks,
    streams::stream_file,
    streams::stream_to_input_required,
    streams::subscribe_sees_the_rest,
    streams::closing_a_stream_leaves_other_streams_alone,
    streams::subscribe_sees_a_cancel,
    streams::subscribe_to_finished,
    streams::subscribe_to_unknown,
    streams::resume_with_a_cursor,
    tasks::get_unknown,
    tasks::cancel_working,
    tasks::cancel_input_required,
    tasks::cancel_finished,
    tasks::cancel_unknown,
    listing::list_by_context,
    listing::list_by_state,
    listing::list_by_time,
    listing::list_pages,
    listing::list_artifacts,
    listing::list_history_length,
    listing::list_bad_page_size,
    listing::list_bad_page_token,
    push::push_configs,
    push::push_config_unknown,
    push::push_config_for_unknown_task,
    push::push_from_the_start,
    push::push_later,
    errors::version_not_supported,
    errors::version_not_supported_in_a_stream,
    errors::patch_version_is_ignored,
    errors::unknown_extension_is_ignored,
    errors::message_without_parts,
    errors::message_without_id,
    errors::bad_parameters_in_a_stream,
    // Over HTTP+JSON a task without an id is another path.
    errors::get_without_id over &["JSONRPC", "GRPC"],
];
