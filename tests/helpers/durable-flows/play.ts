// A person before a client of each kind, who plays a flow to its end however often the server dies: what has got no answer is done again.
import { setTimeout as delay } from 'node:timers/promises';
import { connect, createLog } from 'mcp-parley';
import type { Client, ConnectOptions } from 'mcp-parley';
import { connectFlows } from 'mcp-parley/flow';
import { FakeBrowser } from '../../../src/gateway/ask/page/fake-round.contract.ts';
import { answerOf, isSilent } from './answers.ts';
import { playRounds } from './play-rounds.ts';

export const CHANNELS = ['flow', 'form', 'plain-form', 'input-required', 'task', 'page', 'relay'] as const;
export type Channel = (typeof CHANNELS)[number];

export interface Play {
  url: string;
  tool: string;
  /** Whose play it is: the caller, and what the flow is about. */
  who: string;
  /** Resolves when the server is there again. */
  up: () => Promise<void>;
}

type Result = Awaited<ReturnType<Client['callTool']>>;
type Content = Record<string, string | number | boolean | string[]>;

const log = createLog({ level: 'silent' });
/** More than a server is away for. */
const MOST_TRIES = 1000;
const PAUSE_MS = 10;
/** Longer than a drill waits. Whoever is not told that a question was withdrawn learns it from the answer. */
const TOO_LATE_MS = 2000;

export async function playIn(channel: Channel, play: Play): Promise<unknown> {
  if (channel === 'flow') return playNatively(play);
  if (channel === 'input-required') {
    const inWords = (result: object) => answered(result as Result, channel, play.who);
    return toOutcome(
      (await playRounds({ ...play, contentFor: (names) => contentFor(names, play.who), answered: inWords })) as Result,
    );
  }
  const revision =
    { form: '2025-11-25', 'plain-form': '2025-06-18', task: '2025-11-25' }[channel as string] ?? '2026-07-28';
  const canBeAsked = channel !== 'page' && channel !== 'relay';
  const options: ConnectOptions = { revision, log, ...(canBeAsked && { onElicit: filling(play.who) }) };
  let result: Result | undefined;
  await untilDone(play, async () => {
    await using client = await connect({ url: play.url, headers: { 'x-user': play.who } }, options);
    result = await client.callTool(play.tool, {}, channel === 'task' ? { task: true } : {});
    for (let handle = handleOf(result); handle !== undefined; handle = handleOf(result)) {
      const answer = await answered(result, channel, play.who);
      result = await client.callTool('parley_answer', { handle, ...answer });
    }
  });
  return toOutcome(result!);
}

function toOutcome(result: Result): unknown {
  if (result.isError) throw new Error(textOf(result));
  return result.structuredContent;
}

async function playNatively({ url, tool, who }: Play): Promise<unknown> {
  const onPrompt = (prompt: object): unknown => {
    const key = keyOf((prompt as { promptId: string }).promptId);
    const answer = answerOf(key, who) ?? null;
    return isSilent(key, who) ? delay(TOO_LATE_MS, answer) : answer;
  };
  await using client = await connectFlows(
    { url, headers: { 'x-user': who } },
    // A client of 2026-07-28 hears nothing while a question is open, not even that its time is over.
    { log, attempts: 12, backoffMs: PAUSE_MS, ...(who.endsWith('-drill') && { revision: '2025-11-25' }) },
  );
  const { result, success, summary } = await client.run(tool, {}, { onPrompt });
  if (!success) throw new Error(summary ?? 'It failed');
  return result;
}

function keyOf(promptId: string): string {
  return promptId.replace(/~\d+$/, '');
}

async function untilDone({ up }: Play, work: () => Promise<void>): Promise<void> {
  for (let tries = 0; ; tries++) {
    await up();
    try {
      return await work();
    } catch (thrown) {
      if (tries >= MOST_TRIES || !isAway(thrown)) throw thrown;
      await delay(PAUSE_MS);
    }
  }
}

function isAway(thrown: unknown): boolean {
  const { code, message } = thrown as { code?: unknown; message: string };
  return (
    /^(UPSTREAM_|STREAM_|ECONN)/.test(String(code)) || /^(Parley stopped while|fetch failed|Unknown task)/.test(message)
  );
}

function filling(who: string): NonNullable<ConnectOptions['onElicit']> {
  return (request) => {
    const { properties = {} } = (request as { requestedSchema?: { properties?: object } }).requestedSchema ?? {};
    return { action: 'accept', content: contentFor(Object.keys(properties), who) };
  };
}

function contentFor(names: string[], who: string): Content {
  const said = names.map((name) => [name, answerOf(name, who)] as const);
  return Object.fromEntries(said.filter(([, value]) => value !== undefined)) as Content;
}

/** A result that asks: on the page, or in words, where a model may say them. */
async function answered(result: Result, channel: Channel, who: string): Promise<Record<string, unknown>> {
  const text = textOf(result);
  const names = [...text.matchAll(/^- ([^\s:]+)/gm)].map((match) => match[1]!);
  const [link] = /https?:\S+\/ask\S+/.exec(text) ?? [];
  const isForPage = channel === 'page' || text.includes('Only the user can answer this');
  if (!isForPage || link === undefined) return { answer: contentFor(names, who) };
  const browser = new FakeBrowser();
  browser.headers = { 'x-user': who };
  const got = await browser.fill(link, inputsOf(text, contentFor(names, who)));
  if (got.status >= 400) throw new Error(`The page has not taken the answer: ${got.text}`);
  return {};
}

/** The inputs of the page have numbers, in the order of the questions; so have options. */
function inputsOf(text: string, content: Content): Record<string, string> {
  const inputs = Object.entries(content).map(([name, value], index) => {
    const [, options] = new RegExp(`^- ${name} \\(one of (.*), (?:required|optional)\\)`, 'm').exec(text) ?? [];
    const values = options?.replaceAll(/“[^”]*”/g, '').match(/"[^"]*"/g);
    return [`q0.${index}`, String(values ? values.indexOf(JSON.stringify(value)) : value)];
  });
  return Object.fromEntries(inputs) as Record<string, string>;
}

function handleOf({ _meta }: Result): string | undefined {
  const handle = _meta?.['mcp-parley/handle'];
  return typeof handle === 'string' ? handle : undefined;
}

function textOf({ content }: Result): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
