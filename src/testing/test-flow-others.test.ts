import { describe, expect, it } from 'vitest';
import { flow } from '../flow/define.ts';
import { unanswered } from '../flow/testing/play-flow.ts';
import { CLIENT_PROFILES } from './as-client/client-profiles.ts';
import type { ClientKind } from './as-client/client-profiles.ts';
import { testFlow } from './test-flow.ts';

const Deployed = { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] };

function webhook() {
  const urls: string[] = [];
  const release = flow({ name: 'release' }, async (ask) => {
    const deployed = ask.event('deployed', Deployed);
    await ask.step('deploy', async (step) => void urls.push(await step.url(deployed)));
    return await deployed;
  });
  return { release, urls };
}

const approval = flow({ name: 'approval' }, async (ask) => {
  const version = await ask.text('version');
  return { version, ok: await ask.person('ops-lead').confirm('approve', { message: 'Release it?' }) };
});
const kinds = Object.keys(CLIENT_PROFILES) as ClientKind[];

describe('testFlow and others than the user', () => {
  it('gives a step a made-up URL for an event, which the test delivers by its key', async () => {
    const { release, urls } = webhook();
    const { result, failure } = await testFlow(release).answer({ deployed: { ok: true } });
    expect({ result, failure }).toEqual({ result: { ok: true }, failure: undefined });
    expect(urls).toEqual([expect.stringMatching(/^https:\/\/[^/]+\.invalid\/event\?t=/)]);
    expect((await testFlow(release).crashEverywhere({ deployed: { ok: true } })).result).toEqual({ ok: true });
  });

  it('says which event was not delivered', async () => {
    expect(await testFlow(webhook().release).answer({})).toMatchObject({ result: undefined, waiting: ['deployed'] });
    const { waiting } = await testFlow(webhook().release).answer({ deployed: { ok: true } });
    expect(waiting).toEqual([]);
  });

  it.each(kinds)('%s: delivers events and lets other people answer', async (kind) => {
    const { release, urls } = webhook();
    const { result } = await testFlow(release)
      .asClient(kind)
      .answer({ deployed: { ok: true } });
    expect(result).toEqual({ ok: true });
    expect(urls).toHaveLength(1);
    const approved = await testFlow(approval).asClient(kind).answer({ version: '2.0', approve: true });
    expect(approved).toMatchObject({ isError: false, result: { version: '2.0', ok: true } });
    expect(approved.asked).toContain('approve');
  });

  it.each(kinds)('%s: says which person has no answer, or one that does not fit', async (kind) => {
    const missing = testFlow(approval).asClient(kind).answer({ version: '2.0' });
    await expect(missing).rejects.toThrow('There is no answer to approve: for ops-lead: Release it?');
    const wrong = testFlow(approval).asClient(kind).answer({ version: '2.0', approve: 'perhaps' });
    await expect(wrong).rejects.toThrow('The answer to approve was refused');
  });

  it('lists the questions of other people, and those that nobody has answered', async () => {
    const played = await testFlow(approval).answer({ version: '2.0', approve: true });
    expect(played).toMatchObject({ result: { version: '2.0', ok: true }, rounds: 2, open: [] });
    expect(played.asked.map(({ key, person }) => [key, person?.principal])).toEqual([
      ['version', undefined],
      ['approve', 'ops-lead'],
    ]);
    const left = await testFlow(approval).answer({ version: '2.0' });
    expect(left.open.map(({ key }) => key)).toEqual(['approve']);
    const declined = await testFlow(approval).answer({ version: '2.0', approve: unanswered() });
    expect(declined.result).toEqual({ version: '2.0', ok: false });
    const wrong = testFlow(approval).answer({ version: '2.0', approve: 'perhaps' });
    await expect(wrong).rejects.toThrow('The answer to approve~1 was refused');
  });

  it('lets the time of an event pass that is not to come', async () => {
    const patient = flow({ name: 'patient' }, async (ask) => ask.try(ask.event('paid', Deployed, { timeout: '10m' })));
    const { result } = await testFlow(patient).answer({ paid: unanswered('timeout') });
    expect(result).toEqual({ ok: false, reason: 'timeout' });
    const declined = testFlow(patient).answer({ paid: unanswered('declined') });
    await expect(declined).rejects.toThrow("unanswered('timeout')");
  });

  it('says that a session has expired', async () => {
    const napping = flow({ name: 'napping', limits: { duration: '1h' } }, async (ask) => {
      await ask.event('paid', Deployed);
    });
    const raced = flow({ name: 'raced', limits: { duration: '1h' } }, (ask) =>
      ask.event('paid', Deployed, { timeout: '2d' }),
    );
    expect((await testFlow(napping).answer({})).waiting).toEqual(['paid']);
    const { failure } = await testFlow(raced).answer({});
    expect(failure).toMatchObject({ name: 'FLOW_MISUSED', message: expect.stringContaining('limits.duration') });
  });

  it('names the effect of which nobody can know whether it has happened', async () => {
    const fire = flow({ name: 'fire' }, (ask) => ask.step('fire', () => 'fired', { effect: 'once' }));
    const crashed = testFlow(fire).crashEverywhere({});
    await expect(crashed).rejects.toThrow(/leads to the error .*fire.* instead of "fired"/s);
  });
});
