// Detects requests of a body on connections that are open already, of which async hooks see nothing: `fetch`, `node:http` with keep-alive, undici,
// and whatever else writes to a socket, such as a WebSocket or the driver of a database.
// 1. `fetch` and `node:http` are refused before anything is sent.
// 2. Other packages are found when they create a request or write to a socket. That goes on, since the connection belongs to others as well.
import { subscribe } from 'node:diagnostics_channel';
import http from 'node:http';
import https from 'node:https';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { runOutside } from './body-environment.ts';

/** Reports I/O to the body that runs now; true if it must not happen. */
export type ReportAccess = (what: string) => boolean;

/** Published by Node's `fetch` and by every copy of undici, and by `node:http`. */
const CHANNELS = { 'undici:request:create': 'undici', 'http.client.request.start': 'http.request' };

let isSubscribed = false;

/** Costs nothing until a request is made. */
export function subscribeToRequests(report: ReportAccess): void {
  if (isSubscribed) return;
  isSubscribed = true;
  for (const [channel, what] of Object.entries(CHANNELS)) subscribe(channel, () => void report(what));
}

let isInstalled = false;

/** For development and tests: replaces functions of the process, which elsewhere work as before. */
export function installNetworkChecks(report: ReportAccess): void {
  if (isInstalled) return;
  isInstalled = true;
  const { fetch } = globalThis;
  globalThis.fetch = function (...given) {
    return report('fetch') ? Promise.reject(outsideOfStep('fetch')) : fetch(...given);
  };
  for (const [module, name] of [
    [http, 'http'],
    [https, 'https'],
  ] as const) {
    for (const key of ['request', 'get'] as const) replaceRequest(module, key, { what: `${name}.${key}`, report });
  }
  syncBuiltinESMExports();
  watchWrites(report);
}

function replaceRequest(
  module: typeof http | typeof https,
  key: 'request' | 'get',
  { what, report }: { what: string; report: ReportAccess },
): void {
  const original = module[key] as (...given: unknown[]) => http.ClientRequest;
  module[key] = function (...given: unknown[]) {
    if (report(what)) throw outsideOfStep(what);
    return original(...given);
  };
}

interface Writing {
  _writeGeneric?: (this: Socket, ...given: unknown[]) => unknown;
}

/** The only place that all writes of Node's sockets pass, with TLS and without. */
function watchWrites(report: ReportAccess): void {
  const sockets = Socket.prototype as unknown as Writing;
  const original = sockets._writeGeneric;
  if (!original) return; // another runtime
  sockets._writeGeneric = function (...given) {
    if (!isOwnOutput(this)) report('a write to a socket');
    return Reflect.apply(original, this, given);
  };
}

/** Printing is allowed. */
function isOwnOutput(socket: Socket): boolean {
  const { fd } = socket as { fd?: unknown };
  return fd === 1 || fd === 2 || runOutside(() => socket === process.stdout || socket === process.stderr);
}

function outsideOfStep(what: string): Error {
  return new Error(`${what} outside of a step`);
}
