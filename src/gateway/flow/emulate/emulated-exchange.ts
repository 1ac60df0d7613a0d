// The tool call behind an emulated session. Its request is already answered, so its questions become prompts of the
// session, and other requests reach the client outside of any request.
import { deriveExchange } from '../../../protocol/derived-exchange.ts';
import type { ChannelPart } from '../../../protocol/derived-exchange.ts';
import type { Ask, Exchange } from '../../../protocol/exchange.ts';
import { InternalExchange } from '../../../protocol/internal-exchange.ts';
import type { JsonObject } from '../../../protocol/message.ts';
import type { Watcher } from '../../../protocol/target.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { isPromptable } from './form-prompts.ts';
import type { EmulatedSession } from './emulated-session.ts';

export function emulatedExchange(
  origin: Exchange,
  args: JsonObject,
  session: EmulatedSession,
  watcher: Watcher | undefined,
): Exchange {
  const { id, client, trace, logLevel, wantsProgress, ownTool, audited } = origin;
  const request = new InternalExchange(
    'tools/call',
    { name: session.options.tool, arguments: args },
    client,
    session.signal,
  );
  return deriveExchange(Object.assign(request, { id, logLevel, wantsProgress, audited }), {
    trace,
    ownTool,
    expectsQuestions: true,
    awaitsTask: true,
    channel: toChannel(origin, session, watcher),
  });
}

function toChannel(origin: Exchange, session: EmulatedSession, watcher: Watcher | undefined): ChannelPart {
  const reachesClient = (ask: Ask): boolean =>
    ask.method !== 'elicitation/create' && watcher?.ask !== undefined && origin.canAsk(ask);
  return {
    notify: (method, params) => watcher?.notify?.(method, params),
    progress: (progress) => session.progress(progress),
    canAsk: (ask) => isPromptable(ask) || reachesClient(ask),
    ask(ask, signal) {
      if (isPromptable(ask)) return session.ask(ask, signal);
      if (reachesClient(ask)) return watcher!.ask!(ask, signal);
      return Promise.reject(new GatewayError('CLIENT_CANNOT_BE_ASKED', { what: ask.method }));
    },
  };
}
