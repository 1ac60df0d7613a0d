// The reading rules of the tree, as tables. 1: in src a folder imports only from folders listed below it. 2: the stages in
// src/gateway do not import each other, except the two ends, which use codec and dialect. 3: only dialect/ names revisions.
import { posix } from 'node:path';
import { describe, expect, it } from 'vitest';
import { filesUnder, read, sourceFiles } from '../helpers/files.ts';

const LAYERS = [
  '_entries',
  'cli',
  'config',
  'console',
  'testing',
  'flow',
  'server',
  'client',
  'gateway',
  'protocol',
  'shared',
];

/** What each stage of the gateway may use beside itself, protocol/ and shared/. */
const STAGES: Record<string, string[]> = {
  accept: ['codec', 'dialect'],
  ask: [],
  codec: [],
  dialect: [],
  flow: ['ask'],
  middleware: [],
  observe: [],
  router: [],
  tasks: [],
  upstream: ['codec', 'dialect', 'flow', 'tasks'],
};

const REVISION = /\b20\d\d-\d\d-\d\d\b|DRAFT-2025/;

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
    expect([...folders].filter((folder) => !LAYERS.includes(folder))).toEqual([]);
    const stages = new Set(sourceFiles().flatMap((path) => stageOf(path) ?? []));
    expect([...stages].filter((stage) => !(stage in STAGES))).toEqual([]);
  });

  it('import only from layers below them', () => {
    const layer = (path: string) => LAYERS.indexOf(path.split('/')[1]!);
    expect(told(imports.filter(({ from, to }) => layer(to) < layer(from)))).toEqual([]);
  });

  it('are imported by path with its .ts, and never through an entry', () => {
    expect(told(imports.filter(({ to }) => !to.endsWith('.ts') || to.startsWith('src/_entries/')))).toEqual([]);
  });
});

describe('the stages of src/gateway', () => {
  it('do not import each other, except the two ends', () => {
    const breaches = imports.filter(({ from, to }) => {
      const [stage, used] = [stageOf(from), stageOf(to)];
      if (stage === undefined || used === undefined || stage === used) return false;
      return !STAGES[stage]?.includes(used);
    });
    expect(told(breaches)).toEqual([]);
  });
});

describe('revisions', () => {
  it('are named in dialect/ alone', () => {
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

describe('this test', () => {
  it('sees imports and comments as they are', () => {
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
