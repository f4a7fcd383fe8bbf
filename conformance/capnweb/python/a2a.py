"""A2A over Cap'n Web: the agent, the task object and the subscription, on top of capnweb.py.

Calls return a Ref at once: `await` it for the result, or use it in further calls first. Results are those of the
version of the request (1.0 here; write messages with `kind` for 0.3, and read them as that has them).
"""
from typing import Any, TypedDict
from capnweb import Pipe, Ref, Target, UNDEFINED

STATES = ["TASK_STATE_" + s for s in ("UNSPECIFIED SUBMITTED WORKING COMPLETED FAILED CANCELED INPUT_REQUIRED "
                                      "REJECTED AUTH_REQUIRED").split()]
ENDED = {"TASK_STATE_COMPLETED", "TASK_STATE_FAILED", "TASK_STATE_CANCELED", "TASK_STATE_REJECTED"}

# Members with their default value are left out, and unknown ones may be there: all are read with `.get`.
Part = TypedDict("Part", {"text": str, "raw": Any, "url": str, "data": Any, "mediaType": str}, total=False)
Message = TypedDict("Message", {"messageId": str, "contextId": str, "taskId": str, "role": str, "parts": list[Part],
                                "metadata": dict, "extensions": list[str]}, total=False)
Status = TypedDict("Status", {"state": str, "message": Message, "timestamp": str}, total=False)
Artifact = TypedDict("Artifact", {"artifactId": str, "parts": list[Part], "metadata": dict}, total=False)
Task = TypedDict("Task", {"id": str, "contextId": str, "status": Status, "artifacts": list[Artifact],
                          "history": list[Message], "metadata": dict, "generation": str}, total=False)
Sent = TypedDict("Sent", {"task": Task, "message": Message}, total=False)
Tasks = TypedDict("Tasks", {"tasks": list[Task], "nextPageToken": str, "pageSize": int, "totalSize": int}, total=False)
PushConfig = TypedDict("PushConfig", {"taskId": str, "id": str, "url": str, "token": str, "authentication": dict},
                       total=False)
StatusEvent = TypedDict("StatusEvent", {"taskId": str, "contextId": str, "status": Status, "final": bool,
                                        "generation": str, "kind": str}, total=False)
ArtifactEvent = TypedDict("ArtifactEvent", {"taskId": str, "contextId": str, "artifact": Artifact, "append": bool,
                                            "lastChunk": bool, "generation": str, "kind": str}, total=False)


def state(thing: Any) -> str:
    """The state of a task or status event of 1.0; a word that is not known is the unspecified one."""
    word = thing.get("status", {}).get("state", STATES[0])
    return word if word in STATES else STATES[0]


def given(*args):
    """Positional arguments as they are sent: trailing ones that are None are left out, others are undefined."""
    args = list(args)
    while args and args[-1] is None:
        args.pop()
    return [UNDEFINED if a is None else a for a in args]


class Callback(Target):
    """What is told of a task. The next event comes when the method has returned; raising ends the subscription."""
    def onStatusUpdate(self, event: StatusEvent) -> Any: ...
    def onArtifactUpdate(self, event: ArtifactEvent) -> Any: ...
    def onMessage(self, message: Message) -> Any: ...


class Subscription:
    """What `subscribe` gives. It ends when it is disposed, which nothing here does by itself."""
    def __init__(self, ref: Ref): self.ref = ref
    def unsubscribe(self) -> Ref[None]: return self.ref.method("unsubscribe")
    def dispose(self): self.ref.release()


class Remote:
    """An object of the server's, or the promise of one."""
    def __init__(self, ref: Ref): self.ref = ref
    def call(self, name, *args) -> Ref: return self.ref.method(name, *given(*args))


class TaskObject(Remote):
    """A task that calls back. `await ready()` tells whether the call that gave it succeeded."""
    async def ready(self) -> "TaskObject":
        await self.ref
        return self

    async def subscribe(self, callback, cursor: "str | int | None" = None) -> Subscription:
        """Without a cursor from the present status on, with one all that is behind it. A server that gives back
        no object does not follow the binding: TypeError."""
        result = await self.call("subscribe", callback, cursor)
        if not isinstance(result, Ref):
            raise TypeError(f"subscribe returned {result!r}, not a subscription")
        return Subscription(result)

    def unsubscribe(self, callback=None) -> Ref[None]: return self.call("unsubscribe", callback)
    def get_task(self, history=None, generation=None) -> Ref[Task]: return self.call("getTask", history, generation)
    def cancel_task(self, metadata=None) -> Ref[Task]: return self.call("cancelTask", metadata)
    def subscribe_to_task(self) -> Ref[Pipe]: return self.call("subscribeToTask")
    def create_push(self, url, token=None, authentication=None, id=None) -> Ref[PushConfig]:
        return self.call("createTaskPushNotificationConfig", url, token, authentication, id)
    def get_push(self, id) -> Ref[PushConfig]: return self.call("getTaskPushNotificationConfig", id)
    def list_push(self, size=None, token=None) -> Ref[dict]:
        return self.call("listTaskPushNotificationConfigs", size, token)
    def delete_push(self, id) -> Ref[dict]: return self.call("deleteTaskPushNotificationConfig", id)
    def dispose(self):
        """Ends no subscription."""
        self.ref.release()


class Agent(Remote):
    """The agent of a session: `Agent(session.main)`."""
    def request(self, method, request: dict, parameters: "dict | None" = None, callback=None) -> Ref:
        """A call with the whole request as one object, and service parameters for this call alone."""
        return self.call(method, request, *[a for a in (parameters, callback) if a is not None])

    def send_message(self, message: Message, configuration=None, metadata=None) -> Ref[Sent]:
        return self.call("sendMessage", message, configuration, metadata)
    def send_streaming_message(self, message: Message, configuration=None, metadata=None) -> Ref[Pipe]:
        return self.call("sendStreamingMessage", message, configuration, metadata)
    def get_task(self, id, history=None, generation=None) -> Ref[Task]:
        return self.call("getTask", id, history, generation)
    def list_tasks(self, context=None, status=None, size=None, token=None, history=None, after=None,
                   artifacts=None) -> Ref[Tasks]:
        return self.call("listTasks", context, status, size, token, history, after, artifacts)
    def cancel_task(self, id, metadata=None) -> Ref[Task]: return self.call("cancelTask", id, metadata)
    def subscribe_to_task(self, id, cursor=None) -> Ref[Pipe]:
        """With a cursor, the generation of the last event that came, exactly the rest."""
        if cursor is None:
            return self.call("subscribeToTask", id)
        return self.request("subscribeToTask", {"id": id}, {"Last-Event-ID": str(cursor)})
    def create_push(self, task, url, token=None, authentication=None, id=None) -> Ref[PushConfig]:
        return self.call("createTaskPushNotificationConfig", task, url, token, authentication, id)
    def get_push(self, task, id) -> Ref[PushConfig]: return self.call("getTaskPushNotificationConfig", task, id)
    def list_push(self, task, size=None, token=None) -> Ref[dict]:
        return self.call("listTaskPushNotificationConfigs", task, size, token)
    def delete_push(self, task, id) -> Ref[dict]: return self.call("deleteTaskPushNotificationConfig", task, id)
    def get_extended_agent_card(self) -> Ref[dict]: return self.call("getExtendedAgentCard")
    def get_agent_card(self) -> Ref[dict]: return self.call("getAgentCard")

    def authenticate(self, credentials: "str | dict") -> "Agent":
        """The agent for the caller of these credentials; usable at once, and refused in the calls on it."""
        return Agent(self.call("authenticate", credentials))

    def send_message_streaming(self, message: Message, configuration=None, metadata=None, callback=None) -> TaskObject:
        return TaskObject(self.call("sendMessageStreaming", message, configuration, metadata, callback))

    def subscribe_to_push_notifications(self, id, callback=None) -> TaskObject:
        return TaskObject(self.call("subscribeToPushNotifications", id, callback))
