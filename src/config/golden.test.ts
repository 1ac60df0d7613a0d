// Walks tests/config/*.txt. A case is: head (file, variables), a dashed line, the text of the file, a dashed line, and what comes
// out of it: its problems, or its normal form, or both. `npm run renew` renews the last part.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readConfig } from './read/load-config.ts';
import { normalizeConfig } from './normalize-config.ts';
import { formatProblem } from './check/config-problems.ts';
import { printConfig } from './redact-config.ts';
import type { ConfigInput } from './check/schema.ts';

const FOLDER = fileURLToPath(new URL('../../tests/config/', import.meta.url));
const LINE = '\n----------\n';
const cases = readdirSync(FOLDER).filter((name) => name.endsWith('.txt'));

describe('tests/config', () => {
  it.each(cases)('%s comes out as written there', (name) => {
    const path = join(FOLDER, name);
    const [head = '', text = '', expected = ''] = readFileSync(path, 'utf8').split(LINE);
    const outcome = outcomeOf(head, text);
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(path, `${[head, text, outcome].join(LINE)}\n`);
    else expect(outcome).toBe(expected.trimEnd());
  });

  it.each(cases)('%s shows no secret', (name) => {
    const [head = '', text = ''] = readFileSync(join(FOLDER, name), 'utf8').split(LINE);
    expect(outcomeOf(head, text)).not.toContain('s3cret');
  });

  it.each(cases)('%s has a normal form that is its own normal form, and frozen', (name) => {
    const [head = '', text = ''] = readFileSync(join(FOLDER, name), 'utf8').split(LINE);
    const { config } = load(head, text);
    if (config === undefined) return;
    expect(normalizeConfig(config as unknown as ConfigInput, '/elsewhere')).toEqual(config);
    expect(Object.isFrozen(config) && Object.values(config.servers).every(Object.isFrozen)).toBe(true);
  });
});

function outcomeOf(head: string, text: string): string {
  const { path, config, problems, used } = load(head, text);
  const lines = problems.map((problem) => formatProblem(problem, path!.replace('/project/', '')));
  return [...lines, ...(config ? [printConfig(config, used)] : [])].join('\n');
}

function load(head: string, text: string) {
  const lines = head.split('\n').filter((line) => !line.startsWith('#'));
  const env = Object.fromEntries(lines.slice(1).map((line) => line.split(/=(.*)/s).slice(0, 2) as [string, string]));
  return readConfig(
    { path: `/project/${lines[0]}`, text },
    {
      env,
      cwd: '/project',
      home: '/users/me',
      platform: 'linux',
      read: (path) => {
        if (path === '/project/.env') return 'FROM_FILE=s3cret-file\nBOTH=file\n';
        throw new Error('not there');
      },
    },
  );
}
