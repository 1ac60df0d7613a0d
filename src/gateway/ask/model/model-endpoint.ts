// Posts chat completions to the configured endpoint. It follows no redirects (they would leak the key), limits what it
// reads, and keeps the key out of errors; if the key is refused, the endpoint's message is withheld too.
import type { JsonObject } from '../../../protocol/message.ts';
import { isObject } from '../../../protocol/message.ts';
import { GatewayError } from '../../../shared/errors.ts';
import { registerSecret } from '../../../shared/secrets/secret-shapes.ts';
import { secrets } from '../../../shared/secrets/secrets.ts';
import type { Chat } from './to-chat.ts';

export interface ModelEndpointOptions {
  url: string;
  key: string | undefined;
  headers: Readonly<Record<string, string>> | undefined;
  maxBytes: number;
}

const PATH = '/chat/completions';
const MAX_WORDS = 300;
/** The request was wrong, so the server that asked can correct it. */
const TELLING = new Set([400, 404, 413, 422]);

export class ModelEndpoint {
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
