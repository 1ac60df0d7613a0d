// One language: an exported name means one thing, a type is a noun, and no page or comment uses the phrases that only we understood.
// docs/words.md has the words that we use.
import { describe, expect, it } from 'vitest';
import { projectFiles, read, sourceFiles } from '../helpers/files.ts';

/** Names that two files export, because outsiders expect both: `Ask` is what a flow asks with, and a question on the wire. */
const TWICE = new Set(['Ask']);
const EXPORTED =
  /^export (?:declare )?(?:abstract )?(class|interface|type|enum|(?:async )?function\*?|const|let) (\w+)/gm;
const PARTICIPLE =
  /^(?:[A-Z][a-z]*(?:ed|ing)|Told|Given|Kept|Held|Made|Sent|Heard|Known|Seen|Said|Put|Built|Found|Read|Written|Taken|Left|Shown|Lost|Met|Done|Gone|Meant|Bound)$/;

const exported = sourceFiles()
  .filter((path) => !path.startsWith('src/_entries/'))
  .flatMap((path) => [...read(path).matchAll(EXPORTED)].map(([, kind, name]) => ({ path, kind: kind!, name: name! })));

describe('exported names', () => {
  it('are found', () => expect(exported.length).toBeGreaterThan(1000));

  it('mean one thing each', () => {
    const homes = new Map<string, Set<string>>();
    for (const { name, path } of exported) homes.set(name, (homes.get(name) ?? new Set()).add(path));
    const twice = [...homes].filter(([name, paths]) => paths.size > 1 && !TWICE.has(name));
    expect(twice.map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)).toEqual([]);
  });

  it('of types are nouns, not bare participles', () => {
    const types = exported.filter(({ kind }) => kind === 'class' || kind === 'interface' || kind === 'type');
    expect(types.filter(({ name }) => PARTICIPLE.test(name)).map(({ name, path }) => `${name} in ${path}`)).toEqual([]);
  });
});

describe('prose', () => {
  /** Phrases that only we understood. Decisions are history, and stay as they were written. */
  const PHRASES = /\b(?:whoever|whosever|anew|lest|gone on with|is told of|by whichever way|that there is not)\b/i;
  const pages = projectFiles().filter(
    (path) =>
      /^(?:src|tests|docs|examples|scripts|bench)\/.*\.(?:ts|mjs|md)$|^\w+\.md$/.test(path) &&
      !/^(?:docs\/decisions|tests\/acceptance\/kit)\/|^CHANGELOG\.md$|words\.test\.ts$/.test(path),
  );

  it('is found', () => expect(pages.length).toBeGreaterThan(1000));

  it('is plain English', () => {
    const lines = pages.flatMap((path) =>
      read(path)
        .split('\n')
        .flatMap((line, index) => (PHRASES.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : [])),
    );
    expect(lines).toEqual([]);
  });
});
