// The page of somebody who is asked in another's flow: the caller's call waits over a real wire, the person opens the link that `notify` was
// given, and everybody else is turned away.
import { afterEach, describe, expect, test } from 'vitest';
import { createGateway, createLog, createServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import type { Ask, PersonNotice, ServeFlowsOptions } from 'mcp-parley/flow';
import { manualClock } from '../../src/flow/testing/manual-clock.ts';
import { FakeBrowser, csrfOf } from '../../src/people/page/fake-round.contract.ts';
import { socketWire } from '../helpers/line-wire.ts';
import { until } from '../helpers/until.ts';

const HOUR = 3_600_000;
const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
});

const release = async (ask: Ask) => {
  const version = await ask.text('version');
  const lead = ask.person(version === '3' ? 'cto' : 'ops-lead', { remind: '4h', handOver: ['deputy'] });
  return lead.confirm('approve', { message: `Release ${version}?` });
};

async function office(body: (ask: Ask) => Promise<unknown> = release, options: ServeFlowsOptions = {}) {
  const clock = manualClock(Date.now());
  const notices: PersonNotice[] = [];
  const identify = ({ headers }: { headers: Record<string, unknown> }) =>
    (headers['x-user'] as string | undefined) ?? null;
  const server = createServer({ name: 'ops', version: '1', log: createLog({ level: 'silent' }), identify });
  const tool = flow({ name: 'release', limits: { duration: '2d' } }, body);
  const notify = (notice: PersonNotice) => void notices.push(notice);
  const sessions = serveFlows(server, [tool], { clock, notify, personLinks: 'bearer', ...options });
  const { url } = await server.listen({ port: 0 });
  closing.push(() => server.close());
  const call = async (user: string, args = {}) => {
    const { wire, socket } = await socketWire(Number(new URL(url).port), { 'x-user': user });
    closing.push(() => socket.close());
    await wire.initialize();
    const answer = wire.call('release', args);
    const result = answer.then(({ result: told }) => told!.content![0]!.text);
    result.catch(() => {}); // many are not waited for to their end
    return { wire, result };
  };
  const linkTo = (person: string, nth = 0) =>
    until(`a notice to ${person}`, () => {
      clock.move(0); // lets what is due be done
      return notices.filter((one) => one.person === person)[nth]?.link;
    });
  return { clock, notices, sessions, call, linkTo };
}

const said = ({ text }: { text: string }) => /<p>(.*)<\/p>/.exec(text)?.[1];

describe('the link of a person', () => {
  test('leads only to that question, and answers the call of another user', async () => {
    const { call, linkTo } = await office();
    const { result } = await call('ada', { version: '2' });
    const browser = new FakeBrowser();
    const link = await linkTo('ops-lead');
    expect(new URL(link).pathname).toBe('/person');
    const { text: first } = await browser.get(link);
    expect(first).toContain('Somebody else’s work needs your answer');
    expect(first).not.toContain('Release 2?');
    const { text } = await browser.open(link);
    expect(text).toContain('Release 2?');
    expect(text).toContain('You are asked as <bdi>ops-lead</bdi>');
    expect(text).not.toContain('value="cancel"');
    const done = await browser.post(link, { csrf: csrfOf(text), 'q0.0': 'true' });
    expect(done.text).toContain('Your answer has been sent');
    expect(await result).toBe('true');
    expect((await browser.get(link)).text).toContain('Your answer has been sent');
  });

  test('is not mixed up with that of another question, of another person, at the same time', async () => {
    const { call, linkTo } = await office();
    const [ada, bob] = [await call('ada', { version: '2' }), await call('bob', { version: '3' })];
    const [lead, cto] = [new FakeBrowser(), new FakeBrowser()];
    const [leads, ctos] = [await linkTo('ops-lead'), await linkTo('cto')];
    const forms = [await lead.open(leads), await cto.open(ctos)];
    expect(forms.map(({ text }) => /Release \d/.exec(text)![0])).toEqual(['Release 2', 'Release 3']);
    const [csrf, others] = forms.map(({ text }) => csrfOf(text));
    expect((await cto.post(leads, { csrf: csrf!, 'q0.0': 'true' })).status).toBe(410);
    expect((await cto.post(ctos, { csrf: csrf!, 'q0.0': 'true' })).status).toBe(403);
    await cto.post(ctos, { csrf: others!, 'q0.0': 'false' });
    await lead.post(leads, { csrf: csrf!, 'q0.0': 'true' });
    expect(await Promise.all([ada.result, bob.result])).toEqual(['true', 'false']);
  });

  test('works in the browser that opened it first; that of a reminder works in another', async () => {
    const { call, linkTo, clock, sessions } = await office();
    const { result } = await call('ada', { version: '2' });
    const link = await linkTo('ops-lead');
    const [phone, desk] = [new FakeBrowser(), new FakeBrowser()];
    await phone.open(link);
    const refused = await desk.open(link);
    expect([refused.status, said(refused)]).toEqual([410, expect.stringContaining('opened in another browser')]);
    clock.move(4 * HOUR);
    await sessions.sweep();
    await desk.fill(await linkTo('ops-lead', 1), { 'q0.0': 'true' });
    expect(await result).toBe('true');
  });

  test('says that it was used, and counts once', async () => {
    const { call, linkTo } = await office(async (ask) => {
      const approved = await ask.person('ops-lead').confirm('approve');
      return `${approved} ${await ask.person('cto').confirm('sign')}`;
    });
    const { result } = await call('ada');
    const link = await linkTo('ops-lead');
    const browser = new FakeBrowser();
    const { text } = await browser.open(link);
    const form = { csrf: csrfOf(text), 'q0.0': 'true' };
    const both = await Promise.all([browser.post(link, form), browser.post(link, form)]);
    for (const { text: told } of both) expect(told).toMatch(/Your answer has been sent|It has been answered/);
    const changed = await browser.post(link, { ...form, 'q0.0': 'false' });
    expect([changed.status, said(changed)]).toEqual([409, expect.stringContaining('It has been answered')]);
    expect(said(await new FakeBrowser().get(link))).toContain('It has been answered');
    await new FakeBrowser().fill(await linkTo('cto'), { 'q0.0': 'true' });
    expect(await result).toBe('true true');
    expect(said(await new FakeBrowser().open(link))).toContain('The work that needed it has ended');
  });

  test('says that the question was handed over while the person was answering', async () => {
    const { call, linkTo, notices, sessions } = await office();
    const { result } = await call('ada', { version: '2' });
    const link = await linkTo('ops-lead');
    const browser = new FakeBrowser();
    const csrf = csrfOf((await browser.open(link)).text);
    const [{ sessionId, promptId }] = notices as [PersonNotice];
    await sessions.handOver({ principal: 'ops-lead', sessionId, promptId, to: 'deputy' });
    const late = await browser.post(link, { csrf, 'q0.0': 'true' });
    expect([late.status, said(late)]).toEqual([409, expect.stringContaining('handed over to somebody else')]);
    await sessions.sweep();
    await new FakeBrowser().fill(await linkTo('deputy'), { 'q0.0': 'false' });
    expect(await result).toBe('false');
  });

  test('says that the question was handed over too often to be handed over again', async () => {
    const body = (ask: Ask) => ask.person('ops-lead', { handOver: ['cto', 'deputy'] }).confirm('approve');
    const { call, linkTo } = await office(body, { limits: { handOvers: 1 } });
    const { result } = await call('ada');
    const first = await linkTo('ops-lead');
    const browser = new FakeBrowser();
    expect((await browser.open(first)).text).not.toContain('too often');
    expect((await browser.fill(first, { to: 'deputy' }, 'hand-over')).text).toContain(
      'You have handed the question over',
    );
    const second = new FakeBrowser();
    const { text } = await second.open(await linkTo('deputy'));
    expect(text).toContain('It has been handed over too often to be handed over again.');
    expect(text).not.toContain('value="hand-over"');
    await second.post(await linkTo('deputy'), { csrf: csrfOf(text), 'q0.0': 'true' });
    expect(await result).toBe('true');
  });

  test('says that the question is withdrawn, or its time is over', async () => {
    const { call, linkTo, clock, sessions } = await office(async (ask) => {
      await Promise.race([ask.person('ops-lead').confirm('approve'), ask.sleep('patience', '1h')]);
      return ask.person('cto').confirm('sign');
    });
    await call('ada');
    const link = await linkTo('ops-lead');
    const browser = new FakeBrowser();
    const csrf = csrfOf((await browser.open(link)).text);
    clock.move(HOUR);
    await sessions.sweep();
    expect(said(await browser.post(link, { csrf, 'q0.0': 'true' }))).toContain('It is no longer asked');
    const second = await linkTo('cto');
    clock.move(48 * HOUR);
    expect(said(await new FakeBrowser().open(second))).toContain('The time for an answer is over');
  });

  test('says that the work has ended where the caller has called it off', async () => {
    const { call, linkTo, sessions, notices } = await office();
    await call('ada', { version: '2' });
    const link = await linkTo('ops-lead');
    const browser = new FakeBrowser();
    const csrf = csrfOf((await browser.open(link)).text);
    await sessions.cancel({ principal: 'ada', sessionId: notices[0]!.sessionId });
    expect((await browser.get(link)).status).toBe(409);
    const late = await browser.post(link, { csrf, 'q0.0': 'true' });
    expect([late.status, said(late)]).toEqual([409, expect.stringContaining('The work that needed it has ended')]);
  });

  test('says that the work is paused where the code has changed, and takes the answer once that is put right', async () => {
    let step = 'charge';
    const paid = async (ask: Ask) => {
      await ask.step(step as 'charge', () => 'paid', { effect: 'retry' });
      return ask.person('ops-lead').confirm('approve');
    };
    const { call, linkTo } = await office(paid, { warm: 0 });
    const { result } = await call('ada');
    const link = await linkTo('ops-lead');
    const browser = new FakeBrowser();
    const form = { csrf: csrfOf((await browser.open(link)).text), 'q0.0': 'true' };
    step = 'charge-card';
    const refused = await browser.post(link, form);
    expect([refused.status, said(refused)]).toEqual([
      409,
      expect.stringContaining('is paused until a fix is deployed'),
    ]);
    expect(refused.text).toContain('This question cannot be answered now');
    step = 'charge';
    expect((await browser.post(link, form)).text).toContain('Your answer has been sent');
    expect(await result).toBe('true');
  });

  test('shows the question again after a rejected answer, without a new notice', async () => {
    const even = { '~standard': standard((value) => (Number(value) % 2 === 0 ? undefined : 'must be even')) };
    const { call, linkTo, notices } = await office(async (ask) =>
      ask.person('ops-lead').text('count', { schema: even, message: 'How many?' }),
    );
    const { result } = await call('ada');
    const link = await linkTo('ops-lead');
    const browser = new FakeBrowser();
    const again = await browser.fill(link, { 'q0.0': '3' });
    expect([again.status, again.text]).toEqual([422, expect.stringContaining('must be even')]);
    expect(again.text).toContain('value="3"');
    await browser.post(link, { csrf: csrfOf(again.text), do: 'accept', 'q0.0': '4' });
    expect(await result).toBe('4');
    expect(notices).toHaveLength(1);
  });

  test('takes no answer from a form that showed other words, also where the new question was answered wrongly', async () => {
    const loud = { '~standard': standard((value) => (String(value).endsWith('!') ? undefined : 'must end with !')) };
    const { call, linkTo, notices, sessions } = await office(async (ask) => {
      const payee = await ask.text('payee');
      return ask.person('ops-lead').text('pay', { schema: loud, message: `Pay ${payee}?` });
    });
    await call('ada', { payee: 'the red cross' });
    const link = await linkTo('ops-lead');
    const browser = new FakeBrowser();
    const csrf = csrfOf((await browser.open(link)).text);
    const { sessionId } = notices[0]!;
    await sessions.edit({ principal: 'ada', sessionId, key: 'payee', value: 'mallory' });
    const answers = [{ promptId: 'pay~2', value: 'no' }];
    expect(await sessions.answer({ principal: 'ops-lead', sessionId, answers })).toMatchObject({ accepted: false });
    const late = await browser.post(link, { csrf, 'q0.0': 'yes!' });
    expect([late.status, said(late)]).toEqual([409, expect.stringContaining('no longer asked')]);
  });

  test('opens in no second browser, however long its question has been waiting since', async () => {
    const even = { '~standard': standard((value) => (Number(value) % 2 === 0 ? undefined : 'must be even')) };
    const { call, linkTo, clock } = await office(async (ask) =>
      ask.person('ops-lead').text('count', { schema: even, timeout: '1h', message: 'How many?' }),
    );
    await call('ada');
    const link = await linkTo('ops-lead');
    const browser = new FakeBrowser();
    const { text } = await browser.open(link);
    clock.move(HOUR / 2);
    expect((await browser.post(link, { csrf: csrfOf(text), 'q0.0': '3' })).text).toContain('must be even');
    clock.move(HOUR * 0.75);
    const refused = await new FakeBrowser().open(link);
    expect([refused.status, said(refused)]).toEqual([410, expect.stringContaining('opened in another browser')]);
  });

  test('cannot be used by another person whom identify names, and with `identified` only by the person', async () => {
    for (const personLinks of ['bearer', undefined] as const) {
      const { call, linkTo } = await office(release, { personLinks });
      await call('ada', { version: '2' });
      const link = await linkTo('ops-lead');
      const [ada, nobody, lead] = [new FakeBrowser(), new FakeBrowser(), new FakeBrowser()];
      ada.headers = { 'x-user': 'ada' };
      lead.headers = { 'x-user': 'ops-lead' };
      for (const one of personLinks ? [ada] : [ada, nobody]) {
        expect(await one.get(link)).toMatchObject({ status: 410 });
        expect(await one.open(link)).toMatchObject({ status: 410 });
      }
      expect((await (personLinks ? nobody : lead).open(link)).text).toContain('Release 2?');
    }
  });

  test('leads to the gateway that the server is in, which knows who opens it', async () => {
    const log = createLog({ level: 'silent' });
    const identify = ({ headers }: { headers: Record<string, unknown> }) =>
      (headers['x-user'] as string | undefined) ?? null;
    const notices: PersonNotice[] = [];
    const server = createServer({ name: 'ops', version: '1', log });
    const tool = flow({ name: 'release', limits: { duration: '2d' } }, release);
    serveFlows(server, [tool], { notify: (notice) => void notices.push(notice) });
    const gateway = createGateway({ servers: { ops: server }, log, identify });
    const { url } = await gateway.listen({ port: 0 });
    closing.push(() => gateway.close());
    const { wire, socket } = await socketWire(Number(new URL(url).port), { 'x-user': 'ada' });
    closing.push(() => socket.close());
    await wire.initialize();
    const called = wire.call('release', { version: '2' });
    const { link } = await until('the notice', () => notices[0]);
    expect(new URL(link!).origin).toBe(new URL(url).origin);
    const [ada, lead] = [new FakeBrowser(), new FakeBrowser()];
    ada.headers = { 'x-user': 'ada' };
    lead.headers = { 'x-user': 'ops-lead' };
    expect((await ada.open(link!)).status).toBe(410);
    await lead.fill(link!, { 'q0.0': 'true' });
    expect((await called).result!.content).toMatchObject([{ text: 'true' }]);
  });

  test('that is altered or of another server leads nowhere, and gives no reason', async () => {
    const { call, linkTo } = await office();
    await call('ada', { version: '2' });
    const link = await linkTo('ops-lead');
    const other = await office();
    await other.call('ada', { version: '2' });
    const foreign = new URL(link);
    foreign.search = new URL(await other.linkTo('ops-lead')).search;
    const altered = `${link.slice(0, -2)}${link.at(-2) === 'A' ? 'B' : 'A'}${link.slice(-1)}`;
    for (const wrong of [altered, foreign.href, link.replace(/\?.*/, ''), `${link}${'A'.repeat(5000)}`]) {
      const { status, text } = await new FakeBrowser().open(wrong);
      expect([status, text]).toEqual([410, expect.stringContaining('This link does not work')]);
    }
  });

  test('takes a secret and a file, which no form of a client is given', async () => {
    const { call, linkTo } = await office(async (ask) => {
      const key = await ask.person('ops-lead').text('key', { secret: true, message: 'The key?' });
      const file = await ask.person('ops-lead').file('proof', { message: 'The proof?' });
      return ask.step(
        'use',
        async (step) => `${await step.reveal(key)} ${Buffer.from(await step.bytes(file)).toString()}`,
      );
    });
    const { result } = await call('ada');
    const browser = new FakeBrowser();
    await browser.fill(await linkTo('ops-lead'), { 'q0.0': 'hunter2' });
    const link = await linkTo('ops-lead', 1);
    const form = new FormData();
    form.append('csrf', csrfOf((await browser.open(link)).text));
    form.append('do', 'accept');
    form.append('q0.0', new Blob(['signed']), 'proof.txt');
    await browser.post(link, form);
    expect(await result).toBe('hunter2 signed');
  });
});

/** A schema of somebody's own. */
function standard(check: (value: unknown) => string | undefined) {
  const validate = (value: unknown) => {
    const message = check(value);
    return message === undefined ? { value: value as string } : { issues: [{ message }] };
  };
  return { version: 1 as const, vendor: 'test', validate };
}
