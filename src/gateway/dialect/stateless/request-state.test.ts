import { checkOwnedThings } from '../../../shared/containers/owned-table.contract.ts';
import { DEFAULT_LIMITS } from '../../../shared/limits.ts';
import { FakeClock, RecordingOutlet, request } from '../fake-context.contract.ts';
import { createParkedCalls, parkCall } from './request-state.ts';
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
        dialect: 'stateless' as const,
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
