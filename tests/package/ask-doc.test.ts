// docs/ask.md documents everything that `ask` has. The lists below are complete, or they would not compile; the page is
// compared with them.
import { describe, expect, it } from 'vitest';
import type { Ask } from 'mcp-parley/flow';
import type { FlowOptions, PersonAsk, RetryPolicy } from 'mcp-parley/flow';
import type { StepContext, StepOptions } from 'mcp-parley/flow';
import { read } from '../helpers/files.ts';
import { DEFAULT_FLOW_LIMITS } from '../../src/flow/session/context/flow-limits.ts';
import type {
  AskOptions,
  CountRules,
  DateRules,
  FileRules,
  NumberRules,
  TextRules,
  EventOptions,
  PersonOptions,
} from '../../src/flow/authoring/options.ts';
import type { FieldBuilders } from '../../src/flow/authoring/fields.ts';

const PAGE = read('docs/ask.md');

type NamesOf<T> = Record<keyof T, true>;

const QUESTIONS: NamesOf<PersonAsk> = {
  text: true,
  number: true,
  confirm: true,
  date: true,
  choice: true,
  choices: true,
  file: true,
  custom: true,
  form: true,
};
const MEMBERS: NamesOf<Ask> = {
  ...QUESTIONS,
  step: true,
  sleep: true,
  event: true,
  person: true,
  scope: true,
  progress: true,
  note: true,
  now: true,
  today: true,
  random: true,
  uuid: true,
  try: true,
  version: true,
  signal: true,
  locale: true,
  session: true,
  client: true,
};
const FIELDS: NamesOf<FieldBuilders> = {
  text: true,
  number: true,
  confirm: true,
  date: true,
  choice: true,
  choices: true,
};

const ASK: NamesOf<AskOptions<unknown>> = {
  message: true,
  label: true,
  help: true,
  placeholder: true,
  default: true,
  required: true,
  validate: true,
  by: true,
  alone: true,
  ahead: true,
  timeout: true,
  onTimeout: true,
  onCancel: true,
  deliver: true,
};
const TEXT: NamesOf<TextRules & { schema: unknown; secret: unknown }> = {
  min: true,
  max: true,
  pattern: true,
  format: true,
  schema: true,
  secret: true,
};
const NUMBER: NamesOf<NumberRules> = { min: true, max: true, integer: true };
const DATE: NamesOf<DateRules> = { min: true, max: true };
const COUNT: NamesOf<CountRules> = { min: true, max: true };
const FILE: NamesOf<FileRules> = { maxBytes: true, accept: true };
const STEP: NamesOf<StepOptions<unknown>> = {
  effect: true,
  check: true,
  undo: true,
  cleanup: true,
  timeout: true,
  retry: true,
  heartbeat: true,
  limit: true,
};
const RETRY: NamesOf<RetryPolicy> = { attempts: true, pause: true, maxPause: true, within: true, on: true };
const CONTEXT: NamesOf<StepContext> = {
  idempotencyKey: true,
  attempt: true,
  signal: true,
  progress: true,
  heartbeat: true,
  call: true,
  url: true,
  bytes: true,
  reveal: true,
};
const EVENT: NamesOf<EventOptions> = { timeout: true };
const PERSON: NamesOf<PersonOptions> = { remind: true, orCaller: true, handOver: true };
const FLOW: NamesOf<Required<FlowOptions>['limits']> = { prompts: true, duration: true, attempts: true };

describe('docs/ask.md', () => {
  it('docs/ask.md has a heading for exactly the members of ask', () => {
    const headings = [...PAGE.matchAll(/^### ask\.(\w+)$/gm)].map(([, name]) => name!);
    expect(headings.toSorted()).toEqual(Object.keys(MEMBERS).toSorted());
  });

  it.each<[string, object]>([
    ['ask.text', TEXT],
    ['ask.number', NUMBER],
    ['ask.confirm', {}],
    ['ask.date', DATE],
    ['ask.choice', {}],
    ['ask.choices', COUNT],
    ['ask.file', FILE],
    ['ask.custom', { schema: true }],
    ['ask.form', {}],
    ['Options of every question', ASK],
    ['ask.person', PERSON],
    ['Options of a step', STEP],
    ['Options of a retry', RETRY],
    ['What a step is given', CONTEXT],
    ['ask.event', EVENT],
  ])('has all options in the table of its part: %s', (heading, options) => {
    expect(rowsUnder(heading).flatMap(({ names }) => names)).toEqual(Object.keys(options));
  });

  it('names the questions of ask.person, the fields of a form, and the limits of a flow', () => {
    for (const name of Object.keys(QUESTIONS)) expect(partUnder('ask.person')).toContain(`\`${name}\``);
    for (const name of Object.keys(FIELDS)) expect(partUnder('ask.form')).toMatch(new RegExp(`\`f\\.${name}\\(`));
    for (const name of Object.keys(FLOW)) expect(PAGE).toContain(`| \`limits.${name}\` |`);
  });

  it('docs/ask.md has every limit with its default', () => {
    const rows = rowsUnder('Limits of all flows').map(({ names, cells }) => [names[0]!, cells[1]!]);
    expect(rows).toEqual(Object.entries(DEFAULT_FLOW_LIMITS).map(([name, value]) => [name, inWords(name, value)]));
  });

  it('links from the reader’s goals to parts that exist', () => {
    const anchors = [...PAGE.matchAll(/^#+ (.+)$/gm)].map(([, heading]) => toAnchor(heading!));
    const links = [...PAGE.matchAll(/\]\(#([\w-]+)\)/g)].map(([, anchor]) => anchor!);
    expect(links.length).toBeGreaterThan(20);
    expect(links.filter((link) => !anchors.includes(link))).toEqual([]);
  });
});

function partUnder(heading: string): string {
  const [, part] = PAGE.split(`\n### ${heading}\n`);
  expect(part, `there is no part ${heading}`).toBeDefined();
  return part!.split(/^##+ /m, 1)[0]!;
}

/** Rows whose first cell has names as code. */
function rowsUnder(heading: string): { names: string[]; cells: string[] }[] {
  const lines = partUnder(heading).matchAll(/^\| (`.*) \|$/gm);
  return [...lines].map(([, row]) => {
    const cells = row!.split(/ (?<!\\)\| /);
    return { cells, names: [...cells[0]!.matchAll(/`(\w+)`/g)].map(([, name]) => name!) };
  });
}

const SPANS: [string, number][] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];
const SIZES: [string, number][] = [
  ['MB', 1024 * 1024],
  ['KB', 1024],
];

/** A day is 24 h, an hour 60 min and a minute 60 s: the unit is one of which there are at least two, if any is. */
function inWords(name: string, value: number): string {
  const isSize = name.endsWith('Bytes');
  if (!isSize && !name.endsWith('Ms')) return String(value);
  const [unit, size] = (isSize ? SIZES : SPANS).find(([, one]) => value >= (isSize ? one : 2 * one))!;
  return `${value / size} ${unit}`;
}

function toAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');
}
