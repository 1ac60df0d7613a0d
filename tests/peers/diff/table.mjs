// The table of behaviours and cells for docs/evidence/borders.md.
import { CLIENTS, SERVERS, WAYS } from './cells.mjs';

const SHORT = { stdio: 'stdio', http: 'HTTP', 'http-stdio': 'HTTP before stdio' };

export function toTable(behaviours, cells, outcomes) {
  const columns = SERVERS.flatMap((server) => CLIENTS.map((client) => ({ server, client })));
  const reasons = [...new Set(outcomes.flatMap(({ reasons: own }) => own.map(({ reason }) => reason)))];
  const head = ['behaviour', ...columns.map(({ server, client }) => `${client.title} ⇄ SDK ${server}`)];
  const lines = behaviours.map(({ name }) => [
    name.replaceAll('|', '\\|'),
    ...columns.map(({ server, client }) => {
      const own = outcomes.filter(
        ({ behaviour, cell }) => behaviour.name === name && cell.server === server && cell.column === client.id,
      );
      return toSign(own, reasons);
    }),
  ]);
  const rows = [head, head.map((_, index) => (index === 0 ? '---' : ':-:')), ...lines].map(
    (line) => `| ${line.join(' | ')} |`,
  );
  const notes = reasons.map((reason, index) => `${superscript(index + 1)} ${reason}`).join(' · ');
  return [
    `${behaviours.length} behaviours, ${cells.length} cells, ${outcomes.length} comparisons.`,
    rows.join('\n'),
    ...(notes ? [notes] : []),
  ].join('\n\n');
}

/** The same sign stands for all ways; where only some differ, they are named. */
function toSign(outcomes, reasons) {
  if (outcomes.length === 0) return '–';
  const odd = outcomes.filter(({ state }) => state !== 'same');
  if (odd.length === 0) return '=';
  const marks = [...new Set(odd.map((outcome) => markOf(outcome, reasons)))].join(' ');
  return odd.length === WAYS.length ? marks : `${marks} ${odd.map(({ cell }) => SHORT[cell.way.id]).join(', ')}`;
}

function markOf({ state, reasons: own }, reasons) {
  if (state === 'open') return 'open';
  if (state !== 'expected') return '✗';
  return `≠${own.map(({ reason }) => superscript(reasons.indexOf(reason) + 1)).join(' ')}`;
}

function superscript(number) {
  return String(number).replaceAll(/\d/g, (digit) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[digit]);
}
