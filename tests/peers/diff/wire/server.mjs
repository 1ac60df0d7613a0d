// A server without a library, on stdin and stdout, in both eras: it answers with the text that it was sent, so that nothing is parsed
// and written again on its side. `node server.mjs RECORD-FILE`: each line that comes is kept as it is.
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [file] = process.argv.slice(2);
const NUMBERS = '[1e400,-1e-400,12345678901234567890,9007199254740993,0.1000000000000000055511151231257827,1.0,1E5,-0]';
const SCHEMA = `{"type":"object","properties":{"n":{"type":"number","maximum":12345678901234567890,"default":1.0,"enum":${NUMBERS}}}}`;
const CAPABILITIES = '{"tools":{},"logging":{}}';

const ANSWERS = {
  initialize: () =>
    `{"protocolVersion":"2025-11-25","capabilities":${CAPABILITIES},"serverInfo":{"name":"wire","version":"1"}}`,
  'server/discover': () =>
    `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":${CAPABILITIES},"ttlMs":0,"cacheScope":"private"}`,
  'tools/list': () =>
    `{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"numbers","inputSchema":${SCHEMA}}]}`,
  'tools/call': () =>
    `{"resultType":"complete","content":[],"structuredContent":{"n":${NUMBERS}},"_meta":{"com.example/n":${NUMBERS}},"x-n":${NUMBERS}}`,
  'com.example/numbers': () => `{"resultType":"complete","n":${NUMBERS}}`,
};

for await (const line of createInterface({ input: process.stdin })) {
  appendFileSync(file, `${line}\n`);
  const { method } = JSON.parse(line);
  const id = /"id":("(?:[^"\\]|\\.)*"|-?[\d.eE+-]+)/.exec(line)?.[1];
  if (method && id !== undefined) answer(method, id, line);
}

function answer(method, id, line) {
  if (line.includes('"refuse"'))
    return write(`{"jsonrpc":"2.0","id":${id},"error":{"code":-31000,"message":"no","data":${NUMBERS}}}`);
  const token = /"progressToken":("(?:[^"\\]|\\.)*"|[\d.]+)/.exec(line)?.[1];
  if (token && method === 'tools/call') {
    write(
      `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":${token},"progress":1.0,"total":12345678901234567890}}`,
    );
  }
  const result = ANSWERS[method];
  write(
    result
      ? `{"jsonrpc":"2.0","id":${id},"result":${result()}}`
      : `{"jsonrpc":"2.0","id":${id},"error":{"code":-32601,"message":"no"}}`,
  );
}

function write(line) {
  process.stdout.write(`${line}\n`);
}
