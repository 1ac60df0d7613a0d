// The tools of all servers: what they cost the context of a model, how often they were called, and definitions that wait to be accepted. For the
// operator: what others may see, rules decide for each of them.
import { visible } from '../../../kernel/base/visible.ts';
import { randomId } from '../../../kernel/crypto/ids.ts';
import { settledWithin } from '../../../kernel/base/timing.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { tokensOfTool } from '../../../kernel/text/tool-cost.ts';
import { OBSERVER, lookAtTools } from '../../servers/gateway-status.ts';
import type { Member } from '../../router/member.ts';
import type { GatewayContext } from '../feature.ts';
import { listPinFiles, pinFolder, readPinFile, replacedForm, waitingForms } from '../pins/pin-record.ts';
import { listPinsInState, pinsInFile } from '../pins/pin-store.ts';
import { acceptShown, digestsOf, stateOf, waitingIn } from '../pins/waiting-pins.ts';
import type { WaitingPin } from '../pins/waiting-pins.ts';
import { diffLines } from '../pins/word-diff.ts';
import type { CallRing } from './calls/call-ring.ts';
import type { DiffPart, PinRow, ToolRow, ToolsView } from './views.ts';

interface ToolSources {
  readonly context: GatewayContext;
  readonly calls: CallRing;
  readonly stateFolder: string | undefined;
  /** As pins and paired browsers name this gateway. */
  readonly pairedAs: string;
}

const LOOK_MS = 5000;
const MAX_TEXT = 20_000;

export class Tools {
  readonly #from: ToolSources;

  constructor(from: ToolSources) {
    this.#from = from;
  }

  async view(): Promise<ToolsView> {
    const { members } = this.#from.context.gateway;
    const used = this.#from.calls.countByTool();
    const found = await Promise.all(members.map((member) => this.#toolsOf(member, used)));
    return { tools: found.flat(), pins: (await this.#waiting()).map(toPinRow) };
  }

  /** False if it is not as it was shown any more. */
  async accept({
    server,
    area,
    name,
    digests,
  }: Pick<PinRow, 'server' | 'area' | 'name' | 'digests'>): Promise<boolean> {
    const one = (await this.#waiting()).find((waiting) => {
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

  async #toolsOf({ name: server, target }: Member, used: ReadonlyMap<string, number>): Promise<ToolRow[]> {
    const giveUp = new AbortController();
    let rows: ToolRow[] = [];
    const looked = lookAtTools(target, giveUp.signal).then(async (tools) => {
      const held = target.heldBack?.('tools');
      const free = tools.filter(({ name }) => !held?.has(String(name)));
      const shown = await this.#from.context.gateway.shownTools({ server, tools: free }, OBSERVER);
      const costs = new Map(shown.map((tool) => [String(tool.name), tokensOfTool(tool)]));
      rows = tools.map((tool) => {
        const name = String(tool.name);
        const state = held?.has(name) ? 'held' : costs.has(name) ? 'shown' : 'hidden';
        return {
          ...toToolRow(server, tool),
          state,
          tokens: costs.get(name) ?? null,
          calls: used.get(`${server} ${name}`) ?? 0,
        };
      });
    });
    if (!(await settledWithin(looked, LOOK_MS))) giveUp.abort();
    return rows;
  }

  async #waiting(): Promise<WaitingPin[]> {
    const { context, stateFolder, pairedAs } = this.#from;
    if (context.state.isShared) return (await listPinsInState(context.state)).flatMap(waitingIn);
    if (stateFolder === undefined) return [];
    return listPinFiles(pinFolder(stateFolder)).flatMap((path) => {
      const record = readPinFile(path);
      return record?.gateway === pairedAs ? waitingIn({ record, store: pinsInFile(path) }) : [];
    });
  }
}

function toToolRow(server: string, { name, description, inputSchema, annotations }: JsonObject) {
  const hints = isObject(annotations) ? annotations : {};
  return {
    server,
    name: visible(String(name)),
    isReadOnly: hints.readOnlyHint === true,
    isDestructive: hints.destructiveHint === true,
    description: toText(typeof description === 'string' ? description : ''),
    schema: toText(JSON.stringify(inputSchema ?? {}, null, 2)),
  };
}

/** Lines stay lines. */
function toText(text: string): string {
  return text.slice(0, MAX_TEXT).split('\n').map(visible).join('\n');
}

function toPinRow({ server, pin }: WaitingPin): PinRow {
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
