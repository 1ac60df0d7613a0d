// A hand-written client of 2026-07-28: its call returns questions and is repeated with the answers. Requests without an
// answer, because the server died, are repeated unchanged.
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isAway, isOfDeadProcess } from './away.ts';
import type { Answer, Json } from '../http-wire.ts';
import { send } from '../http-wire.ts';
import { elicits, modern } from '../mcp-http.ts';

export interface Rounds {
  url: string;
  tool: string;
  who: string;
  up: () => Promise<void>;
  /** What is filled in. */
  contentFor: (names: string[]) => Promise<Json>;
  /** Answers what a result asks in words. */
  answered: (result: Json) => Promise<Json>;
}

const PAUSE_MS = 10;

type Result = NonNullable<Answer['result']> & {
  inputRequests?: Record<string, { params: { requestedSchema: { properties: object } } }>;
};

export async function playRounds(rounds: Rounds): Promise<Result> {
  const first: Json = { name: rounds.tool, arguments: {} };
  const startId = { 'mcp-parley/start-id': randomUUID() };
  let call = first;
  for (;;) {
    let result = await request(rounds, call, startId);
    for (let handle = handleOf(result); handle !== undefined; handle = handleOf(result)) {
      // If the asking process is gone, the next one does not know the handle; the call has its state.
      const answer = await orUndefined(rounds.answered(result));
      const said = answer && request(rounds, { name: 'parley_answer', arguments: { handle, ...answer } });
      result = (await said?.catch(() => undefined)) ?? (await request(rounds, call, startId));
    }
    // The same for a question on a page. The call with its start id goes on from there.
    if (result['isError'] && isOfDeadProcess(String(result.content?.[0]?.text))) {
      call = first;
      continue;
    }
    if (!result.inputRequests) return result;
    call = { ...call, requestState: result['requestState'], inputResponses: await toResponses(result, rounds) };
  }
}

/** Undefined if the server has died. */
function orUndefined<T>(answer: Promise<T>): Promise<T | undefined> {
  return answer.catch((thrown: unknown) => {
    if (isAway(thrown)) return undefined;
    throw thrown;
  });
}

async function toResponses({ inputRequests = {} }: Result, { contentFor }: Rounds): Promise<Json> {
  const responses = Object.entries(inputRequests).map(async ([key, { params }]) => {
    const content = await contentFor(Object.keys(params.requestedSchema.properties));
    return [key, { action: 'accept', content }] as const;
  });
  return Object.fromEntries(await Promise.all(responses));
}

function handleOf({ _meta }: Result): unknown {
  return (_meta as Json | undefined)?.['mcp-parley/handle'];
}

async function request({ url, who, up }: Rounds, params: Json, meta: Json = {}): Promise<Result> {
  for (;;) {
    await up();
    const { body, headers } = modern('tools/call', params, { ...elicits, ...meta });
    const reply = await send(url, { body, headers: { ...headers, 'x-user': who } }).catch(() => undefined);
    if (reply?.json.error) throw new Error(reply.json.error.message);
    if (reply?.json.result) return reply.json.result;
    await delay(PAUSE_MS);
  }
}
