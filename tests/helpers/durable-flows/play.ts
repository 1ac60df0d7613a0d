// A person with a client of each kind, who plays a flow to its end however often the server dies. Unanswered requests are repeated; a
// call is repeated with its start id, as by a client that wants to be certain that nothing is done twice.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { connect, createLog } from 'mcp-parley';
import type { Client, ConnectOptions } from 'mcp-parley';
import { connectFlows } from 'mcp-parley/flow';
import { answerOf, answerTo, isSilent } from './answers.ts';
import { isAway, isOfDeadProcess } from './away.ts';
import { answerOnPage, toInputs } from './on-page.ts';
import { OFFICIAL, isOfficial, openOfficial } from './official.ts';
import type { Official, Player } from './official.ts';
import { playRounds } from './play-rounds.ts';
import { openWaitingRoom } from './waiting-room.ts';

const OWN = ['flow', 'form', 'plain-form', 'input-required', 'task', 'page', 'relay'] as const;
export type Channel = (typeof OWN)[number] | Official;
export const CHANNELS: readonly Channel[] = [...OWN, ...OFFICIAL];

export interface Play {
  url: string;
  tool: string;
  /** The player: the caller and the subject of the flow. */
  who: string;
  /** Resolves when the server is back. */
  up: () => Promise<void>;
  /** Resolves when the current server has died. */
  down: () => Promise<void>;
}

type Result = Awaited<ReturnType<Client['callTool']>>;
type Content = Record<string, string | number | boolean | string[]>;

const log = createLog({ level: 'silent' });
/** More than a server is away for. */
const MOST_TRIES = 10_000;
const PAUSE_MS = 10;
/** Of one request: its server may die again as soon as it is there. */
const ATTEMPTS = 18;
/** Longer than a drill waits. A client without notifications learns of a withdrawn question from the answer. */
const TOO_LATE_MS = 2000;

export async function playIn(channel: Channel, play: Play): Promise<unknown> {
  if (channel === 'flow') return playNatively(play);
  if (channel === 'input-required') {
    const inWords = (result: object) => answered(result as Result, channel, play.who);
    return toOutcome(
      (await playRounds({
        ...play,
        contentFor: (names) => contentInTime(names, play.who),
        answered: inWords,
      })) as Result,
    );
  }
  let result: Result | undefined;
  const options = { startId: randomUUID(), task: channel === 'task' };
  await untilDone(play, async () => {
    await using client = await opened(channel, play);
    result = await client.callTool(play.tool, {}, options);
    for (let handle = handleOf(result); handle !== undefined; handle = handleOf(result)) {
      const answer = await answered(result, channel, play.who);
      result = await client.callTool('parley_answer', { handle, ...answer });
    }
    if (result.isError && isOfDeadProcess(textOf(result))) throw new Error(textOf(result));
  });
  return toOutcome(result!);
}

function opened(channel: Channel, play: Play): Promise<Player> {
  const { url, who } = play;
  if (isOfficial(channel)) return openOfficial(channel, { ...play, onElicit: filling(who) });
  const revision =
    { form: '2025-11-25', 'plain-form': '2025-06-18', task: '2025-11-25' }[channel as string] ?? '2026-07-28';
  const canBeAsked = channel !== 'page' && channel !== 'relay';
  const asked = canBeAsked && { onElicit: filling(who), elicitUrls: true };
  return connect({ url, headers: { 'x-user': who } }, { revision, log, ...asked });
}

function toOutcome(result: Result): unknown {
  if (result.isError) throw new Error(textOf(result));
  return result.structuredContent;
}

async function playNatively(play: Play): Promise<unknown> {
  const { url, tool, who } = play;
  const onPrompt = (prompt: object): unknown => {
    const key = keyOf((prompt as { promptId: string }).promptId);
    const answer = answerOf(key, who) ?? null;
    return isSilent(key, who) ? delay(TOO_LATE_MS, answer) : answer;
  };
  // A 2026-07-28 client receives nothing while a question is open, not even its expiry.
  const revision = who.endsWith('-drill') && { revision: '2025-11-25' };
  const options = { log, attempts: ATTEMPTS, backoffMs: 1, ...revision };
  // Its pauses become longer with every failure, until it would be away for longer than the server.
  await using room = await openWaitingRoom(url, play.up);
  const address = { url: room.url, headers: { 'x-user': who } };
  await using client = await untilDone(play, () => connectFlows(address, options));
  const { result, success, summary } = await client.run(tool, {}, { onPrompt });
  if (!success) throw new Error(summary ?? 'It failed');
  return result;
}

function keyOf(promptId: string): string {
  return promptId.replace(/~\d+$/, '');
}

async function untilDone<T>({ up }: Play, work: () => Promise<T>): Promise<T> {
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

function filling(who: string): NonNullable<ConnectOptions['onElicit']> {
  return async (request) => {
    if (request.mode === 'url') {
      await answerOnPage(request.url, who, [answerTo(request.message, who)]);
      return { action: 'accept' };
    }
    const { properties = {} } = (request as { requestedSchema?: { properties?: object } }).requestedSchema ?? {};
    return { action: 'accept', content: await contentInTime(Object.keys(properties), who) };
  };
}

/** What is not answered in time is answered too late. */
async function contentInTime(names: string[], who: string): Promise<Content> {
  if (names.some((name) => isSilent(name, who))) await delay(TOO_LATE_MS);
  return contentFor(names, who);
}

function contentFor(names: string[], who: string): Content {
  const said = names.map((name) => [name, answerOf(name, who)] as const);
  return Object.fromEntries(said.filter(([, value]) => value !== undefined)) as Content;
}

/** Answers a result with questions: on the page, or as text if a model may answer. */
async function answered(result: Result, channel: Channel, who: string): Promise<Record<string, unknown>> {
  const text = textOf(result);
  const names = [...text.matchAll(/^- ([^\s:]+)/gm)].map((match) => match[1]!);
  const [link] = /https?:\S+\/ask\S+/.exec(text) ?? [];
  const isForPage = channel === 'page' || text.includes('Only the user can answer this');
  const content = await contentInTime(names, who);
  if (!isForPage || link === undefined) return { answer: content };
  // The page was not filled in. The next request gets what follows.
  if (names.some((name) => isSilent(name, who))) return {};
  await answerOnPage(link, who, toInputs(text, content));
  return {};
}

function handleOf({ _meta }: Result): string | undefined {
  const handle = _meta?.['mcp-parley/handle'];
  return typeof handle === 'string' ? handle : undefined;
}

function textOf({ content }: Result): string {
  return content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n');
}
