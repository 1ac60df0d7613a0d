// Numbers as they were sent. A request is read and written anew on its way; a number that JavaScript cannot hold (an id of 64 bits),
// or that it writes in another way (`1.0`), would arrive as another one. So what is written is laid beside what came.
// 1. Nothing but numbers ever changes, and each only into one that JavaScript reads as the same: what somebody has changed on the
//    way, and what any rule has seen, is what is sent. A key that stands there twice stays one.
// 2. Whatever is not certain stays as it was written.

const KEY = '"arguments":';
const NUMBER = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const SPACE = /[ \t\r\n]*/y;
/** Laying two texts side by side takes several times as long as reading one. */
const MAX_CHARS = 256 * 1024;

/** `written` is the params of a call as JSON; `sent` the message in which they came. */
export function withNumbersOf(sent: string, written: string): string {
  const [inSent, inWritten] = [sent.indexOf(KEY), written.indexOf(KEY)];
  if (inSent === -1 || inWritten === -1) return written;
  const [from, to] = [inSent + KEY.length, inWritten + KEY.length];
  const rest = written.slice(to, -1);
  const isSame = sent.slice(from, from + rest.length) === rest; // as nearly always
  if (isSame || rest.length > MAX_CHARS) return written;
  return written.slice(0, to) + (merge(sent, from, rest) ?? rest) + written.slice(-1);
}

/** `rest` with the numbers of `sent`; undefined where they are not the same but for these. */
function merge(sent: string, from: number, rest: string): string | undefined {
  let merged = '';
  let at = from;
  let depth = 0;
  for (let end = 0, start = 0; start < rest.length; start = end) {
    at += matchAt(SPACE, sent, at)!.length;
    const token = tokenAt(rest, start)!;
    const theirs = tokenAt(sent, at);
    if (theirs === undefined || !meansTheSame(token, theirs)) return undefined;
    merged += isNumber(token) ? theirs : token;
    at += theirs.length;
    end = start + token.length;
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    if (depth === 0) return merged + rest.slice(end);
  }
  return undefined;
}

function meansTheSame(token: string, theirs: string): boolean {
  if (token === theirs) return true;
  if (isNumber(token)) return isNumber(theirs) && Number(token) === Number(theirs);
  return token.length > 1 && theirs.startsWith('"') && JSON.parse(theirs) === JSON.parse(token);
}

function isNumber(token: string): boolean {
  const first = token.charCodeAt(0);
  return first === 0x2d || (first >= 0x30 && first <= 0x39);
}

/** A number, a word with its quotes, or one character. */
function tokenAt(text: string, at: number): string | undefined {
  return text[at] === '"' ? wordAt(text, at) : (matchAt(NUMBER, text, at) ?? text[at]);
}

function wordAt(text: string, start: number): string | undefined {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let before = end;
    while (text[before - 1] === '\\') before--;
    if ((end - before) % 2 === 0) return text.slice(start, end + 1);
  }
  return undefined;
}

function matchAt(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}
