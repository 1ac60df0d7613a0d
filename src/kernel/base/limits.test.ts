import { describe, expect, it } from 'vitest';
import { read, sourceFiles } from '../../../tests/helpers/files.ts';
import { DEFAULT_LIMITS } from './limits.ts';

/** They name every limit, and enforce none. */
const TABLES = ['src/kernel/base/limits.ts', 'src/config/check/limits-shape.ts'];

describe('a limit', () => {
  it('every limit is enforced somewhere in the source', () => {
    const code = sourceFiles()
      .filter((path) => !TABLES.includes(path))
      .map(read)
      .join('\n');
    expect(Object.keys(DEFAULT_LIMITS).filter((name) => !new RegExp(`\\b${name}\\b`).test(code))).toEqual([]);
  });
});
