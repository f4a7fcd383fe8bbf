//! Generations, which 1.0 does not have: shown to callers that asked for them, and hidden from all others, some of which
//! refuse fields that they do not know.

use crate::types::{
    AgentCard, Answer, Empty, Event, ListTaskPushNotificationConfigsResponse, ListTasksResponse,
    SendMessageResponse, StreamResponse, Task, TaskPushNotificationConfig,
};

/// Whether replies and events bear the generation of their task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generations {
    /// As 1.0 has them.
    #[default]
    Hidden,
    /// As 1.1 will have them, for callers that name that version or activate
    /// [`REPEATABLE`](crate::service::REPEATABLE).
    Shown,
}

/// The word that is kept with webhooks of callers that see generations; their deliveries have them, too.
pub(crate) const WITH_GENERATIONS: &str = "1.1";

/// A reply or an event that may have generations in it.
pub(crate) trait Hide {
    /// Takes them out. Most replies have none.
    fn hide_generations(&mut self) {}
}

impl Hide for Task {
    fn hide_generations(&mut self) {
        self.generation = 0;
    }
}

impl Hide for SendMessageResponse {
    fn hide_generations(&mut self) {
        if let Answer::Task(task) = &mut self.payload {
            task.hide_generations();
        }
    }
}

impl Hide for ListTasksResponse {
    fn hide_generations(&mut self) {
        self.tasks.iter_mut().for_each(Task::hide_generations);
    }
}

impl Hide for StreamResponse {
    fn hide_generations(&mut self) {
        match &mut self.payload {
            Event::Task(task) => task.hide_generations(),
            Event::StatusUpdate(update) => update.generation = 0,
            Event::ArtifactUpdate(update) => update.generation = 0,
            Event::Message(_) | Event::Unset => {}
        }
    }
}

impl Hide for AgentCard {}
impl Hide for Empty {}
impl Hide for TaskPushNotificationConfig {}
impl Hide for ListTaskPushNotificationConfigsResponse {}
