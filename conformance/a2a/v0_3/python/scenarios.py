"""What must hold for a client of 0.3. Each public coroutine is a scenario; `send_task` is `send-task`."""

import uuid

from a2a.types import (
    DataPart,
    FilePart,
    FileWithBytes,
    FileWithUri,
    GetTaskPushNotificationConfigParams,
    PushNotificationAuthenticationInfo,
    PushNotificationConfig,
    Task,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TaskState,
    TextPart,
)
from probe import Probe, check, check_fails, check_state, message, text_of, told
from webhook import Webhook

# How each binding tells these errors: by code, by status, or by the name of the status.
NOT_FOUND = ('-32001', '404', 'NOT_FOUND', 'TaskNotFound')
NOT_CANCELABLE = ('-32002', '400', 'FAILED_PRECONDITION', 'cannot be canceled')
UNSUPPORTED = ('-32004', '400', 'FAILED_PRECONDITION', 'unsupported')


async def card(probe: Probe) -> None:
    check(probe.card.protocol_version, '0.3.0', 'the version')
    check(bool(probe.card.url), True, 'that there is an address')
    check(probe.card.capabilities.streaming, True, 'streaming')


async def extended_card(probe: Probe) -> None:
    extended = await probe.client(streaming=False).get_card()
    check('script' in [skill.id for skill in extended.skills], True, 'that it has more skills')


async def send_message_answer(probe: Probe) -> None:
    answer = await probe.send(message('echo hello'))
    check((answer.kind, answer.role.value), ('message', 'agent'), 'the answer')
    check(text_of(answer.parts), 'echo hello', 'its text')


async def send_task(probe: Probe) -> None:
    sent = message('task hello')
    task = await probe.send_for_task(sent)
    check_state(task, TaskState.completed)
    check([text_of(it.parts) for it in task.artifacts], ['task hello'], 'the artifacts')
    check(task.history[0].message_id, sent.message_id, 'the first message')
    if probe.binding == 'JSONRPC':
        # The client drops it on its way from protobuf.
        check(bool(task.status.timestamp), True, 'that there is a timestamp')


async def send_status_message(probe: Probe) -> None:
    task = await probe.send_for_task(message(prefix='tck-complete-task'))
    check(text_of(task.status.message.parts), 'Hello from TCK', 'the text of the status')


async def send_rejected(probe: Probe) -> None:
    check_state(await probe.send_for_task(message(prefix='tck-reject-task')), TaskState.rejected)


async def send_without_waiting(probe: Probe) -> None:
    task = await probe.start_held()
    found = await probe.waiting.get_task(TaskQueryParams(id=task.id))
    check_state(found, TaskState.working)
    await probe.cancel(task.id)


async def input_required(probe: Probe) -> None:
    asked = await probe.send_for_task(message('first', 'tck-input-required'))
    check_state(asked, TaskState.input_required)
    answered = await probe.send_for_task(message('second', 'tck-complete-task', task_id=asked.id))
    check(answered.id, asked.id, 'the task of the follow-up')
    check_state(answered, TaskState.completed)
    one = await probe.waiting.get_task(TaskQueryParams(id=asked.id, history_length=1))
    check(len(one.history), 1, 'messages in a history of length 1')


async def follow_up_to_finished(probe: Probe) -> None:
    task = await probe.send_for_task(message('task'))
    await check_fails(probe.send(message(task_id=task.id)), *UNSUPPORTED)


async def parts_come_back(probe: Probe) -> None:
    parts = [
        TextPart(text='task', metadata={'a': 'b'}),
        FilePart(file=FileWithBytes(bytes='AAEC', name='a.bin', mime_type='application/octet-stream')),
        FilePart(file=FileWithUri(uri='https://example.com/a', name='a.png', mime_type='image/png')),
        DataPart(data={'deep': {'list': ['one', 'two']}}),
    ]
    task = await probe.send_for_task(message(parts=parts))
    kept = [part.root.model_dump(exclude_none=True) for part in task.history[0].parts]
    sent = [part.model_dump(exclude_none=True) for part in parts]
    for part in kept:
        if not part.get('metadata'):
            part.pop('metadata', None)
    check(kept, sent, 'the parts')


async def stream_message_answer(probe: Probe) -> None:
    events = [event async for event in probe.stream(message('echo hello'))]
    check([told(event) for event in events], ['message'], 'the events')


async def stream_in_order(probe: Probe) -> None:
    events = [event async for event in probe.stream(message(prefix='tck-stream-ordering-001'))]
    expected = ['task', 'working', 'artifact: Ordered output', 'completed']
    check([told(event) for event in events], expected, 'the events')
    check(events[-1][1].final, True, 'whether the last event is final')
    check_state(events[-1][0], TaskState.completed)


async def stream_chunks(probe: Probe) -> None:
    events = [event async for event in probe.stream(message(prefix='tck-stream-artifact-chunked'))]
    task = events[-1][0]
    check([text_of(it.parts) for it in task.artifacts], ['chunk-1 chunk-2'], 'the artifact as a whole')


async def resubscribe_sees_the_rest(probe: Probe) -> None:
    task = await probe.start_held()
    events = []
    async for event in probe.streaming.resubscribe(TaskIdParams(id=task.id)):
        events.append(told(event))
        if len(events) == 1:
            await probe.cancel(task.id)
    check(events, ['task', 'canceled'], 'the events')


async def resubscribe_to_finished(probe: Probe) -> None:
    task = await probe.send_for_task(message('task'))
    stream = probe.streaming.resubscribe(TaskIdParams(id=task.id))
    check([told(event) async for event in stream], ['task'], 'the events')


async def get_unknown(probe: Probe) -> None:
    unknown = TaskQueryParams(id=str(uuid.uuid4()))
    await check_fails(probe.waiting.get_task(unknown), *NOT_FOUND)


async def cancel_working(probe: Probe) -> None:
    task = await probe.start_held()
    check_state(await probe.cancel(task.id), TaskState.canceled)


async def cancel_finished(probe: Probe) -> None:
    task = await probe.send_for_task(message('task'))
    await check_fails(probe.cancel(task.id), *NOT_CANCELABLE)


async def cancel_unknown(probe: Probe) -> None:
    await check_fails(probe.cancel(str(uuid.uuid4())), *NOT_FOUND)


async def push_configs(probe: Probe) -> None:
    task = await probe.start_held()
    config = PushNotificationConfig(
        id='first',
        url='http://127.0.0.1:9/nobody',
        token='a token',
        authentication=PushNotificationAuthenticationInfo(schemes=['Bearer'], credentials='secret'),
    )
    pair = TaskPushNotificationConfig(task_id=task.id, push_notification_config=config)
    made = await probe.waiting.set_task_callback(pair)
    check((made.task_id, made.push_notification_config.id), (task.id, 'first'), 'what was made')
    wanted = GetTaskPushNotificationConfigParams(id=task.id, push_notification_config_id='first')
    got = await probe.waiting.get_task_callback(wanted)
    check(got.push_notification_config.token, 'a token', 'the token')
    check(got.push_notification_config.authentication.schemes, ['Bearer'], 'the schemes')
    await probe.cancel(task.id)


async def push_later(probe: Probe) -> None:
    async with Webhook() as webhook:
        task = await probe.start_held()
        config = PushNotificationConfig(url=webhook.url, token='a token')
        pair = TaskPushNotificationConfig(task_id=task.id, push_notification_config=config)
        await probe.waiting.set_task_callback(pair)
        await probe.cancel(task.id)
        posted = (await webhook.until('canceled'))[-1]
        check(posted.headers['content-type'], 'application/json', 'the media type')
        check(posted.headers['x-a2a-notification-token'], 'a token', 'the token')
        told = Task.model_validate(posted.body)
        check((told.id, told.status.state), (task.id, TaskState.canceled), 'the task')


async def push_config_unknown(probe: Probe) -> None:
    task = await probe.send_for_task(message('task'))
    wanted = GetTaskPushNotificationConfigParams(id=task.id, push_notification_config_id='nobody')
    await check_fails(probe.waiting.get_task_callback(wanted), *NOT_FOUND)
