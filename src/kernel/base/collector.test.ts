import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { FLAGS } from './collector.ts';

describe('the collector of V8', () => {
  it('knows all flags that are set', () => {
    const { status, stderr } = spawnSync(process.execPath, [...FLAGS, '--eval', ''], { encoding: 'utf8' });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });
});
