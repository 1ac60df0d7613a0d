// What a person sees before trusting a configuration: what it starts, where it connects, what it reads of the environment, whose code it runs.
// Nothing of it is run or looked up for this.
import { enabledServers } from '../../config/config.ts';
import type { ParleyConfig } from '../../config/config.ts';
import type { LoadedConfig } from '../../config/read/load-config.ts';
import { displayPath } from '../environment.ts';
import { fingerprintOf, readCommandSources, readStepSources } from './code-sources.ts';
import type { TrustedFile } from './judge-trust.ts';

export function describeTrust(loaded: LoadedConfig): string[] {
  const { config, texts, used, path } = loaded;
  if (!config) return [];
  const hide = (text: string): string => hideValues(text, used);
  const [commands, urls]: [string[], string[]] = [[], []];
  for (const [name, server] of enabledServers(config)) {
    if ('command' in server) commands.push(`${name}: ${hide([server.command, ...(server.args ?? [])].join(' '))}`);
    else urls.push(`${name}: ${hide(server.url)}`);
  }
  const variables = [...new Set([...used.values()].map((name) => name.replaceAll(/^\$\{|\}$/g, '')))];
  const envFiles = [...texts.keys()].filter((file) => file !== path).map(displayPath);
  const sources = [...readStepSources(loaded).keys()].map(displayPath);
  const scripts = [...readCommandSources(loaded).keys()].map(displayPath);
  return [
    ...part('starts', commands),
    ...part('with the code of', scripts),
    ...part('connects to', [...urls, ...addressesIn(config).map(hide)]),
    ...part('reads the variables', variables.length > 0 ? [variables.join(', ')] : []),
    ...part('reads the files', envFiles),
    ...part('runs the code of', sources),
    ...part(
      'asks clients for no token',
      config.listen.open === true ? ['everybody who reaches the port can call'] : [],
    ),
  ];
}

/** What is not as it was when it was trusted. */
export function describeChanges(loaded: LoadedConfig, shown: string[], before: TrustedFile | undefined): string[] {
  if (!before?.shown || !before.files) return [];
  const { files } = fingerprintOf(loaded);
  const names = [...new Set([...Object.keys(before.files), ...Object.keys(files)])].toSorted();
  const changed = names.filter((name) => before.files![name] !== files[name]);
  const how = (name: string): string =>
    before.files![name] === undefined ? 'new' : files[name] === undefined ? 'gone' : 'changed';
  return [
    ...part(
      `files since ${before.trusted.slice(0, 10)}`,
      changed.map((name) => `${how(name)}: ${displayPath(name)}`),
    ),
    ...part(
      'no longer',
      before.shown.filter((line) => !shown.includes(line)).map((line) => `- ${line.trim()}`),
    ),
    ...part(
      'new',
      shown.filter((line) => !before.shown!.includes(line)).map((line) => `+ ${line.trim()}`),
    ),
  ];
}

/** Every address that is not one of a server: issuers, logins, models, stores. */
function addressesIn({
  servers,
  publicUrl: _,
  listen: __,
  roots: ___,
  rules: ____,
  ...config
}: ParleyConfig): string[] {
  const logins = Object.entries(servers).map(([name, server]) => [name, 'auth' in server ? server.auth : undefined]);
  const found = urlsIn({ ...config, ...Object.fromEntries(logins) }, []);
  return [...new Set(found.map(([place, url]) => `${place}: ${url.replace(/\/\/[^@/]*@/, '//…@')}`))];
}

function urlsIn(value: unknown, path: readonly string[]): [place: string, url: string][] {
  if (typeof value === 'string') return /^(?:https?|wss?|rediss?):\/\//i.test(value) ? [[path.join('.'), value]] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => urlsIn(inner, Array.isArray(value) ? path : [...path, key]));
}

/** Values of variables may be secrets. */
function hideValues(text: string, used: ReadonlyMap<string, string>): string {
  const longest = [...used].filter(([value]) => value !== '').toSorted(([one], [other]) => other.length - one.length);
  return longest.reduce((shown, [value, name]) => shown.split(value).join(name), text);
}

function part(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [`  ${title}`, ...lines.map((line) => `    ${line}`)];
}
