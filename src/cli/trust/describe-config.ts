// What a person sees before trusting a configuration: what it starts, with which variables, where it connects, what it reads, whose code it runs, and every
// setting that lets something in or loosens something (shown-keys.ts). Nothing of it is run or looked up for this. Only text that came from a variable is
// replaced by the reference; everything else stands there as it was written, each on a line of its own.
import { toPathId } from '../../config/check/config-problems.ts';
import { CONFIG } from '../../config/check/schema.ts';
import { listServers } from '../../config/check/named-server.ts';
import type { LoadedConfig } from '../../config/read/load-config.ts';
import { isPem } from '../../config/redact-config.ts';
import { isSecret } from '../../kernel/secrets/secret-shapes.ts';
import { MASKED } from '../../kernel/secrets/secrets.ts';
import { printableLine } from '../../kernel/base/visible.ts';
import { displayPath } from '../environment.ts';
import { fingerprintOf, readCommandSources, readStepSources } from './code-sources.ts';
import { loadsCode } from './command-words.ts';
import type { TrustedFile } from './judge-trust.ts';
import { QUIET_KEYS, leavesOf } from './shown-keys.ts';

export function describeTrust(loaded: LoadedConfig): string[] {
  const { config, texts, used, path, read } = loaded;
  if (!config || !read) return [];
  const leaves = shownLeaves(loaded);
  const isOf = (wanted: string) => (one: ShownLeaf) => one.group === wanted;
  const lines = (group: string): string[] => leaves.filter(isOf(group)).map(({ line }) => line);
  const variables = [...new Set([...used.values()].map((name) => name.replaceAll(/^\$\{|\}$/g, '')))];
  const named = variables.filter((name) => !name.startsWith('file:'));
  const readFiles = [...texts.keys()].filter((file) => file !== path).map(displayPath);
  const sources = [...readStepSources(loaded).keys()].map(displayPath);
  const scripts = [...readCommandSources(loaded).keys()].map(displayPath);
  return [
    ...part('starts', commandsOf(loaded)),
    ...part('with the variables', lines('variables')),
    ...part('with the code of', scripts),
    ...part('connects to', lines('addresses')),
    ...part('reads the variables', named.length > 0 ? [named.join(', ')] : []),
    ...part('reads the files', readFiles),
    ...part('runs the code of', sources),
    ...part('sets', lines('settings')),
    ...part(
      'asks clients for no token',
      config.listen.open === true ? ['everybody who reaches the port can call'] : [],
    ),
  ];
}

/** The command of each server, with the words of its arguments told apart as in a shell. */
function commandsOf({ read, shown }: LoadedConfig): string[] {
  return listServers(read!.input).flatMap(({ name, path, server: { command, args = [], disabled } }) => {
    if (command === undefined || disabled === true) return [];
    const at = (place: (string | number)[], text: string): string =>
      quoted(shown.get(toPathId([...path, ...place])) ?? text);
    const words = args.map((text, index) => at(['args', index], text));
    return [`${name}: ${[at(['command'], command), ...words].join(' ')}`];
  });
}

function quoted(word: string): string {
  const text = printableLine(word);
  return text !== '' && /^[\w@%+=:,./~${}\\-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

interface ShownLeaf {
  group: 'variables' | 'addresses' | 'settings';
  line: string;
}

const IN_COMMAND = new Set(['server.command', 'server.args']);
const URLS = /^(?!file:)[a-z][a-z\d+.-]*:\/\//i;

/** Every value of which a person should know, but for the commands. */
function shownLeaves({ read, shown }: LoadedConfig): ShownLeaf[] {
  const { input } = read!;
  const off = new Set(listServers(input).flatMap(({ path, server }) => (server.disabled ? [toPathId(path)] : [])));
  return leavesOf(input, CONFIG).flatMap(({ path, key, value }): ShownLeaf[] => {
    const isOff = key.startsWith('server') && off.has(toPathId(path.slice(0, 2)));
    if (isOff || IN_COMMAND.has(key) || QUIET_KEYS.has(key)) return [];
    const text = typeof value === 'string' ? (shown.get(toPathId([...path])) ?? value) : JSON.stringify(value);
    const place = (key.startsWith('server') ? path.slice(1) : path).filter((one) => typeof one === 'string');
    if (key === 'server.env.*')
      return [{ group: 'variables', line: `${place[0]}: ${place[2]}=${hiddenVariable(place[2]!, text)}` }];
    const isAddress = key !== 'publicUrl' && key !== 'server.auth.clientMetadataUrl' && URLS.test(text);
    const group = isAddress || /^server(?:\.url|\.serverUrl|\.httpUrl)?$/.test(key) ? 'addresses' : 'settings';
    const name = /^server\.(?:url|serverUrl|httpUrl)$/.test(key) ? place[0] : place.join('.');
    return [{ group, line: `${name}: ${hidden(key, text)}` }];
  });
}

/** A password that is written in the file itself. What a program takes for code is never hidden. */
function hiddenVariable(name: string, text: string): string {
  return isSecret(name, text) && !loadsCode(name) && !text.includes('${') ? MASKED : text;
}

const SECRETS =
  /(?:[sS]ecret|CLIENT_SECRET|\.idToken|\.assertion|fileKey|eaders\.\*|auth\.keys\.key|model\.key|flows\.keys|^keys)$/;

function hidden(key: string, text: string): string {
  if (isPem(text) || (SECRETS.test(key) && !text.includes('${'))) return MASKED;
  return URLS.test(text) ? text.replace(/\/\/[^@/]*@/, '//…@') : text;
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

/** What somebody else wrote must not begin a line of its own. */
function part(title: string, lines: string[]): string[] {
  return lines.length === 0 ? [] : [`  ${title}`, ...lines.map((line) => `    ${printableLine(line)}`)];
}
