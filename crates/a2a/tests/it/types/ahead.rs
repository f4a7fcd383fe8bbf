//! The parts of version 1.1 in our types, which the official SDK does not know yet.

/// Fields that are ours alone, as the comparison writes them. Comparing fails when one of them is in the SDK, and
/// when another one is not.
pub(crate) const AHEAD: [&str; 5] = [
    "field lf.a2a.v1.GetTaskRequest.current_generation = 4 json currentGeneration optional int64",
    "field lf.a2a.v1.SendMessageConfiguration.if_generation_match = 5 json ifGenerationMatch optional int64",
    "field lf.a2a.v1.Task.generation = 7 json generation plain int64",
    "field lf.a2a.v1.TaskArtifactUpdateEvent.generation = 7 json generation plain int64",
    "field lf.a2a.v1.TaskStatusUpdateEvent.generation = 5 json generation plain int64",
];
