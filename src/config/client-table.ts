// The table of clients, schema/clients.json: where each one keeps its servers, and how it writes them. It is data, so that others can use it,
// too.
import { readFileSync } from 'node:fs';

export interface ClientFile {
  /** `~` is the home folder, `${NAME:-default}` a variable, `*` any name of a folder. */
  path: string;
  /** Where it is documented. */
  source: string;
  /** Not read in the source or the documentation of the client itself. */
  unverified?: boolean;
}

export type ClientPlatform = 'linux' | 'darwin' | 'win32';

export interface ClientSpec {
  id: string;
  name: string;
  format: 'json' | 'yaml' | 'toml';
  /** Where the servers stand in the file. */
  key: string[];
  /** The servers are a list, each with its name. */
  container?: 'list';
  /** What the client fills in. */
  variables: 'braces' | 'dollar' | 'opencode' | 'continue' | 'none';
  /** Where the names of the servers stand that it starts; without such a list, it starts all. */
  allowList?: string[];
  /** Why its file is never written. */
  readOnly?: string;
  /** A server that is a command: `$command`, `$args` and `$line` stand for it. */
  entry: { value: Record<string, unknown>; source: string };
  project?: ClientFile[];
  /** Of several, the first that is there is read. */
  files: Record<ClientPlatform, ClientFile[]>;
}

let known: readonly ClientSpec[] | undefined;

export function clientTable(): readonly ClientSpec[] {
  const file = new URL('../../schema/clients.json', import.meta.url);
  return (known ??= (JSON.parse(readFileSync(file, 'utf8')) as { clients: ClientSpec[] }).clients);
}
