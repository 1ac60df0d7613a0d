// The server behind a step under test: one tool for each kind of traffic.
import { createServer } from '../server/create-server.ts';
import type { ParleyServer } from '../server/create-server.ts';

const text = { type: 'object', properties: { text: { type: 'string' } } };
const to = { type: 'object', properties: { to: { type: 'integer', minimum: 0 } } };

export function sampleServer(): ParleyServer {
  const server = createServer({ name: 'sample', version: '1.0.0' });
  server.tool('echo', { description: 'Gives back its text', input: text }, (args) => String(args.text ?? ''));
  server.tool('ask', { description: 'Asks the user, and tells the answer', input: text }, async (args, call) => {
    const { action, content } = await call.ask.elicit({
      message: String(args.text ?? 'Well?'),
      schema: { answer: { type: 'string' } },
    });
    return action === 'accept' ? String(content?.answer ?? '') : action;
  });
  server.tool('count', { description: 'Counts, with progress and log messages', input: to }, (args, call) => {
    const end = Number(args.to ?? 3);
    for (let reached = 1; reached <= end; reached++) {
      call.progress(reached, end);
      call.log('info', `${reached}`);
    }
    return String(end);
  });
  server.tool('fail', { description: 'Fails', input: text }, (args) => {
    throw new Error(String(args.text ?? 'It failed'));
  });
  server.resource('sample://note', { name: 'note', mimeType: 'text/plain' }, () => 'A note');
  server.prompt('greet', { arguments: [{ name: 'name' }] }, ({ name }) => `Greet ${name ?? 'everybody'}`);
  return server;
}
