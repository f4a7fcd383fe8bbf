"""Versions, extensions and parameters that are wrong."""

from a2a.types import Message, Part, Role, SendMessageRequest
from probe import Probe, check, check_fails, collect, only_over, request, told


# Over gRPC this client sends its own version as well, and first.
@only_over('JSONRPC', 'HTTP+JSON')
async def version_not_supported(probe: Probe) -> None:
    for version in ('9.9', '0.2'):
        await check_fails(
            probe.send(request('echo'), a2a_version=version), 'VersionNotSupportedError'
        )


@only_over('JSONRPC', 'HTTP+JSON')
async def version_not_supported_in_a_stream(probe: Probe) -> None:
    await check_fails(
        collect(probe.stream(request('echo'), a2a_version='9.9')), 'VersionNotSupportedError'
    )


@only_over('JSONRPC', 'HTTP+JSON')
async def patch_version_is_ignored(probe: Probe) -> None:
    answer = await probe.send(request('echo'), a2a_version='1.0.7')
    check(told(answer), 'message', 'the kind of answer')


async def unknown_extension_is_ignored(probe: Probe) -> None:
    answer = await probe.send(request('echo'), a2a_extensions='https://example.com/unknown/v1')
    check(told(answer), 'message', 'the kind of answer')


async def message_without_parts(probe: Probe) -> None:
    await check_fails(probe.send(request(parts=[])), 'InvalidParamsError')


async def message_without_id(probe: Probe) -> None:
    message = Message(role=Role.ROLE_USER, parts=[Part(text='echo')])
    await check_fails(probe.send(SendMessageRequest(message=message)), 'InvalidParamsError')


async def part_without_content(probe: Probe) -> None:
    await check_fails(probe.send(request(parts=[Part()])), 'InvalidParamsError')


async def no_message(probe: Probe) -> None:
    await check_fails(probe.send(SendMessageRequest()), 'InvalidParamsError')


async def bad_parameters_in_a_stream(probe: Probe) -> None:
    await check_fails(collect(probe.stream(request(parts=[]))), 'InvalidParamsError')


# Over HTTP+JSON a task without an id is another path.
@only_over('JSONRPC', 'GRPC')
async def get_without_id(probe: Probe) -> None:
    await check_fails(probe.get(''), 'InvalidParamsError')
