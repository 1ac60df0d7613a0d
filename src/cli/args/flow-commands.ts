// What can be typed for the commands of flows: `run`, `explore`, `flows`.
import type { Condition } from '../../flow/header.ts';
import { programName } from '../program.ts';
import { defineCommand, hintAt, none, only } from '../../kernel/command/command-spec.ts';
import type { ParsedCommand } from '../../kernel/command/command-spec.ts';
import { COMMON, UsageError, oneOf, option, toSpanMs } from '../../kernel/command/option.ts';

const { checked, count, flag, list, pairs, seconds, text, texts } = option;
const FLOW_ACTIONS = ['ls', 'show', 'answer', 'cancel', 'retry', 'replay'] as const;
/** As `--state` names the conditions of open and ended sessions. Written again, because importing them would load flows with every command. */
const OPEN_STATES: readonly Condition[] = ['waiting', 'working', 'parked', 'ending'];
const ENDED_STATES: readonly Condition[] = ['completed', 'cancelled', 'failed', 'expired'];
const STATES = { open: OPEN_STATES, ended: ENDED_STATES };
const STATE_WORDS = ['open', 'ended', 'all', ...OPEN_STATES, ...ENDED_STATES] as const;
const DEFAULT_LIST_LIMIT = 50;
const MAX_LIST = 10_000;
const { json } = COMMON;

export type RunCommand = ParsedCommand<typeof RUN>;
export type ExploreCommand = ParsedCommand<typeof EXPLORE>;
export type FlowsCommand = ParsedCommand<typeof FLOWS>;

export const RUN = defineCommand({
  name: 'run',
  summary: 'run a flow on the terminal',
  usage: ['FILE [--flow NAME] [--arg K=V …] [--answers FILE] [--json]'],
  about: [
    'Asks the questions of the flow, one after the other. Esc goes back to an earlier question, or cancels. Nothing is stored:',
    'the next run starts over. Without a terminal, the answers come from --answers.',
  ],
  options: {
    flow: text('NAME', 'the flow to run, if the file has several'),
    arg: pairs('an answer in advance, may be repeated', '--arg name=value'),
    answers: text('FILE', 'a JSON object with answers by the names of the questions'),
    json: { ...json, text: 'print the result as JSON' },
  },
  words: { file: true },
  examples: {
    'parley run trip.ts': 'with arrow keys, and answers checked at once',
    'parley run trip.ts --arg city=Oslo --answers rest.json': 'asks nothing',
  },
  read({ options: { arg: args, ...options }, words }) {
    const file = only(words, 'run');
    if (file === undefined) throw new UsageError('Name the file of the flow.');
    return { file, args, ...options };
  },
});

export const EXPLORE = defineCommand({
  name: 'explore',
  summary: 'find the questions of your flows, so that clients can give the answers as arguments',
  usage: ['FILE [--out FILE] [--check]'],
  about: [
    'Runs the flows of the file with made-up answers, in a sandbox: no files, no network, no other processes, no timers. It',
    'stops at every consent and at the first blocked call, and says where. Writes the questions next to the file, for the',
    'option "explored" of serveFlows.',
  ],
  options: {
    out: text('FILE', 'the file to write (default: FILE with the extension .explored.json)'),
    check: flag('write nothing; exit status 1 if the file is missing or out of date'),
  },
  words: { file: true },
  examples: {
    'parley explore trip.mjs': 'writes trip.explored.json',
    'parley explore trip.mjs --check': 'for CI',
  },
  read({ options, words }) {
    const file = only(words, 'explore');
    if (file === undefined) throw new UsageError('Name the file with the flows.');
    return { file, ...options };
  },
});

export const FLOWS = defineCommand({
  name: 'flows',
  summary: 'see the sessions of your flows, answer, cancel or retry one, and check them before a deploy',
  usage: [
    'ls [--state S] [--flow NAME] [--principal P] [--older SPAN] [--newer SPAN] [--limit N]',
    'show ID',
    'answer ID [VALUE] [--arg KEY=VALUE …] [--principal P]',
    'cancel ID [--reason TEXT]',
    'retry ID',
    'replay --against FILE',
  ],
  about: [
    'Reads the store of a server, which may be running or not. ID is the id of a session, or its beginning. Requests wait in',
    'the store until the server of the flow takes them, within seconds; with --code, this command does the work. "replay"',
    'runs open sessions against new code, without running a step or writing anything.',
  ],
  options: {
    store: text(
      'STORE',
      'sqlite:FILE, redis://…, rediss://… or postgres://… (default: that of --code, $PARLEY_FLOW_STORE, or the configuration)',
    ),
    code: text('FILE', 'a file that exports the flows, and their serveFlows options as "options": do the work here'),
    config: text('FILE', 'a configuration whose "flows" has store and keys'),
    prefix: text('P', 'prefix of the keys in Redis (default parley:flow), or the schema in Postgres (parley_flow)'),
    'file-key': checked(
      'NAME',
      'the variable that has the key of the SQLite file, or of what is in Postgres',
      checkVariable,
    ),
    'seal-key': list('NAME', 'a variable that has one of the keys of serveFlows; may be repeated', checkVariable),
    state: {
      ...list(
        'S',
        `open (default), ended, all, or: ${[...OPEN_STATES, ...ENDED_STATES].join(', ')}; may be repeated`,
        (typed, name) => oneOf(typed, STATE_WORDS, name),
      ),
      choices: STATE_WORDS,
    },
    flow: text('NAME', 'only sessions of this flow'),
    principal: text(
      'P',
      'only sessions of this user, by name or by the owner in "show"; for "answer": the person to answer for',
    ),
    older: checked('SPAN', 'only sessions started longer ago than this: 30s, 5m, 2h, 1d', toSpanMs),
    newer: checked('SPAN', 'only sessions started since then', toSpanMs),
    limit: count(`how many to list (default ${DEFAULT_LIST_LIMIT}), the last active first`, MAX_LIST),
    arg: pairs('an answer, if several questions are open; may be repeated', '--arg key=value'),
    reason: text('TEXT', 'the reason that the client sees'),
    wait: seconds('seconds to wait for a server (default 15) and its steps (3)'),
    against: texts('FILE', 'the new code, for "replay"; may be repeated'),
    json,
  },
  words: { choices: FLOW_ACTIONS },
  examples: {
    'parley flows ls --store sqlite:flows.db --state parked': 'sessions that cannot continue, and why',
    'parley flows show 8xkqLm2p --store redis://localhost': 'one session with its journal',
    'parley flows answer 8xkqLm2p yes --store sqlite:flows.db': 'answer the open question; a running server continues',
    'parley flows replay --against trip.ts --store sqlite:flows.db': 'exit status 1 if a session would be parked',
  },
  read({ options, words }) {
    const { 'file-key': fileKey, 'seal-key': sealKeys, state, older, newer, limit, arg, wait, ...same } = options;
    const session = toSessionAction(words);
    if (session.action === 'replay' && same.against.length === 0)
      throw new UsageError('Name the file with the new code: --against FILE.');
    return {
      ...same,
      ...session,
      args: arg,
      /** Names of environment variables. */
      fileKey,
      sealKeys,
      states: toStates(state),
      olderMs: older,
      newerMs: newer,
      limit: limit ?? DEFAULT_LIST_LIMIT,
      waitMs: wait,
    };
  },
});

function toSessionAction([word, id, value, ...more]: string[]) {
  if (word === undefined) throw new UsageError(`Say what to do: ${FLOW_ACTIONS.join(', ')}.`);
  const action = FLOW_ACTIONS.find((one) => one === word);
  if (!action) throw new UsageError(`"${word}" is not one of ${FLOW_ACTIONS.join(', ')}.${hintAt(word, FLOW_ACTIONS)}`);
  const given = [id, value, ...more].filter((one) => one !== undefined);
  const wantsId = action !== 'ls' && action !== 'replay';
  if (wantsId && id === undefined) throw new UsageError(`Name the session. To see them: ${programName()} flows ls`);
  if (action !== 'answer') none(given.slice(wantsId ? 1 : 0), `flows ${action}`);
  if (more.length > 0)
    throw new UsageError(`Unexpected words "${more.join(' ')}": write an answer with spaces in quotes.`);
  return { action, id, value };
}

/** Undefined: all states. */
function toStates(typed: (typeof STATE_WORDS)[number][]): Condition[] | undefined {
  if (typed.length === 0) return [...OPEN_STATES];
  const states: Condition[] = [];
  for (const word of typed) {
    if (word === 'all') return undefined;
    if (word === 'open' || word === 'ended') states.push(...STATES[word]);
    else states.push(word);
  }
  return states;
}

/** The name of a variable, as a key itself would appear in the process list. */
function checkVariable(typed: string, name: string): string {
  if (/^[A-Za-z_]\w*$/.test(typed)) return typed;
  throw new UsageError(`${name} takes the name of an environment variable, not the key itself.`);
}
