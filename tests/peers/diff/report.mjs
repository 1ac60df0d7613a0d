// Prints the result, and writes the open differences for those who fix them.
const SHOWN = 300;

export function printResults(outcomes, stale) {
  for (const { behaviour, cell, state, differences } of outcomes) {
    if (state !== 'different' && state !== 'no reference') continue;
    console.log(
      `\n✗ ${behaviour.name}: ${cell.id}${state === 'no reference' ? ' (it fails without the gateway)' : ''}`,
    );
    for (const difference of differences) console.log(`    ${brief(difference)}`);
  }
  for (const line of stale) console.log(`\n✗ ${line}`);
}

/** By behaviour, each distinct difference once with the cells that show it. */
export function describeOpen(outcomes) {
  const lines = ['# Differences between direct and through Parley that are still open', ''];
  for (const name of new Set(outcomes.map(({ behaviour }) => behaviour.name))) {
    const own = outcomes.filter(({ behaviour }) => behaviour.name === name);
    const byText = new Map();
    for (const { cell, differences } of own) {
      for (const difference of differences)
        byText.set(brief(difference), [...(byText.get(brief(difference)) ?? []), cell.id]);
    }
    lines.push(`## ${name}`, '');
    for (const [text, cells] of byText)
      lines.push(
        `- ${cells.length} cells (${cells.slice(0, 4).join(', ')}${cells.length > 4 ? ', …' : ''}): \`${text}\``,
      );
    lines.push('');
  }
  return `${lines.join('\n')}\n`;
}

function brief({ at, direct, through }) {
  const value = (one) => (one === undefined ? 'absent' : (JSON.stringify(one) ?? String(one))).slice(0, SHOWN);
  return `${at}: directly ${value(direct)}, through ${value(through)}`;
}
