// The commands of docs/flows.md, typed as a newcomer would: on the terminal, served, killed while a question waits, and resumed.
import { expect, test } from 'vitest';
import { read } from '../helpers/files.ts';
import { freePort } from '../helpers/server-process.ts';
import { Home } from '../helpers/parley.ts';
import { Terminal } from '../helpers/terminal.ts';

const BLOCK = /```sh\n([\s\S]*?)```/g;
const blocks = [...read('docs/flows.md').matchAll(BLOCK)].map(([, text]) => text!.trim().split('\n'));
const [play, serve, call, explore] = blocks;
const ENTER = '\r';
const CTRL_C = '\u0003';
const DOWN = '\u001b[B';
/** Keys that are pressed before a shell is ready may be thrown away. */
async function shell(env: Record<string, string> = {}): Promise<Terminal> {
  const terminal = new Terminal('PS1="ready> " exec sh -i', { ...process.env, ...env });
  await terminal.sees('ready> ');
  return terminal;
}

test('shows how to play it, serve it, call it, explore it, look after its sessions, and check it all', () => {
  const first = ['npx', 'export', 'npx', 'npx', 'npx', 'npx', 'node'];
  expect(blocks.map(([line]) => line!.split(' ')[0])).toEqual(first);
});

test('explores the flow as shown', async () => {
  using home = new Home();
  await using terminal = await shell();
  const out = home.write('trip.explored.json', '');
  await terminal.types(`${explore!.join(ENTER)} --out ${out}${ENTER}`, 'book_trip: city, day, travellers');
});

test('plays the flow on the terminal as shown', async () => {
  await using terminal = await shell();
  await terminal.types(play!.join(ENTER) + ENTER, 'Where to?');
  await terminal.types(`Oslo${ENTER}`, 'Which seat?');
  await terminal.types(`${DOWN}${ENTER}`, 'Pay 40 for Oslo?');
  await terminal.types('y', 'Booked: Oslo, window, 40');
});

test('serves the flow, kills the server while it asks, starts it again and answers', async () => {
  const port = String(await freePort());
  await using server = await shell({ PORT: port });
  await using client = await shell();
  const start = serve!.at(-1)! + ENTER;
  await server.types(serve!.slice(0, -1).join(ENTER) + ENTER, 'ready> ');
  await server.types(start, `http://127.0.0.1:${port}/mcp`);
  await client.types(call!.join(ENTER).replace('8080', port) + ENTER, 'Where to?');
  await server.types(CTRL_C, 'ready> ');
  await server.types(start, `http://127.0.0.1:${port}/mcp`);
  await client.types(`Oslo${ENTER}`, '2) window');
  await client.types(`2${ENTER}`, 'Pay 40 for Oslo?');
  await client.types(`y${ENTER}`, 'Booked: Oslo, window, 40');
  await server.types(CTRL_C, 'ready> ');
});
