// Stands for the systems that a company has: something that routes its tenants, pages people and shows a status. Like those of payment
// services, it takes a key with every change, and answers a key that it knows with what it did then. Its changes are lines of a file.
import { randomInt, randomUUID } from 'node:crypto';
import { appendFile, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import type { PersonNotice, StepContext } from 'mcp-parley/flow';

export interface Change {
  key: string;
  what: string;
  about: string;
  to: string;
}

const PAUSE_MS = 50;

export interface Company {
  url: string;
  close(): Promise<void>;
}

/** Changes are kept in `file`. Now and then, one in `busy` times, it says that it is busy, as such systems do. */
export async function startCompany(file: string, { busy = 0 } = {}): Promise<Company> {
  const known = new Map((await changesIn(file)).map((change) => [change.key, change]));
  const take = async (change: Change): Promise<Change> => {
    const before = known.get(change.key);
    if (before) return before;
    known.set(change.key, change);
    await appendFile(file, `${JSON.stringify(change)}\n`);
    return change;
  };
  const answer = async (request: IncomingMessage): Promise<[status: number, body?: Change]> => {
    if (request.method === 'GET') {
      const change = known.get(request.url!.slice(1));
      return change ? [200, change] : [404];
    }
    if (busy > 0 && randomInt(busy) === 0) return [503];
    const wanted = JSON.parse(await text(request)) as Change;
    if (wanted.what.startsWith('fail over') && !request.headers.authorization) return [401];
    return [200, await take(wanted)];
  };
  const server = createServer((request, response) => {
    const answered = answer(request).catch((): [number] => [500]);
    void answered.then(([status, body]) => response.writeHead(status).end(body && JSON.stringify(body)));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, close };
}

export async function changesIn(file: string): Promise<Change[]> {
  const lines = await readFile(file, 'utf8').catch(() => '');
  return lines
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Change);
}

/** It may be asked again: a step names this error in its `retry`. */
export class BusyError extends Error {
  override name = 'BusyError';
}

export async function change(wanted: Change, signal?: AbortSignal, token?: string): Promise<Change> {
  const headers = { ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  const response = await fetch(address(), {
    method: 'POST',
    headers,
    body: JSON.stringify(wanted),
    ...(signal && { signal }),
  });
  if (response.status === 503) throw new BusyError(`The company is busy: ${wanted.what} ${wanted.about}`);
  if (!response.ok) throw new Error(`${wanted.what} ${wanted.about} failed: HTTP ${response.status}`);
  return (await response.json()) as Change;
}

/** A change by a step, with its key. */
export async function tell<T extends string>(
  step: StepContext,
  what: string,
  about: string,
  to: T,
  token?: string,
): Promise<T> {
  await change({ key: step.idempotencyKey, what, about, to }, step.signal, token);
  return to;
}

/** With a key of its own; otherwise the company would take it for what it has done. */
export function takeBack(step: StepContext, what: string, about: string, to: string): Promise<unknown> {
  return change({ key: `${step.idempotencyKey}-undo`, what, about, to }, step.signal);
}

/** Tells a person that they are asked. A company that is busy is told again; a person may be told twice. */
export async function inform({ kind, person, sessionId, promptId }: PersonNotice): Promise<void> {
  const message = { key: randomUUID(), what: kind, about: person, to: `${sessionId} ${promptId}` };
  const isTold = () =>
    change(message).then(
      () => true,
      (error: unknown) => {
        if (error instanceof BusyError) return false;
        throw error;
      },
    );
  while (!(await isTold())) await setTimeout(PAUSE_MS);
}

/** What a key has changed; undefined where it has changed nothing. */
export async function findChange(key: string): Promise<Change | undefined> {
  const response = await fetch(`${address()}/${key}`);
  return response.ok ? ((await response.json()) as Change) : undefined;
}

function address(): string {
  return process.env['COMPANY_URL'] ?? 'http://127.0.0.1:8900';
}
