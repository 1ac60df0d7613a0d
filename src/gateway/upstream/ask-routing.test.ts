import { describe, expect, it } from 'vitest';
import type { ClientView } from '../../protocol/exchange.ts';
import { GatewayError } from '../../shared/errors.ts';
import { FakeClock } from '../dialect/fake-front.contract.ts';
import { AskRouting } from './ask-routing.ts';
import type { Put } from './ask-routing.ts';

const client = (): ClientView => ({
  dialect: 'stateless',
  revision: 'r',
  info: { name: 'c', version: '1' },
  capabilities: {},
  principal: 'p',
});
const ask = { method: 'elicitation/create' };

/** Returns what says that the call has ended. */
function enter(routing: AskRouting, put: Put, by: ClientView, onAsked = () => {}): () => void {
  const place = routing.enter({ put, client: by, onAsked });
  return () => routing.leave(place);
}

const answers = (by: string) => async () => ({ by });

describe('a question that names no call', () => {
  it('goes to the one call in flight, and to nobody once that has ended', async () => {
    const routing = new AskRouting(false, new FakeClock());
    const leave = enter(routing, answers('call'), client());
    expect(await routing.put(ask)).toEqual({ by: 'call' });
    leave();
    await expect(routing.put(ask)).rejects.toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED' });
  });

  it('goes to the latest of several calls of one client', async () => {
    const routing = new AskRouting(false, new FakeClock());
    const same = client();
    enter(routing, answers('first'), same);
    enter(routing, answers('second'), same);
    expect(await routing.put(ask)).toEqual({ by: 'second' });
  });

  it('is put again when the call that it was put to ends first', async () => {
    const routing = new AskRouting(false, new FakeClock());
    const same = client();
    enter(routing, answers('first'), same);
    const leave = enter(
      routing,
      async () => {
        leave();
        throw new GatewayError('CANCELLED');
      },
      same,
    );
    expect(await routing.put(ask)).toEqual({ by: 'first' });
  });

  it('waits until only one of the calls of several clients is left that can have asked it', async () => {
    const routing = new AskRouting(false, new FakeClock());
    expect(routing.areUnnamed).toBe(false);
    enter(routing, answers('one'), client());
    const leave = enter(routing, answers('other'), client());
    const answer = routing.put(ask);
    expect(routing.isDisputed).toBe(true);
    leave();
    expect(await answer).toEqual({ by: 'one' });
    expect(routing.isDisputed).toBe(false);
    expect(routing.areUnnamed).toBe(true);
  });

  it('is refused when as many wait as there are calls, and all of those are known to ask from then on', async () => {
    const clock = new FakeClock();
    const routing = new AskRouting(false, clock);
    const asked: string[] = [];
    enter(routing, answers('one'), client(), () => asked.push('one'));
    enter(routing, answers('other'), client(), () => asked.push('other'));
    const refusals = [routing.put(ask), routing.put(ask)].map((answer) =>
      expect(answer).rejects.toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED' }),
    );
    clock.advance(60_000);
    await Promise.all(refusals);
    expect(asked).toEqual(['one', 'other']);
  });

  it('is refused, too, when as many wait as there are calls only since another call has ended', async () => {
    const clock = new FakeClock();
    const routing = new AskRouting(false, clock);
    enter(routing, answers('one'), client());
    enter(routing, answers('other'), client());
    const leave = enter(routing, answers('third'), client());
    const refusals = [routing.put(ask), routing.put(ask)].map((answer) =>
      expect(answer).rejects.toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED' }),
    );
    leave();
    clock.advance(60_000);
    await Promise.all(refusals);
  });

  it('is never put to one of several calls of a client that is asked by way of the call itself', async () => {
    const routing = new AskRouting(false, new FakeClock());
    const same = { ...client(), assisted: { elicitation: {} } };
    const leave = enter(routing, answers('first'), same);
    enter(routing, answers('second'), same);
    const answer = routing.put(ask);
    leave();
    expect(await answer).toEqual({ by: 'second' });
  });

  it('goes to the client itself where there is no call', async () => {
    const routing = new AskRouting(true, new FakeClock());
    routing.attend(answers('client'));
    expect(await routing.put(ask)).toEqual({ by: 'client' });
    expect(routing.areUnnamed).toBe(false);
  });

  it('waits for a client that is about to come, and is refused when it does not', async () => {
    const routing = new AskRouting(true, new FakeClock());
    const early = routing.put(ask);
    routing.attend(answers('client'));
    expect(await early).toEqual({ by: 'client' });

    const dismissed = new AskRouting(true, new FakeClock());
    const never = dismissed.put(ask);
    dismissed.dismiss();
    await expect(never).rejects.toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED' });
  });

  it('that nobody wants to be answered any more waits no longer', async () => {
    const controller = new AbortController();
    const early = new AskRouting(true, new FakeClock()).put(ask, controller.signal);
    controller.abort();
    await expect(early).rejects.toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED' });
  });
});
