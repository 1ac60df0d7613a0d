// Numbers and ids as a table.
export function toTable(rows) {
  const names = [...new Set(rows.map(({ name }) => name))];
  const sign = (name, era) => (isSame(rows.find((row) => row.name === name && row.era === era)) ? '=' : '✗');
  const lines = names.map((name) => `| ${name} | ${sign(name, 'handshake')} | ${sign(name, 'stateless')} |`);
  return ['| as text on the wire | 2025-11-25 | 2026-07-28 |', '| --- | :-: | :-: |', ...lines].join('\n');
}

export function isSame({ direct, through }) {
  return JSON.stringify(direct) === JSON.stringify(through);
}
