// What was typed after a command, checked and put into its type. A Mistake says what is wrong and what to do.
import { isObject } from '../protocol/message.ts';
import { ALL_REVISIONS } from '../gateway/dialect/revisions.ts';
import type { Command, Listing, LogLevel, Reach, Runnable, Shell } from './command.ts';
import { DEFAULT_HOST, LISTINGS, LOG_LEVELS, SHELLS } from './command-specs.ts';

export interface Given {
  values: { [option: string]: string | boolean | (string | boolean)[] | undefined };
  words: string[];
}

export class Mistake extends Error {}

export function toCommand(name: string, given: Given): Command {
  return READERS[name as Runnable['name']](given);
}

const READERS: Record<Runnable['name'], (given: Given) => Runnable> = {
  wrap: toWrap,
  serve: toServe,
  check: ({ values, words }) => ({
    name: 'check',
    config: only(words, 'check'),
    print: values['print'] === true,
    json: values['json'] === true,
  }),
  ls: toLs,
  call: toCall,
  run: toRun,
  status: ({ values, words }) => {
    none(words, 'status');
    return { name: 'status', url: toUrl(values['url']), json: values['json'] === true };
  },
  demo: toDemo,
  completion: ({ words }) => {
    const shell = only(words, 'completion');
    if (!SHELLS.includes(shell as Shell)) throw new Mistake(`Name your shell: ${SHELLS.join(', ')}.`);
    return { name: 'completion', shell: shell as Shell };
  },
};

function toWrap({ values, words }: Given): Runnable {
  const [first, ...args] = words;
  if (first === undefined) throw new Mistake('Give the command to wrap after "--", or a URL.');
  const headers = toPairs(values['header'], ':', '--header "Name: value"');
  const env = toPairs(values['env'], '=', '--env NAME=value');
  const isUrl = /^(https?|wss?):\/\//i.test(first);
  if (isUrl && args.length > 0) throw new Mistake(`A URL is all there is to wrap, but "${args.join(' ')}" was given.`);
  if (isUrl && env.length > 0) throw new Mistake('--env is for a command; for a URL use --header.');
  if (!isUrl && headers.length > 0) throw new Mistake('--header is for a URL; for a command use --env.');
  return {
    name: 'wrap',
    server: isUrl
      ? { url: toUrl(first)!, headers: Object.fromEntries(headers) }
      : { command: first, args, env: Object.fromEntries(env) },
    revision: oneOf(values['revision'], ALL_REVISIONS, '--revision'),
    port: toPort(values['port']),
    host: toHost(values['host']) ?? DEFAULT_HOST,
    startMs: toSeconds(values['start-timeout'] ?? '50') * 1000,
    log: toLevel(values['log']),
  };
}

function toServe({ values, words }: Given): Runnable {
  const port = toPort(values['port']);
  const host = toHost(values['host']);
  const stdio = values['stdio'] === true;
  if (stdio && host !== undefined && port === undefined) throw new Mistake('--stdio with --host needs a --port, too.');
  return { name: 'serve', config: only(words, 'serve'), port, host, stdio, log: toLevel(values['log']) };
}

function toDemo({ values, words }: Given): Runnable {
  none(words, 'demo');
  const stdio = values['stdio'] === true;
  if (stdio && (values['port'] !== undefined || values['host'] !== undefined)) {
    throw new Mistake('--stdio listens on no port: leave out --port and --host, or leave out --stdio.');
  }
  const host = toHost(values['host']) ?? DEFAULT_HOST;
  return { name: 'demo', port: toPort(values['port']), host, stdio, log: toLevel(values['log']) };
}

function toLs({ values, words }: Given): Runnable {
  const isListing = (word: string): boolean => LISTINGS.includes(word as Listing);
  const [what, ...more] = words.filter(isListing);
  if (more.length > 0) throw new Mistake(`Ask for one of ${LISTINGS.join(', ')}, or for none to see all.`);
  const config = only(
    words.filter((word) => !isListing(word)),
    'ls',
  );
  if (config !== undefined && values['url'] !== undefined)
    throw new Mistake('Give a configuration or --url, not both.');
  return { name: 'ls', what: what as Listing | undefined, json: values['json'] === true, ...toReach(values), config };
}

function toCall({ values, words }: Given): Runnable {
  const [tool, body, ...rest] = words;
  if (tool === undefined) throw new Mistake('Name the tool to call. "parley ls tools" shows them.');
  if (rest.length > 0) throw new Mistake(`"call" takes a tool and one JSON object; "${rest.join(' ')}" is too much.`);
  if (values['url'] !== undefined && values['config'] !== undefined)
    throw new Mistake('Give --config or --url, not both.');
  return {
    name: 'call',
    tool,
    args: toPairs(values['arg'], '=', '--arg name=value'),
    body: toBody(body),
    yes: values['yes'] === true,
    json: values['json'] === true,
    ...toReach(values),
  };
}

function toRun({ values, words }: Given): Runnable {
  const file = only(words, 'run');
  if (file === undefined) throw new Mistake('Name the file of the flow.');
  return {
    ...{
      name: 'run',
      file,
      flow: values['flow'] as string | undefined,
      answers: values['answers'] as string | undefined,
    },
    args: toPairs(values['arg'], '=', '--arg name=value'),
    json: values['json'] === true,
  };
}

function toReach(values: Given['values']): Reach {
  const headers = Object.fromEntries(toPairs(values['header'], ':', '--header "Name: value"'));
  const url = toUrl(values['url']);
  if (url === undefined && values['header'] !== undefined) throw new Mistake('--header goes with --url.');
  return { url, headers, config: values['config'] as string | undefined, log: toLevel(values['log']) };
}

function toBody(text: string | undefined): Record<string, unknown> {
  if (text === undefined) return {};
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Mistake(`"${text}" is no JSON. Give one object, such as '{"city": "Oslo"}', or --arg city=Oslo.`);
  }
  if (!isObject(value)) throw new Mistake('The arguments of a tool are one JSON object, such as \'{"city": "Oslo"}\'.');
  return value;
}

function toPairs(given: Given['values'][string], sign: string, form: string): [string, string][] {
  return ((given ?? []) as string[]).map((text) => {
    const at = text.indexOf(sign);
    if (at < 1) throw new Mistake(`"${text}" has no name and value: write ${form}.`);
    const value = text.slice(at + 1);
    return sign === ':' ? [text.slice(0, at).trim(), value.trim()] : [text.slice(0, at), value];
  });
}

function toPort(given: Given['values'][string]): number | undefined {
  if (given === undefined) return undefined;
  const text = String(given);
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new Mistake(`--port must be a number from 0 to 65535, not "${text}".`);
}

function toHost(given: Given['values'][string]): string | undefined {
  if (given === '') throw new Mistake('--host must be an address or a host name, such as 127.0.0.1.');
  return given as string | undefined;
}

function toSeconds(given: Given['values'][string]): number {
  const seconds = Number(given);
  if (seconds > 0 && seconds <= 3600) return seconds;
  throw new Mistake(`--start-timeout must be a number of seconds up to 3600, not "${String(given)}".`);
}

function toUrl(given: Given['values'][string]): string | undefined {
  if (given === undefined) return undefined;
  const text = String(given);
  if (URL.canParse(text) && /^(https?|wss?):$/.test(new URL(text).protocol)) return text;
  throw new Mistake(`"${text}" is no URL: write http://…, https://…, ws://… or wss://….`);
}

function toLevel(given: Given['values'][string]): LogLevel | undefined {
  return oneOf(given, LOG_LEVELS, '--log') as LogLevel | undefined;
}

function oneOf(given: Given['values'][string], choices: readonly string[], option: string): string | undefined {
  if (given === undefined || choices.includes(String(given))) return given as string | undefined;
  throw new Mistake(`${option} must be one of ${choices.join(', ')}, not "${String(given)}".`);
}

function only([first, ...rest]: string[], command: string): string | undefined {
  if (rest.length > 0)
    throw new Mistake(`"${command}" takes one word at most, but "${rest.join(' ')}" was given, too.`);
  return first;
}

function none(words: string[], command: string): void {
  if (words.length > 0) throw new Mistake(`"${command}" takes no further words, but "${words.join(' ')}" was given.`);
}
