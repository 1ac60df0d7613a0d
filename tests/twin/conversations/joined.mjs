// Two servers behind one gateway. No server says directly what both say together, so these conversations have a `check` of their own.
import { BIG } from '../peers/catalogue.mjs';
import { canonical } from '../json.mjs';
import { eraOf } from '../revisions.mjs';
import { RawServer } from '../peers/raw-server.mjs';
import { listen } from '../peers/listen.mjs';

const KEYS = { 'tools/list': 'tools', 'prompts/list': 'prompts' };
/** What a joined list says for itself. */
const OWN = new Set(['nextCursor', 'ttlMs', 'cacheScope', 'resultType', '_meta']);
const isShared = ({ client, server }) =>
  client.transport !== 'stdio' && client.revision === server.revision && eraOf(client.revision) !== 'draft';

async function gateway({ server, listener, transport }) {
  const second = new RawServer(server.tape, { revision: server.revision, name: 'two' });
  const other = await listen(second, transport);
  const config = { mcpServers: { one: listener.address, two: other.address }, ask: { channels: [] } };
  return { config, close: () => other.close() };
}

export const JOINED = Object.entries(KEYS).flatMap(([method, key]) => ({
  name: `the joined ${method} of two servers`,
  only: isShared,
  isAlone: true,
  gateway,
  async play({ a, b }) {
    for (const client of [a, b]) {
      let cursor;
      for (let page = 0; page < 9; page++) {
        const { result } = await client.request(method, cursor === undefined ? {} : { cursor });
        cursor = result?.nextCursor;
        if (cursor === undefined) break;
      }
    }
  },
  check(tape) {
    return ['A', 'B'].flatMap((who) => {
      const pages = tape
        .filter(
          ({ side, way, who: of, message }) => side === 'client' && way === 'in' && of === who && message.result?.[key],
        )
        .map(({ message }) => message.result);
      const names = pages.flatMap((page) => page[key].map(({ name }) => name));
      const copied = pages.flatMap((page) => Object.keys(page).filter((name) => name !== key && !OWN.has(name)));
      const rounded = pages
        .flatMap((page) => page[key])
        .filter((entry) => canonical(entry['x-entry']?.n) !== canonical(BIG));
      return [
        ...copied.map((name) => `${who}: the joined list has "${name}", which only one of the servers said`),
        ...(names.length === 6 && new Set(names).size === 6 ? [] : [`${who}: the joined list has ${names.join(', ')}`]),
        ...rounded.map(({ name }) => `${who}: ${name} has lost an exact number`),
      ];
    });
  },
}));
