import { expect, it } from 'vitest';
import type { Pin } from './pin.ts';
import { toPinRows } from './run-pins.ts';
import type { KeptPins } from './waiting-pins.ts';

const accepted = (area: Pin['area'], name: string): Pin => ({
  area,
  name,
  forms: [{ digest: name, likeness: name, at: '2026-11-19T00:00:00.000Z', isAccepted: true, listings: ['stateless'] }],
});

function keptOf(server: string, gateway: string, ...pins: Pin[]): KeptPins {
  const byName = Object.fromEntries(pins.map((pin) => [pin.name, pin]));
  return { record: { gateway, server, address: 'x', known: ['tools'], pins: byName } } as unknown as KeptPins;
}

it('the table of pins counts tools apart from prompts and resources, in the order of files and servers', () => {
  const kept = [
    keptOf('time', '/b.json', accepted('tools', 'now')),
    keptOf(
      'mail',
      '/a.json',
      accepted('tools', 'send'),
      accepted('prompts', 'greet'),
      accepted('resourceTemplates', 'in://{id}'),
    ),
    keptOf('disk', '/a.json', accepted('tools', 'read'), accepted('tools', 'write')),
  ];
  expect(toPinRows(kept, (path) => path)).toEqual([
    ['disk', '2', '0', '0', '/a.json'],
    ['mail', '1', '2', '0', '/a.json'],
    ['time', '1', '0', '0', '/b.json'],
  ]);
});
