"""Sending and waiting: message answers, tasks, follow-ups, contexts."""

import uuid

from a2a.types import Role, SendMessageConfiguration
from probe import Probe, check, check_fails, check_state, check_that, request, text_of


async def send_message_answer(probe: Probe) -> None:
    answer = await probe.send(request('echo hello'))
    check(answer.WhichOneof('payload'), 'message', 'the kind of answer')
    check(answer.message.role, Role.ROLE_AGENT, 'the role of the answer')
    check(text_of(answer.message.parts), 'echo hello', 'the text of the answer')
    check_that(answer.message.message_id != '', 'the answer has no message id')
    check_that(answer.message.context_id != '', 'the answer names no context')


async def send_task(probe: Probe) -> None:
    sent = request('task hello')
    task = await probe.send_for_task(sent)
    check_state(task, 'COMPLETED')
    check([text_of(artifact.parts) for artifact in task.artifacts], ['task hello'], 'the artifacts')
    first = task.history[0]
    check(first.message_id, sent.message.message_id, 'the first message in the history')
    check((first.task_id, first.context_id), (task.id, task.context_id), 'the ids filled in there')
    check_that(task.status.HasField('timestamp'), 'the status has no timestamp')


async def send_status_message(probe: Probe) -> None:
    task = await probe.send_for_task(request(prefix='tck-complete-task'))
    check_state(task, 'COMPLETED')
    check(text_of(task.status.message.parts), 'Hello from TCK', 'the text of the status')


async def send_rejected(probe: Probe) -> None:
    check_state(await probe.send_for_task(request(prefix='tck-reject-task')), 'REJECTED')


async def send_failed(probe: Probe) -> None:
    check_state(await probe.send_for_task(request(prefix='tck-task-failure')), 'FAILED')


async def send_return_immediately(probe: Probe) -> None:
    task = await probe.start_held()
    check_that(task.id != '', 'the task has no id')
    again = await probe.get(task.id)
    check_state(again, 'WORKING')


async def send_history_length(probe: Probe) -> None:
    configuration = SendMessageConfiguration(history_length=0)
    task = await probe.send_for_task(request('task', configuration=configuration))
    check(len(task.history), 0, 'messages in the history of length 0')


async def send_again_is_one_task(probe: Probe) -> None:
    sent, key = request('task once'), str(uuid.uuid4())
    first = await probe.send_for_task(sent, idempotency_key=key)
    second = await probe.send_for_task(sent, idempotency_key=key)
    check(second.id, first.id, 'the task of a message that was sent twice')


async def send_again_with_other_text(probe: Probe) -> None:
    sent, key = request('task once'), str(uuid.uuid4())
    await probe.send(sent, idempotency_key=key)
    sent.message.parts[0].text = 'task twice'
    await check_fails(probe.send(sent, idempotency_key=key), 'InvalidParamsError')


async def send_with_used_id_is_new(probe: Probe) -> None:
    sent = request('task once')
    first = await probe.send_for_task(sent)
    second = await probe.send_for_task(sent)
    check_that(second.id != first.id, 'the old task is the answer to a new message')


async def context_is_kept(probe: Probe) -> None:
    context = f'context-{uuid.uuid4()}'
    task = await probe.send_for_task(request('task', context_id=context))
    check(task.context_id, context, 'the context of the task')
    answer = await probe.send(request('echo', context_id=context))
    check(answer.message.context_id, context, 'the context of the answer')


async def input_required(probe: Probe) -> None:
    asked = await probe.send_for_task(request('first', prefix='tck-input-required'))
    check_state(asked, 'INPUT_REQUIRED')
    follow_up = request('second', prefix='tck-complete-task', task_id=asked.id)
    answered = await probe.send_for_task(follow_up)
    check(answered.id, asked.id, 'the task that the follow-up went to')
    check(answered.context_id, asked.context_id, 'the context inferred from the task')
    check_state(answered, 'COMPLETED')
    said = [text_of(message.parts) for message in answered.history if message.role == Role.ROLE_USER]
    check(said, ['first', 'second'], 'what the user said')


async def history_length(probe: Probe) -> None:
    asked = await probe.send_for_task(request('first', prefix='tck-input-required'))
    await probe.send(request('second', prefix='tck-complete-task', task_id=asked.id))
    whole = await probe.get(asked.id)
    check_that(len(whole.history) >= 2, f'the whole history has {len(whole.history)} messages')
    check(len((await probe.get(asked.id, history_length=0)).history), 0, 'messages of length 0')
    newest = await probe.get(asked.id, history_length=1)
    check(
        [message.message_id for message in newest.history],
        [whole.history[-1].message_id],
        'the one newest message',
    )
    more = await probe.get(asked.id, history_length=100)
    check(len(more.history), len(whole.history), 'messages of a length beyond what there is')


async def follow_up_to_finished(probe: Probe) -> None:
    task = await probe.send_for_task(request('task'))
    await check_fails(
        probe.send(request('more', task_id=task.id, context_id=task.context_id)),
        'UnsupportedOperationError',
    )


async def follow_up_to_unknown(probe: Probe) -> None:
    await check_fails(probe.send(request('more', task_id=str(uuid.uuid4()))), 'TaskNotFoundError')


async def follow_up_in_other_context(probe: Probe) -> None:
    asked = await probe.send_for_task(request(prefix='tck-input-required'))
    await check_fails(
        probe.send(request('more', task_id=asked.id, context_id=f'other-{uuid.uuid4()}')),
        'InvalidParamsError',
    )
