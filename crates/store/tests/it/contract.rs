//! The contract of all engines. Each scenario is written once and takes a function that makes an empty store;
//! a new engine is one more entry in the list of engines.

mod appending;
mod closing;
mod following;
mod keeping;
mod model;
mod tables;

/// One test for each scenario on each engine.
macro_rules! contract {
    ([$($engine:ident)*] $scenarios:tt) => {
        $(contract!(@ $engine $scenarios);)*
    };
    (@ $engine:ident { $($part:ident: [$($scenario:ident)*])* }) => {
        mod $engine {
            $(mod $part {
                $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                async fn $scenario() {
                    crate::contract::$part::$scenario(crate::support::Made::$engine).await;
                })*
            })*
        }
    };
}

/// The scenarios, with the engines that run them.
macro_rules! on {
    ($engines:tt) => {
        contract! {
            $engines
            {
                appending: [
                    appends_after_the_last_event
                    refuses_to_append_after_another_event
                    lets_one_of_many_writers_win
                    refuses_to_append_to_a_finished_stream
                    checks_without_events
                    applies_the_changes_of_a_batch_in_order
                    keeps_nothing_of_a_refused_batch
                    commits_also_without_a_waiting_caller
                    keeps_the_order_in_which_batches_were_handed_in
                    reads_from_a_cursor_in_pages
                    reads_events_of_any_size
                    shows_a_view_of_one_moment
                    counts_transactions_batches_and_events
                ]
                tables: [
                    puts_replaces_and_deletes_rows
                    inserts_only_what_is_not_there
                    pages_in_both_directions
                    counts_without_regard_to_the_page
                    refuses_what_was_not_declared
                    refuses_what_breaks_a_rule
                    refuses_texts_with_nul
                ]
                following: [
                    follows_what_was_and_what_comes
                    waits_for_a_stream_that_is_not_there_yet
                    begins_at_a_cursor
                    gives_many_at_once
                    shares_entries_and_what_is_derived_from_them
                    loses_nothing_when_a_wait_is_given_up
                    never_makes_the_writer_wait
                    reads_large_events_a_few_at_a_time
                    goes_on_after_finish_and_ends_with_forget
                    says_that_what_it_lacks_was_dropped
                    sees_every_event_once_with_any_writers_and_any_start
                ]
                keeping: [
                    drops_the_beginning_of_a_stream
                    forgets_a_stream_as_if_it_had_never_been
                    replaces_the_payload_of_an_event_and_nothing_else
                    lists_finished_streams_the_oldest_first
                    says_what_is_due_by_age
                    says_what_is_due_by_count
                    compacts_each_stream_once
                    is_copied_whole_into_another_store
                ]
                closing: [
                    answers_all_that_was_handed_in
                    refuses_everything_afterwards
                    ends_followers
                ]
                model: [
                    behaves_like_a_simple_model
                ]
            }
        }
    };
}

on!([memory sqlite_full sqlite_normal]);
#[cfg(feature = "postgres")]
on!([postgres]);
