// Checks the imports: 1. a folder of src imports only from the folders that helpers/map.ts allows, all of them below
// it; 2. so do the stages of src/gateway; 3. only dialect/ names revisions.
import { writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL_REVISIONS } from '../../src/gateway/dialect/revisions.ts';
import { ROOT, filesUnder, read, sourceFiles } from '../helpers/files.ts';
import { LAYERS, STAGES, mapTable } from '../helpers/map.ts';

const REVISION = new RegExp(`\\b(?:${ALL_REVISIONS.filter((one) => one !== 'draft').join('|')})\\b|DRAFT-2025`);

const EXPORTED_VALUE = /^export (?:abstract )?(?:class|(?:async )?function\*?|const|let) (\w+)/gm;

interface Import {
  from: string;
  to: string;
}

const imports: Import[] = sourceFiles().flatMap((from) =>
  [...read(from).matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)].map((match) => ({
    from,
    to: posix.join(posix.dirname(from), match[1]!),
  })),
);

describe('the layers of src', () => {
  it('are all known', () => {
    const folders = new Set(sourceFiles().map((path) => path.split('/')[1]!));
    expect([...folders].toSorted()).toEqual(Object.keys(LAYERS).toSorted());
    const stages = new Set(sourceFiles().flatMap((path) => stageOf(path) ?? []));
    expect([...stages].toSorted()).toEqual(Object.keys(STAGES).toSorted());
  });

  it('import only from the folders that the map allows', () => {
    const layer = (path: string) => path.split('/')[1]!;
    const breaches = imports.filter(({ from, to }) => {
      const [own, used] = [layer(from), layer(to)];
      return own !== used && !LAYERS[own]?.uses.includes(used);
    });
    expect(told(breaches)).toEqual([]);
  });

  it('import downwards', () => {
    const order = Object.keys(LAYERS);
    for (const [folder, { uses }] of Object.entries(LAYERS)) {
      expect(uses.filter((used) => order.indexOf(used) <= order.indexOf(folder))).toEqual([]);
    }
  });

  it('use everything that the map allows', () => {
    const needed = new Set(imports.map(({ from, to }) => `${from.split('/')[1]} ${to.split('/')[1]}`));
    const unused = Object.entries(LAYERS).flatMap(([folder, { uses }]) =>
      uses.filter((used) => !needed.has(`${folder} ${used}`)),
    );
    expect(unused).toEqual([]);
  });

  it('are listed in AGENTS.md', () => {
    const table = /(<!-- map:begin -->\n)[\s\S]*?(<!-- map:end -->)/;
    const page = read('AGENTS.md');
    const wanted = page.replace(table, `$1${mapTable()}\n$2`);
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(ROOT, 'AGENTS.md'), wanted);
    else expect(page).toBe(wanted);
  });

  it('are imported by path with its .ts, and never through an entry', () => {
    expect(told(imports.filter(({ to }) => !to.endsWith('.ts') || to.startsWith('src/_entries/')))).toEqual([]);
  });
});

describe('the stages of src/gateway', () => {
  it('import only from the stages that the map allows', () => {
    const breaches = imports.filter(({ from, to }) => {
      const [stage, used] = [stageOf(from), stageOf(to)];
      if (stage === undefined || used === undefined || stage === used) return false;
      return !STAGES[stage]?.uses.includes(used);
    });
    expect(told(breaches)).toEqual([]);
  });
});

describe('revisions', () => {
  it('are named only in dialect/', () => {
    const outside = sourceFiles().filter((path) => !path.startsWith('src/gateway/dialect/'));
    const named = outside.flatMap((path) =>
      read(path)
        .split('\n')
        .map(withoutComment)
        .flatMap((line, index) => (REVISION.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
    );
    expect(named).toEqual([]);
  });
});

describe('exported functions, classes and constants', () => {
  it('are imported by another file: what only its own file uses is not exported', () => {
    const all = ['src', 'tests', 'bench'].flatMap((folder) => filesUnder(folder, (path) => /\.m?ts$/.test(path)));
    const used = new Set(all.flatMap(namesImportedBy));
    const unused = sourceFiles()
      .filter((path) => !path.startsWith('src/_entries/'))
      .flatMap((path) =>
        [...read(path).matchAll(EXPORTED_VALUE)]
          .filter(([, name]) => !used.has(`${path} ${name}`) && !used.has(`${path} *`))
          .map(([, name]) => `${name} of ${path}`),
      );
    expect(unused).toEqual([]);
  });
});

/** `path name`; with `*` for a module that is imported as a whole, or when it is needed. */
function namesImportedBy(file: string): string[] {
  const text = read(file);
  const at = (to: string) => posix.join(posix.dirname(file), to);
  const named = [...text.matchAll(/^(?:import|export) (?:type )?\{([^}]*)\} from '(\.[^']+)'/gm)].flatMap(
    ([, names = '', to = '']) => names.split(',').map((name) => `${at(to)} ${nameOf(name)}`),
  );
  const whole = [...text.matchAll(/\bimport\(\s*'(\.[^']+)'|^import (?:type )?\* as \w+ from '(\.[^']+)'/gm)];
  return [...named, ...whole.map(([, late, all]) => `${at((late ?? all)!)} *`)];
}

/** As the module names it: `type A as B` is A. */
function nameOf(imported: string): string {
  return imported
    .trim()
    .replace(/^type /, '')
    .split(' as ')[0]!;
}

describe('exchanges', () => {
  it('that stand before another one are two: what deriveExchange makes, and that of a chain', () => {
    const wrappers = sourceFiles().flatMap((path) => [
      ...read(path).matchAll(/class (\w+) extends DerivedExchange|class (DerivedExchange)/g),
    ]);
    expect(wrappers.map(([, derived, root]) => (derived ?? root)!).toSorted()).toEqual([
      'ChainExchange',
      'DerivedExchange',
    ]);
  });
});

describe('this test', () => {
  it('reads imports and comments correctly', () => {
    expect(imports.length).toBeGreaterThan(filesUnder('src').length);
    expect(withoutComment("const url = 'http://x'; // since 2025-11-25")).toBe("const url = 'http://x';");
    expect(withoutComment(' * since 2025-11-25')).toBe('');
    expect(withoutComment("const A = '2025-11-25';")).toMatch(REVISION);
  });
});

function stageOf(path: string): string | undefined {
  return /^src\/gateway\/([\w-]+)\//.exec(path)?.[1];
}

function withoutComment(line: string): string {
  return /^\s*(\/\*|\*)/.test(line) ? '' : line.replace(/(^|\s+)\/\/.*$/, '');
}

function told(breaches: Import[]): string[] {
  return breaches.map(({ from, to }) => `${from} imports ${to}`);
}
