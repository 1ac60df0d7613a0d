// A snapshot of the declarations that users compile against, so that a change of the public types is a visible change.
// Renew it with `npx vitest run --project package tests/package/declarations.test.ts -u`.
import { parseAst } from 'rolldown/parseAst';
import { expect, it } from 'vitest';
import { read } from '../helpers/files.ts';

/** Everything the entries export, and every type those declarations name. */
const SHARED = 'dist/types/shared.d.ts';

it('the emitted declarations are these', async () => {
  const code = read(SHARED);
  const statements = parseAst(code, { lang: 'dts' }).body.filter(({ type }) => !/^(?:Import|Export)/.test(type));
  // Sorted, because their order follows the files of the source.
  const texts = statements.map(({ start, end }) => withoutComments(code.slice(start, end))).toSorted();
  expect(texts.length).toBeGreaterThan(200);
  await expect(`${texts.join('\n\n')}\n`).toMatchFileSnapshot('declarations.snapshot.txt');
});

function withoutComments(text: string): string {
  return text.replaceAll(/\n?[ \t]*\/\*\*[^]*?\*\//g, '').trim();
}
