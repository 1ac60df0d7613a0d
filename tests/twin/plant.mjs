// Ten faults to plant into a copy of a build, each with the conversation that must find it. A fault is a few words of the built code that are replaced;
// if they are not there exactly once, the code has moved and planting fails.
//
//   node tests/twin/plant.mjs 'reason dropped' FOLDER     a copy of dist/ with that fault, to be looked at or played with --build
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ROOT, thisBuild } from './builds.mjs';

export const PLANTED = [
  {
    name: 'params dropped',
    only: '2025-11-25 stdio → 2025-11-25 http: 401 and a login at tools/call',
    edits: [['request = request.again();', 'request = request.again(); request.toParams = () => undefined;']],
  },
  {
    name: 'reason dropped',
    only: '2025-11-25 stdio → 2025-11-25 stdio: cancel while tools/call runs',
    edits: [
      [
        'return toNotification("notifications/cancelled", {\n\t\t\trequestId,\n\t\t\t...said',
        'return toNotification("notifications/cancelled", {\n\t\t\trequestId',
      ],
    ],
  },
  {
    name: 'repeat after cancel',
    only: '2025-11-25 stdio → 2025-11-25 http: 401 and a cancel while the login page is open',
    edits: [
      ['signal: first.call.signal,', 'signal: undefined,'],
      ['request = request.again();', 'request = request.again(); request.signal = undefined;'],
    ],
  },
  {
    name: 'wrong session id',
    only: '2025-11-25 http → 2025-11-25 http: 404 of the session at tools/call',
    edits: [
      [
        'session: opensSession ? void 0 : this.#session,',
        'session: opensSession ? void 0 : (this.first ??= this.#session),',
      ],
    ],
  },
  {
    name: 'number rounded',
    only: '2025-11-25 http → 2025-11-25 stdio: tools/call plain',
    edits: [
      [
        'const params = this.#withVia(request.toParams(id));',
        'const params = JSON.parse(JSON.stringify(this.#withVia(request.toParams(id)) ?? null)) ?? undefined;',
      ],
    ],
  },
  {
    name: 'list field copied',
    only: '2025-11-25 http → 2025-11-25 http: the joined tools/list of two servers',
    edits: [
      ['more: joinMembers(lists.map(({ more }) => more))', 'more: Object.assign({}, ...lists.map(({ more }) => more))'],
    ],
  },
  {
    name: 'era guessed',
    only: '2026-07-28 stdio → 2026-07-28 stdio: tools/call plain',
    edits: [['this.#of(opening ?? ANYBODY).prepare(', 'this.#of(ANYBODY).prepare(']],
  },
  {
    name: 'progress after the end',
    only: '2025-11-25 stdio → 2025-11-25 stdio: tools/call with progress',
    edits: [
      [
        'if (notification && !this.#ended && !this.aborted) this.outlet.send(notification);',
        'if (notification) setTimeout(() => this.outlet.send(notification), 20);',
      ],
    ],
  },
  {
    name: 'question twice',
    only: '2025-11-25 http → 2025-11-25 http: tools/call asking: elicit',
    edits: [
      [
        'pending.exchange.outlet.send(pending.question);',
        'for (let time = 0; time < 2; time++) pending.exchange.outlet.send(pending.question);',
      ],
    ],
  },
  {
    name: 'answer to another client',
    only: '2025-11-25 http → 2025-11-25 http: tools/call asking: elicit',
    edits: [
      [
        'this.#pending.answer(id, response.result)',
        'this.#pending.answer(id, (globalThis.planted ??= response.result))',
      ],
    ],
  },
];

/** A build like that in `dist`, with the fault. */
export function plant({ name, edits }, dist) {
  const folder = join(ROOT, 'node_modules', '.cache', 'parley-twin', `planted ${name}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  cpSync(dist, join(folder, 'dist'), { recursive: true });
  cpSync(join(ROOT, 'package.json'), join(folder, 'package.json'));
  cpSync(join(ROOT, 'schema'), join(folder, 'schema'), { recursive: true });
  for (const [find, replace] of edits) edit(join(folder, 'dist'), { name, find, replace });
  return { name: `"${name}"`, dist: join(folder, 'dist'), folder };
}

export function uproot({ folder }) {
  rmSync(folder, { recursive: true, force: true });
}

function edit(dist, { name, find, replace }) {
  const files = readdirSync(dist, { recursive: true })
    .filter((path) => path.endsWith('.js'))
    .map((path) => join(dist, path))
    .map((path) => ({ path, text: readFileSync(path, 'utf8') }));
  const found = files.flatMap(({ path, text }) => Array.from({ length: text.split(find).length - 1 }, () => path));
  if (found.length !== 1) {
    throw new Error(
      `planting "${name}": the code has moved; ${found.length} places have\n${find}\nPut the words of today into tests/twin/plant.mjs.`,
    );
  }
  const [path] = found;
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace(find, () => replace),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , name, to] = process.argv;
  const fault = PLANTED.find((one) => one.name === name);
  if (!fault || !to)
    throw new Error(`node plant.mjs NAME FOLDER, where NAME is one of: ${PLANTED.map((one) => one.name).join(', ')}`);
  const made = plant(fault, thisBuild().dist);
  cpSync(made.folder, to, { recursive: true });
  uproot(made);
}
