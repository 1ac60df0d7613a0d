// Formats the results as tables: one for each server behind the gateway, a row for each question, a column for each client.

export function toTables(results, { upstreams, clients, questions }) {
  return upstreams.map((upstream) => toTable(upstream, results, clients, questions)).join('\n\n');
}

function toTable(upstream, results, clients, questions) {
  const found = (client, question) =>
    results.find((one) => one.upstream === upstream && one.client === client && one.question === question);
  const rows = questions.map((question) => [
    question === 'disconnect' ? 'disconnect in the middle' : question,
    ...clients.map((client) => toCell(found(client, question))),
  ]);
  const head = [`server: ${upstream.name}`, ...clients.map(({ name }) => name)];
  return [head, head.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n');
}

/** What a server cannot ask is in no cell. */
function toCell(result) {
  if (!result) return '—';
  const { passed, way } = result;
  return passed ? `✓ ${way}` : '✗';
}
