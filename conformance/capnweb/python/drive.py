"""drive.py URL [NAME ...]: runs scenarios against a server, one line for each; exit code 1 if any fails.

The agent behind it has to answer `echo …` with a message, `task …` and `burst N` with a task (N chunks of one
artifact), the skill `slow` with events for some seconds, and a messageId that begins with `tck-input-required` with
a question.
"""
import asyncio, base64, datetime, sys, uuid
from a2a import Agent, Callback, ENDED, state
from capnweb import Batch, Refused, RpcError, SessionEnded, UNDEFINED, connect

URL, PATIENCE, SCENARIOS, SESSIONS = "", 60, [], []
SKILL = {"urn:monas:a2a:ext:skill:1/skill": "slow"}


def scenario(function):
    SCENARIOS.append(function)
    return function


REPEATABLE = "urn:monas:a2a:ext:repeatable-send:1"


async def open_agent(headers=None):
    """The agent of another session, which is closed after the scenario."""
    SESSIONS.append(await connect(URL, {"A2A-Extensions": REPEATABLE, **(headers or {})}))
    return Agent(SESSIONS[-1].main)


def message(text, prefix="py", **members):
    return {"messageId": f"{prefix}-{uuid.uuid4()}", "role": "ROLE_USER", "parts": [{"text": text}], **members}


def slow(): return message("take your time", metadata=SKILL)


def old(text, **members):
    return {"kind": "message", "messageId": f"py-{uuid.uuid4()}", "role": "user",
            "parts": [{"kind": "text", "text": text}], **members}


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def same(got, wanted, what):
    check(got == wanted, f"{what}: {got!r}, not {wanted!r}")


async def fails(ref, code, reason, what):
    """The call has to fail with this code and reason, and with an ErrorInfo that says the same."""
    try:
        value = await ref
    except RpcError as error:
        same((error.code, error.reason), (code, reason), what)
        info = error.details[0]
        same((info.get("@type"), info.get("reason"), info.get("domain")),
             ("type.googleapis.com/google.rpc.ErrorInfo", reason, "a2a-protocol.org"), what + ", details")
        return error
    raise AssertionError(f"{what}: gave {str(value)[:120]}, not {code} {reason}")


class Recorder(Callback):
    """Keeps what it is told; `pause` is how long it takes, `fail` lets it raise."""
    def __init__(self, pause=0, fail=False):
        self.events, self.messages, self.pause, self.fail, self.busy, self.overlap = [], [], pause, fail, 0, False
        self.final = asyncio.Event()

    async def _tell(self, event):
        self.overlap |= self.busy > 0
        self.busy += 1
        self.events.append(event)
        await asyncio.sleep(self.pause)
        self.busy -= 1
        if event.get("final"):
            self.final.set()
        if self.fail:
            raise RuntimeError("I have had enough")

    def onStatusUpdate(self, event): return self._tell(event)
    def onArtifactUpdate(self, event): return self._tell(event)
    def onMessage(self, message): self.messages.append(message)
    def _generations(self): return [int(e["generation"]) for e in self.events]
    def _finals(self): return [e["final"] for e in self.events if "status" in e]

    async def _reaches(self, count): await until(lambda: len(self.events) >= count, f"{count} events")


async def until(condition, what):
    for _ in range(1500):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError(f"waited for {what} in vain")


def run(first, last): return list(range(first, last + 1))
async def collect(ref): return [event async for event in await ref]
def generations(events): return [int(next(iter(e.values()))["generation"]) for e in events]


async def quiet(callback, what):
    """Tells that nothing more comes, while the task has things to say several times a second."""
    await asyncio.sleep(0.3)
    count = len(callback.events)
    await asyncio.sleep(0.7)
    same(len(callback.events), count, what + ", events")


@scenario
async def pipelined_in_one_round_trip(agent):
    seen = []
    agent.ref.session.log = lambda way, m: seen.append(way + m[0])
    sent = agent.send_message(message("task hello"))
    task = await agent.get_task(sent["task"]["id"])
    sent.release()
    same(seen[:4], [">push", ">push", ">pull", "<resolve"], "messages")
    same(state(task), "TASK_STATE_COMPLETED", "state")
    check(set(agent.ref.session.imports) == {0}, "imports are left")

@scenario
async def both_names(agent):
    one = await agent.call("SendMessage", message("task a"))
    for name in ("GetTask", "getTask"):
        same((await agent.call(name, one["task"]["id"]))["id"], one["task"]["id"], name)
    task = await agent.send_message_streaming(slow()).ready()
    same((await task.call("GetTask"))["id"], (await task.get_task())["id"], "GetTask of a task object")
    await task.call("CancelTask")

@scenario
async def positional_and_whole(agent):
    sent = await agent.request("sendMessage", {"message": message("task a"), "metadata": {"a": 1}})
    id = sent["task"]["id"]
    same(await agent.get_task(id, 0), await agent.request("getTask", {"id": id, "historyLength": 0}), "getTask")
    check("history" not in await agent.get_task(id, 0), "historyLength 0 gave history")
    check("history" in await agent.call("getTask", id, None, UNDEFINED), "null and undefined are not given")
    check("task" in await agent.call("sendMessage", message("task b"), None, {"b": 2}), "metadata behind null")

@scenario
async def stream(agent):
    events = await collect(agent.send_streaming_message(message("burst 5")))
    same([next(iter(e)) for e in events][:1], ["task"], "first event")
    same(generations(events), run(1, len(events)), "generations")
    chunks = [e["artifactUpdate"] for e in events if "artifactUpdate" in e]
    same([(c.get("append", False), c.get("lastChunk", False)) for c in chunks],
         [(i > 0, i == 4) for i in range(5)], "append and lastChunk")
    same(state(events[-1]["statusUpdate"]), "TASK_STATE_COMPLETED", "last state")
    same([list(e) for e in await collect(agent.send_streaming_message(message("echo hi")))], [["message"]], "echo")

@scenario
async def stream_dropped_task_goes_on(agent):
    pipe = await agent.send_streaming_message(slow())
    id = (await pipe.__anext__())["task"]["id"]
    pipe.cancel()
    before = int((await agent.get_task(id))["generation"])
    await asyncio.sleep(1)
    check(int((await agent.get_task(id))["generation"]) > before, "the task stands still")
    same(state(await agent.cancel_task(id)), "TASK_STATE_CANCELED", "cancelled")
    await fails(agent.send_message(message("more", taskId=id)), -32004, "UNSUPPORTED_OPERATION", "to an ended task")

@scenario
async def stream_stops_at_a_question(agent):
    events = await collect(agent.send_streaming_message(message("ask me", "tck-input-required")))
    same(state(events[-1]["statusUpdate"]), "TASK_STATE_INPUT_REQUIRED", "last state")
    id = events[0]["task"]["id"]
    waiting = await agent.subscribe_to_task(id)
    same(state((await waiting.__anext__())["task"]), "TASK_STATE_INPUT_REQUIRED", "the task as it is now")
    answer = agent.send_message(message("yes", taskId=id)).pull()
    rest = [e async for e in waiting]
    check(rest and state(rest[-1]["statusUpdate"]) in ENDED, f"subscribeToTask did not go on: {rest}")
    await answer

@scenario
async def resume_by_last_event_id(agent):
    text = message("burst 5")
    events = await collect(agent.send_streaming_message(text))
    id = events[0]["task"]["id"]
    other = await open_agent()
    for cursor in (1, 4, len(events)):
        same(await collect(other.subscribe_to_task(id, cursor)), events[cursor:], f"rest after {cursor}")
    again = other.request("sendStreamingMessage", {"message": text}, {"last-event-id": 3})
    same(await collect(again), events[3:], "the same message")
    await fails(other.subscribe_to_task(id, 1000), -32602, "INVALID_PARAMS", "a cursor of the future")
    await fails(other.subscribe_to_task(id), -32004, "UNSUPPORTED_OPERATION", "an ended task without a cursor")
    header = await open_agent({"Last-Event-ID": "5"})
    same(await collect(header.subscribe_to_task(id)), events[5:], "the cursor of the handshake")

@scenario
async def resume_while_it_runs(agent):
    first = await open_agent()
    pipe = await first.send_streaming_message(slow())
    seen = [await pipe.__anext__() for _ in range(4)]
    await first.ref.session.close()
    seen += await collect(agent.subscribe_to_task(seen[0]["task"]["id"], generations(seen)[-1]))
    same(generations(seen), run(1, len(seen)), "generations over two sessions")

@scenario
async def callback(agent):
    told = Recorder(pause=0.02)
    task = await agent.send_message_streaming(message("burst 5"), callback=told).ready()
    await told.final.wait()
    same(told._generations(), run(1, len(told.events)), "generations")
    same(told._finals(), [False] * (len(told._finals()) - 1) + [True], "final")
    check(all("append" in e and "lastChunk" in e for e in told.events if "artifact" in e), "append, lastChunk missing")
    check(not told.overlap and not any("kind" in e for e in told.events), "calls overlap, or have kind")
    same((await task.get_task())["id"], told.events[0]["taskId"], "id")

@scenario
async def callback_of_functions_anywhere(agent):
    events, messages = [], []
    await agent.call("sendMessageStreaming", {"message": message("burst 1")}, {"onStatusUpdate": events.append})
    await until(lambda: any(e["final"] for e in events), "the last event")
    await agent.call("sendMessageStreaming", message("echo hi"), {}, {"onMessage": messages.append})
    await until(lambda: messages, "onMessage")
    same(messages[0]["parts"], [{"text": "echo hi"}], "onMessage")

@scenario
async def callback_that_raises_is_dropped(agent):
    told, other = Recorder(fail=True), Recorder()
    task = await agent.send_message_streaming(slow(), callback=told).ready()
    await quiet(told, "after raising")
    same(len(told.events), 1, "events")
    await task.subscribe(other, 0)
    await other._reaches(4)
    same(other._generations()[:4], run(1, 4), "the other one")
    await task.cancel_task()

@scenario
async def callback_on_a_waiting_task(agent):
    """`final` says that the subscription is over, so the question it begins with is not final."""
    told = Recorder()
    id = (await agent.send_message(message("ask me", "tck-input-required")))["task"]["id"]
    await agent.subscribe_to_push_notifications(id, told).ready()
    await told._reaches(1)
    same((state(told.events[0]), told.events[0]["final"]), ("TASK_STATE_INPUT_REQUIRED", False), "the first event")
    await agent.send_message(message("yes", taskId=id))
    await told.final.wait()
    same(told._generations(), run(told._generations()[0], told._generations()[-1]), "generations")

@scenario
async def answer_without_a_task(agent):
    first, second, third = Recorder(), Recorder(), Recorder()
    task = await agent.send_message_streaming(message("echo hi"), callback=first).ready()
    same((await task.get_task())["parts"], [{"text": "echo hi"}], "getTask")
    await fails(task.cancel_task(), -32004, "UNSUPPORTED_OPERATION", "cancelTask")
    await task.subscribe(second)
    await until(lambda: first.messages or second.messages, "onMessage of one of the two")
    await task.subscribe(third)
    await until(lambda: third.messages, "onMessage of a further one")
    same(len(first.messages) + len(second.messages), 1, "messages told to the first two")

@scenario
async def subscription_disposed(agent):
    told = Recorder()
    task = await agent.send_message_streaming(slow()).ready()
    subscription = await task.subscribe(told)
    await told._reaches(3)
    same(told._generations()[:3], run(told._generations()[0], told._generations()[0] + 2), "generations")
    subscription.dispose()
    await quiet(told, "disposed")
    check(state(await task.cancel_task()) == "TASK_STATE_CANCELED", "the task ended with it")

@scenario
async def two_independent_callbacks(agent):
    one, two = Recorder(), Recorder()
    task = await agent.send_message_streaming(slow()).ready()
    first = await task.subscribe(one)
    await task.subscribe(two, 0)
    id = (await task.get_task())["id"]
    task.dispose()
    await one._reaches(2)
    same(await first.unsubscribe(), UNDEFINED, "unsubscribe of a subscription")
    await quiet(one, "unsubscribed")
    await two.final.wait()
    same(two._generations(), run(1, len(two.events)), "generations of the other one")
    await fails(agent.subscribe_to_push_notifications(id, Recorder()).ref, -32004, "UNSUPPORTED_OPERATION", "ended")

@scenario
async def first_subscribe_takes_the_place(agent):
    one, two, three = Recorder(), Recorder(), Recorder()
    task = await agent.send_message_streaming(slow(), callback=one).ready()
    await one._reaches(3)
    await task.subscribe(two)
    held = lambda: any(entry[0] is one for entry in agent.ref.session.exports.values())
    await until(lambda: not held(), "the release of the callback that was replaced")
    await two._reaches(3)
    both = one._generations() + two._generations()
    same(both, run(1, len(both)), "generations of both together")
    await task.subscribe(three)
    await three._reaches(2)
    check("status" in three.events[0], "the second subscribe begins with the status")
    await quiet(one, "replaced")
    await task.cancel_task()
    await asyncio.gather(two.final.wait(), three.final.wait())

@scenario
async def unsubscribe(agent):
    one, two = Recorder(), Recorder()
    task = await agent.send_message_streaming(slow()).ready()
    await task.unsubscribe()
    await task.subscribe(one)
    await task.unsubscribe(Recorder())
    await quiet(one, "the only one, ended by another identity")
    await task.subscribe(one)
    await task.subscribe(two)
    await fails(task.unsubscribe(Recorder()), -32602, "INVALID_PARAMS", "one of several, by another identity")
    await task.unsubscribe(one)
    await quiet(one, "unsubscribed by its export id")
    count = len(two.events)
    await two._reaches(count + 2)
    await task.cancel_task()

@scenario
async def batch(agent):
    b = Batch(URL)
    a = Agent(b.main)
    task = a.get_task(a.send_message(message("task hello"))["task"]["id"]).pull()
    silent = a.send_message_streaming(message("task hello")).get_task().pull()
    missing = a.get_task("nothing").pull()
    await b.run()
    same(state(await task), "TASK_STATE_COMPLETED", "task")
    check("id" in await silent, "sendMessageStreaming(m).getTask()")
    await fails(missing, -32001, "TASK_NOT_FOUND", "getTask")

@scenario
async def batch_refuses(agent):
    context = (await agent.send_message(message("task hello")))["task"]["contextId"]
    running = await agent.send_message(slow(), {"returnImmediately": True})
    b, m = Batch(URL), lambda: message("task hello", contextId=context)
    a, id = Agent(b.main), running["task"]["id"]
    calls = {
        "sendMessageStreaming": a.send_message_streaming(m(), callback=Recorder()).ref,
        "subscribeToPushNotifications": a.subscribe_to_push_notifications(id, Recorder()).ref,
        "subscribe": a.subscribe_to_push_notifications(id).call("subscribe", Recorder()),
        "sendStreamingMessage": a.send_streaming_message(m()),
        "subscribeToTask": a.subscribe_to_task(id)}
    futures = {name: ref.pull() for name, ref in calls.items()}
    await b.run()
    wrong = []
    for name, future in futures.items():
        try:
            await fails(future, -32004, "UNSUPPORTED_OPERATION", name)
        except (AssertionError, SessionEnded) as error:
            wrong.append(f"{name}: {error}")
    count = len((await agent.list_tasks(context))["tasks"])
    await agent.cancel_task(id)
    check(not wrong and count == 1, f"{wrong}; tasks of the context: {count}, not 1")

@scenario
async def batch_that_is_none(agent):
    for body in ("hello", '["what"]'):
        b = Batch(URL)
        b.lines = [body]
        try:
            await b.run()
        except Refused as refused:
            same(refused.status, 400, body)
        else:
            raise AssertionError(f"{body} was taken")

@scenario
async def version_0_3(agent):
    task = await agent.get_task(agent.send_message(old("task hello"))["id"])
    same((task["kind"], task["status"]["state"]), ("task", "completed"), "a session that began with 0.3")
    events = await collect(agent.send_streaming_message(old("burst 2")))
    same({e["kind"] for e in events}, {"task", "status-update", "artifact-update"}, "events")
    same([e["kind"] for e in await collect(agent.subscribe_to_task(task["id"]))], ["task"], "an ended task")
    listed = await agent.list_tasks(task["contextId"])
    same([t["kind"] for t in listed["tasks"]], ["task"], "listTasks")
    told = Recorder()
    await agent.send_message_streaming(old("burst 2"), callback=told).ready()
    await told.final.wait()
    same({e["kind"] for e in told.events}, {"status-update", "artifact-update"}, "events of a callback")
    config = await agent.create_push(task["id"], "http://127.0.0.1:9/", "t", None, "c")
    same(config["pushNotificationConfig"]["id"], "c", "push configuration")
    same(await agent.list_push(task["id"]), [config], "list of push configurations")
    same(await agent.delete_push(task["id"], "c"), None, "delete")

@scenario
async def version_chosen(agent):
    id = (await agent.send_message(message("task hello")))["task"]["id"]
    check("kind" in await agent.send_message(old("task a", role="ROLE_USER")), "kind decides before role")
    check("kind" not in await agent.get_task(id), "the first one of the session decides")
    for version, kind in (("0.3", True), ("0.3.7", True), ("1.0", False), ("1.0.2", False)):
        other = await open_agent({"A2A-Version": version})
        same("kind" in await other.get_task(id), kind, "A2A-Version " + version)
    other = await open_agent()
    check("kind" in await other.request("getTask", {"id": id}, {"a2a-version": "0.3"}), "0.3 for one call")
    check("kind" not in await other.get_task(id), "0.3 for one call holds for the next")
    other = await open_agent({"A2A-Version": "2.0"})
    for _ in range(2):
        await fails(other.get_task(id), -32009, "VERSION_NOT_SUPPORTED", "A2A-Version 2.0")

@scenario
async def version_shown_wins_over_the_header(agent):
    for header in ("0.3", "1.0"):
        new = await (await open_agent({"A2A-Version": header})).send_message(old("task a"))
        same(new.get("kind"), "task", f"0.3 under A2A-Version {header}")
        other = await open_agent({"A2A-Version": header})
        new = await other.send_message(message("task a"))
        check("task" in new and "kind" not in await other.get_task(new["task"]["id"]), f"1.0 under {header}")

@scenario
async def errors(agent):
    error = await fails(agent.get_task("nothing"), -32001, "TASK_NOT_FOUND", "getTask")
    same(error.details[0]["metadata"], {"taskId": "nothing"}, "metadata")
    error = await fails(agent.send_message({"role": "ROLE_USER"}), -32602, "INVALID_PARAMS", "sendMessage")
    same(error.details[1]["@type"], "type.googleapis.com/google.rpc.BadRequest", "second detail")
    check("message.messageId" in [v["field"] for v in error.details[1]["fieldViolations"]], "messageId is not named")
    id = (await agent.send_message(message("task a")))["task"]["id"]
    await fails(agent.cancel_task(id), -32002, "TASK_NOT_CANCELABLE", "cancelTask")
    await fails(agent.get_push(id, "none"), -32001, "TASK_NOT_FOUND", "a webhook that is not there")
    try:
        await agent.call("noSuchMethod")
    except RpcError as error:
        same((error.name, error.message, error.code), ("TypeError", "'noSuchMethod' is not a function.", None), "name")
    else:
        raise AssertionError("a method that does not exist was called")

@scenario
async def service_parameters(agent):
    id = (await agent.send_message(message("task hello")))["task"]["id"]
    get = lambda p: agent.request("getTask", {"id": id}, p)
    check("kind" not in await get({"a2a-VERSION": "1.0", "A2A-Extensions": "urn:a,urn:b"}), "two parameters")
    await fails(get({"a2a-VERSION": 7}), -32009, "VERSION_NOT_SUPPORTED", "another version")
    await fails(get({"A2A-Version": True}), -32602, "INVALID_PARAMS", "a value that is no text")
    await fails(get({"A B": "1"}), -32600, "INVALID_REQUEST", "a name that cannot be a header")
    await fails(get({"A": "1\n2"}), -32600, "INVALID_REQUEST", "a value that cannot be a header")

@scenario
async def authenticate(agent):
    """Where the card declares schemes, wrong credentials are refused; where not, any are."""
    card = await agent.get_agent_card()
    wanted = (-31401, "UNAUTHENTICATED") if card.get("securitySchemes") else (-32004, "UNSUPPORTED_OPERATION")
    await fails(agent.authenticate("no such token").ref, *wanted, "authenticate")
    await fails(agent.authenticate("no such token").get_task("x"), *wanted, "a call on its result")

@scenario
async def cards(agent):
    card = await agent.get_agent_card()
    bindings = {(i["protocolBinding"], i["protocolVersion"]) for i in card["supportedInterfaces"]}
    check(("urn:monas:a2a:binding:capnweb:1", "1.0") in bindings, f"1.0 is not listed: {bindings}")
    check(("CAPNWEB", "0.3") in bindings, f"0.3 is not listed: {bindings}")
    check("CAPNWEB" in [i["transport"] for i in card["additionalInterfaces"]], "additionalInterfaces")
    if card["capabilities"].get("extendedAgentCard"):
        check("name" in await agent.get_extended_agent_card(), "extended card")

@scenario
async def list_tasks(agent):
    context = (await agent.send_message(message("task 0")))["task"]["contextId"]
    for i in (1, 2):
        await agent.send_message(message(f"task {i}", contextId=context))
    pages, token = [], None
    while token != "":
        page = await agent.list_tasks(context, "TASK_STATE_COMPLETED", 2, token)
        pages.append(len(page["tasks"]))
        token = page.get("nextPageToken", "")
    same((pages, page["totalSize"]), ([2, 1], 3), "pages")
    check("artifacts" not in page["tasks"][0], "artifacts without being asked for")
    whole = await agent.request("listTasks", {"contextId": context, "includeArtifacts": True})
    check(all("artifacts" in t for t in whole["tasks"]), "includeArtifacts")
    later = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=1)
    same((await agent.list_tasks(context, after=later)).get("tasks", []), [], "statusTimestampAfter as a date")
    await fails(agent.list_tasks(context, None, -1), -32602, "INVALID_PARAMS", "pageSize -1")

@scenario
async def push_configurations(agent):
    id = (await agent.send_message(message("task a")))["task"]["id"]
    made = await agent.create_push(id, "http://127.0.0.1:9/", "t", {"scheme": "Bearer", "credentials": "x"}, "c")
    same((made["taskId"], made["id"], made["url"], made["token"]), (id, "c", "http://127.0.0.1:9/", "t"), "made")
    same((await agent.get_push(id, "c"))["id"], "c", "get")
    same([c["id"] for c in (await agent.list_push(id))["configs"]], ["c"], "list")
    same(await agent.delete_push(id, "c"), {}, "delete")
    same((await agent.list_push(id)).get("configs", []), [], "list after delete")
    task = await agent.send_message_streaming(slow()).ready()
    made = await task.create_push("http://127.0.0.1:9/", id="d")
    same([c["id"] for c in (await task.list_push())["configs"]], ["d"], "list of the task object")
    same((await task.get_push("d"))["url"], made["url"], "get of the task object")
    same(await task.delete_push("d"), {}, "delete of the task object")
    await task.cancel_task()

@scenario
async def types_and_repeats(agent):
    m = {**message("task a"), "parts": [{"text": "task a"}, {"raw": b"\x00\xff", "mediaType": "image/png"}], "new": 1}
    task = (await agent.send_message(m))["task"]
    same(base64.b64decode(task["history"][0]["parts"][1]["raw"]), b"\x00\xff", "bytes")
    check(isinstance(task["generation"], str), "generation is no text")
    other = await open_agent()
    same((await other.send_message(m))["task"]["id"], task["id"], "the same message again")

@scenario
async def limit_of_ids(agent):
    check(await agent.send_message({**message("task a"), "messageId": f"{uuid.uuid4()}".ljust(256, "x")}), "256 bytes")
    long = {**message("task a"), "messageId": f"{uuid.uuid4()}".ljust(257, "x")}
    await fails(agent.send_message(long), -32602, "INVALID_PARAMS", "257 bytes")

@scenario
async def limit_of_subscriptions(agent):
    task = await agent.send_message_streaming(message("ask me", "tck-input-required")).ready()
    while state(await task.get_task()) != "TASK_STATE_INPUT_REQUIRED":
        await asyncio.sleep(0.05)
    calls = [task.call("subscribe", Recorder()) for _ in range(1000)]
    await asyncio.gather(*[c.pull() for c in calls])
    await fails(task.call("subscribe", Recorder()), -32603, "UNAVAILABLE", "the 1001st")
    calls[0].release()
    await asyncio.sleep(0.5)
    await task.subscribe(Recorder())

@scenario
async def session_ends_with_reason(agent):
    for text in ("hello", '["what"]', '["pull", 99]'):
        session = (await open_agent()).ref.session
        pending = session.main.method("getAgentCard").pull() if text == "hello" else None
        session.send_frame(1, text.encode())
        ended = await session.finished()
        check(ended.error is not None, f"{text}: no abort, {ended}")
        same(ended.close, (3000, ended.error.message), f"{text}: close frame")
        check(pending is None or pending.done(), "a call is left open")

@scenario
async def large_batch(agent):
    b = Batch(URL)
    b.lines = ['["push", ["pipeline", 0, ["getTask"], ["' + "x" * (128 << 20) + '"]]]']
    try:
        await b.run()
    except Refused as refused:
        same(refused.status, 413, "status")
    except (BrokenPipeError, ConnectionResetError):
        return
    else:
        raise AssertionError("128 MiB were taken")


async def attempt(function):
    """None if the scenario went well, else why not."""
    try:
        await asyncio.wait_for(function(await open_agent()), PATIENCE)
    except Exception as error:
        return f"{type(error).__name__} {error}"
    finally:
        while SESSIONS:
            await SESSIONS.pop().close()


async def main(names):
    failed = 0
    for function in [f for f in SCENARIOS if not names or f.__name__ in names]:
        why = await attempt(function)
        failed |= why is not None
        print(f"FAIL {function.__name__}: {why}" if why else f"ok {function.__name__}", flush=True)
    return int(failed)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    URL = sys.argv[1]
    sys.exit(asyncio.run(main(sys.argv[2:])))
