// Numbers and ids as text: SDKs parse them, so neither end is one here. A client that writes lines by hand talks with server.mjs, directly and
// through a gateway on stdio, in both eras. What each side gets must be the text that the other side wrote, but for ids.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createGateway } from '../gateway.mjs';

const DEADLINE_MS = 60_000;
const NUMBERS = '[1e400,-1e-400,12345678901234567890,9007199254740993,0.1000000000000000055511151231257827,1.0,1E5,-0]';
const ENVELOPE =
  '"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"hand","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}';

const IDS = ['0', '-7', '1.5', '""', '"a b"', '9007199254740991', `"${'x'.repeat(5000)}"`];
const call = (id, args, more = '') => ({
  id,
  method: 'tools/call',
  params: `"name":"numbers","arguments":${args}`,
  meta: more,
});

/** Name → what is sent, and the members to be looked at on either side. */
export const WIRE = {
  'numbers in arguments': { send: call('1', `{"n":${NUMBERS}}`), server: /"arguments":(\{.*?\])/ },
  'numbers in _meta': { send: call('2', '{}', `"com.example/n":${NUMBERS}`), server: /"com\.example\/n":(\[.*?\])/ },
  'numbers in a result': { send: call('3', '{}'), client: /"structuredContent":(\{.*?\])/ },
  'numbers in _meta of a result': { send: call('4', '{}'), client: /"com\.example\/n":(\[.*?\])/ },
  'numbers in unknown members of a result': { send: call('5', '{}'), client: /"x-n":(\[.*?\])/ },
  'numbers in a schema': {
    send: { id: '6', method: 'tools/list', params: '', meta: '' },
    client: /"inputSchema":(\{.*?\]\}\}\})/,
  },
  'numbers in the data of an error': { send: call('7', '{"what":"refuse"}'), client: /"data":(\[.*?\])/ },
  'numbers in progress': { send: call('8', '{}', '"progressToken":"t"'), client: /"progress":(.*?)\}/ },
  'numbers in a custom request': {
    send: { id: '9', method: 'com.example/numbers', params: `"n":${NUMBERS}`, meta: '' },
    server: /"n":(\[.*?\])/,
    client: /"n":(\[.*?\])/,
  },
  ...Object.fromEntries(
    IDS.map((id) => [
      `id ${id.length > 30 ? 'of 5 kB' : id}`,
      { send: call(id, '{}'), client: /"id":("(?:[^"\\]|\\.)*"|-?[\d.]+)/ },
    ]),
  ),
};

/** `[{ name, era, direct, through }]`. */
export async function compareWire() {
  const rows = [];
  for (const era of ['handshake', 'stateless']) {
    const direct = await play(era, false);
    const through = await play(era, true);
    for (const name of Object.keys(WIRE)) rows.push({ name, era, direct: direct[name], through: through[name] });
  }
  return rows;
}

async function play(era, isThrough) {
  const folder = mkdtempSync(join(tmpdir(), 'parley-wire-'));
  const file = join(folder, 'record');
  writeFileSync(file, '');
  const own = { command: process.execPath, args: [fileURLToPath(new URL('server.mjs', import.meta.url)), file] };
  const { way } = isThrough ? await createGateway('stdio', own) : { way: own };
  const client = openByHand(way);
  try {
    if (era === 'handshake') await client.greet();
    const seen = {};
    for (const [name, { send, server, client: mine }] of Object.entries(WIRE)) {
      const before = readFileSync(file, 'utf8').length;
      const came = await client.ask(send, era);
      const got = readFileSync(file, 'utf8')
        .slice(before)
        .split('\n')
        .filter((line) => line.includes(`"${send.method}"`))
        .join('\n');
      seen[name] = {
        ...(server && { server: server.exec(got)?.[1] ?? got }),
        ...(mine && { client: mine.exec(came)?.[1] ?? came }),
      };
    }
    return seen;
  } finally {
    await client.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

function openByHand({ command, args }) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  let waiting = () => {};
  let lines = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    lines.push(line);
    waiting();
  });
  const write = (line) => child.stdin.write(`${line}\n`);
  /** All lines up to the answer. */
  const untilAnswered = () =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error('no answer came')), DEADLINE_MS);
      waiting = () => {
        if (!lines.some((line) => /"(result|error)":/.test(line))) return;
        clearTimeout(timer);
        resolve(lines.join('\n'));
        lines = [];
      };
      waiting();
    });
  return {
    async greet() {
      write(
        '{"jsonrpc":"2.0","id":"hello","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"hand","version":"1"}}}',
      );
      await untilAnswered();
      write('{"jsonrpc":"2.0","method":"notifications/initialized"}');
    },
    ask({ id, method, params, meta }, era) {
      const members = [era === 'stateless' ? ENVELOPE : '', meta].filter(Boolean).join(',');
      const all = [params, members && `"_meta":{${members}}`].filter(Boolean).join(',');
      write(`{"jsonrpc":"2.0","id":${id},"method":"${method}","params":{${all}}}`);
      return untilAnswered();
    },
    async close() {
      child.stdin.end();
      await new Promise((resolve) => child.once('exit', resolve));
    },
  };
}
