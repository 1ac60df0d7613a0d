// What may be a secret in a configuration, by its name or its look. It errs on the side of too much, since a value is only hidden from view.
import { isMixed, secrets } from './secrets.ts';

const SECRET_NAME =
  /auth|cookie|token|secret|passw|credential|(?:api|access|private|subscription)[-_]?key|^-*key$|session/i;
const SECRET_VALUE =
  /^(?:sk|pk|rk)-|^gh[opsu]_|^github_pat_|^xox[abp]-|^glpat-|^AKIA|^eyJ|^(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[\w+=][\w+=-]{23,}$/;
/** More names of variables and headers. An option may be called `--sort-key`. */
const SECRET_VARIABLE = /pass|pwd|creds|pin$|key$/i;
/** Values that say nothing about anybody. */
const PLAIN = /^(?:true|false|null|none|\d{1,3})$/i;
/** Short names of versions, encodings and machines. */
const KNOWN =
  /^(?:utf-?(?:8|16)(?:le|be)?|latin1|ipv[46]|node-?\d+|python\d?|es\d+|sha-?\d+|h26[45]|x86_64|x64|arm64|amd64|http2|v?\d[\w.-]*|[a-z]{2}-[a-z]{2,4}-?\d|gpt-\w+)$/i;
/** Paths, numbers and single words, of variables whose names do not suggest a secret. */
const HARMLESS = /^(?:~|\.{0,2}[/\\]|[A-Za-z]:[/\\])|^[\d.,:]+$|^[A-Za-z]{1,12}$/;

/** Whether a header, variable or option may be secret, by its name or its value. */
export function isSecret(name: string, value: string): boolean {
  return SECRET_NAME.test(name) || SECRET_VALUE.test(value);
}

/** How to write a text that may be shown, and one that may be secret. */
export interface Disguise {
  show: (text: string) => string;
  hide: (text: string) => string;
}

/** `--token x`, `--token=x`, `-e TOKEN=x`, `--header "Authorization: x"`, or text that looks like a secret. */
export function disguiseArgument(argument: string, before: string | undefined, { show, hide }: Disguise): string {
  if (before !== undefined && before.startsWith('-') && !/[=\s]/.test(before) && SECRET_NAME.test(before)) {
    return argument.startsWith('-') ? show(argument) : hide(argument);
  }
  const [, name, between, value] = /^([\w-]+)(=|:\s*)(?!\/\/)([\s\S]+)$/.exec(argument) ?? [];
  if (name !== undefined && (SECRET_NAME.test(name) || SECRET_VALUE.test(value!))) {
    return `${name}${between}${hide(value!)}`;
  }
  if (/^\w+:\/\//.test(argument)) return disguiseUrl(argument, { show, hide });
  return SECRET_VALUE.test(argument) ? hide(argument) : show(argument);
}

/** Hides the user and password, secret parameters, and path segments that look like keys. */
export function disguiseUrl(url: string, { show, hide }: Disguise): string {
  const [head = '', query] = show(url).split(/\?(.*)/s);
  const [, scheme = '', login, host = '', path = ''] = /^(\w+:\/\/)?(?:([^/@]*)@)?([^/]*)(.*)$/s.exec(head)!;
  const parts = path.split('/').map((part) => (SECRET_VALUE.test(part) || isRandom(part) ? hide(part) : part));
  const shown = `${scheme}${login === undefined ? '' : `${hide(login)}@`}${host}${parts.join('/')}`;
  if (query === undefined) return shown;
  const parameters = query.split('&').map((parameter) => {
    const [name = '', value] = parameter.split(/=(.*)/s);
    if (value === undefined || !(isSecret(name, value) || isRandom(value))) return parameter;
    return `${name}=${hide(value)}`;
  });
  return `${shown}?${parameters.join('&')}`;
}

/** Letters and digits mixed, and not as in `server-v2` or `a.example.com:8080`. Hosted servers have keys in their paths. */
function isRandom(text: string): boolean {
  if (text.length < LONG || !/^[\w~.%-]+$/.test(text) || !/\d/.test(text) || !/[A-Za-z]/.test(text)) return false;
  return !/^(?:[A-Za-z]+[-_.])*[A-Za-z]+[-_.]?(?:v?\d{1,4}(?:\.\d+)*)?$/.test(text);
}

const LONG = 8;

/** Registers the value of a variable, header or setting, so that Parley's own messages mask it; unless it cannot be a secret. */
export function registerSecret(name: string, value: string): void {
  const bare = value.trim().replace(/^(?:Bearer|Basic|Token) +/i, '');
  if (/^\w+:\/\//.test(bare)) return registerUrlSecrets(bare);
  if (!isPlain(name, bare)) for (const line of bare.split(/\r?\n/)) secrets.add(line.trim());
}

/** The same for the secret parts of a URL. */
export function registerUrlSecrets(url: string): void {
  disguiseUrl(url, { show: same, hide: registerPart });
}

export function registerArgumentSecrets(args: readonly string[]): void {
  args.forEach((argument, index) => disguiseArgument(argument, args[index - 1], { show: same, hide: registerPart }));
}

function isPlain(name: string, value: string): boolean {
  if (PLAIN.test(value)) return true;
  if (SECRET_NAME.test(name) || SECRET_VARIABLE.test(name) || SECRET_VALUE.test(value)) return false;
  if (HARMLESS.test(value)) return true;
  return value.length < LONG && (value.length < LONG - 1 || !isMixed(value) || KNOWN.test(value));
}

/** Parts of a URL may be encoded, and a login is `user:password`. */
function registerPart(text: string): string {
  const bare = text.replace(/^(?:Bearer|Basic|Token) +/i, '');
  for (const value of [bare, bare.slice(bare.indexOf(':') + 1)]) {
    if (PLAIN.test(value)) continue;
    secrets.add(value);
    secrets.add(decoded(value));
  }
  return text;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // it is not encoded
  }
}

function same(text: string): string {
  return text;
}
