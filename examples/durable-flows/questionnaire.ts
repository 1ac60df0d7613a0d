// A security questionnaire of some 200 questions. Each answer decides what is asked next: who has nothing in an area is asked for a plan, who
// has everything is asked for all of it. `scope` keeps an answer with what it is about. So a user who goes back and changes the level of one
// area is asked about that area again, and about no other.
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { flow } from 'mcp-parley/flow';
import type { Ask } from 'mcp-parley/flow';

const AREAS = {
  identity: ['accounts', 'passwords', 'second factors', 'service accounts', 'leavers'],
  devices: ['laptops', 'phones', 'disk encryption', 'lost devices', 'guest devices'],
  code: ['code review', 'dependencies', 'secrets in code', 'build servers', 'releases'],
  operations: ['backups', 'restores', 'monitoring', 'patches', 'capacity'],
  network: ['firewalls', 'remote access', 'certificates', 'name servers', 'office networks'],
  people: ['hiring', 'training', 'phishing', 'suppliers', 'incident drills'],
};

const LEVELS = [
  { value: 'none', label: 'Nothing yet' },
  { value: 'basic', label: 'Some of it' },
  { value: 'managed', label: 'All of it, in writing' },
] as const;

const CONTROLS = {
  owner: 'Does somebody own it?',
  written: 'Is it written down?',
  followed: 'Is it followed?',
  logged: 'Is it logged?',
  tested: 'Was it tested this year?',
  reviewed: 'Has an outsider looked at it?',
  improved: 'Was something improved since?',
};
type Control = keyof typeof CONTROLS;
const ALL = Object.keys(CONTROLS) as Control[];
const BASIC = ALL.slice(0, 3);

export const questionnaire = flow(
  {
    name: 'questionnaire',
    description: 'Assess how secure a supplier is',
    version: '1',
    long: true,
    timeout: '8h', // people do this beside their work
    limits: { prompts: 400, duration: '24h' },
  },
  async (ask) => {
    const supplier = await ask.text('supplier', { message: 'Which supplier?', pattern: /^[a-z][a-z0-9-]*$/, max: 40 });
    const topics = Object.entries(AREAS).flatMap(([area, subjects]) => subjects.map((subject) => ({ area, subject })));
    const scores: Record<string, number> = {};
    const gaps: { subject: string; plan: string | undefined }[] = [];
    for (const [index, { area, subject }] of topics.entries()) {
      ask.progress(index, topics.length, area);
      const about = ask.scope(toKey(subject));
      const level = await about.choice('level', LEVELS, { message: `How far is ${supplier} with ${subject}?` });
      if (level === 'none') {
        const message = `What is planned for ${subject}, and when?`;
        gaps.push({ subject, plan: await about.text('plan', { message, required: false, max: 500 }) });
      }
      const asked = { none: [], basic: BASIC, managed: ALL }[level];
      const held = await count(asked, (control) => has(about, control, subject));
      scores[area] = (scores[area] ?? 0) + (100 * held) / (ALL.length * AREAS[area as keyof typeof AREAS].length);
    }
    const rounded = Object.fromEntries(Object.entries(scores).map(([area, score]) => [area, Math.round(score)]));
    const weakest = Object.keys(rounded).reduce((one, other) => (rounded[other]! < rounded[one]! ? other : one));
    const summary = `${gaps.length} gaps, weakest in ${weakest} (${rounded[weakest]} of 100)`;
    if (!(await ask.confirm('file', { message: `File this about ${supplier}? ${summary}.` }))) return { filed: false };
    const report = await ask.step(
      'report',
      ({ idempotencyKey }) => write(nameOf(supplier, idempotencyKey), { supplier, scores: rounded, gaps }),
      {
        effect: 'once', // a report is never written twice: after a crash it is looked for
        check: ({ idempotencyKey }) => find(nameOf(supplier, idempotencyKey)),
        undo: (name) => rm(pathOf(name), { force: true }),
      },
    );
    return { filed: true, supplier, scores: rounded, gaps, weakest, report };
  },
);

function has(about: Ask, control: Control, subject: string): Promise<boolean> {
  const message = `${CONTROLS[control]} (${subject})`;
  return about.scope(control).confirm('has', { message });
}

async function count<T>(list: readonly T[], holds: (one: T) => Promise<boolean>): Promise<number> {
  let number = 0;
  for (const one of list) if (await holds(one)) number++;
  return number;
}

function toKey(subject: string): string {
  return subject.replaceAll(' ', '-');
}

function nameOf(supplier: string, key: string): string {
  return `${supplier}-${key}.json`;
}

function pathOf(name: string): string {
  return join(process.env['REPORTS'] ?? 'reports', name);
}

async function write(name: string, report: object): Promise<string> {
  await mkdir(pathOf('.'), { recursive: true });
  await writeFile(pathOf(name), JSON.stringify(report, undefined, 2), { flag: 'wx' }); // fails where it is there already
  return name;
}

/** A report that a crash has cut off is not one. */
async function find(name: string): Promise<string | undefined> {
  const found = await readFile(pathOf(name), 'utf8').catch(() => '');
  try {
    JSON.parse(found);
    return name;
  } catch {
    await rm(pathOf(name), { force: true });
    return undefined;
  }
}
