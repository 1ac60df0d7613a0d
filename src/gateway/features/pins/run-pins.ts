// `parley pins`: shows what servers have changed since they were first used, and accepts it as it was shown.
import {
  acceptedForms,
  isRemoved,
  listPinFiles,
  pinFolder,
  readPinFile,
  replacedForm,
  waitingForms,
} from './pin-record.ts';
import { listPinsInState, pinsInFile } from './pin-store.ts';
import { SHARED_PINS } from './shared-pins.ts';
import type { Pin, PinForm } from './pin.ts';
import { acceptShown, stateOf, waitingIn } from './waiting-pins.ts';
import type { KeptPins, WaitingPin } from './waiting-pins.ts';
import { ownStateFolder } from '../../../kernel/secrets/own-folders.ts';
import type { CommandTools } from '../../../kernel/command/command-tools.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { toTable } from '../../../kernel/command/table.ts';
import { diffLines } from './word-diff.ts';

interface PinsCommand {
  action: 'ls' | 'diff' | 'accept';
  /** A server, or one of its tools. */
  what: string | undefined;
  /** Do not ask. */
  isSure: boolean;
  config: string | undefined;
  json: boolean;
}

const PIN_HEADINGS = ['SERVER', 'TOOLS', 'OTHERS', 'WAITING', 'GATEWAY'];

export async function runPins(command: PinsCommand, tools: CommandTools): Promise<number> {
  const shared = await tools.openState(command.config);
  if (!shared) return 1;
  const { state } = shared;
  try {
    const kept = state ? await listPinsInState(state) : readFiles(command, tools);
    return await runOn(kept, command, tools);
  } catch (error) {
    tools.print.problem(`the pins cannot be read: ${(error as Error).message}`);
    return 1;
  } finally {
    await state?.close();
  }
}

async function runOn(kept: readonly KeptPins[], command: PinsCommand, tools: CommandTools): Promise<number> {
  const { print, program } = tools;
  if (command.action === 'ls') return list(command, kept, tools);
  const { what } = command;
  const waiting = kept
    .flatMap(waitingIn)
    .filter((one) => what === undefined || one.server === what || fullName(one) === what);
  const isKnown = kept.some(
    ({ record }) =>
      record.server === what || Object.values(record.pins).some(({ name }) => `${record.server}__${name}` === what),
  );
  if (what !== undefined && !isKnown) {
    print.problem(`nothing is pinned of "${what}". To see what is: ${program} pins`);
    return 1;
  }
  for (const one of waiting) for (const line of describe(one, print)) print.line(line);
  if (waiting.length === 0) print.line('Nothing has changed since it was accepted.');
  else if (command.action === 'accept') return accept(waiting, command, tools);
  else print.note(`To accept it: ${program} pins accept ${what ?? '--all'}`);
  return 0;
}

function readFiles({ config }: PinsCommand, { findConfig }: CommandTools): KeptPins[] {
  const gateway = config === undefined ? undefined : findConfig(config);
  const all = listPinFiles(pinFolder(ownStateFolder())).flatMap((path) => {
    const record = readPinFile(path);
    return record ? [{ record, store: pinsInFile(path) }] : [];
  });
  return all.filter(({ record }) => config === undefined || record.gateway === gateway);
}

function list({ json }: PinsCommand, kept: readonly KeptPins[], { print, program, displayPath }: CommandTools): number {
  const waiting = kept.flatMap(waitingIn);
  if (json) {
    const rows = waiting.map((one) => ({
      server: one.server,
      area: one.pin.area,
      name: one.pin.name,
      state: stateOf(one.pin),
      like: one.pin.like,
      before: replacedForm(one.pin)?.program,
      now: waitingForms(one.pin).at(-1)?.program,
      listed: waitingForms(one.pin).map(listedFor),
    }));
    print.line(
      JSON.stringify(
        { servers: kept.map(({ record: { server, gateway } }) => ({ server, gateway })), waiting: rows },
        undefined,
        2,
      ),
    );
    return 0;
  }
  if (kept.length === 0) {
    print.line('Nothing is pinned yet: a gateway pins what its servers list when they are first used.');
    return 0;
  }
  for (const line of toTable([PIN_HEADINGS, ...toPinRows(kept, displayPath)])) print.line(line);
  if (waiting.length === 0) return 0;
  print.line();
  for (const line of toTable(waiting.map((one) => [fullName(one), one.pin.area, wordsOf(one.pin)]))) print.line(line);
  print.note(`To see what is different: ${program} pins diff`);
  return 0;
}

/** In the order of gateways and servers. Tools are counted apart, so that the number is the one of `status`. */
export function toPinRows(kept: readonly KeptPins[], displayPath: (path: string) => string): string[][] {
  const rows = kept.map((one) => {
    const { gateway, server, pins } = one.record;
    const accepted = Object.values(pins).filter((pin) => acceptedForms(pin).length > 0);
    const tools = accepted.filter(({ area }) => area === 'tools').length;
    const others = accepted.length - tools;
    const place = gateway === SHARED_PINS ? 'all that share the state' : displayPath(gateway);
    return [server, String(tools), String(others), String(waitingIn(one).length), place];
  });
  const keyOf = (row: readonly string[]) => `${row.at(-1)} ${row[0]}`;
  return rows.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
}

function fullName({ server, pin }: WaitingPin): string {
  return `${server}__${pin.name}`;
}

function wordsOf(pin: Pin): string {
  return `${stateOf(pin)}${pin.like === undefined ? '' : `, the same as ${pin.like}`}`;
}

/** The package before and now; only what is different of the two. */
function updateOf(before = '', now = ''): string {
  if (before === '' || now === '' || before === now) return now && `, ${now}`;
  const [name, version] = now.split(' ');
  return `, ${before} → ${before.startsWith(`${name} `) ? version : now}`;
}

/** In which eras it is listed, and to clients that can do what. */
function listedFor({ listings }: PinForm): string {
  const places = listings.map((listing) => {
    const [era, kind] = listing.split(' ');
    return kind ? `${era} clients with ${kind.replaceAll('+', ' and ')}` : `${era} clients`;
  });
  return places.toSorted().join(', ');
}

function describe(one: WaitingPin, print: Printer): string[] {
  const { pin } = one;
  const heading = `${print.style('bold', fullName(one))} (${pin.area}) ${wordsOf(pin)}`;
  if (isRemoved(pin)) return [heading];
  const before = replacedForm(pin);
  return waitingForms(pin).flatMap((form) => {
    const isWhole = form.value !== undefined && (!before || before.value !== undefined);
    const lines = isWhole ? diffLines(before?.value, form.value, styleOf(print)) : ['it is too long to be shown here'];
    const isElsewhere = pin.forms.some((other) => other !== form && other.listings.length > 0);
    const where = isElsewhere ? [`listed for ${listedFor(form)} only`] : [];
    return [`${heading}${updateOf(before?.program, form.program)}`, ...[...where, ...lines].map((line) => `  ${line}`)];
  });
}

function styleOf(print: Printer) {
  return {
    removed: (text: string) => print.style('red', text),
    added: (text: string) => print.style('green', text),
  };
}

async function accept(
  waiting: readonly WaitingPin[],
  { what, isSure }: PinsCommand,
  { print, program, confirm }: CommandTools,
): Promise<number> {
  if (!isSure && !process.stdin.isTTY) {
    print.problem(
      `nobody can be asked here. To accept it as it is shown: ${program} pins accept ${what ?? '--all'} --yes`,
    );
    return 1;
  }
  if (!isSure && !(await confirm('Accept it?'))) {
    print.line('Nothing was accepted.');
    return 1;
  }
  let accepted = 0;
  for (const store of new Set(waiting.map((one) => one.store))) {
    const shown = waiting.filter((one) => one.store === store);
    let now = 0; // a change may be made again from what somebody else has written
    await store.update((record) => {
      now = acceptShown(record!, shown);
      return record!;
    });
    accepted += now;
  }
  print.line(`Accepted: ${accepted}.`);
  if (accepted === waiting.length) return 0;
  print.problem(`${waiting.length - accepted} changed again meanwhile. To see them: ${program} pins diff`);
  return 1;
}
