"""Streams: their order, their chunks, several on one task, and going on after a cut."""

import asyncio
import uuid

from a2a.types import CancelTaskRequest
from probe import (
    Mismatch,
    Probe,
    check,
    check_fails,
    check_state,
    check_that,
    collect,
    request,
    text_of,
    told,
)

# A task that works for a while and then completes by itself.
PAUSING = 'test-resubscribe-message-id'


async def stream_message_answer(probe: Probe) -> None:
    events = await collect(probe.stream(request('echo hello')))
    check([told(event) for event in events], ['message'], 'the events')
    check(text_of(events[0].message.parts), 'echo hello', 'the text')


async def stream_in_order(probe: Probe) -> None:
    events = await collect(probe.stream(request(prefix='tck-stream-ordering-001')))
    check(
        [told(event) for event in events],
        ['task', 'working', 'artifact: Ordered output', 'completed'],
        'the events',
    )
    task = events[0].task
    named = {(e.status_update.task_id, e.status_update.context_id) for e in (events[1], events[3])}
    check(named, {(task.id, task.context_id)}, 'the ids in the updates')


async def stream_chunks(probe: Probe) -> None:
    events = await collect(probe.stream(request(prefix='tck-stream-artifact-chunked')))
    chunks = [event.artifact_update for event in events if event.HasField('artifact_update')]
    check(
        [(text_of(c.artifact.parts), c.append, c.last_chunk) for c in chunks],
        [('chunk-1 ', False, False), ('chunk-2', True, True)],
        'the chunks with append and lastChunk',
    )
    check(len({chunk.artifact.artifact_id for chunk in chunks}), 1, 'artifact ids')
    kept = await probe.get(events[0].task.id)
    check([text_of(a.parts) for a in kept.artifacts], ['chunk-1 chunk-2'], 'the artifact in the end')


async def stream_many_chunks(probe: Probe) -> None:
    # Deltas may be joined on their way, so what counts is what they say together.
    events = await collect(probe.stream(request('burst 200')))
    check(told(events[-1]), 'completed', 'the last event')
    said = ''.join(text_of(e.artifact_update.artifact.parts) for e in events)
    check(said, ''.join(f'c{i} ' for i in range(200)), 'what the chunks say')
    kept = await probe.get(events[0].task.id)
    check(''.join(text_of(a.parts) for a in kept.artifacts), said, 'what the artifact says')


async def stream_file(probe: Probe) -> None:
    events = await collect(probe.stream(request(prefix='tck-stream-artifact-file')))
    parts = [part for e in events for part in e.artifact_update.artifact.parts]
    check([(p.filename, p.media_type) for p in parts], [('output.txt', 'text/plain')], 'the files')


async def stream_to_input_required(probe: Probe) -> None:
    events = await collect(probe.stream(request(prefix='tck-input-required')))
    check(told(events[-1]), 'input_required', 'the last event before the stream closes')
    task = events[0].task
    follow_up = request(prefix='tck-complete-task', task_id=task.id, context_id=task.context_id)
    events = await collect(probe.stream(follow_up))
    check(told(events[-1]), 'completed', 'the last event of the follow-up')


async def subscribe_sees_the_rest(probe: Probe) -> None:
    first = probe.stream(request(prefix=PAUSING))
    task = (await anext(first)).task
    await _until_working(first)
    second = probe.subscribe(task.id)
    snapshot = await anext(second)
    check(told(snapshot), 'task', 'the first event of a subscription')
    check(snapshot.task.id, task.id, 'the task in it')
    check_state(snapshot.task, 'WORKING')
    rest = await asyncio.gather(collect(first), collect(second))
    check([[told(e) for e in events] for events in rest], [['completed']] * 2, 'the rest of both')


async def closing_a_stream_leaves_other_streams_alone(probe: Probe) -> None:
    first = probe.stream(request(prefix=PAUSING))
    task = (await anext(first)).task
    await _until_working(first)
    second = probe.subscribe(task.id)
    await anext(second)
    await first.aclose()
    check(told((await collect(second))[-1]), 'completed', 'how the other stream ended')
    check_state(await probe.get(task.id), 'COMPLETED')


async def subscribe_sees_a_cancel(probe: Probe) -> None:
    task = await probe.start_held()
    streams = [probe.subscribe(task.id) for _ in range(3)]
    for stream in streams:
        check(told(await anext(stream)), 'task', 'the first event of a subscription')
    await probe.calling.cancel_task(CancelTaskRequest(id=task.id))
    rest = await asyncio.gather(*map(collect, streams))
    check([told(events[-1]) for events in rest], ['canceled'] * 3, 'how the streams ended')
    check_that(rest[0] == rest[1] == rest[2], 'the streams differ')


async def subscribe_to_finished(probe: Probe) -> None:
    task = await probe.send_for_task(request('task'))
    await check_fails(collect(probe.subscribe(task.id)), 'UnsupportedOperationError')


async def subscribe_to_unknown(probe: Probe) -> None:
    await check_fails(collect(probe.subscribe(str(uuid.uuid4()))), 'TaskNotFoundError')


async def resume_with_a_cursor(probe: Probe) -> None:
    # A task's events are numbered from 1, so the number of events seen is the cursor.
    whole = await collect(probe.stream(request('burst 5')))
    for seen in range(1, len(whole)):
        rest = await collect(probe.subscribe(whole[0].task.id, last_event_id=str(seen)))
        check(rest, whole[seen:], f'what follows event {seen}')


async def _until_working(stream) -> None:
    async for event in stream:
        if told(event) == 'working':
            return
    raise Mismatch('the stream ended before the task worked')
