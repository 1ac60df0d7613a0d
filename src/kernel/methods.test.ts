import { describe, expect, it } from 'vitest';
import * as table from './methods.ts';
import { isFollowUp } from './interaction.ts';
import { kindNamedBy, nameIn } from './named-thing.ts';

const { REQUEST_METHODS, isRequestMethod, methodsWhere, rowOf } = table;
const names = Object.values<unknown>(table).filter((value) => typeof value === 'string');

describe('the method table', () => {
  it('each name of a method has a row, and each row a name', () => {
    expect(names.length).toBeGreaterThan(40);
    expect(names.toSorted()).toEqual([...methodsWhere(() => true)].toSorted());
  });

  it('a method without a row is unknown, whatever it is called', () => {
    for (const method of ['acme/run', 'tools/new', 'interaction.new', 'constructor', '__proto__', '']) {
      expect(rowOf(method)).toBeUndefined();
      expect(REQUEST_METHODS.has(method)).toBe(false);
      expect(isFollowUp(method)).toBe(false);
      expect(kindNamedBy(method)).toBeUndefined();
    }
  });

  it('a client that sends what only servers or eras send makes no known request', () => {
    for (const method of ['sampling/createMessage', 'interaction.prompt', 'server/discover', 'notifications/cancelled'])
      expect(REQUEST_METHODS.has(method)).toBe(false);
    expect(REQUEST_METHODS.has('tools/call')).toBe(true);
  });

  it('the row of a method says where a request names what it is about', () => {
    expect(kindNamedBy('interaction.start')).toBe('tool');
    expect(nameIn('interaction.start', { toolName: 'book', name: 'other' })).toBe('book');
    expect(kindNamedBy('prompts/get')).toBe('prompt');
    expect(kindNamedBy('skills/get')).toBe('resource');
    expect(nameIn('skills/get', { uri: 'skill://a', name: 'other' })).toBe('skill://a');
    expect(kindNamedBy('completion/complete')).toBeUndefined();
    expect(kindNamedBy('tasks/get')).toBeUndefined();
  });

  it('requests about a task, a session or the connection follow up on another one', () => {
    const follow = ['tasks/result', 'interaction.respond', 'ping', 'notifications/roots/list_changed'];
    expect(follow.filter(isFollowUp)).toEqual(follow);
    expect(['tools/call', 'interaction.start', 'tools/list', 'skills/list'].filter(isFollowUp)).toEqual([]);
  });

  it('the rows say which methods each part is about', () => {
    expect(methodsWhere(({ content }) => content).toSorted()).toEqual([
      'prompts/get',
      'resources/read',
      'tasks/get',
      'tasks/result',
      'tools/call',
    ]);
    expect([...table.CALL_METHODS]).toEqual(['tools/call', 'prompts/get', 'resources/read']);
    expect(table.RUN_METHODS).toEqual({
      'tools/call': { name: 'name', args: 'arguments' },
      'interaction.start': { name: 'toolName', args: 'initialParams' },
    });
    expect(methodsWhere(({ rated }) => rated)).toEqual([
      'tools/call',
      'prompts/get',
      'resources/read',
      'completion/complete',
      'interaction.start',
    ]);
    expect(methodsWhere(({ asks }) => asks)).toEqual(['tools/call', 'prompts/get', 'resources/read', 'tasks/result']);
  });

  it('a method under the words of requests is a request, and no other notification is', () => {
    const requests = ['tools/call', 'tools/new', 'interaction.new', 'ping'];
    expect(requests.filter(isRequestMethod)).toEqual(requests);
    const others = ['notifications/roots/list_changed', 'notifications/new', 'acme/tell', 'acme', 'toolsy/x'];
    expect(others.filter(isRequestMethod)).toEqual([]);
  });
});
