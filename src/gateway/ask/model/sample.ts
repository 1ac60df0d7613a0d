// Answers `sampling/createMessage` for clients without sampling, with a configured model behind any OpenAI-compatible
// endpoint. The operator's configuration is the consent; each use is logged without its content. Neither the key nor
// the endpoint's messages about it reach a server.
import type { Ask } from '../../../protocol/exchange.ts';
import { isObject } from '../../../protocol/message.ts';
import { systemClock } from '../../../shared/clock.ts';
import type { Clock } from '../../../shared/clock.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { createLog } from '../../../shared/log.ts';
import type { Log } from '../../../shared/log.ts';
import { onAbort } from '../../../shared/timing.ts';
import { fromChat } from './from-chat.ts';
import { ModelEndpoint } from './model-endpoint.ts';
import { PrincipalLimiter } from '../principal-limiter.ts';
import type { StandIn, StandInFor } from '../ask-channels.ts';
import { toChat } from './to-chat.ts';

export interface SamplerOptions {
  /** Such as https://api.example.com/v1; `/chat/completions` is added if missing. */
  url: string;
  /** Sent as `Authorization: Bearer …`. */
  key?: string | undefined;
  /** Further headers. */
  headers?: Readonly<Record<string, string>> | undefined;
  /** The model name, or several: servers may choose with a hint, and the first is the default. */
  model: string | readonly string[];
  /** The limit for one answer, whatever a server asks for. */
  maxTokens?: number | undefined;
  /** How many requests of one principal run at once; more have to wait. */
  maxConcurrent?: number | undefined;
  timeoutMs?: number | undefined;
  /** The largest request to the endpoint, and the largest answer. */
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

/** The first hint that is part of a configured name decides. */
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
  const [callOff, stopListening] = [clock.after(ms, abort), onAbort(parent, abort)];
  const stop = (): void => {
    callOff();
    stopListening();
  };
  return { signal: controller.signal, stop };
}
