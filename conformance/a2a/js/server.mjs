// The agent of `../python/server.py` on the official SDK for JavaScript.
import { randomUUID } from 'node:crypto'
import { Server, ServerCredentials } from '@grpc/grpc-js'
import { AGENT_CARD_PATH, Role, TaskState } from '@a2a-js/sdk'
import {
  AgentEvent, DefaultRequestHandler, InMemoryPushNotificationStore, InMemoryTaskStore,
} from '@a2a-js/sdk/server'
import { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } from '@a2a-js/sdk/server/express'
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc'
import express from 'express'

const part = text => ({ content: { $case: 'text', value: text }, filename: '', mediaType: '' })
const status = state => ({ state, timestamp: new Date().toISOString() })

/** Does what the first word of a message says. */
class Agent {
  #held = new Map()

  async execute({ userMessage, taskId, contextId, task }, bus) {
    const first = userMessage.parts[0]?.content
    const text = first?.$case === 'text' ? first.value : ''
    const [word, number] = text.split(' ')
    if (word === 'echo') {
      bus.publish(AgentEvent.message({
        messageId: randomUUID(), role: Role.ROLE_AGENT, parts: [part(text)], contextId, taskId: '',
        extensions: [], referenceTaskIds: [],
      }))
      return bus.finished()
    }
    const now = state => bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state) }))
    bus.publish(AgentEvent.task(task ?? {
      id: taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED), artifacts: [], history: [userMessage],
    }))
    if (word === 'ask' && !task) {
      now(TaskState.TASK_STATE_INPUT_REQUIRED)
      return bus.finished()
    }
    now(TaskState.TASK_STATE_WORKING)
    if (word === 'hold') {
      await new Promise(done => this.#held.set(taskId, done))
      now(TaskState.TASK_STATE_CANCELED)
      return bus.finished()
    }
    const count = word === 'burst' ? Number(number) : 1
    for (let at = 0; at < count; at++) {
      bus.publish(AgentEvent.artifactUpdate({
        taskId, contextId, append: at > 0, lastChunk: at === count - 1,
        artifact: { artifactId: 'made', name: '', description: '', parts: [part(`${at} of ${text}\n`)], extensions: [] },
      }))
    }
    now(TaskState.TASK_STATE_COMPLETED)
    bus.finished()
  }

  cancelTask = async taskId => this.#held.get(taskId)?.()
}

const app = express()
const http = await new Promise(done => { const server = app.listen(0, '127.0.0.1', () => done(server)) })
const base = `http://127.0.0.1:${http.address().port}`
const rpc = new Server()
const port = await new Promise((done, failed) => {
  rpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, port) => error ? failed(error) : done(port))
})
const at = (protocolBinding, url) => ({ protocolBinding, url, tenant: '', protocolVersion: '1.0' })
const requestHandler = new DefaultRequestHandler({
  name: 'official', description: 'An agent on the official SDK.', version: '1.0.0',
  supportedInterfaces: [at('JSONRPC', `${base}/rpc`), at('HTTP+JSON', `${base}/rest`), at('GRPC', `127.0.0.1:${port}`)],
  provider: { organization: 'test', url: 'https://example.com' },
  capabilities: { streaming: true, pushNotifications: true, extensions: [], extendedAgentCard: false },
  securitySchemes: {}, securityRequirements: [], signatures: [], documentationUrl: '',
  defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'],
  skills: [{
    id: 'try', name: 'Try', description: 'Something to try.', tags: ['test'], examples: [], inputModes: [],
    outputModes: [], securityRequirements: [],
  }],
}, new InMemoryTaskStore(), new Agent(), undefined, new InMemoryPushNotificationStore())
const options = { requestHandler, userBuilder: UserBuilder.noAuthentication }
app.use(`/${AGENT_CARD_PATH}`, agentCardHandler({ agentCardProvider: requestHandler }))
app.use('/rpc', jsonRpcHandler(options))
app.use('/rest', restHandler(options))
rpc.addService(A2AService, grpcService(options))
console.log(base)
