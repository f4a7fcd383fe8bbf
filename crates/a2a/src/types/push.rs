//! Push notifications: where to report on a task, and how to ask about that.

use super::wire::messages;

messages! { "lf.a2a.v1";
    /// Where to report on a task.
    TaskPushNotificationConfig {
        /// Which agent behind the endpoint is meant.
        tenant: String = 1,
        /// Tells several configurations of a task apart; made by the server if not given.
        id: String = 2,
        task_id: String = 3,
        /// Where each event is sent.
        url: String = 4 required,
        /// Sent along, so that the receiver knows that the report was asked for.
        token: String = 5,
        /// How the server proves to the receiver who it is.
        authentication: Option<AuthenticationInfo> = 6,
    }

    /// What goes into the `Authorization` header of a notification.
    AuthenticationInfo {
        /// A scheme of HTTP authentication: `Bearer`, `Basic`, and others.
        scheme: String = 1 required,
        /// What stands behind it.
        credentials: String = 2,
    }

    /// Asks for one configuration of a task.
    GetTaskPushNotificationConfigRequest {
        /// Which agent behind the endpoint is meant.
        tenant: String = 1,
        task_id: String = 2 required,
        id: String = 3 required,
    }

    /// Asks that one configuration of a task be forgotten.
    DeleteTaskPushNotificationConfigRequest {
        /// Which agent behind the endpoint is meant.
        tenant: String = 1,
        task_id: String = 2 required,
        id: String = 3 required,
    }

    /// Asks for the configurations of a task.
    ListTaskPushNotificationConfigsRequest {
        task_id: String = 1 required,
        /// How many at once.
        page_size: i32 = 2,
        /// Where the page before ended.
        page_token: String = 3,
        /// Which agent behind the endpoint is meant.
        tenant: String = 4,
    }

    /// A page of configurations.
    ListTaskPushNotificationConfigsResponse {
        configs: Vec<TaskPushNotificationConfig> = 1,
        /// Where the next page begins; empty behind the last one.
        next_page_token: String = 2,
    }
}
