// Test helper: a conversation with one client whose messages the test sends.
import type { Exchange } from '../../protocol/exchange.ts';
import type { JsonObject, Message } from '../../protocol/message.ts';
import { Conversation } from './serve/conversation.ts';
import { FakeTarget, RecordingOutlet, fakeContext, request } from './fake-context.contract.ts';
import type { RecordedAnswer } from './fake-context.contract.ts';
import type { ServeContextOptions } from './serve/serve-context.ts';

type Handle = (exchange: Exchange) => JsonObject | Promise<JsonObject>;

export function converse(handle?: Handle, options?: ServeContextOptions) {
  const target = new FakeTarget(handle);
  const context = fakeContext(target, options);
  const back: Message[] = [];
  const exits: number[] = [];
  const conversation = new Conversation(
    context,
    'me',
    { send: (message) => void back.push(message) },
    {
      onExit: (status) => void exits.push(status),
    },
  );
  const put = (message: unknown): RecordingOutlet => {
    const outlet = new RecordingOutlet();
    conversation.receive(message as Message, outlet);
    return outlet;
  };
  const call = (id: string | number, method: string, params?: JsonObject) => put(request(id, method, params));
  const tell = (method: string, params?: JsonObject) => put({ jsonrpc: '2.0', method, ...(params && { params }) });
  const open = (params: JsonObject = { protocolVersion: '2025-11-25' }) => {
    const outlet = call('init', 'initialize', params);
    tell('notifications/initialized');
    return outlet.ends[0] as RecordedAnswer;
  };
  return { target, context, back, exits, conversation, put, call, tell, open };
}

export const answerOf = (outlet: RecordingOutlet): RecordedAnswer => outlet.ends[0] as RecordedAnswer;
