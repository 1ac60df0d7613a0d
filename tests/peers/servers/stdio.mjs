// A reference server as a program on stdin and stdout: `node servers/stdio.mjs KIND RECORD-FILE PARLEY-DIST OPTIONS-AS-JSON`.
import { tapStdio } from '../../schemas/tap/tap-stdio.mjs';

const SERVE = {
  async parley(options) {
    const { createParleyServer } = await import('./parley.mjs');
    const { closed } = await createParleyServer(options).listen({ stdio: true });
    process.exit(await closed);
  },
  async v1(options) {
    const [{ createV1Server }, { StdioServerTransport }] = await Promise.all([
      import('./v1.mjs'),
      import('@modelcontextprotocol/sdk/server/stdio.js'),
    ]);
    await createV1Server(options).connect(new StdioServerTransport());
    process.stdin.once('end', () => process.exit(0));
  },
  async v2(options) {
    const [{ createV2Factory }, { serveStdio }] = await Promise.all([
      import('./v2.mjs'),
      import('@modelcontextprotocol/server/stdio'),
    ]);
    serveStdio(createV2Factory(options));
  },
};

const [kind, file, dist, options] = process.argv.slice(2);
process.env.PARLEY_DIST = dist; // the official clients hand on no variables
tapStdio(file);
await SERVE[kind](JSON.parse(options));
