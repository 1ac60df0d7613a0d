import { describe, expect, it } from 'vitest';
import type { Exchange } from '../../kernel/exchange.ts';
import { localeOf } from './locale-of.ts';

function calledWith({ locale, header }: { locale?: unknown; header?: string | string[] }): Exchange {
  const headers = { 'accept-language': header };
  const params = locale === undefined ? {} : { _meta: { 'mcp-parley/locale': locale } };
  return { params, client: { connection: { transport: 'http', headers } } } as unknown as Exchange;
}

describe('the locale of a call', () => {
  it('is what its _meta says, as BCP 47 spells it', () => {
    expect(localeOf(calledWith({ locale: 'de-at' }))).toBe('de-AT');
    expect(localeOf(calledWith({ locale: 'zh-hant-tw', header: 'fr' }))).toBe('zh-Hant-TW');
  });

  it.each([17, '', 'not a locale', 'de_AT', '*', `x-${'abc-'.repeat(20)}abc`, 'de\u0000'])(
    'is refused where _meta has none: %j',
    (locale) => {
      const parameter = '_meta["mcp-parley/locale"]';
      expect(() => localeOf(calledWith({ locale }))).toThrow(
        expect.objectContaining({ code: 'INVALID_PARAMS', details: expect.objectContaining({ parameter }) }),
      );
    },
  );

  it.each<[string | string[] | undefined, string | undefined]>([
    [undefined, undefined],
    ['*', undefined],
    ['de-at', 'de-AT'],
    ['en;q=0.5, fr-CH, de;q=0.9', 'fr-CH'],
    ['fr;q=0, de;q=0.2', 'de'],
    ['????, it;q=0.3', 'it'],
    ['en;q=banana', undefined],
    [['pt-BR', 'en'], 'pt-BR'],
    [`${'x'.repeat(70_000)}, de`, undefined],
  ])('is the language that the header prefers: %j', (header, expected) => {
    expect(localeOf(calledWith({ header: header as string }))).toBe(expected);
  });

  it('is the preferred one of those that the flow has texts in', () => {
    const texts = { en: {}, de: {} };
    expect(localeOf(calledWith({ header: 'fr, de-CH;q=0.9, en;q=0.8' }), texts)).toBe('de-CH');
    expect(localeOf(calledWith({ header: 'fr, it;q=0.9' }), texts)).toBe('fr');
  });

  it('is not known where the client is not a browser and says nothing', () => {
    expect(localeOf({ params: {}, client: {} } as unknown as Exchange)).toBeUndefined();
  });
});
