// `parley flows replay --against FILE`: replays the open sessions of a store with new code. Writes nothing and runs no step.
import { isEnded } from '../../../flow/header.ts';
import { eachSession } from '../../../flow/operator/find-sessions.ts';
import { ReplayFile } from '../../../flow/operator/replay-file.ts';
import { createSessionContext } from '../../../flow/session/context/session-context.ts';
import type { SessionContext } from '../../../flow/session/context/session-context.ts';
import { toShortId } from '../../../flow/session-id.ts';
import { hasUnopenableArgs, openSealedArgs } from '../../../flow/session/values/stored-args.ts';
import type { StoredSession } from '../../../flow/store/store.ts';
import type { Printer, Style } from '../../../kernel/command/printer.ts';
import { formatText, wrapText } from './format.ts';
import { toFilter } from './list-sessions.ts';
import type { FlowsContext } from './list-sessions.ts';
import type { OpenStore } from './open-store.ts';

interface SessionReplay {
  id: string;
  flow: string;
  verdict: 'ok' | 'changes' | 'parks' | 'fails' | 'missing' | 'sealed';
  words: string;
}

const COLOURS: Record<SessionReplay['verdict'], Style> = {
  ok: 'green',
  changes: 'yellow',
  parks: 'red',
  fails: 'red',
  missing: 'red',
  sealed: 'red',
};
const GOOD: ReadonlySet<string> = new Set(['ok', 'changes']);
const VERDICT = Math.max(...Object.keys(COLOURS).map(({ length }) => length));

export async function replaySessions(
  { store, keys }: OpenStore,
  { command, print, clock }: FlowsContext,
): Promise<number> {
  const context = createSessionContext({ store, keys });
  const files: ReplayFile[] = [];
  const counts = new Map<string, number>();
  const all: SessionReplay[] = [];
  try {
    for (const file of command.against) files.push(await ReplayFile.open(file));
    for await (const { header } of eachSession(store, toFilter(command, clock.now()))) {
      const stored = await store.load(header.id);
      if (!stored || isEnded(stored.header)) continue;
      const replayed = await replay(files, context, stored);
      counts.set(replayed.verdict, (counts.get(replayed.verdict) ?? 0) + 1);
      if (command.json) all.push(replayed);
      else for (const line of toLines(replayed, print)) print.line(line);
    }
  } finally {
    for (const file of files) await file[Symbol.asyncDispose]();
  }
  if (command.json) print.line(JSON.stringify(all, undefined, 2));
  print.note(summaryOf(counts));
  return [...counts.keys()].every((verdict) => GOOD.has(verdict)) ? 0 : 1;
}

async function replay(files: ReplayFile[], context: SessionContext, stored: StoredSession): Promise<SessionReplay> {
  const { id, tool: flow } = stored.header;
  const file = files.find((one) => one.has(flow));
  if (!file) {
    const names = files.map(({ name }) => name).join(' or ');
    return {
      id,
      flow,
      verdict: 'missing',
      words: `is not in ${names}; add its file with --against, or name the others with --flow`,
    };
  }
  if (hasUnopenableArgs(context, stored)) {
    return { id, flow, verdict: 'sealed', words: 'has arguments that only its key can open: name it with --seal-key' };
  }
  const { kind: verdict, words } = await file.verdict(openSealedArgs(context, stored));
  return { id, flow, verdict, words };
}

function toLines({ id, flow, verdict, words }: SessionReplay, print: Printer): string[] {
  const [short, gap] = [toShortId(id), ' '.repeat(VERDICT - verdict.length)];
  const indent = short.length + VERDICT + 4;
  const text = formatText(`${flow} ${words}`);
  const [first = '', ...rest] = wrapText(text, (process.stdout.columns ?? Infinity) - indent);
  const head = `${short}  ${print.style(COLOURS[verdict], verdict)}${gap}  ${first}`;
  return [head, ...rest.map((part) => `${' '.repeat(indent)}${part}`)];
}

function summaryOf(counts: ReadonlyMap<string, number>): string {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return 'No session is open.';
  const parts = [...counts].map(([verdict, count]) => `${count} ${verdict}`);
  return `${total} ${total === 1 ? 'session' : 'sessions'}: ${parts.join(', ')}`;
}
