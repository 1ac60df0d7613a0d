// One language: an exported name means one thing, a type is a noun, and no page or comment uses the phrases that only we understood.
// docs/internals/words.md has the words that we use.
import { describe, expect, it } from 'vitest';
import { projectFiles, read, sourceFiles } from '../helpers/files.ts';

/** Names that two files export, because outsiders expect both: `Ask` is what a flow asks with, and a question on the wire. */
const TWICE = new Set(['Ask']);
const EXPORTED =
  /^export (?:declare )?(?:abstract )?(class|interface|type|enum|(?:async )?function\*?|const|let) (\w+)/gm;
const PARTICIPLE =
  /^(?:[A-Z][a-z]*(?:ed|ing)|Told|Given|Kept|Held|Made|Sent|Heard|Known|Seen|Said|Put|Built|Found|Read|Written|Taken|Left|Shown|Lost|Met|Done|Gone|Meant|Bound)$/;

/** Rooms in which a title says what is tested without the titles around it. Add one when its last title is a sentence. */
const WHOLE_TITLES = [
  'src/cli/',
  'src/gateway/chain/',
  'src/gateway/features/approve/',
  'src/gateway/features/arguments/',
  'src/gateway/features/cache/',
  'src/gateway/features/circuit-breaker/',
  'src/gateway/features/discover/',
  'src/gateway/features/filter/',
  'src/gateway/features/flow/',
  'src/gateway/features/last-lists/',
  'src/gateway/features/log/',
  'src/gateway/features/names/',
  'src/gateway/features/observe/',
  'src/gateway/features/pins/',
  'src/gateway/features/redact/',
  'src/gateway/features/retry/',
  'src/gateway/features/rules/',
  'src/gateway/features/screen/',
  'src/gateway/features/size-limit/',
  'src/gateway/features/timeout/',
  'src/gateway/matching/',
  'src/gateway/router/',
  'src/kernel/',
  'src/people/',
  'src/sdk/',
  'src/testing/',
  'tests/browser/',
  'tests/package/',
];

const exported = sourceFiles()
  .filter((path) => !path.startsWith('src/_entries/'))
  .flatMap((path) => [...read(path).matchAll(EXPORTED)].map(([, kind, name]) => ({ path, kind: kind!, name: name! })));

describe('exported names', () => {
  it('exported names are found', () => expect(exported.length).toBeGreaterThan(1000));

  it('mean one thing each', () => {
    const homes = new Map<string, Set<string>>();
    for (const { name, path } of exported) homes.set(name, (homes.get(name) ?? new Set()).add(path));
    const twice = [...homes].filter(([name, paths]) => paths.size > 1 && !TWICE.has(name));
    expect(twice.map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)).toEqual([]);
  });

  it('exported names of types are nouns, not bare participles', () => {
    const types = exported.filter(({ kind }) => kind === 'class' || kind === 'interface' || kind === 'type');
    expect(types.filter(({ name }) => PARTICIPLE.test(name)).map(({ name, path }) => `${name} in ${path}`)).toEqual([]);
  });
});

describe('prose', () => {
  /** Phrases that only we understood. */
  const PHRASES = new RegExp(
    [
      /\b(?:whoever|whosever|anew|lest|gone on with|is told of|by whichever way|that there is not)\b/,
      /(?<!there )\bis none\b/, // "there is none" is English
      /(?<!\b(?:t?here|where) )\b(?:is|are) no (?!good|less|longer|more|other|such)\w/, // "is not a"
      /(?<!const )\bwhat of\b/,
      /\b(?:he|him|his)\b(?! hecho)/, // a user is a person; one of our pages speaks Spanish
    ]
      .map(({ source }) => source)
      .join('|'),
    'i',
  );
  const prose = projectFiles().filter(
    (path) =>
      /^(?:src|tests|docs|examples|scripts|bench)\/.*\.(?:ts|mjs|md)$|^\w+\.md$/.test(path) &&
      !/^tests\/acceptance\/kit\/|^CHANGELOG\.md$|words\.test\.ts$/.test(path),
  );
  /** Decisions are history, and stay as they were written, except for their titles. */
  const isDecision = (path: string) => path.startsWith('docs/decisions/');
  const linesOf = (path: string) =>
    read(path)
      .split('\n')
      .slice(0, isDecision(path) ? 1 : undefined);

  it('prose is found', () => expect(prose.length).toBeGreaterThan(1000));

  it('prose is plain English', () => expect(linesWith(PHRASES, prose, linesOf)).toEqual([]));

  it('prose of comments cites no paper outside of the repository', () => {
    const papers =
      /(?:\/\/|^\s*\/?\*).*(?:\bmatrix §|\bledger\b (?:[A-Z]-\d|about)|\bseed \d{3}\b|\bthe seeds? (?:of|for)\b|\b(?:DESIGN|house|style)\.md\b|\bshared\/(?:anchors|design|findings|mission|protocol)\b|\bissue [A-Z]\b)/;
    const code = prose.filter((path) => !path.endsWith('.md'));
    expect(linesWith(papers, code, linesOf)).toEqual([]);
    expect('// see matrix §4.2').toMatch(papers);
    expect(' * ledger X-06').toMatch(papers);
  });
});

describe('titles of tests', () => {
  const titles = projectFiles()
    .filter((path) => /^(?:src|tests)\/.*\.(?:test|contract)\.ts$/.test(path))
    .flatMap((path) =>
      [...read(path).matchAll(/^( *)(?:it|test)(?:\.\w+)*\((?:'((?:\\.|[^'\\\n])*)'|`([^`\n]*)`), /gm)].map(
        ([, indent, quoted, template]) => ({ path, isAlone: indent === '', title: (quoted ?? template)! }),
      ),
    );

  it('titles of tests are found', () => expect(titles.length).toBeGreaterThan(3000));

  it('titles of tests are sentences: with a verb, which "should" is not, and without a full stop', () => {
    const words = (title: string) => title.trim().split(/\s+/).length;
    const wrong = titles.filter(
      ({ title, isAlone }) => words(title) < (isAlone ? 3 : 2) || /^should\b|[^.]\.$/i.test(title),
    );
    expect(wrong.map(({ path, title }) => `${path}: ${title}`)).toEqual([]);
  });

  it('titles stand alone in the rooms that were read for it: none is the second half of a sentence', () => {
    const half =
      /^(?:are|as|at|by|can|cannot|did|do|does|for|from|had|has|have|in|is|may|must|of|on|that|to|was|were|which|whose|will|with)\b/;
    const isHalf = ({ path, title }: { path: string; title: string }) =>
      WHOLE_TITLES.some((room) => path.startsWith(room)) && half.test(title);
    expect(titles.filter(isHalf).map(({ path, title }) => `${path}: ${title}`)).toEqual([]);
    expect('is kept').toMatch(half);
  });
});

function linesWith(pattern: RegExp, paths: readonly string[], linesOf: (path: string) => string[]): string[] {
  return paths.flatMap((path) =>
    linesOf(path).flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
  );
}
