// Questions across every pair: servers that ask, behind the gateway, and clients before it, all of them real processes with
// the official SDKs in both roles.
//
//   node tests/peers/questions/run.mjs [--only TEXT] [--write] [--jobs N]
//
// A cell is a server, a client and a question; nothing is skipped but what MCP Flow has no question for. Without --write the tables in docs/evidence/questions.md must be what
// this run gives; --write renews them. --only plays the cells whose name has the text.
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { installPeers } from '../harness/install.mjs';

installPeers();
const { CLIENTS } = await import('./clients.mjs');
const { compareTables, renewTables } = await import('./document.mjs');
const { startEvents } = await import('./events.mjs');
const { PLAY_ASKABLE } = await import('./play-askable.mjs');
const { PLAY_FLOW } = await import('./play-flow.mjs');
const { PLAY_FLOW_SERVER } = await import('./play-flow-server.mjs');
const { PLAY_UNASKABLE } = await import('./play-unaskable.mjs');
const { toTables } = await import('./tables.mjs');
const { HURRY_MS, startUpstream, UPSTREAMS } = await import('./upstreams.mjs');

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    write: { type: 'boolean' },
    jobs: { type: 'string', default: String(3 * Math.max(2, availableParallelism())) },
  },
});
const QUESTIONS = Object.keys(PLAY_ASKABLE);
/** A cell that has not ended by then hangs. */
const DEADLINE_MS = 90_000;

const events = await startEvents();
const started = Date.now();
const results = [];
for (const upstream of UPSTREAMS) await playUpstream(upstream);
events.close();
process.exit(tellOutcome() ? 0 : 1);

async function playUpstream(upstream) {
  const cells = CLIENTS.flatMap((client) =>
    QUESTIONS.map((question) => ({
      upstream,
      client,
      question,
      game: gamesOf(upstream, client)[question],
      key: `${upstream.name} → ${client.name}: ${question}`,
    })),
  ).filter(({ game, key }) => game && key.includes(options.only));
  if (cells.length === 0) return;
  const doors = await startUpstream(upstream, events.url);
  const work = async () => {
    for (let cell = cells.shift(); cell; cell = cells.shift()) results.push({ ...cell, ...(await play(cell, doors)) });
  };
  await Promise.all(Array.from({ length: Number(options.jobs) }, work));
  await doors.stop();
}

async function play(cell, doors) {
  const begun = Date.now();
  const opened = [];
  const open = async (url, answer) => {
    const client = await cell.client.open(url, answer);
    opened.push(client);
    return client;
  };
  let deadline;
  const late = new Promise((_, reject) => {
    deadline = setTimeout(() => reject(new Error(hanging(cell, opened))), DEADLINE_MS);
  });
  try {
    const way = await Promise.race([cell.game({ ...cell, ...doors, events, open, hurryMs: HURRY_MS }), late]);
    console.log(`✓ ${cell.key.padEnd(64)} ${way}, ${Date.now() - begun} ms`);
    return { passed: true, way };
  } catch (error) {
    console.log(`✗ ${cell.key}\n    ${String(error.stack).split('\n').slice(0, 12).join('\n    ')}`);
    return { passed: false };
  } finally {
    clearTimeout(deadline);
    await Promise.allSettled(opened.map((client) => client.leave()));
  }
}

/** By question. Questions that a server cannot ask are left out. */
function gamesOf(upstream, { can, speaksFlow }) {
  if (upstream.era === 'flow') return PLAY_FLOW_SERVER[speaksFlow ? 'flow' : can ? 'askable' : 'unaskable'];
  return speaksFlow ? PLAY_FLOW : can ? PLAY_ASKABLE : PLAY_UNASKABLE;
}

function hanging({ key }, opened) {
  const seen = opened.flatMap(({ asked }) => asked.map(({ method }) => method));
  return `hangs; the server was ${events.of(key).join(', ') || 'not called'}, the client was asked ${seen.join(', ') || 'nothing'}`;
}

function tellOutcome() {
  const failed = results.filter(({ passed }) => !passed).length;
  let isStale = false;
  if (!options.only) {
    const block = toTables(results, { upstreams: UPSTREAMS, clients: CLIENTS, questions: QUESTIONS });
    if (options.write) renewTables(block);
    else isStale = !compareTables(block);
  }
  if (isStale)
    console.log(
      '\n✗ docs/evidence/questions.md is not what this run gives: node tests/peers/questions/run.mjs --write renews it',
    );
  const seconds = Math.round((Date.now() - started) / 1000);
  console.log(
    `\nquestions: ${results.length - failed} passed, ${failed + Number(isStale)} failed, 0 skipped, in ${seconds} s`,
  );
  return failed === 0 && !isStale && results.length > 0;
}
