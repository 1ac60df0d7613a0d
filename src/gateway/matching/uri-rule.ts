// Checks whether a rule allows a resource. It judges the server and the server's own URI, in every form that a server might treat
// as the same. A pattern may match the server's URI, `server__uri`, or the public URI.
import type { Origin } from '../../kernel/step.ts';
import { BoundedMap } from '../../kernel/containers/bounded-map.ts';
import { writeServerUri, behindServerUri } from '../../kernel/server-uri.ts';
import type { Rule } from './name-rule.ts';
import { toMatcher, qualifiedName } from './name-rule.ts';

/** `origin`: the server and its URI; undefined while unknown. */
export type UriRule = (uri: string, origin?: Origin) => boolean;

/**
 * All forms of a URI that a server may treat as the same: `file:///data/../etc`, `file:///%65tc`, `file:////etc`. A rule on URIs has to hold for all
 * of them.
 */
export interface UriForms {
  /** The URI and its equivalents. A rule that permits has to permit each of them. */
  same: string[];
  /** The forms without query and fragment, if there are any. */
  cut: string[];
  /** Forms that a careless server may read instead. Only rules that forbid use them. */
  loose: string[];
}

/** Compares all forms of a URI with patterns. */
export type UriPattern = (forms: UriForms, origin: Origin | undefined) => boolean;

/** Undefined if there are no rules. */
export function toUriRule(rules: readonly Rule[]): UriRule | undefined {
  const denied = rules.flatMap(({ deny = [] }) => deny);
  const permissions = rules.flatMap(({ allow }) => (allow ? [toUriPermission(allow)] : []));
  if (denied.length === 0 && permissions.length === 0) return undefined;
  const isDenied = toUriRestriction(denied);
  return (uri, origin) => {
    const forms = uriForms(origin?.name ?? uri);
    if (!forms || isDenied(forms, origin)) return false;
    return permissions.every((permits) => permits(forms, origin));
  };
}

/** For rules that forbid or restrict: any form may match, and a file in any case. */
export function toUriRestriction(patterns: readonly string[]): UriPattern {
  const written = spellings(patterns);
  const fits = toMatcher(written);
  const fitsAnyCase = toMatcher(written.map(ignoreCase));
  return ({ same, cut, loose }, origin) =>
    [...same, ...cut, ...loose].some((form) =>
      namesOf(form, origin).some((name) => fits(name) || (isFile(form) && fitsAnyCase(ignoreCase(name)))),
    );
}

/** For rules that permit: every form has to match. */
export function toUriPermission(patterns: readonly string[]): UriPattern {
  const fits = toMatcher(spellings(patterns));
  // A pattern with a query also matches the resource without it.
  const fitsCut = toMatcher(spellings(patterns.flatMap((one) => [one, withoutQuery(one)])));
  return ({ same, cut }, origin) => {
    // A server cannot gain the permission of another server by imitating its URIs.
    const names = (form: string) => namesOf(form, origin).slice(origin?.isPosing ? 1 : 0);
    return same.every((form) => names(form).some(fits)) && cut.every((form) => names(form).some(fitsCut));
  };
}

function namesOf(form: string, origin: Origin | undefined): string[] {
  if (!origin) return [form];
  const { server } = origin;
  return [form, qualifiedName({ server, name: form }), writeServerUri({ server, uri: form })];
}

/** Patterns may be written with or without escapes, like URIs. */
function spellings(patterns: readonly string[]): string[] {
  const written = patterns.flatMap((pattern) => {
    const plain = decodePattern(pattern);
    return [pattern, plain, encoded(plain), plain.replaceAll('\\', '/')];
  });
  return [...new Set(written.flatMap((one) => [one, lowerHost(one), one.normalize('NFC'), withoutUsualPort(one)]))];
}

function encoded(pattern: string): string {
  const whole = pattern.replaceAll(/\p{Surrogate}/gu, '\uFFFD');
  return encodeURI(whole).replaceAll(/%25(?=[\da-f]{2})/gi, '%');
}

/** An escaped star or question mark stays literal. */
function decodePattern(pattern: string): string {
  const kept = pattern.replaceAll(/%(2a|3f)/gi, '%25$1');
  return decodeUri(kept) ?? pattern;
}

/** Scheme, authority, and the rest. */
const PARTS = /^([a-z][a-z0-9+.-]*:)(\/\/[^/?#]*)?(.*)$/is;
/** A URI with a single form: no dots, empty segments, escapes, query or capital host. */
const PLAIN = /^[a-z][a-z0-9+.-]*:\/\/(?:[a-z0-9][a-z0-9-]*)?(?:\/[\w~-][\w.~-]*)*$/;
const TRIPLETS = /(?:%[\da-f]{2})+/gi;
const STRAY_PERCENT = /%(?![\da-f]{2})/i;
/** URL parsers drop these anywhere. */
const DROPPED = /[\t\n\r]/g;
/** NUL and lone surrogates: servers may read them in any way. */
const UNCLEAR = /\0|\p{Surrogate}/u;
/** More than any harmless URI needs: forms, and their characters in all, since each of them costs time. */
const MAX_FORMS = 96;
const MAX_FORM_CHARS = 32_768;
/** Limits URIs that are not plain, because each form costs time. */
const MAX_LENGTH = 2048;

/** The same URI is judged several times on its way. */
const known = new BoundedMap<string, { forms: UriForms | undefined }>(100);

/** Undefined if the meaning is unclear: invalid escapes, endless layers of them, or too many ways to read it. */
export function uriForms(uri: string): UriForms | undefined {
  return uri.length > MAX_LENGTH ? toForms(uri) : known.getOrCreate(uri, () => ({ forms: toForms(uri) })).forms;
}

function toForms(uri: string): UriForms | undefined {
  if (PLAIN.test(uri) && withoutFileHost(uri) === uri) {
    return { same: [uri], cut: [], loose: withAnyCase([otherHost(uri)], [uri]) };
  }
  if (uri.length > MAX_LENGTH || decodeUri(uri) === undefined) return undefined;
  const same = closure([uri], STEPS);
  if (!same || same.some((form) => UNCLEAR.test(form))) return undefined;
  const cut = closure(same.map(withoutQuery), STEPS);
  const loose = cut && closure([...same, ...cut], [...STEPS, ...LOOSE_STEPS]);
  return loose && { same, cut: without(cut, same), loose: without(withAnyCase(loose, loose), [...same, ...cut]) };
}

function withoutQuery(uri: string): string {
  return uri.replace(/[?#].*$/s, '');
}

/** Many file systems treat capitals as the same: `file:///ETC` is `file:///etc`. */
function ignoreCase(name: string): string {
  return name.toUpperCase().toLowerCase();
}

function isFile(uri: string): boolean {
  return /^file:/i.test(uri);
}

function withAnyCase(loose: readonly string[], all: readonly string[]): string[] {
  return [...new Set([...loose, ...[...loose, ...all].filter(isFile).map(ignoreCase)])];
}

function without(forms: readonly string[], others: readonly string[]): string[] {
  return forms.filter((form) => !others.includes(form));
}

/** Decodes triplet by triplet; undefined for a stray percent sign or invalid UTF-8. */
function decodeUri(uri: string): string | undefined {
  if (STRAY_PERCENT.test(uri)) return undefined;
  try {
    return uri.replace(TRIPLETS, decodeURIComponent);
  } catch {
    return undefined;
  }
}

/** Scheme and host in lower case. */
function lowerHost(uri: string): string {
  return uri.replace(PARTS, (_, scheme: string, authority: string = '', rest: string) => {
    return scheme.toLowerCase() + authority.toLowerCase() + rest;
  });
}

const STEPS: readonly ((uri: string) => string | undefined)[] = [
  decodeUri,
  (uri) => uri.replace(DROPPED, '').trim(),
  (uri) => uri.normalize('NFC'),
  (uri) => uri.replaceAll('\\', '/'),
  parsed,
  (uri) => resolveDots(uri, false),
  (uri) => resolveDots(uri, true),
  resolveAll,
  (uri) => uri.replace(/^([a-z][a-z0-9+.-]*:)\/(?!\/)/i, '$1///'),
];

const LOOSE_STEPS: typeof STEPS = [
  lowerHost,
  withoutQuery,
  (uri) => uri.replace(/(?<=[^/:])\/+$/, ''),
  (uri) => uri.replace(/^([a-z][a-z0-9+.-]*:\/\/)[^/?#]*@/i, '$1'),
  otherHost,
  withoutFileHost,
  withoutPort,
  withoutLastDot,
  (uri) => uri.replace(/^([a-z][a-z0-9+.-]*:)(?=[^/])/i, '$1//'),
  behindServerUri,
];

/** All results of applying the steps in any order; undefined if there are too many. */
function closure(uris: readonly string[], steps: typeof STEPS): string[] | undefined {
  const forms = new Set(uris);
  let chars = 0;
  for (const form of forms) {
    chars += form.length;
    for (const step of steps) {
      const made = step(form);
      if (made !== undefined) forms.add(made);
    }
    if (forms.size > MAX_FORMS || chars > MAX_FORM_CHARS) return undefined;
  }
  return [...forms];
}

/** The form that a URL parser returns, without the escapes that it adds. */
function parsed(uri: string): string | undefined {
  return URL.canParse(uri) ? decodeUri(new URL(uri).href) : undefined;
}

/** `isWhole`: a server that does not know queries treats them as part of the path. */
function resolveDots(uri: string, isWhole: boolean): string {
  return uri.replace(PARTS, (_, scheme: string, authority: string = '', rest: string) => {
    const end = isWhole ? -1 : rest.search(/[?#]/);
    const path = end < 0 ? rest : rest.slice(0, end);
    return scheme + authority + resolvePath(path) + rest.slice(path.length);
  });
}

/** A server may treat the host as the first path segment, or the other way round. */
function otherHost(uri: string): string {
  return uri.replace(
    /^([a-z][a-z0-9+.-]*:\/\/)(\/*)/i,
    (_, scheme: string, path: string) => scheme + (path ? '' : '/'),
  );
}

/** Servers read the path of a file, whatever host is named. */
function withoutFileHost(uri: string): string {
  return uri.replace(/^(file:\/\/)[^/?#]+/i, '$1');
}

/** A rule about a host is meant for all of its ports, unless it names one. */
function withoutPort(uri: string): string {
  return uri.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#]*?):\d*(?=[/?#]|$)/i, '$1');
}

/** `host.` is `host`, written in full. */
function withoutLastDot(uri: string): string {
  return uri.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#]*?)\.+(?=(?::\d*)?(?:[/?#]|$))/i, '$1');
}

/** A URL parser leaves out the port that everybody expects. */
function withoutUsualPort(pattern: string): string {
  return pattern.replace(
    /^((?:http|ws):\/\/[^/?#]*):80(?=[/?#]|$)|^((?:https|wss):\/\/[^/?#]*):443(?=[/?#]|$)/i,
    '$1$2',
  );
}

/** A server may treat everything after `scheme://` as a path. */
function resolveAll(uri: string): string | undefined {
  const [, scheme, authority = '', rest] = PARTS.exec(uri) ?? [];
  return authority.length > 2 ? `${scheme}//${resolvePath(authority.slice(2) + rest)}` : undefined;
}

/** Removes dot segments and merges repeated slashes. */
function resolvePath(path: string): string {
  const segments: string[] = [];
  const all = path.split('/');
  for (const segment of all) {
    if (segment === '..') segments.pop();
    else if (segment !== '.' && segment !== '') segments.push(segment);
  }
  const isFolder = ['', '.', '..'].includes(all.at(-1)!) && segments.length > 0;
  return (path.startsWith('/') ? '/' : '') + segments.join('/') + (isFolder ? '/' : '');
}
