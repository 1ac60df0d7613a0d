// A flow called like any other tool. What was given as arguments is not asked; the rest is asked by whichever way the client's user
// can be asked, round by round, until the flow has its result.
import type { Ask, Exchange } from '../../protocol/exchange.ts';
import type { JsonObject } from '../../protocol/message.ts';
import { readOptionalObject } from '../../protocol/params.ts';
import type { ResultObject } from '../../protocol/raw-object.ts';
import { toToolResult } from '../../server/tool-result.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { AskFailure } from '../authoring/ask-failure.ts';
import type { AnyFlow } from '../define.ts';
import type { Question } from '../question/question.ts';
import type { GivenAnswer } from '../session/requests.ts';
import type { Sessions } from '../session/sessions.ts';
import { settled } from '../session/turn.ts';
import type { Turn } from '../session/turn.ts';
import { contentOf, fromForm, toForm } from './to-form.ts';

export async function callFlow(exchange: Exchange, flow: AnyFlow, sessions: Sessions): Promise<ResultObject> {
  const { principal, info } = exchange.client;
  const args = readOptionalObject(exchange.params, 'arguments') ?? {};
  const client = { name: info.name, version: info.version };
  let turn = await settled(await sessions.start({ principal, tool: flow.name, args, client, via: 'elicit' }));
  const { id: sessionId } = turn.header;
  const giveUp = (): void =>
    void sessions.cancel({ principal, sessionId, reason: 'The call was given up' }).catch(() => {});
  exchange.signal.addEventListener('abort', giveUp, { once: true });
  try {
    while (turn.questions.length > 0) {
      const answers = await put(turn.questions, exchange);
      turn = await settled(await sessions.answer({ principal, sessionId, answers, via: 'elicit' }));
    }
  } catch (thrown) {
    giveUp(); // it has ended already, or nobody will come back for it
    return toRefused(thrown, turn);
  } finally {
    exchange.signal.removeEventListener('abort', giveUp);
  }
  return toResult(turn, flow);
}

/** All questions of a round in one form. */
async function put(questions: readonly Question[], exchange: Exchange): Promise<GivenAnswer[]> {
  const { message, requestedSchema } = toForm(questions);
  const ask: Ask = {
    method: 'elicitation/create',
    params: { mode: 'form', message, requestedSchema },
    ...(questions.some(({ by }) => by === 'human') && { human: true }),
    key: questions.map(({ promptId }) => promptId).join(' '),
  };
  const answer = await exchange.ask(ask);
  if (answer.action === 'accept') return fromForm(questions, contentOf(answer));
  const no: AskFailure = answer.action === 'decline' ? 'declined' : 'cancelled';
  return questions.map(({ promptId }) => ({ promptId, no }));
}

function toResult(turn: Turn, { name, output }: AnyFlow): JsonObject | Promise<JsonObject> {
  if (turn.failure) return { content: [{ type: 'text', text: turn.failure.message }], isError: true };
  if (turn.header.state === 'cancelled')
    return { content: [{ type: 'text', text: `${name} was cancelled` }], isError: true };
  return toToolResult(turn.result, { key: name, output });
}

/** Nobody can be asked: what is missing can still be given as arguments. */
function toRefused(thrown: unknown, { questions }: Turn): JsonObject {
  if (!(thrown instanceof GatewayError) || thrown.code !== 'CLIENT_CANNOT_BE_ASKED') throw thrown;
  const missing = questions.map(({ key, prompt }) => `- ${key}: ${prompt.message}`);
  const text = [
    'This client cannot be asked. Ask the user, and call the tool again with these arguments as well:',
    ...missing,
  ];
  return { content: [{ type: 'text', text: text.join('\n') }], isError: true };
}
