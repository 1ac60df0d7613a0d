// One change of a client's file: servers go, others come. The text is spliced, so that everything else keeps its bytes, and read again afterwards: if
// anything but the servers would mean something else, nothing is written.
import { isDeepStrictEqual } from 'node:util';
import { parseConfig } from '../../../config/read/parse-config.ts';
import { isObject } from '../../../kernel/message.ts';
import type { ClientEdit } from './splice.ts';
import { appendJson, spliceJson } from './splice-json.ts';
import { spliceToml } from './splice-toml.ts';
import { spliceYaml } from './splice-yaml.ts';

/** A file that cannot be changed safely. */
export class UneditableFile extends Error {}

const SPLICERS = { json: spliceJson, yaml: spliceYaml, toml: spliceToml };

/** The changed text. Throws an UneditableFile. */
export function editClientText(text: string, edit: ClientEdit): string {
  const before = readClientText(text, edit.format);
  const changed = spliced(text, edit);
  const wanted = expected(before, edit);
  if (!isDeepStrictEqual(readClientText(changed, edit.format), wanted))
    throw new UneditableFile('its servers are written in a form that cannot be changed without changing more');
  return changed;
}

function spliced(text: string, edit: ClientEdit): string {
  try {
    const changed = SPLICERS[edit.format](text, edit);
    const names = edit.format === 'json' ? namesToAllow(readClientText(text, 'json'), edit) : [];
    return names.reduce((before, name) => appendJson(before, edit.allowList!, name), changed);
  } catch (thrown) {
    throw new UneditableFile(`it cannot be changed: ${(thrown as Error).message}`);
  }
}

/** What the file says. Throws an UneditableFile with the place of the first error. */
export function readClientText(text: string, format: ClientEdit['format']): Record<string, unknown> {
  if (text.trim() === '') return {};
  const { value, problems } = parseConfig(text, `file.${format}`);
  const [error] = problems.list.filter(({ level }) => level === 'error');
  if (value === undefined || error)
    throw new UneditableFile(
      `it has an error${error?.line === undefined ? '' : ` in line ${error.line}`}: ${error?.message ?? 'it cannot be read'}`,
    );
  return value;
}

/** The object or list at the key; undefined if nothing is there. Throws if something else is there. */
export function serversAt(
  value: Record<string, unknown>,
  { key, isList }: Pick<ClientEdit, 'key' | 'isList'>,
): unknown {
  let at: unknown = value;
  for (const part of key) at = isObject(at) ? at[part] : undefined;
  if (at === undefined || at === null) return undefined;
  if (isList ? Array.isArray(at) : isObject(at)) return at;
  throw new UneditableFile(`"${key.join('.')}" is not ${isList ? 'a list' : 'an object'}`);
}

function expected(before: Record<string, unknown>, edit: ClientEdit): Record<string, unknown> {
  const servers = serversAt(before, edit);
  const changed = withAt(before, edit.key, edit.isList ? expectedList(servers, edit) : expectedMap(servers, edit));
  const names = namesToAllow(before, edit);
  return names.length === 0 ? changed : withAt(changed, edit.allowList!, [...allowedIn(before, edit)!, ...names]);
}

/** Names that the list of the file does not have yet. */
function namesToAllow(value: Record<string, unknown>, edit: ClientEdit): string[] {
  const allowed = allowedIn(value, edit);
  return allowed ? edit.add.map(([name]) => name).filter((name) => !allowed.includes(name)) : [];
}

function allowedIn(value: Record<string, unknown>, { allowList = [] }: ClientEdit): unknown[] | undefined {
  let at: unknown = allowList.length === 0 ? undefined : value;
  for (const part of allowList) at = isObject(at) ? at[part] : undefined;
  return Array.isArray(at) ? (at as unknown[]) : undefined;
}

function expectedMap(servers: unknown, { remove, add }: ClientEdit): unknown {
  const kept = Object.entries(servers ?? {}).filter(([name]) => !remove.includes(name));
  return Object.fromEntries([...kept, ...add]);
}

function expectedList(servers: unknown, { remove, add }: ClientEdit): unknown {
  const kept = ((servers ?? []) as unknown[]).filter((one) => !isObject(one) || !remove.includes(String(one['name'])));
  return [...add.map(([, value]) => value), ...kept];
}

function withAt(
  value: Record<string, unknown>,
  [first, ...rest]: readonly string[],
  inner: unknown,
): Record<string, unknown> {
  const at = value[first!];
  return { ...value, [first!]: rest.length === 0 ? inner : withAt(isObject(at) ? at : {}, rest, inner) };
}
