// For tests only (the build leaves `*.contract.ts` out): a link whose server is a function of the test, a peer on that link, and
// a log that records its lines.
import { isNotification, isRequest } from '../../kernel/message.ts';
import type { Message, NotificationMessage, RequestId, RequestMessage } from '../../kernel/message.ts';
import { toPlainMessage } from '../../kernel/raw/encoded-params.ts';
import type { Log } from '../../kernel/base/log.ts';
import { FakeClock } from '../eras/fake-context.contract.ts';
import type { Link, LinkEvents, SendOptions } from './links/link.ts';
import { RpcPeer } from './rpc-peer.ts';

interface SentMessage {
  message: Message;
  options: SendOptions;
}

/** Answers a request with a result, an error, or (undefined) not at all. Throws to make the sending fail. */
export type Responder = (request: RequestMessage, link: FakeLink) => unknown;

export class Refuse {
  readonly error: object;

  constructor(code: number, message = 'refused', data?: unknown) {
    this.error = data === undefined ? { code, message } : { code, message, data };
  }
}

export class FakeLink implements Link {
  readonly name = 'fake';
  readonly kind: Link['kind'];
  readonly perRequestStreams: boolean;
  readonly sent: SentMessage[] = [];
  readonly headers: Record<string, string>[] = [];
  closes = 0;
  forgotten = 0;
  listens = 0;
  words = '';
  startError: Error | undefined;
  #events: LinkEvents | undefined;
  readonly #respond: Responder;

  constructor(respond: Responder = () => undefined, kind: Link['kind'] = 'stdio') {
    this.#respond = respond;
    this.kind = kind;
    this.perRequestStreams = kind === 'streamable-http';
  }

  async start(events: LinkEvents): Promise<void> {
    if (this.startError) throw this.startError;
    this.#events = events;
  }

  async send(written: Message, options: SendOptions = {}): Promise<void> {
    const message = toPlainMessage(written);
    this.sent.push({ message, options });
    if (!isRequest(message)) return;
    const answer = await this.#respond(message, this);
    if (answer === undefined) return;
    const { id } = message;
    this.say(
      answer instanceof Refuse ? { jsonrpc: '2.0', id, error: answer.error } : { jsonrpc: '2.0', id, result: answer },
    );
  }

  setHeaders(headers: Record<string, string>): void {
    this.headers.push(headers);
  }

  listen(): void {
    this.listens++;
  }

  forgetSession(): void {
    this.forgotten++;
  }

  lastWords(): string {
    return this.words;
  }

  async close(): Promise<void> {
    if (this.closes++ === 0) this.#events?.onClose('closed');
  }

  /** Sends a message from the server. */
  say(message: object, from?: RequestId): void {
    this.#events?.onMessage(message as Message, from);
  }

  garbage(what: string, kind?: 'oversize', answerTo?: RequestId): void {
    this.#events?.onGarbage(what, kind, answerTo);
  }

  die(reason = 'exit code 1'): void {
    this.closes++;
    this.#events?.onClose(reason);
  }

  get requests(): RequestMessage[] {
    return this.sent.map(({ message }) => message).filter(isRequest);
  }

  get notifications(): NotificationMessage[] {
    return this.sent.map(({ message }) => message).filter(isNotification);
  }

  get methods(): string[] {
    return this.sent.flatMap(({ message }) => ('method' in message ? [message.method] : ['(answer)']));
  }
}

export class RecordingLog implements Log {
  readonly lines: { level: string; event: string; fields: object }[] = [];

  get events(): string[] {
    return this.lines.map(({ event }) => event);
  }

  debug = this.#at('debug');
  info = this.#at('info');
  warn = this.#at('warn');
  error = this.#at('error');

  child(): Log {
    return this;
  }

  #at(level: string) {
    return (fields: object, event: string): void => void this.lines.push({ level, event, fields });
  }
}

/** A peer on a fake link with a manual clock; calls time out after 100 ms of silence, or 1 s in all. */
export async function connectFakeLink(respond?: Responder, kind?: Link['kind']) {
  const link = new FakeLink(respond, kind);
  const clock = new FakeClock();
  const log = new RecordingLog();
  const closes: string[] = [];
  const onClose = (reason: string) => void closes.push(reason);
  const wire = new RpcPeer(link, { clock, log, timeoutMs: 100, maxTimeoutMs: 1000, onClose });
  await wire.start();
  return { link, clock, log, wire, closes };
}
