// What waits at one gateway, word by word, for a page of the operator; and accepts it as it was shown there.
import { visible } from '../../../kernel/base/visible.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import type { State } from '../../../kernel/state/state.ts';
import type { DiffPart, ShownDefinition, WaitingDefinition } from '../waiting-definition.ts';
import { listPinFiles, pinFolder, readPinFile, replacedForm, waitingForms } from './pin-record.ts';
import { listPinsInState, pinsInFile } from './pin-store.ts';
import { acceptShown, digestsOf, stateOf, waitingIn } from './waiting-pins.ts';
import type { WaitingPin } from './waiting-pins.ts';
import { diffLines } from './word-diff.ts';

/** Where the pins of a gateway are kept. */
interface PinsPlace {
  readonly state: State;
  readonly stateFolder: string | undefined;
  /** As its files name it. */
  readonly gateway: string;
}

const MAX_TEXT = 20_000;

export async function listWaiting(place: PinsPlace): Promise<WaitingDefinition[]> {
  return (await waitingAt(place)).map(toDefinition);
}

/** False if it is not as it was shown any more. */
export async function acceptWaiting(
  { server, area, name, digests }: ShownDefinition,
  place: PinsPlace,
): Promise<boolean> {
  const one = (await waitingAt(place)).find((waiting) => {
    const { pin } = waiting;
    return waiting.server === server && pin.area === area && pin.name === name && digestsOf(pin) === digests;
  });
  if (!one) return false;
  let accepted = 0;
  await one.store.update((record) => {
    accepted = acceptShown(record!, [one]);
    return record!;
  });
  return accepted === 1;
}

async function waitingAt({ state, stateFolder, gateway }: PinsPlace): Promise<WaitingPin[]> {
  if (state.isShared) return (await listPinsInState(state)).flatMap(waitingIn);
  if (stateFolder === undefined) return [];
  return listPinFiles(pinFolder(stateFolder)).flatMap((path) => {
    const record = readPinFile(path);
    return record?.gateway === gateway ? waitingIn({ record, store: pinsInFile(path) }) : [];
  });
}

function toDefinition({ server, pin }: WaitingPin): WaitingDefinition {
  // What a server writes cannot look like our marks, because nobody can guess them.
  const mark = randomId();
  const style = {
    // Without the brackets of a terminal.
    removed: (text: string) => `${mark}-${text.slice(2, -2)}${mark}=`,
    added: (text: string) => `${mark}+${text.slice(2, -2)}${mark}=`,
  };
  const before = replacedForm(pin)?.value;
  const lines = waitingForms(pin).flatMap(({ value }) =>
    value ? diffLines(before, value, style) : ['it is too long to be shown'],
  );
  const { area, name } = pin;
  const parts = lines.map((line) => toParts(line.slice(0, MAX_TEXT), mark));
  return { server, area, name, state: stateOf(pin), digests: digestsOf(pin), lines: parts };
}

const KINDS: Readonly<Record<string, DiffPart['kind']>> = { '-': 'removed', '+': 'added', '=': 'same' };

function toParts(line: string, mark: string): DiffPart[] {
  const [first = '', ...rest] = line.split(mark);
  const parts = rest.map((part) => ({ kind: KINDS[part[0] ?? '='] ?? 'same', text: visible(part.slice(1)) }) as const);
  return [{ kind: 'same' as const, text: visible(first) }, ...parts].filter(({ text }) => text !== '');
}
