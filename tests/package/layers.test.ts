// Checks the imports: 1. a room of src imports only from the rooms that helpers/map.ts allows, all of them below
// it; 2. only eras/ names revisions, and asks which era a peer speaks.
import { writeFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ALL_REVISIONS } from '../../src/mcp/eras/revisions.ts';
import { ROOT, filesUnder, read, sourceFiles } from '../helpers/files.ts';
import { importsOf } from '../helpers/imports.ts';
import type { Import } from '../helpers/imports.ts';
import { ROOMS, isIn, mapTable, roomOf } from '../helpers/map.ts';

const REVISION = new RegExp(`\\b(?:${ALL_REVISIONS.filter((one) => one !== 'draft').join('|')})\\b|DRAFT-2025`);

/** A comparison or a switch: of something called dialect or era with a value, or of anything with a name of one. */
const NAMES = "'(?:handshake|stateless|draft)'|(?:STATELESS|NEWEST_HANDSHAKE|PLAIN_FORMS|DRAFT(?:_VERSION)?)\\b";
const ASKED = '\\b(?:dialect|spokenAs|[eE]ra)';
const ERA_ASKED = new RegExp(
  [
    `${ASKED} ?[!=]==? (?!undefined\\b|null\\b|'string')`,
    `[!=]==? (?:[\\w.?]*\\.)?${ASKED}\\b(?![.?])`,
    `(?:[!=]==?|case) (?:${NAMES})`,
    `(?:${NAMES}) [!=]==?`,
    `switch \\([^)]*${ASKED}\\)`,
    '\\bis(?:Handshake|Stateless|Draft)\\(',
  ].join('|'),
);

const EXPORTED_VALUE = /^export (?:abstract )?(?:class|(?:async )?function\*?|const|let) (\w+)/gm;

const imports = importsOf();

/** Imports from one room into another one. */
const crossings = imports
  .map((one) => ({ ...one, room: roomOf(one.from)!, used: roomOf(one.to)! }))
  .filter(({ room, used }) => room !== used);

describe('the rooms of src', () => {
  it('the rooms of src are all known, and each has files', () => {
    expect(sourceFiles().filter((path) => roomOf(path) === undefined)).toEqual([]);
    const rooms = new Set(sourceFiles().map(roomOf));
    expect([...rooms].map(String).toSorted()).toEqual(Object.keys(ROOMS).toSorted());
  });

  it('import only from the rooms that the map allows', () => {
    const breaches = crossings.filter(({ room, used }) => !ROOMS[room]?.uses.some((folder) => isIn(used, folder)));
    expect(told(breaches)).toEqual([]);
  });

  it('import downwards', () => {
    const order = Object.keys(ROOMS);
    expect(told(crossings.filter(({ room, used }) => order.indexOf(used) <= order.indexOf(room)))).toEqual([]);
  });

  it('use everything that the map allows', () => {
    const unused = Object.entries(ROOMS).flatMap(([folder, { uses }]) =>
      uses
        .filter((allowed) => !crossings.some(({ room, used }) => room === folder && isIn(used, allowed)))
        .map((allowed) => `${folder} ${allowed}`),
    );
    expect(unused).toEqual([]);
  });

  it('the rooms of src are listed in AGENTS.md', () => {
    const table = /(<!-- map:begin -->\n)[\s\S]*?(<!-- map:end -->)/;
    const page = read('AGENTS.md');
    const wanted = page.replace(table, `$1${mapTable()}\n$2`);
    if (process.env['UPDATE_DOCS'] === '1') writeFileSync(join(ROOT, 'AGENTS.md'), wanted);
    else expect(page).toBe(wanted);
  });

  it('the rooms of src are imported by path with its .ts, and never through an entry', () => {
    expect(told(imports.filter(({ to }) => !to.endsWith('.ts') || to.startsWith('src/_entries/')))).toEqual([]);
  });
});

describe('questions about eras', () => {
  const outside = sourceFiles().filter((path) => !path.startsWith('src/mcp/eras/'));

  it('no file outside of eras/ names a revision', () => {
    expect(linesWith(REVISION, outside)).toEqual([]);
  });

  it('no file outside of eras/ asks which era or dialect a peer speaks: it asks for a fact of the era by its name', () => {
    expect(linesWith(ERA_ASKED, outside)).toEqual([]);
  });
});

describe('exported functions, classes and constants', () => {
  it('exported functions, classes and constants are imported by another file: what only its own file uses is not exported', () => {
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
  it('exchanges that stand before another one are two: what deriveExchange makes, and that of a chain', () => {
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

  it.each([
    "if (client.dialect === 'stateless') return;",
    "const isOld = server?.dialect !== 'handshake';",
    'return one.era === other.era;',
    'return last === client.dialect;',
    "era === 'draft'",
    "if ('draft' === name)",
    'if (revision === STATELESS) return;',
    'switch (client.dialect) {',
    "case 'handshake':",
    'if (isStateless(revision))',
  ])('the check of questions about eras finds the one in %s', (line) => {
    expect(line).toMatch(ERA_ASKED);
  });

  it.each([
    'if (era === undefined || revision === null) return;',
    'if (client.era.hasSession) return;',
    "connect({ prefer: 'handshake' })",
    'return one.era.hasSession === other.era.hasSession;',
    'const key = `${client.dialect} ${client.revision}`;',
  ])('the check of questions about eras finds none in %s', (line) => {
    expect(line).not.toMatch(ERA_ASKED);
  });
});

function linesWith(pattern: RegExp, paths: readonly string[]): string[] {
  return paths.flatMap((path) =>
    read(path)
      .split('\n')
      .map(withoutComment)
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
  );
}

function withoutComment(line: string): string {
  return /^\s*(\/\*|\*)/.test(line) ? '' : line.replace(/(^|\s+)\/\/.*$/, '');
}

function told(breaches: Import[]): string[] {
  return breaches.map(({ from, to }) => `${from} imports ${to}`);
}
