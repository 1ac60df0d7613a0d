// The conversations of the twin whose clients come over HTTP, HTTP+SSE or WebSocket: every message, through several gateways as through one. A client on
// stdio has a gateway of its own.
import { inLanes } from '../peers/diff/lanes.mjs';
import { thisBuild } from '../twin/builds.mjs';
import { References, changes, directly, judgeBuild } from '../twin/judge.mjs';
import { sample, titleOf, whole } from '../twin/sample.mjs';
import { reasonFor } from './expected.mjs';

const LANES = 2;
const SAMPLE = 6;
const SEED = 1;
/** A conversation that differs is played again: machines are busy at times. */
const LOOKS = 2;

export async function compareTwin({ replicas, isSample, size }) {
  const isShared = ({ cell }) => cell.client.transport !== 'stdio';
  const wanted = isSample ? SAMPLE : size;
  const items = wanted
    ? sample(SEED, 2 * wanted)
        .filter(isShared)
        .slice(0, wanted)
    : whole().filter(isShared);
  const references = new References();
  const row = { scenarios: items.length, same: 0, expected: [], different: [] };
  let alsoThroughOne = 0;
  await inLanes(LANES, items, async (item) => {
    let what = [];
    for (let look = 0; look <= LOOKS; look++) {
      const { different, common } = await differences(item, { replicas, references });
      what = different;
      if (what.length > 0) continue;
      row.same++;
      if (common > 0) alsoThroughOne++;
      return;
    }
    const name = titleOf(item);
    const reason = reasonFor('twin', name);
    if (reason) row.expected.push({ name, reason });
    else row.different.push({ name, what: what.join('\n') });
  });
  const what = `twin${wanted ? ', a seeded sample of its conversations' : ''}`;
  const suite = `${what} (${alsoThroughOne} differ from a direct one through one gateway, too)`;
  return [{ ...row, suite }];
}

/** What is wrong through several gateways and not through one, and how much through both. */
async function differences(item, { replicas, references }) {
  const { conversation, cell } = item;
  const direct = conversation.isAlone ? undefined : await directly(item, references);
  const [one, several] = await Promise.all(
    [1, replicas].map((count) => judgeBuild({ ...thisBuild(), replicas: count }, { conversation, cell, direct })),
  );
  const known = new Set(one.faults.map(nameOf));
  const faults = several.faults.filter((fault) => !known.has(nameOf(fault)));
  const different = [...faults, ...changes(several, one)].map(describe);
  return { different, common: several.faults.length - faults.length };
}

function nameOf({ broke, rule, at }) {
  return broke ? `broke ${broke.split('\n')[0]}` : (rule ?? at);
}

function describe(fault) {
  const { broke, rule, at, direct, through } = fault;
  return broke ?? rule ?? `${at}\n- ${JSON.stringify(direct)}\n+ ${JSON.stringify(through)}`.slice(0, 1000);
}
