import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../kernel/message.ts';
import { GatewayError, ProtocolError } from '../../kernel/base/errors.ts';
import { FakeExchange, chainOf, serverOf } from '../../kernel/fake-exchange.contract.ts';
import { mapNames, mapTools } from './map-names.ts';
import { rename } from '../features/names/rename.ts';

const tools = ['read', 'write', 'delete', 'list'].map((name) => ({
  name,
  description: `to ${name}`,
  x: { kept: true },
}));
const shout = mapTools(function shout(tool) {
  return tool.name === 'delete' ? undefined : { ...tool, name: tool.name.toUpperCase() };
});

const namesIn = (result: JsonObject, area = 'tools') => (result[area] as { name: string }[]).map(({ name }) => name);

describe('a step that maps tools', () => {
  it('shows them by their new names, with all else they have, and leaves out what it hides', async () => {
    const call = chainOf([shout], serverOf({ tools }));
    expect(await call('tools/list')).toEqual({
      tools: [
        { ...tools[0], name: 'READ' },
        { ...tools[1], name: 'WRITE' },
      ],
      nextCursor: '2',
    });
    expect(namesIn(await call('tools/list', { cursor: '2' }))).toEqual(['LIST']);
  });

  it('a call by the new name reaches the tool under its own name', async () => {
    const server = serverOf({ tools });
    const call = chainOf([shout], server);
    await call('tools/list');
    expect(await call('tools/call', { name: 'WRITE', arguments: { a: 1 } })).toMatchObject({
      params: { name: 'write', arguments: { a: 1 } },
    });
    expect(server.seen).toEqual(['tools/list', 'tools/call']);
  });

  it('finds a name that was never listed by listing every page quietly', async () => {
    const server = serverOf({ tools });
    const exchange = new FakeExchange('tools/call', { name: 'LIST' });
    expect(await chainOf([shout], server)(exchange)).toMatchObject({ params: { name: 'list' } });
    expect(server.seen).toEqual(['tools/list', 'tools/list', 'tools/call']);
    expect(exchange.sent).toEqual([]);
  });

  it('a step that maps tools does not know what it hides, nor what it has renamed by its own name', async () => {
    const call = chainOf([shout], serverOf({ tools }));
    for (const name of ['delete', 'DELETE', 'read']) {
      const refusal = call('tools/call', { name });
      if (name === 'DELETE') await expect(refusal).resolves.toMatchObject({ params: { name: 'DELETE' } });
      else await expect(refusal).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND', details: { name } });
    }
  });

  it('refuses what is not listed at all where it is strict', async () => {
    const strict = mapNames({ name: 'strict', tools: (tool) => tool, strict: true });
    const call = chainOf([strict], serverOf({ tools }));
    await expect(call('tools/call', { name: 'secret' })).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
    expect(await call('tools/call', { name: 'read' })).toMatchObject({ params: { name: 'read' } });
  });

  it('lets two tools change places', async () => {
    const call = chainOf([rename({ tools: { read: 'write', write: 'read' } })], serverOf({ tools }));
    expect(await call('tools/call', { name: 'read' })).toMatchObject({ params: { name: 'write' } });
    expect(await call('tools/call', { name: 'write' })).toMatchObject({ params: { name: 'read' } });
  });

  it('a step that maps tools may stand before others of its kind', async () => {
    const exclaim = mapTools((tool) => ({ ...tool, name: `${tool.name}!` }), 'exclaim');
    const call = chainOf([exclaim, shout], serverOf({ tools }));
    expect(await call('tools/call', { name: 'LIST!' })).toMatchObject({ params: { name: 'list' } });
    expect(namesIn(await call('tools/list'))).toEqual(['READ!', 'WRITE!']);
    await expect(call('tools/call', { name: 'LIST' })).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
  });

  it('tells errors about a tool in the name that the client has used', async () => {
    const origin = new ProtocolError(-32602, 'Unknown tool: read');
    const list = serverOf({ tools });
    const call = chainOf([shout], (exchange) => {
      if (exchange.method === 'tools/list') return list(exchange);
      throw new GatewayError('TOOL_NOT_FOUND', { name: exchange.params.name, origin });
    });
    const error = await call('tools/call', { name: 'READ' }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ message: 'Unknown tool: READ', details: { name: 'READ' } });
    expect((error as GatewayError).details.origin).toBeUndefined();
  });
});

describe('two tools mapped to one name', () => {
  const message = 'Step rename gives the name "list" to both "read" and "list"';
  const clash = rename({ tools: { read: 'list' } });

  it('two tools mapped to one name are an error that names both, even across pages', async () => {
    const call = chainOf([clash], serverOf({ tools }));
    await call('tools/list');
    await expect(call('tools/list', { cursor: '2' })).rejects.toMatchObject({ code: 'STEP_MISUSED', message });
  });

  it('two tools mapped to one name are an error for a call by that name too', async () => {
    const call = chainOf([clash], serverOf({ tools }));
    await expect(call('tools/call', { name: 'list' })).rejects.toMatchObject({ code: 'STEP_MISUSED', message });
  });

  it('a name that moved from one tool to another is not a clash', async () => {
    const lists = { tools: [{ name: 'old' }] };
    const call = chainOf([rename({ tools: { old: 'it', new: 'it' } })], serverOf(lists));
    await call('tools/list');
    lists.tools = [{ name: 'new' }];
    expect(namesIn(await call('tools/list'))).toEqual(['it']);
    expect(await call('tools/call', { name: 'it' })).toMatchObject({ params: { name: 'new' } });
  });
});

describe('prompts', () => {
  const prompts = [{ name: 'greet' }, { name: 'part' }, { name: 'hidden' }];
  const step = mapNames({
    name: 'p',
    prompts: (prompt) => (prompt.name === 'hidden' ? undefined : { ...prompt, name: `p_${prompt.name}` }),
  });
  const complete = (name: string) => ({ ref: { type: 'ref/prompt', name, title: 'kept' }, argument: {} });

  it('prompts are mapped in lists, when they are got, and in completion', async () => {
    const call = chainOf([step], serverOf({ prompts }));
    expect(await call('prompts/get', { name: 'p_part' })).toMatchObject({ params: { name: 'part' } });
    expect(namesIn(await call('prompts/list'), 'prompts')).toEqual(['p_greet', 'p_part']);
    expect(await call('completion/complete', complete('p_greet'))).toMatchObject({
      params: { ref: { type: 'ref/prompt', name: 'greet', title: 'kept' } },
    });
  });

  it('prompts that are hidden are unknown, and completed by nothing', async () => {
    const call = chainOf([step], serverOf({ prompts }));
    await expect(call('prompts/get', { name: 'hidden' })).rejects.toMatchObject({ code: 'PROMPT_NOT_FOUND' });
    expect(await call('completion/complete', complete('hidden'))).toMatchObject({ completion: { values: [] } });
  });

  it('leave completion for resources alone', async () => {
    const call = chainOf([step], serverOf({ prompts }));
    const ref = { type: 'ref/resource', uri: 'file:///{path}' };
    expect(await call('completion/complete', { ref })).toMatchObject({ params: { ref } });
  });
});

describe('changes', () => {
  it('changes are told in the names that clients know', () => {
    const added = [{ name: 'move', description: 'to move' }, { name: 'delete' }];
    expect(shout.onChange!({ kind: 'tools', added, removed: ['read', 'delete'] })).toEqual({
      kind: 'tools',
      added: [{ name: 'MOVE', description: 'to move' }],
      removed: ['READ'],
    });
  });

  it('a change that clients cannot see is not reported', () => {
    expect(shout.onChange!({ kind: 'tools', removed: ['delete'] })).toBeUndefined();
    expect(shout.onChange!({ kind: 'tools' })).toEqual({ kind: 'tools' });
    expect(shout.onChange!({ kind: 'prompts' })).toEqual({ kind: 'prompts' });
  });

  it('changes do not fail with a mapping that fails', () => {
    const picky = mapTools((tool) => ({ ...tool, name: String((tool.annotations as JsonObject).title) }), 'picky');
    expect(picky.onChange!({ kind: 'tools', added: [{ name: 'a' }] })).toEqual({ kind: 'tools' });
  });

  it('make names be looked up again, and what was known serve while the server is away', async () => {
    const lists = { tools: [{ name: 'a' }] };
    const server = serverOf(lists);
    let away = false;
    const step = rename({ tools: { a: 'x', b: 'x' } });
    const call = chainOf([step], (exchange) => {
      if (away && exchange.method === 'tools/list') throw new GatewayError('UPSTREAM_CLOSED', {});
      return server(exchange);
    });
    await call('tools/list');
    away = true;
    step.onChange!({ kind: 'tools' });
    expect(await call('tools/call', { name: 'x' })).toMatchObject({ params: { name: 'a' } });
    await expect(call('tools/call', { name: 'y' })).rejects.toMatchObject({ code: 'UPSTREAM_CLOSED' });
    away = false;
    lists.tools = [{ name: 'b' }];
    expect(await call('tools/call', { name: 'x' })).toMatchObject({ params: { name: 'b' } });
  });
});

describe('one step in two chains', () => {
  it('keeps their names apart', async () => {
    const step = rename({ tools: { a: 'x', b: 'x' } });
    const one = chainOf([step], serverOf({ tools: [{ name: 'a' }] }));
    const other = chainOf([step], serverOf({ tools: [{ name: 'b' }] }));
    for (const call of [one, other]) await call('tools/list');
    expect(await one('tools/call', { name: 'x' })).toMatchObject({ params: { name: 'a' } });
    expect(await other('tools/call', { name: 'x' })).toMatchObject({ params: { name: 'b' } });
  });
});
