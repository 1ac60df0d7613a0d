import { expect, it } from 'vitest';
import { addToOwnConfig } from './own-config.ts';

const add = (present: object, server: object): { names: string[]; servers: Record<string, unknown> } => {
  const text = JSON.stringify({ mcpServers: { memory: present } });
  const added = addToOwnConfig({ path: 'parley.config.json', text }, [
    { name: 'memory', server: { ...server }, from: 'cursor' },
  ]);
  return {
    names: added.names,
    servers: (JSON.parse(added.text) as { mcpServers: Record<string, unknown> }).mcpServers,
  };
};
const SERVER = { command: 'npx', args: ['-y', 'memory'], env: { A: '1' } };

it('a server that is there with rules of its own is not added again without them', () => {
  const ruled = { ...SERVER, tools: { approve: 'destructive' }, rate: { perCaller: '1/s' } };
  expect(add(ruled, SERVER)).toEqual({ names: ['memory'], servers: { memory: ruled } });
  expect(add(SERVER, SERVER)).toEqual({ names: ['memory'], servers: { memory: SERVER } });
});

it('a server that starts otherwise, is switched off, or has rules that the present one lacks, is another one', () => {
  const others: [object, object][] = [
    [{ ...SERVER, env: { A: '2' } }, SERVER],
    [{ ...SERVER, cwd: '/x' }, SERVER],
    [{ ...SERVER, disabled: true }, SERVER],
    [{ command: 'npx', args: SERVER.args }, SERVER],
    [SERVER, { ...SERVER, tools: { deny: ['drop'] } }],
  ];
  for (const [present, server] of others)
    expect(add(present, server)).toEqual({
      names: ['memory-cursor'],
      servers: { memory: present, 'memory-cursor': server },
    });
});
