// An SDK client calls a flow that asks another person, who opens the link in a real Chromium and answers. The call
// continues with that answer only.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, it } from 'vitest';
import { createLog, createServer } from 'mcp-parley';
import { flow, serveFlows } from 'mcp-parley/flow';
import type { PersonNotice } from 'mcp-parley/flow';
import { until } from '../helpers/until.ts';
import { browserOfTests, chromiumPath, violations } from './chromium.ts';

const { open, closing } = browserOfTests();

const review = flow({ name: 'review', limits: { duration: '1d' } }, async (ask) => {
  const about = await ask.text('about');
  const reviewer = await ask.text('reviewer');
  const verdict = await ask
    .person(reviewer)
    .choice('verdict', ['accepted', 'rejected'], { message: `Your verdict on ${about}?` });
  return `${about} was ${verdict} by ${reviewer}`;
});

const approval = flow({ name: 'approval', limits: { duration: '1d' } }, (ask) =>
  ask.person('bea', { handOver: ['bea', 'cem', 'dan'] }).confirm('ok', { message: 'Release it?' }),
);

async function served() {
  const notices: PersonNotice[] = [];
  const server = createServer({ name: 'reviews', version: '1', log: createLog({ level: 'silent' }) });
  serveFlows(server, [review, approval], { notify: (notice) => void notices.push(notice) });
  const { url } = await server.listen({ port: 0 });
  closing.push(() => server.close());
  const call = async (args: Record<string, string>, name = 'review') => {
    const client = new Client({ name: 'browser-test', version: '1' }, { versionNegotiation: { mode: 'legacy' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(url)));
    closing.push(() => client.close());
    const { content } = await client.callTool({ name, arguments: args }, { timeout: 300_000 });
    return (content as { text: string }[])[0]!.text;
  };
  const linkTo = async (person: string) =>
    (await until(`the link of ${person}`, () => notices.find((one) => one.person === person))).link!;
  return { call, linkTo };
}

async function openLink(link: string) {
  const tab = await open();
  await tab.page.goto(link);
  const first = await violations(tab);
  await tab.page.getByRole('button', { name: 'Continue' }).click();
  return { ...tab, found: [...first, ...(await violations(tab))] };
}

describe.skipIf(chromiumPath === undefined)('a question to another person', () => {
  it('a question to another person is answered in a browser, and the call of an SDK client returns; two at once are kept apart', async () => {
    const { call, linkTo } = await served();
    const [one, other] = [call({ about: 'the plan', reviewer: 'bea' }), call({ about: 'the budget', reviewer: 'cem' })];
    const [bea, cem] = [await openLink(await linkTo('bea')), await openLink(await linkTo('cem'))];
    await bea.page.getByText('Your verdict on the plan?').waitFor();
    await bea.page.getByText('You are asked as bea.').waitFor();
    await cem.page.getByText('Your verdict on the budget?').waitFor();
    await cem.page.getByLabel('rejected').check();
    await cem.page.getByRole('button', { name: 'Send answer' }).click();
    await cem.page.getByRole('heading', { name: 'Your answer has been sent' }).waitFor();
    expect(await other).toBe('the budget was rejected by cem');
    await bea.page.getByLabel('accepted').check();
    await bea.page.getByRole('button', { name: 'Send answer' }).click();
    await bea.page.getByRole('heading', { name: 'Your answer has been sent' }).waitFor();
    expect(await one).toBe('the plan was accepted by bea');
    await bea.page.reload();
    await bea.page.getByRole('heading', { name: 'Your answer has been sent' }).waitFor();
    expect([...bea.found, ...cem.found, ...bea.complaints, ...cem.complaints]).toEqual([]);
  });

  it('works in one browser only, and says when it is over', async () => {
    const { call, linkTo } = await served();
    const called = call({ about: 'the plan', reviewer: 'bea' });
    const link = await linkTo('bea');
    const bea = await openLink(link);
    const stranger = await openLink(link);
    await stranger.page.getByText('It was opened in another browser').waitFor();
    await bea.page.getByLabel('accepted').check();
    await bea.page.getByRole('button', { name: 'Send answer' }).click();
    await bea.page.getByRole('heading', { name: 'Your answer has been sent' }).waitFor();
    expect(await called).toBe('the plan was accepted by bea');
    await stranger.page.goto(link);
    await stranger.page.getByText('The work that needed it has ended').waitFor();
  });

  it('a question to another person is handed over on the page, to somebody whom the flow names, and that person answers it', async () => {
    const { call, linkTo } = await served();
    const called = call({}, 'approval');
    const link = await linkTo('bea');
    const bea = await openLink(link);
    await bea.page.getByText('Hand over to somebody else').first().click();
    const to = bea.page.getByLabel('Who should answer instead of you?');
    expect(await to.getByRole('option').allTextContents()).toEqual(['cem', 'dan']);
    bea.found.push(...(await violations(bea)));
    await to.selectOption('dan');
    await bea.page.getByRole('button', { name: 'Hand over to somebody else' }).click();
    await bea.page.getByRole('heading', { name: 'You have handed the question over' }).waitFor();
    expect([...bea.found, ...(await violations(bea)), ...bea.complaints]).toEqual([]);
    await bea.page.goto(link);
    await bea.page.getByText('It was handed over to somebody else').waitFor();
    const dan = await openLink(await linkTo('dan'));
    await dan.page.getByText('You are asked as dan.').waitFor();
    await dan.page.getByRole('button', { name: 'Yes' }).click();
    await dan.page.getByRole('heading', { name: 'Your answer has been sent' }).waitFor();
    expect(await called).toBe('true');
    expect([...dan.found, ...dan.complaints]).toEqual([]);
  });

  it('a question to another person is not handed over to somebody whom the flow does not name, whatever the browser sends', async () => {
    const { call, linkTo } = await served();
    const called = call({}, 'approval');
    const bea = await openLink(await linkTo('bea'));
    await bea.page.getByText('Hand over to somebody else').first().click();
    await bea.page.evaluate("document.querySelector('option').value = 'eve'");
    await bea.page.getByRole('button', { name: 'Hand over to somebody else' }).click();
    await bea.page.getByRole('heading', { name: 'This form was not accepted' }).waitFor();
    await bea.page.goBack();
    await bea.page.getByRole('button', { name: 'No' }).click();
    expect(await called).toBe('false');
  });

  it('a question to another person is not handed over where the flow names nobody', async () => {
    const { call, linkTo } = await served();
    const called = call({ about: 'the plan', reviewer: 'bea' });
    const bea = await openLink(await linkTo('bea'));
    await bea.page.getByText('Your verdict on the plan?').waitFor();
    expect(await bea.page.getByText('Hand over').count()).toBe(0);
    await bea.page.getByRole('button', { name: 'Decline' }).click();
    expect(await called).toContain('declined');
  });
});
