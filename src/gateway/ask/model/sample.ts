// Answers `sampling/createMessage` for clients that have no sampling, by a model that the operator has configured: any endpoint
// that speaks the chat completions of OpenAI. The operator's configuration is the consent; each use is logged, what was said is
// not. Neither the key nor what the endpoint says about it reaches a server.
import type { Ask } from '../../../protocol/exchange.ts';
import { isObject } from '../../../protocol/message.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { Clock } from '../../../shared/clock.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { createLog } from '../../../shared/log.ts';
import type { Log } from '../../../shared/log.ts';
import { fromChat } from './from-chat.ts';
import { ModelEndpoint } from './model-endpoint.ts';
import { PrincipalLimiter } from '../principal-limiter.ts';
import type { StandIn, StandInFor } from '../stand-in.ts';
import { toChat } from './to-chat.ts';

export interface SamplerOptions {
  /** Such as https://api.example.com/v1; `/chat/completions` is added where it is missing. */
  url: string;
  /** Sent as `Authorization: Bearer …`. */
  key?: string | undefined;
  /** Further headers. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** What the endpoint calls it; of several, servers may choose by a hint, and the first is the default. */
  model: string | readonly string[];
  /** At most so many for one answer, whatever a server asks for. */
  maxTokens?: number | undefined;
  /** How many answers one principal may wait for at once; further ones wait their turn. */
  maxConcurrent?: number | undefined;
  timeoutMs?: number | undefined;
  /** Of a request to the endpoint, and of its answer. */
  maxBytes?: number | undefined;
  log?: Log | undefined;
  clock?: Clock | undefined;
}

const MiB = 1024 * 1024;

export function createSampler(options: SamplerOptions): StandIn {
  const { url, key, headers, model, maxTokens = 4096, maxConcurrent = 4, timeoutMs = 120_000 } = options;
  const { maxBytes = 16 * MiB, log = createLog(), clock = systemClock } = options;
  const models = typeof model === 'string' ? [model] : [...model];
  const endpoint = new ModelEndpoint({ url, key, headers, maxBytes });
  const turns = new PrincipalLimiter(maxConcurrent);
  return async function sample({ params = {} }: Ask, exchange: StandInFor) {
    const chat = toChat(params, { model: choose(models, params.modelPreferences), maxTokens });
    const told = { exchange: exchange.id, principal: exchange.client.principal, model: chat.model };
    const { signal, stop } = within(timeoutMs, exchange.signal, clock);
    try {
      const result = await turns.run(exchange.client.principal, signal, async () =>
        fromChat(await endpoint.complete(chat, signal), chat.model),
      );
      log.info({ ...told, stopReason: result.stopReason }, 'sampling.answered');
      return result;
    } catch (thrown) {
      if (exchange.signal.aborted) throw new GatewayError('CANCELLED');
      const error = signal.aborted
        ? new GatewayError('MODEL_FAILED', { reason: `no answer in ${timeoutMs} ms` })
        : thrown;
      log.warn({ ...told, error }, 'sampling.failed');
      throw error;
    } finally {
      stop();
    }
  };
}

/** The first hint that a configured model has in its name decides. */
function choose(models: readonly string[], preferences: unknown): string {
  const { hints } = isObject(preferences) ? preferences : {};
  for (const hint of Array.isArray(hints) ? (hints as unknown[]) : []) {
    const name = isObject(hint) && typeof hint.name === 'string' ? hint.name.toLowerCase() : '';
    const found = name !== '' && models.find((model) => model.toLowerCase().includes(name));
    if (found) return found;
  }
  return models[0]!;
}

function within(ms: number, parent: AbortSignal, clock: Clock): { signal: AbortSignal; stop: () => void } {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  if (parent.aborted) abort();
  parent.addEventListener('abort', abort);
  const callOff = clock.after(ms, abort);
  const stop = (): void => {
    callOff();
    parent.removeEventListener('abort', abort);
  };
  return { signal: controller.signal, stop };
}
