// A server with the behaviours on stdin and stdout: `node serve-stdio.mjs v1|v2 RECORD-FILE`.
import { createRecord, tapServerTransport } from './record.mjs';

const SERVE = {
  async v1(record) {
    const [{ createV1Behaviours }, { StdioServerTransport }] = await Promise.all([
      import('./server-v1.mjs'),
      import('@modelcontextprotocol/sdk/server/stdio.js'),
    ]);
    await createV1Behaviours(record).connect(tapServerTransport(new StdioServerTransport(), record));
    process.stdin.once('end', () => process.exit(0));
  },
  async v2(record) {
    const [{ createV2Behaviours }, { serveStdio, StdioServerTransport }] = await Promise.all([
      import('./server-v2.mjs'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    serveStdio(() => createV2Behaviours(record), { transport: tapServerTransport(new StdioServerTransport(), record) });
  },
};

const [kind, file] = process.argv.slice(2);
await SERVE[kind](createRecord(file));
