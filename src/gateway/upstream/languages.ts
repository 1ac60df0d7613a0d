// Tells a server with flows which languages the client prefers: its Accept-Language header ends at this gateway.
import { deriveExchange } from '../../protocol/derived-exchange.ts';
import type { Exchange } from '../../protocol/exchange.ts';
import { LANGUAGES } from '../../protocol/interaction.ts';
import { isObject } from '../../protocol/message.ts';
import { languagesOf } from '../../shared/text/accept-language.ts';

export function withLanguages(exchange: Exchange): Exchange {
  const header = exchange.client.connection?.headers?.['accept-language'];
  if (header === undefined || header === '*') return exchange; // `*` is what fetch sends by itself
  const { _meta: meta } = exchange.params;
  const own = isObject(meta) ? meta : {};
  if (LANGUAGES in own) return exchange; // a gateway in front has said it
  const languages = languagesOf(header).join(', ');
  return deriveExchange(exchange, { params: { ...exchange.params, _meta: { ...own, [LANGUAGES]: languages } } });
}
