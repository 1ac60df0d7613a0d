// A file: the function has its name and size, a step has its bytes. What can be chosen then depends on what is in it.
import { flow } from 'mcp-parley/flow';

export const imported = new Map();

export const importTable = flow({ name: 'import_table', description: 'Import a table' }, async (ask) => {
  const file = await ask.file('table', { message: 'Which table?', accept: ['.csv', 'text/csv'], maxBytes: 1_000_000 });
  const { columns, rows } = await ask.step('read', async (step) => parse(await step.bytes(file)));
  const by = await ask.choice('by', columns, { message: 'Which column tells the rows apart?' });
  const at = columns.indexOf(by);
  const known = new Set(rows.map((row) => row[at]));
  if (!(await ask.confirm('go', { message: `Import ${known.size} rows of ${file.name}?` }))) return { imported: 0 };
  await ask.step('import', async (step) => void imported.set(step.idempotencyKey, [...known]), { effect: 'retry' });
  return { imported: known.size, columns, by };
});

function parse(bytes) {
  const [columns, ...rows] = Buffer.from(bytes)
    .toString('utf8')
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(','));
  return { columns, rows };
}
