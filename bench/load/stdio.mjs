// A client on the child's own pipes: lines out, and of the lines that come back the id and the start.
import { checkAnswer, DISCOVER, INITIALIZE, INITIALIZED, nextId } from './messages.mjs';

const LOOKED_AT = 400;

export async function stdioClient({ child, era }) {
  const waiting = new Map();
  let rest = [];

  child.stdout.on('data', (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      rest.push(chunk.subarray(from, at));
      takeLine(rest);
      rest = [];
      from = at + 1;
    }
    if (from < chunk.length) rest.push(chunk.subarray(from));
  });
  child.on('exit', () => {
    for (const { done } of waiting.values()) done(new Error('the server exited'));
    waiting.clear();
  });

  function takeLine(parts) {
    const id = idIn(parts);
    const open = waiting.get(id);
    if (!open) return;
    waiting.delete(id);
    open.take(parts);
  }

  /** The next answer, read in full. */
  function request(id, text) {
    return new Promise((resolve, reject) => {
      const take = (parts) => resolve(JSON.parse(Buffer.concat(parts)));
      waiting.set(id, { take, done: reject });
      child.stdin.write(text + '\n');
    });
  }

  const greeting = era === 'handshake' ? INITIALIZE : DISCOVER;
  await request(greeting.id, JSON.stringify(greeting));
  const greetedAt = performance.now();
  if (era === 'handshake') child.stdin.write(JSON.stringify(INITIALIZED) + '\n');

  return {
    greetedAt,
    /** All lanes share the one pipe. */
    send(_lane, call, done) {
      const id = nextId();
      const take = (parts) => done(fault(parts, call));
      waiting.set(id, { take, done });
      child.stdin.write(call.head + id + call.tail + '\n', 'latin1');
    },
    async check(call) {
      const id = nextId();
      checkAnswer(await request(id, call.head + id + call.tail), call, id);
    },
    renew() {},
  };
}

/** An id stands at the head or at the tail of a line, before or after the result; ours have seven digits. */
function idIn(parts) {
  const id = idOf(startOf(parts)) ?? idOf(endOf(parts));
  return Number(id);
}

const idOf = (text) => /"id":(\d{7})/.exec(text)?.[1];

function startOf(parts) {
  const start = parts.length === 1 || parts[0].length >= LOOKED_AT ? parts[0] : Buffer.concat(parts.slice(0, 3));
  return start.latin1Slice(0, Math.min(start.length, LOOKED_AT));
}

function endOf(parts) {
  const end = Buffer.concat(parts.slice(-2));
  return end.latin1Slice(Math.max(0, end.length - LOOKED_AT));
}

function fault(parts, call) {
  let size = 0;
  for (const part of parts) size += part.length;
  // A key order that puts `_meta` first still has the text near the start.
  if (startOf(parts).includes(call.opens) && size > call.text.length) return undefined;
  return new Error(`wrong answer: ${startOf(parts)}`);
}
