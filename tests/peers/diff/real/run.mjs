// The same calls made directly and through the gateway, to servers that others wrote and published: the answers must be equal.
//
// A row is a client and a server. `alone`: the gateway has this server behind it and nothing else; `part`: it has all of
// them, and the client asks for this one at /mcp/<server>; `joined`: all of them, at /mcp. In these the gateway does not
// ask in the place of clients; `default`: alone once more, with nothing configured, so that it does.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CLIENTS, interview } from './clients.mjs';
import { prepareFolder, SERVERS } from './servers.mjs';
import { differences, plain } from '../compare.mjs';
import { inLanes } from '../lanes.mjs';
import { bridged, joinedCalls, joinedLists, worded } from './rules.mjs';
import { createLog, dist } from '../../harness/parley.mjs';

const { createGateway } = await import(pathToFileURL(join(dist, '_entries/index.js')).href);

const JOBS = 2;
let only = '';
/** Without ways of its own to ask, the gateway adds nothing. */
const EXACT = { ask: { channels: [] } };
const count = { passed: 0, failed: 0 };

/** `{ passed, failed }`. `text` selects rows. */
export async function compareRealServers(text = '') {
  only = text;
  console.log(`\n${'answers of published servers'.padEnd(46)} ${'alone'.padStart(9)} part joined default`);
  await inLanes(JOBS, CLIENTS, compareClient);
  return count;
}

/** Each client has a folder of its own: answers name it. */
async function compareClient(client) {
  const folder = join(mkdtempSync(join(tmpdir(), 'parley-diff-')), 'files');
  const direct = new Map();
  for (const server of SERVERS) direct.set(server, await ask(client, server, { way: server.start(folder), folder }));
  for (const server of SERVERS) await compareRow(client, server, { direct, folder });
  rmSync(join(folder, '..'), { recursive: true, force: true });
}

async function compareRow(client, server, { direct, folder }) {
  const row = `${client.name} → ${server.name}`;
  if (!row.includes(only)) return;
  const wanted = direct.get(server);
  const alone = await through({ [server.name]: server.start(folder) }, EXACT, (url) =>
    ask(client, server, { way: { url }, folder }),
  );
  const all = Object.fromEntries(SERVERS.map((one) => [one.name, one.start(folder)]));
  const part = await through(all, EXACT, (url) =>
    ask(client, server, { way: { url: `${url}/${server.name}` }, folder }),
  );
  const calls = joinedCalls(server, server.calls(folder));
  const joined = await through(all, EXACT, (url) =>
    ask(client, { ...server, calls: () => calls }, { way: { url }, folder }),
  );
  const byDefault = await through({ [server.name]: server.start(folder) }, {}, (url) =>
    ask(client, server, { way: { url }, folder }),
  );
  const found = [
    judge(client, wanted, alone),
    judge(client, { ...wanted, hello: undefined }, { ...part, hello: undefined }),
    judge(client, joinedLists(server.calls(folder), server, direct), { ...joined, hello: undefined }),
    judge(client, await wantedByDefault(client, server, { wanted, folder }), byDefault),
  ];
  const cells = found.map((list) => (list.length === 0 ? '✓' : `✗ ${list.length}`));
  const asked = String(wanted.answers.length).padStart(3);
  console.log(
    `${row.padEnd(46)} ${asked} ${cells[0].padStart(5)} ${cells[1].padStart(4)} ${cells[2].padStart(6)} ${cells[3].padStart(7)}`,
  );
  ['alone', 'part', 'joined', 'default'].forEach((place, index) =>
    tell(place, found[index], server.calls(folder), calls),
  );
}

/** A client that cannot be asked sees what one that can is shown, as long as no server has asked. */
async function wantedByDefault({ openAskable }, server, { wanted, folder }) {
  if (!openAskable) return wanted;
  return ask({ open: openAskable }, server, { way: server.start(folder), folder });
}

/** Starts from the same files each time. */
function ask({ open }, server, { way, folder }) {
  prepareFolder(folder);
  return interview(open, way, server.calls(folder));
}

async function through(servers, options, work) {
  const gateway = createGateway({ servers, ...options, log: createLog({ level: 'silent' }) });
  const { port } = await gateway.listen({ port: 0 });
  try {
    return await work(`http://127.0.0.1:${port}/mcp`);
  } finally {
    await gateway.close();
  }
}

function judge({ isBridged }, direct, found) {
  const toWords = (spoken) => plain(isBridged ? bridged(worded(spoken)) : spoken);
  const differing = differences(toWords(direct), toWords(found));
  if (differing.length > 0) count.failed++;
  else count.passed++;
  return differing;
}

function tell(place, found, calls, joined) {
  for (const { at, direct, through: came } of found) {
    const [, index] = /^\/answers\/(\d+)/.exec(at) ?? [];
    const { method, params } = (place === 'joined' ? joined : calls)[index] ?? { method: 'handshake' };
    const named = params?.name ?? params?.uri ?? '';
    console.log(`    ${place}: ${method} ${named} ${JSON.stringify({ at, direct, through: came })}`.slice(0, 1000));
  }
}
