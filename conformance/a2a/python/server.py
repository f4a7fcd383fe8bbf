"""A small agent on the official SDK, for our client to call: both versions, three bindings.

It takes free ports, prints the address of its card, and serves until it is killed. What it does is chosen by
how a message begins: `echo`, `task`, `burst N`, `hold` (until it is cancelled), `ask`.
"""

import asyncio
import socket
import sys

import grpc.aio
import uvicorn
from a2a.compat.v0_3 import a2a_v0_3_pb2_grpc as old_service
from a2a.compat.v0_3.grpc_handler import CompatGrpcHandler
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryPushNotificationConfigStore, InMemoryTaskStore, TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatus,
    a2a_pb2_grpc as service,
)
from starlette.applications import Starlette


class Agent(AgentExecutor):
    """Does what the first word of a message says."""

    async def execute(self, context, queue):
        text = context.get_user_input() or ""
        word = text.split(" ")[0]
        if word == "echo":
            answer = Message(
                role=Role.ROLE_AGENT,
                message_id=f"answer-to-{context.message.message_id}",
                context_id=context.context_id,
                parts=[Part(text=text)],
            )
            await queue.enqueue_event(answer)
            return
        updater = TaskUpdater(queue, context.task_id, context.context_id)
        if context.current_task is None:
            task = Task(
                id=context.task_id,
                context_id=context.context_id,
                status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
                history=[context.message],
            )
            task.status.timestamp.GetCurrentTime()
            await queue.enqueue_event(task)
        if word == "ask" and context.current_task is None:
            await updater.requires_input()
            return
        await updater.start_work()
        if word == "hold":
            await asyncio.Event().wait()
        count = int(text.split(" ")[1]) if word == "burst" else 1
        for number in range(count):
            await updater.add_artifact(
                parts=[Part(text=f"{number} of {text}\n")],
                artifact_id="made",
                append=number > 0,
                last_chunk=number == count - 1,
            )
        await updater.complete()

    async def cancel(self, context, queue):
        await TaskUpdater(queue, context.task_id, context.context_id).cancel()


def card_at(http, rpc):
    """The card of the agent at these addresses."""
    interfaces = [
        AgentInterface(url=url, protocol_binding=binding, protocol_version=version)
        for version in ("1.0", "0.3")
        for binding, url in (("JSONRPC", f"{http}/rpc"), ("HTTP+JSON", f"{http}/rest"), ("GRPC", rpc))
    ]
    return AgentCard(
        name="official",
        description="An agent on the official SDK.",
        version="1.0.0",
        supported_interfaces=interfaces,
        capabilities=AgentCapabilities(streaming=True, push_notifications=True),
        default_input_modes=["text/plain"],
        default_output_modes=["text/plain"],
        skills=[AgentSkill(id="try", name="Try", description="Something to try.", tags=["test"])],
    )


async def anywhere(_):
    """Webhooks are not called here; any address will do."""
    return True


async def main():
    listener = socket.create_server(("127.0.0.1", 0))
    rpc = grpc.aio.server()
    rpc_port = rpc.add_insecure_port("127.0.0.1:0")
    http = f"http://127.0.0.1:{listener.getsockname()[1]}"
    card = card_at(http, f"127.0.0.1:{rpc_port}")
    handler = DefaultRequestHandler(
        agent_executor=Agent(),
        task_store=InMemoryTaskStore(),
        agent_card=card,
        push_config_store=InMemoryPushNotificationConfigStore(),
        push_url_validator=anywhere,
    )
    service.add_A2AServiceServicer_to_server(GrpcHandler(handler), rpc)
    old_service.add_A2AServiceServicer_to_server(CompatGrpcHandler(handler), rpc)
    await rpc.start()
    routes = [
        *create_agent_card_routes(agent_card=card),
        *create_jsonrpc_routes(request_handler=handler, rpc_url="/rpc", enable_v0_3_compat=True),
        *create_rest_routes(request_handler=handler, path_prefix="/rest", enable_v0_3_compat=True),
    ]
    config = uvicorn.Config(Starlette(routes=routes), log_level="warning", access_log=False)
    print(http, flush=True)
    await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
