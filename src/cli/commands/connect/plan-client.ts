// What will become of one client's file: the servers that move, those that stay, and the new bytes. Nothing is written here.
import type { ClientSpec } from '../../../config/client-table.ts';
import type { ClientPlace } from '../../../config/read/client-places.ts';
import type { Environment } from '../../../config/read/find-config.ts';
import { isObject } from '../../../kernel/message.ts';
import type { JsonObject } from '../../../kernel/message.ts';
import { UneditableFile, editClientText, readClientText, serversAt } from './client-edit.ts';
import { toMovedServer } from './moved-server.ts';
import type { KeptServer, MovedServer } from './moved-server.ts';
import { readBytes } from './safe-file.ts';

export interface ClientPlan {
  place: ClientPlace;
  before: Buffer | undefined;
  text: string;
  /** The same as before if there is nothing to do. */
  changed: string;
  after: Buffer;
  moved: MovedServer[];
  kept: KeptServer[];
}

/** How the client starts Parley. */
export interface Launch {
  command: string;
  args: string[];
}

const BOM = '\uFEFF';

/** Throws an UneditableFile, or the error of the file system. */
export function planClient(place: ClientPlace, launch: Launch, environment: Environment): ClientPlan {
  const before = readBytes(place.path);
  const { text, hasMark } = decode(before);
  const { client } = place;
  const file = readClientText(text, client.format);
  const { moved, kept } = sort(place, file, environment);
  const changed = needsNothing(moved, kept)
    ? text
    : editClientText(text, {
        format: client.format,
        key: client.key,
        isList: client.container === 'list',
        allowList: client.allowList,
        remove: moved.map(({ name }) => name),
        add: kept.some(({ isParley }) => isParley) ? [] : [[freeName(kept), toEntry(client, launch)]],
      });
  const after = changed === text && before ? before : Buffer.from((hasMark ? BOM : '') + changed);
  return { place, before, text, changed, after, moved, kept };
}

function needsNothing(moved: MovedServer[], kept: KeptServer[]): boolean {
  return moved.length === 0 && kept.some(({ isParley }) => isParley);
}

/** Bytes that are not UTF-8 would not survive. */
function decode(bytes: Buffer | undefined): { text: string; hasMark: boolean } {
  const whole = bytes?.toString('utf8') ?? '';
  if (bytes && !Buffer.from(whole).equals(bytes)) throw new UneditableFile('it is not UTF-8');
  const hasMark = whole.startsWith(BOM);
  return { text: hasMark ? whole.slice(1) : whole, hasMark };
}

function sort(
  { client, path }: ClientPlace,
  file: Record<string, unknown>,
  environment: Environment,
): Pick<ClientPlan, 'moved' | 'kept'> {
  const isList = client.container === 'list';
  const servers = serversAt(file, { key: client.key, isList }) ?? (isList ? [] : {});
  const entries = isList ? namedEntries(servers as unknown[]) : Object.entries(servers);
  const all = entries.map(([name, entry]) => toMovedServer(name, entry, { client, path, environment, file }));
  return {
    moved: all.filter((one): one is MovedServer => 'server' in one),
    kept: all.filter((one): one is KeptServer => 'reason' in one),
  };
}

function namedEntries(list: unknown[]): [string, unknown][] {
  return list.map((one, index) => [
    isObject(one) && typeof one['name'] === 'string' ? one['name'] : `server ${index + 1}`,
    isObject(one) && typeof one['name'] === 'string' ? one : undefined,
  ]);
}

function freeName(kept: KeptServer[]): string {
  return kept.some(({ name }) => name === 'parley') ? 'parley-gateway' : 'parley';
}

/** As the client writes a command. */
function toEntry({ entry }: ClientSpec, { command, args }: Launch): JsonObject {
  const fill = (value: unknown): unknown => {
    if (value === '$command') return command;
    if (value === '$args') return args;
    if (value === '$line') return [command, ...args];
    return value;
  };
  return Object.fromEntries(Object.entries(entry.value).map(([key, value]) => [key, fill(value)]));
}
