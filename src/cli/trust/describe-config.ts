// What a person sees before trusting a configuration: what it starts, where it connects, what it reads of the environment, whose code it runs.
// Nothing of it is run or looked up for this.
import { enabledServers } from '../../config/config.ts';
import type { ParleyConfig } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/read/load-config.ts';
import { displayPath } from '../terminal/display-path.ts';
import { stepFilesOf } from './judge-trust.ts';
import { readStepSources } from './step-sources.ts';

export function describeTrust(loaded: LoadedConfig): string[] {
  const { config, texts, used, path } = loaded;
  if (!config) return [];
  const hide = (text: string): string => hideValues(text, used);
  const servers = enabledServers(config).map(([name, server]) =>
    'command' in server
      ? `${name}: ${hide([server.command, ...(server.args ?? [])].join(' '))}`
      : `${name}: ${hide(server.url)}`,
  );
  const commands = servers.filter((_, index) => 'command' in enabledServers(config)[index]![1]);
  const variables = [...new Set([...used.values()].map((name) => name.replaceAll(/^\$\{|\}$/g, '')))];
  const envFiles = [...texts.keys()].filter((file) => file !== path).map(displayPath);
  const sources = [...readStepSources(stepFilesOf(loaded)).keys()].map(displayPath);
  return [
    ...part('starts', commands),
    ...part('connects to', [...servers.filter((one) => !commands.includes(one)), ...hostsOf(config).map(hide)]),
    ...part('reads the variables', variables.length > 0 ? [variables.join(', ')] : []),
    ...part('reads the files', envFiles),
    ...part('runs the code of', sources),
    ...part(
      'asks clients for no token',
      config.listen.open === true ? ['everybody who reaches the port can call'] : [],
    ),
  ];
}

function hostsOf({ auth, flows }: ParleyConfig): string[] {
  const issuers = (auth?.issuers ?? []).map((one) => (typeof one === 'string' ? one : one.issuer));
  const store = flows?.store;
  return [
    ...issuers,
    ...(store !== undefined && /^rediss?:/.test(store) ? [store.replace(/\/\/[^@/]*@/, '//…@')] : []),
  ];
}

/** Values of variables may be secrets. */
function hideValues(text: string, used: ReadonlyMap<string, string>): string {
  const longest = [...used].filter(([value]) => value !== '').toSorted(([one], [other]) => other.length - one.length);
  return longest.reduce((shown, [value, name]) => shown.split(value).join(name), text);
}

function part(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [`  ${title}`, ...lines.map((line) => `    ${line}`)];
}
