// Runs client.mjs against one server, over three transports and in three revisions, and exits non-zero when anything that
// matters to the program differs.
import assert from 'node:assert/strict';
import { fileURLToPath } from 'node:url';
import { createServer } from 'mcp-parley';
import { book } from './client.mjs';

if (process.argv[2] === '--stdio') await makeServer([process.argv[3]]).listen({ stdio: true });
else await check();

function makeServer(revisions) {
  const server = createServer({ name: 'trips', version: '1.0.0', revisions });
  server.tool('book', {}, async ({ city }, call) => {
    call.progress(1, 2);
    const schema = { nights: { type: 'integer', title: 'Nights' } };
    const { content } = await call.ask.elicit({ message: `How many nights in ${String(city)}?`, schema });
    call.progress(2, 2);
    return { city, nights: content.nights };
  });
  server.tool('cancel_all', { annotations: { destructiveHint: true } }, () => assert.fail('it was not approved'));
  return server;
}

async function check() {
  for (const revision of ['2025-06-18', '2025-11-25', '2026-07-28']) {
    const server = makeServer([revision]);
    const { url, port } = await server.listen({ port: 0 });
    const program = fileURLToPath(import.meta.url);
    const stdio = { command: process.execPath, args: [program, '--stdio', revision] };
    for (const address of [url, `ws://127.0.0.1:${port}/ws`, stdio]) {
      const [spoken, ...story] = await book(address, 'Oslo');
      assert.match(spoken, new RegExp(`${revision}$`));
      assert.deepEqual(
        story.filter((line) => !line.startsWith('progress')),
        [
          'tools: book, cancel_all',
          'trips asks: How many nights in Oslo?',
          'booked: {"city":"Oslo","nights":2}',
          'NOT_APPROVED: tools/call was not approved',
        ],
      );
      assert(story.includes('progress: 2/2'), 'progress was told');
      console.log(spoken);
    }
    await server.close();
  }
}
