// docs/specification.md says where each section of the five documents is implemented, and which test shows it. All of that has to exist.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT, filesUnder } from '../helpers/files.ts';
import { isTitle } from '../helpers/test-titles.ts';

const text = readFileSync(join(ROOT, 'docs/specification.md'), 'utf8');
const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');
const rows = text
  .split('\n')
  .filter((line) => line.startsWith('| ') && /`(?:src|tests)\//.test(line))
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('the five documents', () => {
  it('the five documents have their sections, each with the code and a test', () => {
    expect(rows.length).toBeGreaterThan(60);
    for (const [, section, where = '', shown = ''] of rows) {
      expect([section, /`src\//.test(where), /`(?:tests\/|kit )/.test(shown)]).toEqual([section, true, true]);
    }
  });

  it('name files that exist', () => {
    const paths = [...text.matchAll(/`((?:src|tests|docs)\/[^`\s]+)`/g)].map(([, path]) => path!);
    expect(paths.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('name tests that exist', () => {
    const named = [...text.matchAll(/`(tests\/[^`\s]+)` "([^"]+)"/g)].map(([, path, title]) => [path!, title!]);
    expect(named.length).toBeGreaterThan(5);
    expect(named.filter(([path, title]) => !isTitle(read(path!), title!))).toEqual([]);
  });

  it('name groups of the kit that exist', () => {
    const kit = filesUnder('tests/acceptance/kit/transcripts', (path) => path.endsWith('.json'))
      .map(read)
      .join('\n');
    const groups = [...text.matchAll(/`kit ([^`]+)`/g)].map(([, name]) => name!);
    expect(groups.filter((name) => !new RegExp(`"name":\\s*"${name}"`).test(kit))).toEqual([]);
    const all = [...kit.matchAll(/"name":\s*"((?:flow|chain|p|d|a)-[^"]+)",\s*"fixture"/g)].map(([, name]) => name!);
    expect(all.length).toBeGreaterThan(50);
  });
});
