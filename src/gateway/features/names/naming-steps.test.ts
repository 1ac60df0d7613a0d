// rename, prefix and describe: what they say of names. How calls find their way back is tested in map-names.test.ts.
import { describe as about, expect, it } from 'vitest';
import type { JsonObject } from '../../../kernel/message.ts';
import type { Step } from '../../../kernel/step.ts';
import { describe, prefix, rename } from './rename.ts';
import { chainOf, serverOf } from '../../../kernel/fake-exchange.contract.ts';

const tools = [{ name: 'read', description: 'Reads' }, { name: 'write' }];
const prompts = [{ name: 'greet', description: 'Greets' }];

async function listed(step: Step, area: 'tools' | 'prompts' = 'tools'): Promise<unknown> {
  const result: JsonObject = await chainOf([step], serverOf({ tools, prompts }))(`${area}/list`);
  return result[area];
}

about('rename', () => {
  it('gives tools and prompts other names', async () => {
    const step = rename({ tools: { read: 'get' }, prompts: { greet: 'hello' } });
    expect(await listed(step)).toEqual([{ name: 'get', description: 'Reads' }, { name: 'write' }]);
    expect(await listed(step, 'prompts')).toEqual([{ name: 'hello', description: 'Greets' }]);
    const call = chainOf([step], serverOf({ tools, prompts }));
    expect(await call('prompts/get', { name: 'hello' })).toMatchObject({ params: { name: 'greet' } });
  });

  it('a naming step does not touch what it has no names for', () => {
    expect(rename({ tools: { a: 'b' } }).methods).toEqual([
      'tools/list',
      'tools/call',
      'interaction.start',
      'interaction.getState',
    ]);
  });

  it('refuses options that make no sense', () => {
    expect(() => rename({ tool: {} } as never)).toThrow('rename.tool: is not an option; there are tools, prompts');
    expect(() => rename({ tools: { a: '' } })).toThrow('rename.tools.a: must be the new name');
  });
});

about('prefix', () => {
  it('puts the same before every name, and takes it off for the call', async () => {
    expect(await listed(prefix('acme_'))).toMatchObject([{ name: 'acme_read' }, { name: 'acme_write' }]);
    expect(await listed(prefix('acme_'), 'prompts')).toMatchObject([{ name: 'acme_greet' }]);
    const call = chainOf([prefix('acme_')], serverOf({ tools, prompts }));
    expect(await call('tools/call', { name: 'acme_read' })).toMatchObject({ params: { name: 'read' } });
    await expect(call('tools/call', { name: 'read' })).rejects.toMatchObject({ code: 'TOOL_NOT_FOUND' });
  });

  it('a naming step may be for some names only', async () => {
    expect(await listed(prefix({ prefix: 'x_', only: ['w*'] }))).toMatchObject([{ name: 'read' }, { name: 'x_write' }]);
  });

  it('makes no name longer than clients take, and still finds it', async () => {
    const name = 'n'.repeat(60);
    const call = chainOf([prefix('long_prefix_')], serverOf({ tools: [{ name }, { name: `${name}2` }] }));
    const shown = ((await call('tools/list')).tools as { name: string }[]).map((tool) => tool.name);
    expect(shown.every((one) => one.length <= 64)).toBe(true);
    expect(await call('tools/call', { name: shown[0] })).toMatchObject({ params: { name } });
    expect(await call('tools/call', { name: shown[1] })).toMatchObject({ params: { name: `${name}2` } });
  });

  it('an empty prefix is refused', () => {
    expect(() => prefix('')).toThrow('prefix: must have at least one character');
  });
});

about('describe', () => {
  it('replaces descriptions, by name or glob, first come first served', async () => {
    const step = describe({ tools: { read: 'Gets. {description}$&', '*': 'Any' }, prompts: { g: 'no' } });
    expect(await listed(step)).toEqual([
      { name: 'read', description: 'Gets. Reads$&' },
      { name: 'write', description: 'Any' },
    ]);
    expect(await listed(step, 'prompts')).toEqual(prompts);
  });

  it('changes what clients learn about a new tool', () => {
    const step = describe({ tools: { new: 'Mine: {description}' } });
    expect(step.onChange!({ kind: 'tools', added: [{ name: 'new', description: 'theirs' }] })).toEqual({
      kind: 'tools',
      added: [{ name: 'new', description: 'Mine: theirs' }],
    });
  });

  it('a description that is not text is refused', () => {
    expect(() => describe({ tools: { a: 1 } } as never)).toThrow('describe.tools.a: must be a string');
  });
});
