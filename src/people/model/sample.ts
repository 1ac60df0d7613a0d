// Answers `sampling/createMessage` for clients without sampling, with a configured model behind any OpenAI-compatible
// endpoint. The operator's configuration is the consent; each use is logged without its content. Neither the key nor
// the endpoint's messages about it reach a server.
import type { Ask } from '../../kernel/exchange.ts';
import { isObject } from '../../kernel/message.ts';
import type { JsonObject } from '../../kernel/message.ts';
import { systemClock } from '../../kernel/base/clock.ts';
import type { Clock } from '../../kernel/base/clock.ts';
import { follow } from '../../kernel/base/cancellation.ts';
import { cancelledBy } from '../../kernel/base/cancelled-error.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { createLog } from '../../kernel/base/log.ts';
import type { Log } from '../../kernel/base/log.ts';
import { registerSecret } from '../../kernel/secrets/secret-shapes.ts';
import { secrets } from '../../kernel/secrets/secrets.ts';
import { openPromise } from '../../kernel/base/timing.ts';
import type { StandIn, StandInRequest } from '../stand-in.ts';
import { fromChat, toChat } from './chat-format.ts';
import type { Chat } from './chat-format.ts';

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
const PATH = '/chat/completions';
const MAX_WORDS = 300;
/** The request was wrong, so the server that asked can correct it. */
const TELLING = new Set([400, 404, 413, 422]);
/** Waiting tasks per running one. */
const MAX_WAITING = 16;

export function createSampler(options: SamplerOptions): StandIn {
  const { url, key, headers, model, maxTokens = 4096, maxConcurrent = 4, timeoutMs = 120_000 } = options;
  const { maxBytes = 16 * MiB, log = createLog(), clock = systemClock } = options;
  const models = typeof model === 'string' ? [model] : [...model];
  const endpoint = new ModelEndpoint({ url, key, headers, maxBytes });
  const turns = new PrincipalLimiter(maxConcurrent);
  return async function sample({ params = {} }: Ask, exchange: StandInRequest) {
    const chat = toChat(params, { model: choose(models, params.modelPreferences), maxTokens });
    const told = { exchange: exchange.id, principal: exchange.client.principal, model: chat.model };
    const controller = new AbortController();
    const { signal } = controller;
    const stops = [clock.after(timeoutMs, () => controller.abort()), follow(controller, exchange.signal)];
    try {
      const result = await turns.run(exchange.client.principal, signal, async () =>
        fromChat(await endpoint.complete(chat, signal), chat.model),
      );
      log.info({ ...told, stopReason: result.stopReason }, 'sampling.answered');
      return result;
    } catch (thrown) {
      if (exchange.signal.aborted) throw cancelledBy(exchange.signal);
      const error = signal.aborted
        ? new GatewayError('MODEL_FAILED', { reason: `no answer in ${timeoutMs} ms` })
        : thrown;
      log.warn({ ...told, error }, 'sampling.failed');
      throw error;
    } finally {
      for (const stop of stops) stop();
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

type ModelEndpointOptions = Pick<SamplerOptions, 'url' | 'key' | 'headers'> & { maxBytes: number };

/**
 * Posts chat completions to the configured endpoint. It follows no redirects (they would leak the key), limits what it reads, and keeps the
 * key out of errors; if the key is refused, the endpoint's message is withheld too.
 */
class ModelEndpoint {
  readonly #url: string;
  readonly #options: ModelEndpointOptions;
  /** Newer OpenAI models expect the other name, and say so. */
  #limitName: 'max_tokens' | 'max_completion_tokens' = 'max_tokens';

  constructor(options: ModelEndpointOptions) {
    this.#options = options;
    this.#url = toUrl(options.url);
    const { key = '', headers = {} } = options;
    for (const [name, value] of Object.entries({ key, ...headers })) registerSecret(name, value);
  }

  async complete(chat: Chat, signal: AbortSignal): Promise<JsonObject> {
    const first = await this.#post(chat, signal);
    const isNewer =
      this.#limitName === 'max_tokens' && first.status === 400 && first.text.includes('max_completion_tokens');
    if (isNewer) this.#limitName = 'max_completion_tokens';
    const { status, text } = isNewer ? await this.#post(chat, signal) : first;
    if (status < 200 || status > 299) throw this.#refusal(status, text);
    const parsed = parse(text);
    if (!isObject(parsed)) throw failed('its answer is not a JSON object');
    return parsed;
  }

  async #post({ max_tokens: limit, ...chat }: Chat, signal: AbortSignal): Promise<{ status: number; text: string }> {
    const body = JSON.stringify({ ...chat, [this.#limitName]: limit });
    const { maxBytes, key, headers } = this.#options;
    if (Buffer.byteLength(body) > maxBytes) throw failed(`the request has more than ${maxBytes} bytes`);
    try {
      const response = await fetch(this.#url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(key && { authorization: `Bearer ${key}` }), ...headers },
        body,
        signal,
        redirect: 'manual', // the key is for this URL only
      });
      return { status: response.status, text: await readAtMost(response.body ?? [], maxBytes) };
    } catch (cause) {
      if (cause instanceof GatewayError || signal.aborted) throw cause;
      throw new GatewayError('MODEL_FAILED', { reason: 'it cannot be reached' }, { cause });
    }
  }

  #refusal(status: number, text: string): GatewayError {
    const parsed = parse(text);
    const error = isObject(parsed) && isObject(parsed.error) ? parsed.error.message : undefined;
    const words =
      TELLING.has(status) && typeof error === 'string' ? `: ${secrets.mask(error).slice(0, MAX_WORDS)}` : '';
    return failed(`HTTP ${status}${words}`);
  }
}

function toUrl(text: string): string {
  if (!URL.canParse(text)) throw new GatewayError('BAD_OPTION', { option: 'ask.model.url', reason: 'it is not a URL' });
  const url = new URL(text);
  if (!/^https?:$/.test(url.protocol)) {
    throw new GatewayError('BAD_OPTION', { option: 'ask.model.url', reason: `http: or https: is needed` });
  }
  if (url.username !== '' || url.password !== '') {
    throw new GatewayError('BAD_OPTION', {
      option: 'ask.model.url',
      reason: 'credentials belong into "key" or "headers"',
    });
  }
  if (!url.pathname.endsWith(PATH)) url.pathname = url.pathname.replace(/\/*$/, PATH);
  return url.href;
}

async function readAtMost(body: AsyncIterable<Uint8Array> | [], maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw failed(`its answer has more than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // such as an error page
  }
}

function failed(reason: string): GatewayError {
  return new GatewayError('MODEL_FAILED', { reason });
}

interface Line {
  running: number;
  waiting: (() => void)[];
}

/** Limits how many tasks of one principal run at once. More have to wait in order, and too many are refused. */
class PrincipalLimiter {
  readonly #max: number;
  readonly #lines = new Map<string, Line>();

  constructor(max: number) {
    this.#max = max;
  }

  /** Rejects with CANCELLED if aborted while waiting. */
  async run<T>(principal: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const line = this.#lines.get(principal) ?? { running: 0, waiting: [] };
    this.#lines.set(principal, line);
    if (line.running >= this.#max) await this.#wait(line, signal);
    else line.running++;
    try {
      return await work();
    } finally {
      this.#leave(principal, line);
    }
  }

  #wait(line: Line, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(cancelledBy(signal));
    if (line.waiting.length >= this.#max * MAX_WAITING) {
      return Promise.reject(new GatewayError('TOO_MANY', { what: 'questions to the model', limit: 'maxConcurrent' }));
    }
    let enter = (): void => {};
    return openPromise<void>(signal, {
      begin: ({ resolve }) => line.waiting.push((enter = resolve)),
      takeBack: () => line.waiting.splice(line.waiting.indexOf(enter), 1),
    });
  }

  /** Starts the task that has waited longest. */
  #leave(principal: string, line: Line): void {
    const next = line.waiting.shift();
    if (next) return next();
    line.running--;
    if (line.running === 0) this.#lines.delete(principal);
  }
}
