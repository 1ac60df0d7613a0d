// Serves a flow and plays it as a client of one kind, with real parts within this process.
import type { Client } from '../../sdk/client/client.ts';
import { connect } from '../../sdk/client/connect.ts';
import { connectFlows } from '../../flow/client/flow-client.ts';
import type { AnyFlow } from '../../flow/define.ts';
import { memoryStore } from '../../flow/store/memory/memory.ts';
import { NoAnswer } from '../../flow/testing/play-flow.ts';
import { CrashPoints, createObservation, observeFlow, UNREACHABLE_URL } from '../../flow/testing/test-stage.ts';
import type { StepSeen } from '../../flow/testing/test-stage.ts';
import { serveFlows } from '../../flow/wire/serve-flows.ts';
import type { ServeFlowsOptions } from '../../flow/wire/serve-flows.ts';
import { CANCEL, DECLINE } from '../../mcp/flow/flow-run.ts';
import type { Prompt } from '../../kernel/form/prompt.ts';
import { createServer } from '../../sdk/server/create-server.ts';
import type { ParleyServer } from '../../sdk/server/create-server.ts';
import { GatewayError } from '../../kernel/base/errors.ts';
import { memoryPair } from '../memory-pair.ts';
import { collectLog } from '../test-gateway.ts';
import { CallingClient } from './calling-client.ts';
import { CLIENT_PROFILES } from './client-profiles.ts';
import type { ClientKind, ClientProfile } from './client-profiles.ts';
import { OtherParties } from './other-parties.ts';
import { TestUser } from './test-user.ts';
import type { Way } from './test-user.ts';
import { watchStore } from './watched-store.ts';

/** Options of `serveFlows`. */
export interface AsClientOptions extends ServeFlowsOptions {
  /** Rounds of questions before the client gives up a call. Default 10, as in many clients. */
  maxRounds?: number | undefined;
}

export interface PlayedAsClient {
  /** The structured content that the client got, else the text. */
  result: unknown;
  /** The tool has failed, and `result` says why. */
  isError: boolean;
  /** Names of all questions in order; fields of a form count separately. */
  asked: string[];
  rounds: number;
  /** The ways in which the user was asked. */
  ways: Way[];
  /** Steps that ran, once for each run. */
  steps: StepSeen[];
  /** The session was stored; otherwise the client carried all of its state. */
  kept: boolean;
}

interface ScriptedPlay {
  flow: AnyFlow;
  args: Record<string, unknown>;
  answers: Record<string, unknown>;
}

const KEYS = ['a key of this test alone'];
/** Answers of a test may come fast. */
const UNHURRIED = { respondsPerSecond: 10_000 };

export async function playAsClient(
  { flow, args, answers }: ScriptedPlay,
  kind: ClientKind,
  { maxRounds = 10, ...options }: AsClientOptions = {},
): Promise<PlayedAsClient> {
  if (!Object.hasOwn(CLIENT_PROFILES, kind))
    throw new GatewayError('BAD_OPTION', { option: 'kind of client', reason: `there is no ${kind}` });
  const how: ClientProfile = CLIENT_PROFILES[kind];
  let look = (_id: string): void => {};
  const { server, sessions, watched, seen } = serve(flow, { how, options, onWritten: (id) => look(id) });
  const person = new TestUser(answers);
  const others = new OtherParties({ sessions, store: watched.store }, person, answers);
  look = (id) => void others.look(id);
  const given = how.plays === 'arguments' ? { ...args, ...answers } : args;
  // Timers of a server do not keep the process alive, and there is no socket.
  const alive = setInterval(() => {}, 60_000);
  try {
    const call = { tool: flow.name, args: given };
    const played =
      how.plays === 'flow'
        ? natively(server, person, call)
        : called(server, new CallingClient({ how, person, watched, maxRounds }), call);
    const outcome = await Promise.race([played, others.failed]);
    const { asked, rounds, ways, leftOver } = person;
    // Arguments answer questions before they are asked, and a failure says for itself that the play ended early.
    if (how.plays !== 'arguments' && !outcome.isError && leftOver.length > 0)
      throw person.fail(`The flow never asked for ${leftOver.join(', ')}`);
    return { ...outcome, asked, rounds, ways: [...ways], steps: seen.steps, kept: watched.made > 0 };
  } catch (thrown) {
    throw person.problem ?? thrown;
  } finally {
    await server.close();
    clearInterval(alive);
  }
}

interface ServeTestOptions {
  how: ClientProfile;
  options: ServeFlowsOptions;
  onWritten: (id: string) => void;
}

function serve(flow: AnyFlow, { how: { plays, channels }, options, onWritten }: ServeTestOptions) {
  const watched = watchStore(options.store ?? memoryStore(), onWritten);
  const seen = createObservation();
  const observable = observeFlow(flow, new CrashPoints(), seen);
  // By default a slow flow becomes a task after some time; a test needs it at once or never.
  const served = { ...observable, options: { ...observable.options, long: plays === 'task' } };
  const { log } = collectLog();
  const server = createServer({ name: 'flows', version: '1', log, keys: KEYS, ask: { channels } });
  const limits = { ...UNHURRIED, ...options.limits };
  const around = { log, keys: KEYS, baseUrl: () => UNREACHABLE_URL };
  const sessions = serveFlows(server, [served], { ...around, ...options, limits, store: watched.store });
  return { server, sessions, watched, seen };
}

type Call = { tool: string; args: Record<string, unknown> };

/** Over MCP Flow. */
async function natively(server: ParleyServer, person: TestUser, { tool, args }: Call) {
  const [ours, theirs] = memoryPair();
  await server.connect(theirs);
  await using client = await connectFlows(ours, { revision: CLIENT_PROFILES.flow.revision, log: collectLog().log });
  const onPrompt = (prompt: Prompt & { promptId?: string }): unknown => {
    person.see('prompt');
    const key = prompt.promptId?.replace(/~\d+$/, '') ?? '';
    const value = person.say(key, prompt.message, { isNeeded: isNeeded(prompt) });
    if (value instanceof NoAnswer) return value.no === 'declined' ? DECLINE : CANCEL;
    return value ?? null;
  };
  const { result, success, summary } = await client.run(tool, args, { onPrompt });
  return { result: success ? result : summary, isError: !success };
}

async function called(server: ParleyServer, asked: CallingClient, { tool, args }: Call) {
  const [ours, theirs] = memoryPair();
  await server.connect(theirs);
  await using client: Client = await connect(ours, { ...asked.client, log: collectLog().log });
  return await asked.call(client, tool, args);
}

/** A confirmation and a form are always needed. */
function isNeeded({ type, validation, choices }: Prompt): boolean {
  return validation?.required === true || type === 'confirm' || (type === 'custom' && !choices);
}
