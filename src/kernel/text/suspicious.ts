// Finds what looks like an attempt to steer a model, or to have it run something: orders, and commands that are written out or encoded. It works
// offline, on the text alone. It recognizes wording and not intentions, so what it finds may be harmless.

export type TextFinding = 'injection' | 'payload';

/** Orders to a model, which a description has no reason to contain. */
const INJECTIONS = [
  /\b(?:ignore|disregard|forget|override)\b.{0,30}\b(?:previous|prior|above|earlier|all|any|other)\b.{0,20}\b(?:instructions?|messages?|prompts?|rules?)\b/,
  /<\/?(?:important|system|instructions?|secret)\b[^>]{0,200}>/,
  /\b(?:do not|don't|never|without)\b.{0,20}\b(?:tell|mention|inform|reveal|show|notify|telling|mentioning|informing)\b.{0,30}\b(?:user|person|human)\b/,
  /\b(?:before|whenever|every time|each time)\b.{0,30}\b(?:using|calling|call|use)\b.{0,30}\b(?:any|other|another|every|all)\b.{0,15}\btools?\b/,
  /(?:~|\/root|\/home\/\S{1,40})\/\.(?:ssh|aws|config|gnupg|kube)\b|\bid_rsa\b|\bauthorized_keys\b/,
  /\byour (?:system prompt|hidden instructions)\b/,
];

/** Commands that fetch and run, delete, or open a shell. */
const COMMAND =
  /\b(?:curl|wget)\b[^\n]{1,200}\|\s{0,5}(?:sudo\s{1,5})?(?:ba|z|da)?sh\b|\brm\s{1,5}-[rf]{2}\b|\b(?:ba|z)?sh\s{1,5}-[ci]\b|\/dev\/tcp\/|\bpowershell\b[^\n]{0,40}\s-e|\bnc\s{1,5}-[a-z]{0,4}e\b/;
/** Long enough to hold a command. */
const BASE64 = /[A-Za-z0-9+/_-]{24,}={0,2}/g;
/** What can stand inside of a word and is not seen. */
const INSIDE = /[\u00ad\u200b-\u200d\u2060\ufeff]/g;
const PERCENT = /%([0-9a-fA-F]{2})/g;
/** A longer text is judged by its beginning. */
const MAX_TEXT = 100_000;
/** Encoded pieces that are looked into, and how much of each. */
const MAX_PIECES = 50;
const MAX_PIECE = 4000;

export function suspiciousIn(given: string): TextFinding[] {
  const text = given.slice(0, MAX_TEXT);
  const plain = text.normalize('NFKC').replace(INSIDE, '').toLowerCase();
  const found: TextFinding[] = INJECTIONS.some((one) => one.test(plain)) ? ['injection'] : [];
  if (COMMAND.test(plain) || decodedPieces(text).some((one) => COMMAND.test(one.toLowerCase()))) found.push('payload');
  return found;
}

function decodedPieces(text: string): string[] {
  const pieces = text.match(BASE64)?.slice(0, MAX_PIECES) ?? [];
  const decoded = pieces.map((piece) => Buffer.from(piece.slice(0, MAX_PIECE), 'base64').toString('latin1'));
  if (text.includes('%'))
    decoded.push(text.replaceAll(PERCENT, (_, hex: string) => String.fromCharCode(parseInt(hex, 16))));
  return decoded;
}
