// The matrix of a run as Markdown: one table for each transport, its columns the revisions, its rows the pairs of peers.
import { readFileSync } from 'node:fs';
import { REVISIONS, ROWS, TRANSPORTS } from './cells.mjs';
import { FEATURES } from './features.mjs';
import { limitOf } from './applicable.mjs';

const TITLES = {
  stdio: 'stdio',
  http: 'Streamable HTTP',
  sse: 'HTTP+SSE',
  websocket: 'WebSocket',
  memory: 'in-memory transport',
};

export function toMatrix(results) {
  const byId = new Map(results.map((result) => [result.id, result]));
  const tables = TRANSPORTS.map((transport) => toTable(transport, byId));
  return [introduction(results), ...tables].join('\n\n');
}

function introduction(results) {
  const { dependencies } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  const version = (name) => dependencies[`@modelcontextprotocol/${name}`];
  const features = FEATURES.map(({ name }) => name).join(', ');
  return wrap(
    `Written by \`node tests/peers/run.mjs --write\`, which plays ${results.length} pairs of client and server over real processes
    and sockets: Parley with itself, with SDK v1 (${version('sdk')}) and with SDK v2 (client and server ${version('client')},
    node ${version('node')}, server-legacy ${version('server-legacy')}). ✓ means that everything works that both sides and
    the revision have, and that every message of ours fits the official schema of the revision. Exercised: ${features}, close.`,
  );
}

function wrap(text) {
  return text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/(.{1,118})(?: |$)/g, '$1\n')
    .trimEnd();
}

function toTable(transport, byId) {
  const notes = new Notes();
  const rows = ROWS.filter(({ lacks }) => REVISIONS.some((revision) => !lacks(transport, revision)));
  const lines = rows.map((row) => {
    const cells = REVISIONS.map((revision) => toMark({ row, transport, revision }, byId, notes));
    return `| ${[row.title, ...cells].join(' | ')} |`;
  });
  const absent = toAbsent(
    ROWS.filter((row) => !rows.includes(row)),
    transport,
  );
  const head = `| ${[`**${TITLES[transport]}**`, ...REVISIONS].join(' | ')} |\n|---|${':-:|'.repeat(REVISIONS.length)}`;
  return [[head, ...lines].join('\n'), notes.toText(), absent].filter(Boolean).join('\n\n');
}

function toMark({ row, transport, revision }, byId, notes) {
  const why = row.lacks(transport, revision);
  if (why) return `–${notes.mark(why)}`;
  const result = byId.get(`${row.id}/${transport}/${revision}`);
  if (!result?.passed) return '✗';
  const limit = limitOf(result);
  return limit ? `✓${notes.mark(limit)}` : '✓';
}

/** Pairs that this transport has no cell for. Variants of a pair are of one transport by nature. */
function toAbsent(rows, transport) {
  const told = rows
    .filter(({ variant }) => !variant)
    .map(({ title, lacks }) => `${title} (${lacks(transport, '2026-07-28')})`);
  return told.length > 0 ? wrap(`Not there: ${told.join('; ')}.`) : '';
}

class Notes {
  #reasons = [];

  mark(reason) {
    if (!this.#reasons.includes(reason)) this.#reasons.push(reason);
    return superscript(this.#reasons.indexOf(reason) + 1);
  }

  toText() {
    return this.#reasons.map((reason, index) => `${superscript(index + 1)} ${reason}`).join(' · ');
  }
}

function superscript(number) {
  return String(number).replaceAll(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[digit]);
}
