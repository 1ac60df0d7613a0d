// Reads the language of a new session from `_meta` of the request, else from the Accept-Language header, which a gateway passes on.
import type { Exchange } from '../../kernel/exchange.ts';
import { LANGUAGES } from '../../kernel/interaction.ts';
import { isObject, toInvalid } from '../../kernel/message.ts';
import { languagesOf } from '../../kernel/base/http.ts';
import type { Catalogue } from '../question/question.ts';

const LOCALE = 'mcp-parley/locale';
/** RFC 5646 requires room for at least 35 characters. */
const MAX_LOCALE = 63;

/** `texts`: prefers a language of the header that the flow has texts for. */
export function localeOf(
  { params, client }: Pick<Exchange, 'params' | 'client'>,
  texts: Catalogue = {},
): string | undefined {
  const { [LOCALE]: said, [LANGUAGES]: behind } = isObject(params._meta) ? params._meta : {};
  const header = typeof behind === 'string' ? behind : client.connection?.headers?.['accept-language'];
  if (said === undefined) return fromHeader(header, texts);
  const locale = toLocale(said);
  if (locale !== undefined) return locale;
  throw toInvalid(
    `_meta["${LOCALE}"]`,
    `Must be a language tag (BCP 47) of at most ${MAX_LOCALE} characters, such as de-AT`,
  );
}

/** Browsers, proxies and programs send the header on their own, so errors in it are ignored. */
function fromHeader(header: string | string[] | undefined, texts: Catalogue): string | undefined {
  const wanted = languagesOf(header).flatMap((tag) => toLocale(tag) ?? []);
  return wanted.find((locale) => isSpoken(locale, texts)) ?? wanted[0];
}

function isSpoken(locale: string, texts: Catalogue): boolean {
  return Object.hasOwn(texts, locale) || Object.hasOwn(texts, locale.split('-')[0]!);
}

/** In the canonical form of BCP 47, as texts are looked up by it. */
function toLocale(tag: unknown): string | undefined {
  if (typeof tag !== 'string' || tag.length > MAX_LOCALE) return undefined;
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined; // not a language tag
  }
}
