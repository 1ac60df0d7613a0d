// Whether a rule lets clients have a resource. It judges the server and the server's own URI of what would be read, in every form that a
// server might take for the same. A pattern may name it as its server does, with the server in front (`server__uri`), or by its public URI.
import type { Origin } from '../../../../protocol/step.ts';
import { writeServerUri } from '../../../../protocol/server-uri.ts';
import type { Rule } from './filter.ts';
import { toMatcher } from './glob.ts';
import { qualifiedName } from './name-rule.ts';
import { decodeUri, lowerHost, uriForms, withoutQuery } from './uri-forms.ts';

/** `origin`: where it would be read; undefined while that is not known. */
export type UriRule = (uri: string, origin?: Origin) => boolean;

/** Undefined where there is nothing to check. */
export function toUriRule(rules: readonly Rule[]): UriRule | undefined {
  const denied = rules.flatMap(({ deny = [] }) => deny);
  const permissions = rules.flatMap(({ allow }) => (allow ? [toUriPermission(allow)] : []));
  if (denied.length === 0 && permissions.length === 0) return undefined;
  const isDenied = toMatcher(spellings(denied));
  return (uri, origin) => {
    const forms = uriForms(origin?.name ?? uri);
    if (!forms) return false;
    const { same, cut, loose } = forms;
    if ([...same, ...cut, ...loose].some((form) => namesOf(form, origin).some(isDenied))) return false;
    return permissions.every((permits) => permits(forms, origin));
  };
}

function toUriPermission(patterns: readonly string[]) {
  const fits = toMatcher(spellings(patterns));
  // A pattern with a query is about the resource without it, too.
  const fitsCut = toMatcher(spellings(patterns.flatMap((one) => [one, withoutQuery(one)])));
  return ({ same, cut }: { same: string[]; cut: string[] }, origin: Origin | undefined): boolean => {
    // A server cannot get what another was given by calling its resources like those of the other.
    const names = (form: string) => namesOf(form, origin).slice(origin?.isPosing ? 1 : 0);
    return same.every((form) => names(form).some(fits)) && cut.every((form) => names(form).some(fitsCut));
  };
}

function namesOf(form: string, origin: Origin | undefined): string[] {
  if (!origin) return [form];
  const { server } = origin;
  return [form, qualifiedName({ server, name: form }), writeServerUri({ server, uri: form })];
}

/** Rules are written like URIs, and so with or without escapes. */
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

/** An escaped star or question mark stays one: it stands for itself. */
function decodePattern(pattern: string): string {
  const kept = pattern.replaceAll(/%(2a|3f)/gi, '%25$1');
  return decodeUri(kept) ?? pattern;
}
