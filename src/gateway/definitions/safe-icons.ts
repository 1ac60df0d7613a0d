// Icons that a client may show: pictures from the web, and pictures in the definition itself. A picture that can run code, and an address of
// another scheme, which would open a file or a program, are taken out.
import type { JsonObject } from '../../protocol/message.ts';
import { isObject } from '../../protocol/message.ts';

const ALLOWED = /^(?:https?:\/\/|data:image\/)/i;
const SVG = /^data:image\/svg/i;
const ACTIVE = /<script|<foreignobject|<iframe|<embed|<object|\son[a-z]+\s*=|javascript:|<!entity/i;

/** The same object if all icons are safe. */
export function withSafeIcons(entry: JsonObject): JsonObject {
  const { icons } = entry;
  if (!Array.isArray(icons)) return entry;
  const safe = icons.filter((icon) => isObject(icon) && isSafe(String(icon.src)));
  return safe.length === icons.length ? entry : { ...entry, icons: safe };
}

function isSafe(src: string): boolean {
  const address = src.trim();
  if (!ALLOWED.test(address)) return false;
  return !SVG.test(address) || !ACTIVE.test(decoded(address));
}

function decoded(address: string): string {
  const at = address.indexOf(',');
  const [head, body] = [address.slice(0, at), address.slice(at + 1)];
  const plain = body.replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return /;base64/i.test(head) ? Buffer.from(plain, 'base64').toString('utf8') : plain;
}
