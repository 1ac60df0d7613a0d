import { describe, expect, it } from 'vitest';
import type { Change } from '../../kernel/target.ts';
import { Server } from './server.ts';

function watched() {
  const server = new Server({ name: 'test', version: '1' });
  const changes: Change[] = [];
  const stop = server.watch((change) => changes.push(change));
  return { server, changes, stop };
}

const nothing = () => undefined;

describe('changes', () => {
  it('changes are told one by one, tools with the difference', () => {
    const { server, changes } = watched();
    const tool = server.tool('a', { description: 'A' }, nothing);
    server.prompt('p', {}, () => '');
    server.resource('a://1', {}, () => '');
    server.template('a://{x}', {}, () => '');
    server.resources({ list: nothing, read: nothing }).remove();
    tool.remove();
    tool.remove();
    expect(changes).toEqual([
      { kind: 'tools', added: [{ name: 'a', description: 'A' }], removed: [] },
      { kind: 'prompts' },
      { kind: 'resources' },
      { kind: 'resources' },
      { kind: 'resources' },
      { kind: 'resources' },
      { kind: 'tools', added: [], removed: ['a'] },
    ]);
  });

  it('reach every watcher until it stops', () => {
    const { server, changes, stop } = watched();
    let calls = 0;
    const count = () => void (calls += 1);
    const stops = [server.watch(count), server.watch(count)];
    server.log('info', 'x');
    stops[0]?.();
    stop();
    server.log('info', 'y');
    expect(calls).toBe(3);
    expect(changes).toEqual([{ kind: 'log', entry: { level: 'info', data: 'x', logger: undefined } }]);
  });

  it('changes of a resource are told by URI and name', () => {
    const { server, changes } = watched();
    server.resource('a://1', { name: 'one' }, () => '');
    changes.length = 0;
    server.touch('a://1');
    server.touch('a://2');
    expect(changes).toEqual([
      { kind: 'resource', uri: 'a://1', name: 'one' },
      { kind: 'resource', uri: 'a://2', name: undefined },
    ]);
  });
});

describe('a batch', () => {
  it('a batch is told as one change, and can be undone silently', () => {
    const { server, changes } = watched();
    let old = server.tool('deprecated_tool', {}, nothing);
    changes.length = 0;
    let added = old;
    server.batch(() => {
      added = server.tool('new_tool', { description: 'A new feature' }, nothing);
      old.remove();
    });
    const added_ = [{ name: 'new_tool', description: 'A new feature' }];
    expect(changes).toEqual([{ kind: 'tools', added: added_, removed: ['deprecated_tool'] }]);
    const undo = () => {
      added.remove();
      old = server.tool('deprecated_tool', {}, nothing);
    };
    server.batch(undo, { silent: true });
    expect(changes).toHaveLength(1);
  });

  it('a batch is not told when it ends where it began', () => {
    const { server, changes } = watched();
    const tool = server.tool('a', { description: 'A' }, nothing);
    changes.length = 0;
    server.batch(() => {
      tool.remove();
      server.tool('b', {}, nothing).remove();
      server.tool('a', { description: 'A' }, nothing);
    });
    expect(changes).toEqual([]);
  });

  it('counts a definition that was replaced as added', () => {
    const { server, changes } = watched();
    const tool = server.tool('a', { description: 'A' }, nothing);
    changes.length = 0;
    server.batch(() => {
      tool.remove();
      server.tool('a', { description: 'B' }, nothing);
    });
    expect(changes).toEqual([{ kind: 'tools', added: [{ name: 'a', description: 'B' }], removed: [] }]);
  });

  it('tells each kind once, and takes batches within it as part of it', () => {
    const { server, changes } = watched();
    server.batch(() => {
      server.resource('a://1', {}, () => '');
      server.batch(() => void server.template('a://{x}', {}, () => ''));
      server.prompt('p', {}, () => '');
      expect(changes).toEqual([]);
    });
    expect(changes).toEqual([{ kind: 'resources' }, { kind: 'prompts' }]);
  });

  it('a batch that fails half-way tells what it did', () => {
    const { server, changes } = watched();
    const failing = () =>
      server.batch(() => {
        server.prompt('p', {}, () => '');
        throw new Error('half-way');
      });
    expect(failing).toThrow('half-way');
    expect(changes).toEqual([{ kind: 'prompts' }]);
  });
});
