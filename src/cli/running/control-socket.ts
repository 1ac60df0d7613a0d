// The control socket of a running gateway: a Unix socket, or a named pipe on Windows, for commands of the same user. It works without a
// port and with any certificate. The first line of a connection is a request: `status`, `lines` and `open` return one line of JSON, `mcp` turns the connection
// into MCP as on stdio, and `mcp NAME` does so for one server or group. `own TOKEN` and `own TOKEN NAME` are the same for Parley's own commands, which
// ask a person on a terminal: what any other program answers here is nobody's word.
import { chmodSync, lstatSync, mkdtempSync, rmSync, rmdirSync } from 'node:fs';
import { createConnection, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { LineReader } from '../../mcp/wire/lines.ts';
import { isSameSecret } from '../../kernel/crypto/lazy-crypto.ts';
import { DEFAULT_LIMITS } from '../../kernel/base/limits.ts';
import type { GatewayStatus } from '../../gateway/servers/gateway-status.ts';
import { ownToken } from './gateway-token.ts';

export interface ControlHandlers {
  status(): Promise<GatewayStatus>;
  /** The lines to paste into clients; none without a port. */
  lines?(): string[];
  /** A link that lets one browser into the console, once; undefined without a console. */
  open?(): Promise<string | undefined>;
  /** Serves MCP on the socket, for one server or group if a name is given. Resolves when it listens. */
  accept(socket: Socket, asked: ControlledClient): Promise<unknown>;
}

/** `isVouched`: one of Parley's own commands. */
interface ControlledClient {
  part: string | undefined;
  isVouched: boolean;
}

/** The address of a Unix socket has room for about a hundred bytes. */
const MAX_PATH = 100;
/** A first line is a word and perhaps a name. */
const MAX_LINE = 1024;

/** Prefix of a folder in the temp folder, for one socket. */
const PRIVATE_FOLDER = 'parley-socket-';
const PRIVATE_NAME = 'gateway.sock';

interface ControlSocket {
  path: string;
  close: () => void;
}

/** A path where nobody else can put a socket. The temp folder is shared, so a socket there gets a new folder of its own. */
function toSocketPath(folder: string, pid: number): string {
  if (process.platform === 'win32') return `\\\\.\\pipe\\parley-${pid}`;
  const path = join(folder, `gateway-${pid}.sock`);
  return Buffer.byteLength(path) <= MAX_PATH ? path : join(mkdtempSync(join(tmpdir(), PRIVATE_FOLDER)), PRIVATE_NAME);
}

/** `path`: the socket that the gateway announced. Removes nothing but Parley's own sockets. */
export function removeSocket(folder: string, pid: number, path: string | undefined): void {
  if (process.platform === 'win32') return;
  try {
    rmSync(join(folder, `gateway-${pid}.sock`), { force: true });
    if (path === undefined || basename(path) !== PRIVATE_NAME) return;
    const inside = dirname(path);
    if (!basename(inside).startsWith(PRIVATE_FOLDER) || dirname(inside) !== join(tmpdir())) return;
    rmSync(path, { force: true });
    rmdirSync(inside);
  } catch {
    // The system has already removed it, or nobody may remove it: nobody answers there.
  }
}

/** The socket listens when this returns. Throws if it cannot. */
export function openControlSocket(folder: string, pid: number, controlled: ControlHandlers): ControlSocket {
  const path = toSocketPath(folder, pid);
  if (process.platform !== 'win32') rmSync(path, { force: true });
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    socket.on('error', () => {}); // the client may hang up early
    readFirstLine(socket, async (line) => {
      const asked = readAsked(line, folder);
      if (asked) await controlled.accept(socket, asked);
      else if (line === 'status') await answer(socket, () => controlled.status());
      else if (line === 'lines') await answer(socket, async () => controlled.lines?.() ?? []);
      else if (line === 'open') await answer(socket, async () => ({ link: await controlled.open?.() }));
      else socket.destroy();
    });
  });
  server.on('error', () => {}); // without the socket, only other commands lack the gateway
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
    removeSocket(folder, pid, path);
  };
  try {
    // Some systems cut off longer addresses.
    if (Buffer.byteLength(path) > MAX_PATH) throw new Error(`${path} is too long for a socket`);
    server.listen({ path, readableAll: false, writableAll: false });
    server.unref();
    // Node binds a path synchronously; only the events come later.
    if (!server.listening) throw new Error(`no socket can be opened at ${path}`);
    if (process.platform !== 'win32') chmodSync(path, 0o600);
  } catch (error) {
    close();
    throw error;
  }
  return { path, close };
}

function readAsked(line: string, folder: string): ControlledClient | undefined {
  const [word, ...rest] = line.split(' ');
  if (word !== 'mcp' && word !== 'own') return undefined;
  const isVouched = word === 'own' && isSameSecret(rest.shift() ?? '', ownToken(folder));
  return { part: rest.length > 0 ? rest.join(' ') : undefined, isVouched };
}

/** Connects to a socket of this user only; throws if it belongs to somebody else. */
function connectTo(path: string): Socket {
  const uid = process.getuid?.();
  if (uid !== undefined) {
    const found = lstatSync(path);
    if (!found.isSocket() || found.uid !== uid) throw new Error(`${path} is not a socket of this user`);
  }
  return createConnection(path);
}

/** Leaves what follows the line in the socket for its next reader, who may start a little later. */
function readFirstLine(socket: Socket, take: (line: string) => Promise<void>): void {
  let text = Buffer.alloc(0);
  const onData = (chunk: Buffer): void => {
    text = Buffer.concat([text, chunk]);
    const end = text.indexOf(0x0a);
    if (end === -1 && text.length <= MAX_LINE) return;
    socket.off('data', onData);
    socket.pause();
    if (end === -1) return void socket.destroy();
    if (end + 1 < text.length) socket.unshift(text.subarray(end + 1));
    const line = text.toString('utf8', 0, end).trim();
    void take(line).then(
      () => socket.resume(),
      () => socket.destroy(),
    );
  };
  socket.on('data', onData);
}

async function answer(socket: Socket, asked: () => Promise<object>): Promise<void> {
  try {
    socket.end(`${JSON.stringify(await asked())}\n`);
  } catch {
    socket.destroy();
  }
}

/** Rejects if nobody answers in time. */
export async function askStatus(path: string, ms: number): Promise<GatewayStatus> {
  return (await ask(path, 'status', ms)) as GatewayStatus;
}

/** Rejects if nobody answers in time. */
export async function askLines(path: string, ms: number): Promise<string[]> {
  const lines = await ask(path, 'lines', ms);
  return Array.isArray(lines) ? lines.map(String) : [];
}

/** Rejects if nobody answers in time. */
export async function askConsoleLink(path: string, ms: number): Promise<string | undefined> {
  const { link } = (await ask(path, 'open', ms)) as { link?: unknown };
  return typeof link === 'string' ? link : undefined;
}

function ask(path: string, what: string, ms: number): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const socket = connectTo(path);
    const late = setTimeout(() => socket.destroy(new Error('it does not answer')), ms);
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(late);
      try {
        resolve(JSON.parse(text));
      } catch {
        reject(new Error('it does not answer'));
      }
    });
    socket.write(`${what}\n`);
  });
}

/** An SDK transport that speaks MCP with the gateway behind the socket. */
export class ControlTransport implements Transport {
  /** Shown in errors. */
  readonly displayName = 'the gateway';
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  readonly #path: string;
  readonly #part: string | undefined;
  readonly #token: string;
  #socket: Socket | undefined;

  /** `part`: one server or group. */
  constructor(path: string, part?: string) {
    this.#path = path;
    this.#part = part;
    this.#token = ownToken();
  }

  async start(): Promise<void> {
    const socket = connectTo(this.#path);
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    this.#socket = socket;
    const lines = new LineReader({
      maxBytes: DEFAULT_LIMITS.maxResultBytes,
      onLine: (line) => this.#take(line),
      onOversize: () => this.onerror?.(new Error('a line is too long')),
    });
    socket.on('data', (chunk: Buffer) => lines.push(chunk));
    socket.on('error', (error) => this.onerror?.(error));
    socket.on('close', () => this.onclose?.());
    socket.write(`own ${this.#token}${this.#part === undefined ? '' : ` ${this.#part}`}\n`);
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.#socket?.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.#socket?.end();
    this.#socket?.destroySoon();
  }

  #take(line: string): void {
    try {
      this.onmessage?.(JSON.parse(line) as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }
}
