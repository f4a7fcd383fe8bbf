//! What is to be proven, and by what means each binding does it.

/// The bindings, as tests and headings name them.
pub(super) const BINDINGS: [(&str, &str); 5] = [
    ("jsonrpc", "JSON-RPC"),
    ("rest", "REST"),
    ("grpc", "gRPC"),
    ("websocket", "WebSocket"),
    ("capnweb", "Cap'n Web"),
];

/// A requirement of the protocol.
pub(super) struct Requirement {
    /// The module of its tests, which begins with its number. The switch that breaks the requirement has the same name.
    pub(super) module: &'static str,
    pub(super) what: &'static str,
    /// By what means each binding fulfils it, in the order of [`BINDINGS`].
    pub(super) means: [&'static str; 5],
}

impl Requirement {
    /// Its number, as documents have it: `r3`.
    pub(super) fn number(&self) -> String {
        let digits = self.module.trim_start_matches('r');
        let number = digits.split('_').next().unwrap_or_default();
        format!("r{}", number.trim_start_matches('0'))
    }

    /// The test of a binding.
    pub(super) fn test(&self, binding: &str) -> String {
        format!("{}::{binding}", self.module)
    }
}

pub(super) const REQUIREMENTS: &[Requirement] = &[
    Requirement {
        module: "r01_http",
        what: "HTTP(S) transport",
        means: [
            "POST, plain and TLS",
            "verbs and paths, plain and TLS",
            "HTTP/2, plain and TLS",
            "upgraded from HTTP/1.1, `ws` and `wss`",
            "upgraded from HTTP/1.1, plain and TLS",
        ],
    },
    Requirement {
        module: "r02_request_response",
        what: "Request and response (`message/send`)",
        means: [
            "a request with an id",
            "`POST /message:send`",
            "a unary rpc",
            "a frame with an id",
            "a method call and its promise",
        ],
    },
    Requirement {
        module: "r03_streaming",
        what: "Streaming (`message/stream`), resumed from a cursor",
        means: [
            "server-sent events",
            "server-sent events",
            "a server-streaming rpc",
            "frames with the id of the call",
            "a readable stream of the session",
        ],
    },
    Requirement {
        module: "r04_task_state",
        what: "Task state (`tasks/get`, `tasks/list`)",
        means: [
            "two methods",
            "`GET /tasks/{id}`, `GET /tasks`",
            "two rpcs; 0.3 has no rpc to list, which the client says",
            "two methods",
            "two methods of the agent's object",
        ],
    },
    Requirement {
        module: "r05_cancellation",
        what: "Cancellation (`tasks/cancel`)",
        means: [
            "a method",
            "`POST /tasks/{id}:cancel`",
            "an rpc",
            "a method",
            "a method of the agent's object",
        ],
    },
    Requirement {
        module: "r06_push_configuration",
        what: "Push notification configuration, and what is pushed",
        means: [
            "four methods, and a webhook",
            "four routes, and a webhook",
            "four rpcs, and a webhook",
            "four methods, and a webhook",
            "four methods, and a webhook",
        ],
    },
    Requirement {
        module: "r07_header_authentication",
        what: "Authentication by HTTP headers",
        means: [
            "headers of each request",
            "headers of each request",
            "metadata, which are headers",
            "headers of the handshake",
            "headers of the handshake",
        ],
    },
    Requirement {
        module: "r08_authentication_schemes",
        what: "All schemes: bearer, API key, basic, OAuth 2, OpenID Connect, mutual TLS",
        means: [
            "each scheme, and none but these",
            "each scheme, and none but these",
            "each scheme, and none but these",
            "each scheme at the handshake",
            "each scheme at the handshake",
        ],
    },
    Requirement {
        module: "r09_calling_back",
        what: "Calls in both directions",
        means: [
            "equivalent: a webhook of the client's is called",
            "equivalent: a webhook of the client's is called",
            "equivalent: a webhook of the client's is called",
            "equivalent: events on the connection on which the client goes on calling",
            "an object of the client's is called",
        ],
    },
    Requirement {
        module: "r10_structured_data",
        what: "Structured data",
        means: ["JSON", "JSON", "`google.protobuf.Value`", "JSON", "JSON"],
    },
    Requirement {
        module: "r11_files",
        what: "Files, by bytes and by address",
        means: [
            "base64, or a URI",
            "base64, or a URI",
            "bytes, or a URI",
            "base64, or a URI",
            "base64, or a URI",
        ],
    },
    Requirement {
        module: "r12_errors",
        what: "Errors with standard codes",
        means: [
            "`error` with code and details",
            "a status of HTTP and details",
            "a status of gRPC and details",
            "`error` with code and details",
            "a rejected promise whose error has code and details",
        ],
    },
    Requirement {
        module: "r13_context",
        what: "Context and task ids go with everything",
        means: [
            "fields",
            "fields and paths",
            "fields",
            "fields",
            "arguments and fields",
        ],
    },
    Requirement {
        module: "r14_card",
        what: "Discovery by the agent card",
        means: ["the card at its well-known address lists the binding in both versions"; 5],
    },
];

/// Something that holds of all bindings together.
pub(super) struct Law {
    pub(super) what: &'static str,
    /// The test that shows it.
    pub(super) test: &'static str,
}

pub(super) const LAWS: &[Law] = &[
    Law {
        what: "Equivalence: scenarios that are written down give the same trace over ten wires",
        test: "written::written_scenarios_give_the_same_over_every_wire",
    },
    Law {
        what: "Those scenarios do what they are for",
        test: "written::written_scenarios_do_what_they_are_for",
    },
    Law {
        what: "Equivalence: random sequences of operations give the same trace over ten wires",
        test: "random::random_sequences_give_the_same_over_every_wire",
    },
    Law {
        what: "Identity: a connection without a call changes nothing",
        test: "laws::identity_a_connection_without_a_call_changes_nothing",
    },
    Law {
        what: "Queries change nothing: looking leaves what follows as it is",
        test: "laws::queries_leave_what_follows_as_it_is",
    },
    Law {
        what: "Composition: steps over one connection are the steps over a connection each",
        test: "laws::composition_connections_do_not_matter",
    },
    Law {
        what: "Composition: a scenario may change its wire at every step",
        test: "laws::composition_a_scenario_may_change_its_wire_at_every_step",
    },
    Law {
        what: "Composition: random sequences over random wires give the same",
        test: "random::random_sequences_over_random_wires_give_the_same",
    },
    Law {
        what: "A difference would be found, made small and printed as a scenario",
        test: "random::a_planted_difference_is_shrunk_and_printed_as_a_scenario",
    },
    Law {
        what: "Security: nobody calls without a credential, over any wire",
        test: "security::a_call_without_credentials_is_refused",
    },
    Law {
        what: "Attenuation: a task object gives its task and nothing else",
        test: "security::a_task_object_gives_its_task_and_nothing_else",
    },
    Law {
        what: "Revocation: a callback that the server lets go of is called no more",
        test: "security::an_object_that_is_let_go_is_called_no_more",
    },
    Law {
        what: "Revocation: a subscription that its holder releases gives nothing more",
        test: "security::a_released_subscription_gives_nothing_more",
    },
    Law {
        what: "Batch: send, get, list and cancel (r1, r2, r4, r5, r13)",
        test: "batch::a_batch_sends_gets_lists_and_cancels",
    },
    Law {
        what: "Batch: webhooks are configured (r6)",
        test: "batch::a_batch_configures_webhooks",
    },
    Law {
        what: "Batch: credentials that are handed over in a call (r8)",
        test: "batch::a_batch_is_let_in_by_what_it_hands_over",
    },
    Law {
        what: "Batch: data, files, errors and the card (r10, r11, r12, r14)",
        test: "batch::a_batch_carries_data_files_errors_and_the_card",
    },
    Law {
        what: "Batch: streams and callbacks are refused (r3, r9)",
        test: "batch::a_batch_refuses_streams_and_callbacks",
    },
    Law {
        what: "The mapping is total: every binding serves every row of the table",
        test: "binding::every_binding_serves_every_row",
    },
    Law {
        what: "Model: a task lives rightly in every order of events, at small size",
        test: "a_task_lives_rightly_in_every_order_of_events",
    },
    Law {
        what: "Model: two sessions of Cap'n Web keep their counts in every order of events, at small size",
        test: "two_sessions_keep_their_counts_in_every_order_of_events",
    },
];
