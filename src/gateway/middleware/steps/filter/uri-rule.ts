// Checks whether a rule allows a resource. It judges the server and the server's own URI, in every form that a server might treat
// as the same. A pattern may match the server's URI, `server__uri`, or the public URI.
import type { Origin } from '../../../../protocol/step.ts';
import { writeServerUri } from '../../../../protocol/server-uri.ts';
import type { Rule } from './filter.ts';
import { toMatcher } from './glob.ts';
import { qualifiedName } from './name-rule.ts';
import { decodeUri, ignoreCase, isFile, lowerHost, uriForms, withoutQuery } from './uri-forms.ts';
import type { UriForms } from './uri-forms.ts';

/** `origin`: the server and its URI; undefined while unknown. */
export type UriRule = (uri: string, origin?: Origin) => boolean;

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
  return [...new Set(written.flatMap((one) => [one, lowerHost(one), one.normalize('NFC')]))];
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
