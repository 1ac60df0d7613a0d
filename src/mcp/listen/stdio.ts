// Serves a client on stdin and stdout: one message per line, nothing else on stdout. Reading pauses while the client
// does not read, so a slow reader slows its own requests; one that lets too much pile up is disconnected.
import type { Readable, Writable } from 'node:stream';
import type { Message } from '../../kernel/message.ts';
import { LOCAL, anonymousPrincipal } from '../../kernel/base/anonymous.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { findId } from '../wire/json-shape.ts';
import { LineReader } from '../wire/lines.ts';
import { WriteBatcher } from '../wire/write-batcher.ts';
import { toEncodedLine, encode } from '../wire/json-rpc.ts';
import type { ServeContext } from '../eras/serve/serve-context.ts';
import { DuplexConnection } from './duplex-connection.ts';

export interface StdioListenOptions {
  input?: Readable;
  output?: Writable;
  /** Serves only this server or group of a gateway, as at /mcp/<name>. Default: everything. */
  part?: string | undefined;
  /** False: nobody knows which program it is, so its answers are not human approval. Default: true. */
  isVouched?: boolean | undefined;
}

export interface StdioListening {
  /** Resolves with the exit status once the client is gone and everything it asked for has been answered. */
  readonly closed: Promise<number>;
  close(): void;
}

export function acceptStdio(context: ServeContext, options: StdioListenOptions = {}): StdioListening {
  const { input = process.stdin, output = process.stdout, isVouched = true } = options;
  const { maxRequestBytes, maxBufferedBytes } = context.limits;
  let finish!: (status: number) => void;
  const closed = new Promise<number>((resolve) => (finish = resolve));
  const send = (message: Message | Message[]): void => {
    if (output.destroyed) return;
    if (out.length > maxBufferedBytes) giveUp();
    else out.write(toEncodedLine(encode(message)), connection.isBusy);
  };
  const out = new WriteBatcher(output, { onFull: () => ended || input.pause() });
  const giveUp = (): void => {
    context.log.warn({ bytes: out.length }, 'client.too-slow');
    end(1);
    output.destroy();
    finish(1);
  };
  let ended = false;
  const end = (status: number): void => {
    if (ended) return;
    ended = true;
    input.destroy();
    connection.close();
    output.off('drain', resume).off('error', onError);
    output.on('error', () => {}); // the client may leave before the last line is written
    out.flush();
    if (output.destroyed || output.writableLength === 0) return finish(status);
    output.once('close', () => finish(status));
    output.write('', () => finish(status)); // called when everything before it is written; 'drain' only follows a full buffer
  };
  const resume = (): void => void input.resume();
  const onError = (): void => end(0);
  const principals = { handshake: anonymousPrincipal('stdio'), stateless: LOCAL };
  const from = { transport: 'stdio' as const, ...(!isVouched && { isVouched }) };
  const connection = new DuplexConnection(context, { principals, from, send, exit: end });
  const lines = new LineReader({
    maxBytes: maxRequestBytes,
    onLine: (line) => connection.receive(line),
    onOversize: (...edges) => connection.refuse(tooLarge(maxRequestBytes), findId(...edges).id),
  });
  input.on('data', (chunk: Buffer) => lines.push(chunk));
  onceEnded(input, () => {
    lines.end();
    void connection.drain().then(() => end(0));
  });
  input.on('error', onError);
  output.on('drain', resume).on('error', onError);
  return { closed, close: () => end(0) };
}

function tooLarge(limit: number): GatewayError {
  return new GatewayError('MESSAGE_TOO_LARGE', { limit, name: 'maxRequestBytes' });
}

/** The input may have ended already. */
function onceEnded(input: Readable, onEnd: () => void): void {
  if (input.readableEnded) onEnd();
  else input.once('end', onEnd);
}
