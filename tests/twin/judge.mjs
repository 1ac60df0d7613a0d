// Plays one conversation in one cell, directly and through builds, and says what differs. What a client sees is compared with what a server of the
// client's own revision and transport says to it; what the server sees with what a client of the server's own revision says.
import { compareViews } from './compare.mjs';
import { endName } from './cells.mjs';
import { EXPECTED } from './expected.mjs';
import { canonical } from './json.mjs';
import { playDirectly, playThrough } from './play.mjs';
import { DRAFT } from './revisions.mjs';
import { brokenRules } from './rules.mjs';
import { clientView, serverView } from './views.mjs';

const CLIENTS = ['A', 'B'];
/** What is known to be broken in an older build is not waited for as long. */
const BEFORE_MS = 8000;

/** Direct plays, each made once for all cells that need it. */
export class References {
  #plays = new Map();

  of(conversation, end) {
    const key = `${conversation.name} ${endName(end)} ${end.words}`;
    if (!this.#plays.has(key)) this.#plays.set(key, this.#play(conversation, end));
    return this.#plays.get(key);
  }

  async #play(conversation, end) {
    const { tape, broke } = await playDirectly(conversation, end);
    const broken = [...(broke ? [broke] : []), ...brokenRules(tape, { client: end, server: end })];
    if (broken.length > 0) throw new Error(`${conversation.name}, directly at ${endName(end)}: ${broken.join('\n')}`);
    return { clients: CLIENTS.map((who) => clientView(tape, who)), server: serverView(tape) };
  }
}

/** `{ faults, reasons, tape, mended }`; green when there are no faults. */
export async function judge({ conversation, cell }, { build, before, references, deadlineMs }) {
  let direct;
  try {
    if (!conversation.isAlone) direct = await directly({ conversation, cell }, references);
  } catch (error) {
    return { faults: [{ broke: error.message }], excused: [] };
  }
  const now = await judgeBuild(build, { conversation, cell, direct, deadlineMs });
  if (!before) return now;
  const then = await judgeBuild(before, { conversation, cell, direct, deadlineMs: BEFORE_MS });
  return {
    ...now,
    faults: [...now.faults, ...changes(now, then)],
    mended: then.faults.length > 0 && now.faults.length === 0,
  };
}

/** What a client of this cell, and what its server, would see without a gateway. */
export async function directly({ conversation, cell }, references) {
  const words = commonWords(cell);
  return {
    clients: (await references.of(conversation, { ...cell.client, words })).clients,
    server: (await references.of(conversation, { ...cell.server, words, peer: cell.client.peer })).server,
  };
}

/** What both know: a server of the client's revision that has no more to say than this one. */
function commonWords({ client, server }) {
  if (client.revision === DRAFT) return server.revision;
  return server.revision === DRAFT || client.revision < server.revision ? client.revision : server.revision;
}

export async function judgeBuild(build, { conversation, cell, direct, deadlineMs }) {
  const { tape, broke, log, notes } = await playThrough(conversation, { ...cell, build, deadlineMs });
  const differences = direct ? differencesOf(direct, tape) : [];
  const judged = differences.map((difference) => ({ ...difference, entry: reasonFor(difference, conversation, cell) }));
  return {
    faults: [
      ...(broke ? [{ broke }] : []),
      ...[...brokenRules(tape, cell), ...(conversation.check?.(tape) ?? [])].map((rule) => ({ rule })),
      ...judged.filter(({ entry }) => !entry),
    ],
    excused: judged.filter(({ entry }) => entry),
    tape,
    log: `${log ?? ''}${notes ?? ''}`,
  };
}

function differencesOf(direct, tape) {
  return [
    ...CLIENTS.flatMap((who, index) => compareViews('client', direct.clients[index], clientView(tape, who))),
    ...compareViews('server', direct.server, serverView(tape)),
  ];
}

function reasonFor({ at }, conversation, cell) {
  const place = at.replace(/^(client|server) [A-Z]\d+/, '$1');
  return EXPECTED.find((entry) => {
    if (!entry.at.test(place) || (entry.conversation && !entry.conversation.test(conversation.name))) return false;
    return entry.cells?.(cell) ?? true;
  });
}

/** Where both builds differ from a direct conversation for a listed reason, they differ in the same way. */
export function changes(now, then) {
  if (then.faults.length > 0) return [];
  const earlier = new Map(then.excused.map((one) => [one.at, one]));
  return now.excused
    .filter(
      ({ at, entry, through }) =>
        !entry.changes && earlier.has(at) && canonical(earlier.get(at).through ?? null) !== canonical(through ?? null),
    )
    .map(({ at, through }) => ({
      at: `${at} (this build and the last landed one)`,
      direct: earlier.get(at).through,
      through,
    }));
}
