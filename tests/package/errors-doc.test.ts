// docs/errors.md shows the error table of the code. `npm run renew` renews it.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ERRORS } from '../../src/kernel/base/error-table.ts';
import type { ErrorRow } from '../../src/kernel/base/error-table.ts';
import { ROOT, filesUnder, isTest, read } from '../helpers/files.ts';

const PAGE = 'docs/errors.md';
const BEGIN = '<!-- errors:begin -->';
const END = '<!-- errors:end -->';

describe('docs/errors.md', () => {
  it('shows every error of the code', () => {
    const page = read(PAGE);
    const [head, rest = ''] = page.split(BEGIN);
    const tail = rest.split(END)[1];
    expect(tail, `${PAGE} must hold ${BEGIN} and ${END}`).toBeDefined();
    const renewed = `${head}${BEGIN}\n${table()}\n${END}${tail}`;
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(ROOT, PAGE), renewed);
    expect(read(PAGE)).toBe(renewed);
  });
});

describe('the error table', () => {
  it('the error table has no unused row', () => {
    const sources = filesUnder(
      'src',
      (path) => path.endsWith('.ts') && !isTest(path) && path !== 'src/kernel/base/error-table.ts',
    );
    const code = sources.map(read).join('\n');
    expect(Object.keys(ERRORS).filter((name) => !code.includes(`'${name}'`))).toEqual([]);
  });

  it('says what to do in every row', () => {
    for (const { message, hint } of Object.values<ErrorRow>(ERRORS)) {
      expect(message).not.toBe('');
      expect(hint).toMatch(/^[A-Z].*\.$/);
    }
  });
});

function table(): string {
  const rows = Object.entries<ErrorRow>(ERRORS).map(([name, { message, hint, code, status, fault }]) =>
    toRow([`\`${name}\``, message, String(code), String(status), fault, hint]),
  );
  return [
    toRow(['code', 'message', 'JSON-RPC', 'HTTP', 'fault', 'what to do']),
    toRow(Array(6).fill('---')),
    ...rows,
  ].join('\n');
}

function toRow(cells: string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}
