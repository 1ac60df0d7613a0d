// What `parley serve` prints when its port is open: the common welcome and the list of servers.
import { basename } from 'node:path';
import { enabledServers } from '../../../config/config.ts';
import { displayPath } from '../../environment.ts';
import type { CommandConfig } from '../../trust/load-command-config.ts';
import type { OpenedPort } from '../../serving/open-port.ts';
import type { Printer } from '../../terminal/print.ts';
import { toTable } from '../../terminal/table.ts';
import { KEY } from '../../serving/welcome-lines.ts';
import type { WelcomeOptions } from '../../serving/welcome-lines.ts';

export interface ServeWelcome {
  found: CommandConfig;
  opened: OpenedPort;
  host: string;
  print: Printer;
  /** As typed. */
  share: string | undefined;
  open: boolean;
  token: string | undefined;
  asksKey: boolean;
}

export function toServeWelcome(welcome: ServeWelcome): WelcomeOptions {
  const { found, opened, host, print, share, open, token, asksKey } = welcome;
  const { config, path } = found;
  const { port, url } = opened;
  const names = enabledServers(config).map(([name]) => name);
  const named = toTable([...names, ...Object.keys(config.groups)].map((name) => [name, `…/mcp/${name}`]));
  const about = named.map((line, index) => {
    const label = index === 0 && names.length > 0 ? 'servers' : index === names.length ? 'groups' : '';
    return `${label.padEnd(8)}${line}`;
  });
  const title = `${names.length} server${names.length === 1 ? '' : 's'} of ${displayPath(path)}`;
  const scheme = url.startsWith('https:') ? 'https' : 'http';
  // Certificates rarely cover the address of this machine, so the client starts a gateway of its own.
  const own = ['serve', path, '--stdio', ...(share === undefined ? [] : ['--share', share])];
  const header = asksKey ? ['--header', `Authorization: Bearer ${KEY}`] : [];
  const program = (at: string) => ({ words: scheme === 'https' ? own : ['wrap', ...header, at] });
  const served = basename(path).startsWith('parley.') ? undefined : displayPath(path);
  return {
    host,
    open,
    token,
    asksKey,
    port,
    publicUrl: config.publicUrl,
    scheme,
    isChosen: true,
    print,
    title,
    name: 'parley',
    about,
    program,
    served,
  };
}
