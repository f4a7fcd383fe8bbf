"""Every kind of part, there and back."""

from google.protobuf.json_format import MessageToDict, ParseDict
from google.protobuf.struct_pb2 import Struct, Value

from a2a.types import Part
from probe import Probe, check, check_state, request, text_of


async def text_artifact(probe: Probe) -> None:
    part = await _only_part(probe, 'tck-artifact-text')
    check(part.text, 'Generated text content', 'the text')


async def file_bytes_artifact(probe: Probe) -> None:
    part = await _only_part(probe, 'tck-artifact-file')
    check(part.WhichOneof('content'), 'raw', 'the kind of part')
    check((part.filename, part.media_type), ('output.txt', 'text/plain'), 'the name and type')
    check(len(part.raw) > 0, True, 'that there are bytes')


async def file_url_artifact(probe: Probe) -> None:
    part = await _only_part(probe, 'tck-artifact-file-url')
    check(part.url, 'https://example.com/output.txt', 'the address')
    check((part.filename, part.media_type), ('output.txt', 'text/plain'), 'the name and type')


async def data_artifact(probe: Probe) -> None:
    part = await _only_part(probe, 'tck-artifact-data')
    check(MessageToDict(part.data), {'key': 'value', 'count': 42}, 'the data')


async def parts_come_back(probe: Probe) -> None:
    metadata = Struct()
    metadata.update({'nested': {'list': [1, 'two', None, True, 0.5]}})
    sent = [
        Part(text='Grüße, 世界 \U0001f30d', metadata=metadata),
        Part(raw=bytes(range(256)), filename='bytes.txt', media_type='text/plain'),
        Part(url='https://example.com/a?b=c#d', filename='page.txt', media_type='text/plain'),
        Part(data=_value({'a': [1, -2.5, None, {'b': []}], 'c': {}}), media_type='application/json'),
        Part(data=_value([[], 'x', False])),
        Part(data=_value(None)),
        Part(data=_value('a bare string')),
    ]
    task = await probe.send_for_task(request(prefix='tck-complete-task', parts=sent))
    check_state(task, 'COMPLETED')
    kept = await probe.get(task.id)
    check(
        [MessageToDict(part) for part in kept.history[0].parts],
        [MessageToDict(part) for part in sent],
        'the parts in the history',
    )
    check(
        [part.WhichOneof('content') for part in kept.history[0].parts],
        [part.WhichOneof('content') for part in sent],
        'the kinds of parts in the history',
    )


async def large_message(probe: Probe) -> None:
    text = 'task ' + 'x' * 1_000_000
    task = await probe.send_for_task(request(text))
    check(text_of(task.artifacts[0].parts) == text, True, 'that a megabyte comes back as it was')


async def _only_part(probe: Probe, prefix: str) -> Part:
    task = await probe.send_for_task(request(prefix=prefix))
    check_state(task, 'COMPLETED')
    check([len(artifact.parts) for artifact in task.artifacts], [1], 'the parts of the artifacts')
    return task.artifacts[0].parts[0]


def _value(json: object) -> Value:
    return ParseDict(json, Value())
