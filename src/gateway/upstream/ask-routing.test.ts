import { describe, expect, it } from 'vitest';
import type { ClientView } from '../../protocol/exchange.ts';
import { GatewayError } from '../../shared/errors.ts';
import { AskRouting } from './ask-routing.ts';

const client = (): ClientView => ({
  dialect: 'stateless',
  revision: 'r',
  info: { name: 'c', version: '1' },
  capabilities: {},
  principal: 'p',
});
const ask = { method: 'elicitation/create' };
const answers = (by: string) => async () => ({ by });

describe('a question that names no call', () => {
  it('goes to the one call in flight, and to nobody once that has ended', async () => {
    const routing = new AskRouting(false);
    const leave = routing.enter(answers('call'), client());
    expect(await routing.put(ask)).toEqual({ by: 'call' });
    leave();
    await expect(routing.put(ask)).rejects.toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED' });
  });

  it('goes to the latest of several calls of one client', async () => {
    const routing = new AskRouting(false);
    const same = client();
    routing.enter(answers('first'), same);
    routing.enter(answers('second'), same);
    expect(await routing.put(ask)).toEqual({ by: 'second' });
  });

  it('is put again when the call that it was put to ends first', async () => {
    const routing = new AskRouting(false);
    const same = client();
    routing.enter(answers('first'), same);
    const leave = routing.enter(async () => {
      leave();
      throw new GatewayError('CANCELLED');
    }, same);
    expect(await routing.put(ask)).toEqual({ by: 'first' });
  });

  it('is put to nobody where calls of several clients could have asked it, and that is remembered', async () => {
    const routing = new AskRouting(false);
    expect(routing.areUnnamed).toBe(false);
    routing.enter(answers('one'), client());
    routing.enter(answers('other'), client());
    await expect(routing.put(ask)).rejects.toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED' });
    expect(routing.areUnnamed).toBe(true);
  });

  it('goes to the client itself where there is no call', async () => {
    const routing = new AskRouting(true);
    routing.attend(answers('client'));
    expect(await routing.put(ask)).toEqual({ by: 'client' });
    expect(routing.areUnnamed).toBe(false);
  });

  it('waits for a client that is about to come, and is refused when it does not', async () => {
    const routing = new AskRouting(true);
    const early = routing.put(ask);
    routing.attend(answers('client'));
    expect(await early).toEqual({ by: 'client' });

    const dismissed = new AskRouting(true);
    const never = dismissed.put(ask);
    dismissed.dismiss();
    await expect(never).rejects.toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED' });
  });

  it('that nobody wants to be answered any more waits no longer', async () => {
    const controller = new AbortController();
    const early = new AskRouting(true).put(ask, controller.signal);
    controller.abort();
    await expect(early).rejects.toMatchObject({ code: 'CLIENT_CANNOT_BE_ASKED' });
  });
});
