import { describe, expect, it } from 'vitest';
import { createServer } from '../../../sdk/server/create-server.ts';
import { createLog } from '../../../kernel/base/log.ts';
import { Observer } from './observer.ts';

const log = createLog({ level: 'silent' });
const nothing = () => ({ servers: [], parked: 0, isStopping: false });

describe('an observer with everything switched off', () => {
  it('a disabled observer wraps nothing', () => {
    const target = createServer({ name: 'one', version: '1', log });
    const observer = new Observer({ metrics: false, tracing: false }, nothing);
    const member = { name: 'one', target };
    expect(observer.layer(target)).toBe(target);
    expect(observer.member(member)).toBe(member);
    expect(observer.log(log, 'one')).toBe(log);
    expect(Object.keys(observer.pages(true, () => true))).toEqual(['/healthz', '/readyz']);
  });
});

describe('an observer that counts', () => {
  it('an observer with metrics wraps the steps, but not each server', () => {
    const target = createServer({ name: 'one', version: '1', log });
    const observer = new Observer({ metrics: true, tracing: false }, nothing);
    const member = { name: 'one', target };
    expect(observer.layer(target)).not.toBe(target);
    expect(observer.member(member)).toBe(member);
  });
});
