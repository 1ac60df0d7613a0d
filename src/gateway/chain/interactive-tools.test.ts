// Tools that are played over MCP Flow instead of being called: what steps say of a tool holds for both.
import { describe, expect, it } from 'vitest';
import { approve } from '../features/approve/approve.ts';
import { defaults, fixed } from '../features/arguments/tool-arguments.ts';
import { readPlayAsCall } from '../../kernel/flow/play-as-call.ts';
import { chainOf, serverOf } from '../../kernel/fake-exchange.contract.ts';
import { filter } from '../features/filter/filter.ts';
import { prefix } from '../features/names/rename.ts';

const tools = [{ name: 'read', annotations: { readOnlyHint: true } }, { name: 'delete' }];
const server = serverOf({ tools });
const start = (toolName: string, initialParams = {}) => ['interaction.start', { toolName, initialParams }] as const;

describe('interaction.start', () => {
  it('interaction.start is refused for tools that are kept from clients, as for tools that are not there', async () => {
    const call = chainOf([filter({ deny: ['delete'] })], server);
    expect(await call(...start('read'))).toMatchObject({ params: { toolName: 'read' } });
    const denied = await call(...start('delete')).catch((error: unknown) => error);
    const unknown = await call(...start('other')).catch((error: unknown) => error);
    expect(denied).toMatchObject({ code: 'INVALID_PARAMS', details: { data: { toolName: 'delete' } } });
    expect(unknown).toMatchObject({ code: 'INVALID_PARAMS', details: { data: { toolName: 'other' } } });
  });

  it('finds a tool by the name that it is shown by, and its state tells that name', async () => {
    const state = { metadata: { toolName: 'read', createdAt: 1 } };
    const call = chainOf([prefix('my_')], (exchange) =>
      exchange.method === 'interaction.getState' ? state : server(exchange),
    );
    expect(await call(...start('my_read'))).toMatchObject({ params: { toolName: 'read' } });
    expect(await call('interaction.getState')).toEqual({ metadata: { toolName: 'my_read', createdAt: 1 } });
  });

  it('interaction.start is given the arguments that steps set', async () => {
    const call = chainOf([defaults({ read: { a: 1, b: 1 } }), fixed({ read: { key: 'k' } })], server);
    expect(await call(...start('read', { b: 2, key: 'x' }))).toMatchObject({
      params: { initialParams: { a: 1, b: 2, key: 'k' } },
    });
  });

  it('interaction.start is left to a call where a person has to approve it', async () => {
    const call = chainOf([approve()], server);
    expect(await call(...start('read'))).toMatchObject({ params: { toolName: 'read' } });
    expect(readPlayAsCall(await call(...start('delete')))).toEqual({ tool: 'delete', wantedBy: 'step' });
  });
});
