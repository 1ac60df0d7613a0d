import { expect, test } from 'vitest';
import { RecordingLog } from '../../mcp/connect/fake-link.contract.ts';
import { Listeners } from './listeners.ts';

test('each listener gets changes of its kind, until it is removed', () => {
  const listeners = new Listeners(new RecordingLog());
  const heard: string[] = [];
  const off = listeners.on('tools', () => heard.push('tools'));
  listeners.on('resource', ({ uri }) => heard.push(uri));
  listeners.tell({ kind: 'tools' });
  listeners.tell({ kind: 'resource', uri: 'a' });
  listeners.tell({ kind: 'prompts' });
  off();
  off();
  listeners.tell({ kind: 'tools' });
  expect(heard).toEqual(['tools', 'a']);
});

test('a listener that throws or rejects does not affect the others and is logged', async () => {
  const log = new RecordingLog();
  const listeners = new Listeners(log);
  const heard: string[] = [];
  listeners.on('tools', () => {
    throw new Error('now');
  });
  listeners.on('tools', async () => {
    throw new Error('later');
  });
  listeners.on('tools', () => heard.push('heard'));
  listeners.tell({ kind: 'tools' });
  await new Promise(setImmediate);
  expect([heard, log.events]).toEqual([['heard'], ['listener.failed', 'listener.failed']]);
});

test('a listener may remove itself while it is called', () => {
  const listeners = new Listeners(new RecordingLog());
  let count = 0;
  const off = listeners.on('tools', () => {
    count++;
    off();
  });
  listeners.tell({ kind: 'tools' });
  listeners.tell({ kind: 'tools' });
  expect(count).toBe(1);
});

test('the end is reported once, with its reason, also to later listeners', async () => {
  const listeners = new Listeners(new RecordingLog());
  listeners.close('exit code 1');
  listeners.close('closed');
  expect(await listeners.closed).toBe('exit code 1');
});
