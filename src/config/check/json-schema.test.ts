// schema/parley.config.schema.json is what editors complete from. `npm run renew` renews it.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { configSchema } from './json-schema.ts';
import { parseConfig } from '../read/parse-config.ts';

const FILE = fileURLToPath(new URL('../../../schema/parley.config.schema.json', import.meta.url));
const OXFMT = fileURLToPath(new URL('../../../node_modules/oxfmt/bin/oxfmt', import.meta.url));
const CASES = fileURLToPath(new URL('../../../tests/config/', import.meta.url));
const written = `${JSON.stringify(configSchema(), undefined, 2)}\n`;

describe('schema/parley.config.schema.json', () => {
  it('is made from the shape', () => {
    if (process.env['UPDATE_DOCS'] === '1') {
      mkdirSync(dirname(FILE), { recursive: true });
      writeFileSync(FILE, written);
      execFileSync(process.execPath, [OXFMT, FILE]);
    }
    expect(JSON.stringify(JSON.parse(readFileSync(FILE, 'utf8')))).toBe(JSON.stringify(configSchema()));
  });

  it('takes every good case of tests/config, and refuses wrong types and keys', () => {
    const check = new Ajv({ allowUnionTypes: true }).compile(JSON.parse(written) as object);
    const verdicts = readdirSync(CASES).map((name) => {
      const [head = '', text = '', outcome = ''] = readFileSync(`${CASES}${name}`, 'utf8').split('\n----------\n');
      const file = head.split('\n').find((line) => !line.startsWith('#'))!;
      return { name, good: outcome.startsWith('{'), file, valid: check(withoutNull(parseConfig(text, file).value)) };
    });
    const own = verdicts.filter(({ file }) => file.startsWith('parley.'));
    expect(own.filter(({ good, valid }) => good && !valid)).toEqual([]);
    const refused = own.filter(({ name }) => /-(?:types|keys)\.txt$/.test(name) && name.startsWith('problems'));
    expect(refused.map(({ valid }) => valid)).toEqual([false, false]);
  });
});

/** What YAML makes of a key with nothing after it is taken as not given. */
function withoutNull(value: unknown): unknown {
  if (value === undefined) return undefined;
  return JSON.parse(JSON.stringify(value, (_, inner: unknown) => (inner === null ? undefined : inner)));
}
