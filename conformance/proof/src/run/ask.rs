//! Operations with one answer that leave nothing to remember, but for pages.

use a2a::client::{Client, Error};
use a2a::types::{
    CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, GetTaskRequest, ListTaskPushNotificationConfigsRequest,
    ListTasksRequest, Message, Part, SendMessageRequest, TaskPushNotificationConfig, TaskState,
};
use serde_json::{Value, json};

use super::{Run, note};
use crate::scenario::{Bad, List, Operation};

impl Run<'_> {
    pub(super) async fn ask(&mut self, client: &Client, what: &Operation) -> Result<Value, Error> {
        Ok(match what {
            Operation::Get { task, history } => {
                let request = GetTaskRequest {
                    id: self.id(task),
                    history_length: history.map(u32::cast_signed),
                    ..GetTaskRequest::default()
                };
                json!(client.get_task(request).await?)
            }
            Operation::List(list) => self.list(client, list).await?,
            Operation::Cancel(task) => {
                let request = CancelTaskRequest {
                    id: self.id(task),
                    ..CancelTaskRequest::default()
                };
                json!(client.cancel_task(request).await?)
            }
            Operation::Push(webhook) => {
                let request = TaskPushNotificationConfig {
                    task_id: self.id(&webhook.task),
                    id: webhook.id.to_string(),
                    // No server listens at the discard port.
                    url: format!("http://127.0.0.1:9/{}", webhook.id),
                    token: "opaque".to_owned(),
                    ..TaskPushNotificationConfig::default()
                };
                json!(client.create_push_config(request).await?)
            }
            Operation::PushGet(webhook) => {
                let request = GetTaskPushNotificationConfigRequest {
                    task_id: self.id(&webhook.task),
                    id: webhook.id.to_string(),
                    ..GetTaskPushNotificationConfigRequest::default()
                };
                json!(client.get_push_config(request).await?)
            }
            Operation::PushList(task) => {
                let request = ListTaskPushNotificationConfigsRequest {
                    task_id: self.id(task),
                    ..ListTaskPushNotificationConfigsRequest::default()
                };
                json!(client.list_push_configs(request).await?)
            }
            Operation::PushDelete(webhook) => {
                let request = DeleteTaskPushNotificationConfigRequest {
                    task_id: self.id(&webhook.task),
                    id: webhook.id.to_string(),
                    ..DeleteTaskPushNotificationConfigRequest::default()
                };
                json!(client.delete_push_config(request).await?)
            }
            Operation::Card => {
                let request = GetExtendedAgentCardRequest::default();
                let card = client.get_extended_card(request).await?;
                let skills: Vec<_> = card.skills.iter().map(|skill| &skill.id).collect();
                json!({ "name": card.name, "skills": skills })
            }
            Operation::Bad(bad) => ask_badly(client, *bad).await?,
            // The others are performed elsewhere.
            _ => note("nothing is asked"),
        })
    }

    async fn list(&mut self, client: &Client, list: &List) -> Result<Value, Error> {
        let request = ListTasksRequest {
            context_id: list
                .beside
                .as_ref()
                .map_or(String::new(), |it| self.context(it)),
            status: list.state.map(state).unwrap_or_default(),
            page_size: list.size.map(u32::cast_signed),
            page_token: match &list.after {
                Some(page) => {
                    let token = self.pages.get(page).cloned();
                    token.unwrap_or_else(|| page.to_string())
                }
                None => String::new(),
            },
            include_artifacts: Some(true),
            ..ListTasksRequest::default()
        };
        let listed = client.list_tasks(request).await?;
        if let Some(page) = &list.page {
            self.pages
                .insert(page.clone(), listed.next_page_token.clone());
        }
        Ok(json!(listed))
    }
}

/// The state of a word.
fn state(word: &str) -> TaskState {
    let name = format!("TASK_STATE_{}", word.to_uppercase().replace('-', "_"));
    serde_json::from_value(name.into()).expect("the words of scenarios are those of the protocol")
}

async fn ask_badly(client: &Client, bad: Bad) -> Result<Value, Error> {
    let message = Message::user("bad", "done");
    let get = |id: &str, history: Option<i32>| GetTaskRequest {
        id: id.to_owned(),
        history_length: history,
        ..GetTaskRequest::default()
    };
    let message = match bad {
        Bad::NoParts => Message {
            parts: Vec::new(),
            ..message
        },
        Bad::NoMessageId => Message {
            message_id: String::new(),
            ..message
        },
        Bad::MediaType => Message {
            parts: vec![Part {
                media_type: "video/quaint".to_owned(),
                ..Part::raw("moving")
            }],
            ..message
        },
        Bad::History => return Ok(json!(client.get_task(get("any", Some(-1))).await?)),
        Bad::LongId => return Ok(json!(client.get_task(get(&"x".repeat(5000), None)).await?)),
        Bad::NoId => return Ok(json!(client.get_task(get("", None)).await?)),
        Bad::PageSize => {
            let request = ListTasksRequest {
                page_size: Some(101),
                ..ListTasksRequest::default()
            };
            return Ok(json!(client.list_tasks(request).await?));
        }
        Bad::PageToken => {
            let request = ListTasksRequest {
                page_token: "not a token of a page".to_owned(),
                ..ListTasksRequest::default()
            };
            return Ok(json!(client.list_tasks(request).await?));
        }
    };
    let answer = client
        .send_message(SendMessageRequest::from(message))
        .await?;
    Ok(json!(answer))
}
