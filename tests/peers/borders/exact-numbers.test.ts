// Numbers pass the gateway exactly as they were sent. Both peers use raw JSON-RPC, because every SDK parses numbers as JavaScript
// does.
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createGateway, createLog } from '../../../src/_entries/index.ts';
import { redact, rename } from '../../../src/_entries/middleware.ts';
import { within } from '../../helpers/until.ts';
import { Opened, serverFile } from './helpers/direct-and-through.ts';

const N = '{"big":12345678901234567890,"far":1e400,"one":1.0,"many":[-0,0.10,1E5]}';

/** A client that sends and receives text. */
class RawClient {
  readonly lines: string[] = [];
  readonly #input = new PassThrough();
  readonly #wake: (() => void)[] = [];

  constructor(gateway: any) {
    const output = new PassThrough();
    createInterface({ input: output }).on('line', (line) => {
      this.lines.push(line);
      for (const resolve of this.#wake.splice(0)) resolve();
    });
    gateway.listen({ stdio: true, input: this.#input, output });
  }

  async ask(id: number, method: string, params: string): Promise<string> {
    this.#input.write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}\n`);
    return this.find((line) => line.includes(`"id":${id},`) || line.includes(`"id":${id}}`));
  }

  async find(matches: (line: string) => boolean): Promise<string> {
    for (;;) {
      const found = this.lines.find(matches);
      if (found) return found;
      await within('a line', new Promise<void>((resolve) => this.#wake.push(resolve)));
    }
  }

  close(): void {
    this.#input.end();
  }
}

const ENVELOPE =
  '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"debug"';

const server = () => ({ command: process.execPath, args: [serverFile('exact')] });

describe.each([
  ['2025-11-25', 'one server', {}, ''],
  [
    '2025-11-25',
    'one server and steps that read and rename',
    { steps: [redact(), rename({ tools: { sent: 'sent', told: 'told' } })] },
    '',
  ],
  ['2025-11-25', 'two servers', { two: true }, 'exact__'],
  ['2026-07-28', 'one server', {}, ''],
])('a client of %s, %s', (revision, _, { two, ...options }: any, prefix) => {
  const opened = new Opened();
  const isStateless = revision === '2026-07-28';
  let client: RawClient;
  let nextId = 100;

  const ask = (method: string, params: string, meta = ''): Promise<string> => {
    const inner = [isStateless ? ENVELOPE : '', meta].filter(Boolean).join(',');
    const members = params.slice(1, -1);
    const whole = inner === '' ? params : `{${members === '' ? '' : `${members},`}"_meta":{${inner}}}`;
    return client.ask(nextId++, method, whole);
  };

  beforeAll(async () => {
    const servers: any = { exact: server(), ...(two && { other: server() }) };
    const gateway = createGateway({
      servers,
      log: createLog({ level: 'silent' }),
      names: two ? 'always' : 'on-collision',
      startMs: 60_000,
      ...options,
    });
    opened.add(gateway, () => gateway.close());
    client = opened.add(new RawClient(gateway), (one) => one.close());
    if (isStateless) return;
    await client.ask(
      1,
      'initialize',
      `{"protocolVersion":"${revision}","capabilities":{},"clientInfo":{"name":"raw","version":"1"}}`,
    );
    await ask('tools/list', '{}');
  });
  afterAll(() => opened[Symbol.asyncDispose]());

  test('in arguments and in `_meta` of a call', async () => {
    const sent = await ask('tools/call', `{"name":"${prefix}sent","arguments":${N}}`, `"acme/n":${N}`);
    const { text } = JSON.parse(sent).result.content[0];
    expect(text).toContain(`"arguments":${N}`);
    expect(text).toContain(`"acme/n":${N}`);
  });

  test('in results, errors, log messages and progress', async () => {
    const answer = await ask('tools/call', `{"name":"${prefix}told","arguments":{}}`, '"progressToken":"p"');
    expect(answer).toContain(`"structuredContent":${N}`);
    expect(answer).toContain(`"n":${N}`);
    const log = await client.find((line) => line.includes('notifications/message'));
    expect(log).toContain(`"data":${N}`);
    expect(log).toContain(`"_meta":{"n":${N}}`);
    const progress = await client.find((line) => line.includes('notifications/progress'));
    expect(progress).toContain('"progress":1.0');
    expect(progress).toContain('"total":1e400');
    expect(progress).toContain(`"_meta":{"n":${N}}`);
    expect(await ask('tools/call', `{"name":"${prefix}fails","arguments":{}}`)).toContain(`"data":${N}`);
  });

  test('a result without content is made valid where the era demands content, and else stays as it is', async () => {
    const bare = await ask('tools/call', `{"name":"${prefix}bare","arguments":{}}`);
    const structured = await ask('tools/call', `{"name":"${prefix}structured","arguments":{}}`);
    expect(JSON.parse(bare).result).toMatchObject({ acme: 1, ...(isStateless && { content: [] }) });
    expect(bare.includes('content')).toBe(isStateless);
    expect(structured).toContain('"structuredContent":{"n":1.0}');
    expect(structured.includes('"content":[{"type":"text","text":"{\\"n\\":1.0}"}]')).toBe(isStateless);
  });

  test('in the schemas and the `_meta` of lists', async () => {
    const list = await ask('tools/list', '{}');
    expect(list).toContain('"default":1.0,"maximum":9007199254740993');
    expect(list).toContain(`"_meta":{"n":${N}}`);
    expect(JSON.parse(list).result._meta).toHaveProperty('n');
  });
});
