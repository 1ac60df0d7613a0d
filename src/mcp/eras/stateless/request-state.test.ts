import { describe, expect, it } from 'vitest';
import { SPEAKING } from '../fake-views.contract.ts';
import type { RequestMessage } from '../../../kernel/message.ts';
import { parseExactly } from '../../../kernel/raw/exact-numbers.ts';
import { createSealer } from '../../../kernel/crypto/seal.ts';
import { checkOwnedThings } from '../../../kernel/containers/owned-table.contract.ts';
import { DEFAULT_LIMITS } from '../../../kernel/base/limits.ts';
import { FakeClock, RecordingOutlet, request } from '../fake-context.contract.ts';
import { createParkedCalls, parkCall } from '../serve/parked-calls.ts';
import { openState, sealState } from './request-state.ts';
import { StatelessExchange } from './stateless-exchange.ts';

const info = { name: 'c', version: '1' };

checkOwnedThings('parked calls', () => {
  const clock = new FakeClock();
  const calls = createParkedCalls({ ...DEFAULT_LIMITS, maxParked: 2, parkedMs: 1000 }, clock);
  const expired: string[] = [];
  return {
    expired,
    add(owner, caller) {
      const connection =
        caller === undefined ? undefined : { transport: 'http' as const, address: `10.${caller.charCodeAt(0)}.0.1` };
      const client = {
        ...SPEAKING.stateless,
        revision: '',
        info,
        capabilities: {},
        principal: owner,
        connection,
      };
      const exchange = new StatelessExchange(
        request(1, 'tools/call'),
        { params: {} } as never,
        client,
        new RecordingOutlet(),
      );
      const ticket = parkCall(exchange, calls);
      exchange.cancellation.addEventListener('abort', () => expired.push(ticket));
      return ticket;
    },
    has: (ticket, owner) => calls.get(ticket, owner) !== undefined,
    end: (ticket, owner) => void calls.take(ticket, owner),
    expire: () => clock.advance(1000),
    close: () => calls.clear(),
    timers: () => clock.timers,
  };
});

describe('the state of a call', () => {
  const sealer = createSealer();
  const call = (args: string, requestState?: string): RequestMessage => ({
    ...request(1, 'tools/call', { name: 'pay', arguments: parseExactly(args), ...(requestState && { requestState }) }),
  });

  it('the state of a call is not accepted with the mark of another node, or without its own', () => {
    const sealed = sealState({ sealer, mark: '.here' }, call('{}'), 'ann', { ticket: 't' });
    expect(openState(sealer, call('{}', sealed), 'ann')).toEqual({ ticket: 't' });
    const others = [sealed.replace('.here', '.there'), sealed.replace('.here', ''), sealed.slice(0, -1), `${sealed}x`];
    for (const other of others) expect(() => openState(sealer, call('{}', other), 'ann')).toThrow('requestState');
  });

  it.each([
    ['{"amount":9007199254740992}', '{"amount":9007199254740993}'],
    ['{"all":[{"n":1}]}', '{"all":[{"n":1.00000000000000000001}]}'],
  ])('is not accepted with another number, however close: %s, %s', (first, other) => {
    const sealed = sealState({ sealer }, call(first), 'ann', { ticket: 't', sent: true });
    expect(openState(sealer, call(first, sealed), 'ann')).toEqual({ ticket: 't', sent: true });
    expect(() => openState(sealer, call(other, sealed), 'ann')).toThrow();
  });

  it('is accepted with the same arguments in another order, and the same numbers in another spelling', () => {
    const sealed = sealState({ sealer }, call('{"a":1.0,"b":100}'), 'ann', { ticket: 't', sent: true });
    expect(openState(sealer, call('{"b":1e2,"a":1}', sealed), 'ann')).toEqual({ ticket: 't', sent: true });
  });
});
