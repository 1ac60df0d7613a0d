// A client of the HTTP+SSE transport, for gateways that have no newer one: requests are posted on raw sockets, one lane each,
// all answers come on the one stream.
import { connect } from 'node:net';
import { get } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import { checkAnswer, INITIALIZE, INITIALIZED, nextId } from './messages.mjs';

const AGAIN_MS = 3;
const LOOKED_AT = 400;
const EVENT_END = '\n\n';

export async function sseClient({ url, patient = () => false }) {
  const waiting = new Map();
  const stream = await openStream(url, patient);
  const endpoint = await new Promise((resolve) => eachEvent(stream, (parts) => take(parts, resolve)));
  const target = new URL(endpoint, url);
  const lanes = [];

  function take(parts, onEndpoint) {
    const start = startOf(parts, LOOKED_AT);
    if (start.startsWith('event: endpoint')) return onEndpoint(/data: (.*)/.exec(start)[1]);
    const id = Number(/"id":(\d{7})/.exec(start)?.[1] ?? /"id":(\d{7})/.exec(endOf(parts))?.[1]);
    const open = waiting.get(id);
    waiting.delete(id);
    open?.(parts);
  }

  function request(id, text) {
    return new Promise((resolve) => {
      waiting.set(id, (parts) => resolve(JSON.parse(/data: (.*)/.exec(Buffer.concat(parts).toString())[1])));
      post(0, text);
    });
  }

  function post(lane, text) {
    if (!lanes[lane] || lanes[lane].destroyed) {
      lanes[lane] = connect({ host: target.hostname, port: Number(target.port), noDelay: true });
      lanes[lane].on('error', () => undefined).resume(); // 202; what counts comes on the stream
    }
    const head = `POST ${target.pathname}${target.search} HTTP/1.1\r\nhost: ${target.host}\r\n`;
    lanes[lane].write(
      `${head}content-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
      'latin1',
    );
  }

  await request(INITIALIZE.id, JSON.stringify(INITIALIZE));
  const greetedAt = performance.now();
  post(0, JSON.stringify(INITIALIZED));

  return {
    greetedAt,
    send(lane, call, done) {
      const id = nextId();
      waiting.set(id, (parts) => done(fault(parts, call)));
      post(lane, call.head + id + call.tail);
    },
    async check(call) {
      const id = nextId();
      checkAnswer(await request(id, call.head + id + call.tail), call, id);
    },
    renew() {
      for (const lane of lanes.splice(0)) lane.destroy();
    },
    close: () => stream.destroy(),
  };
}

async function openStream(url, patient) {
  for (;;) {
    const answer = await new Promise((resolve) => {
      get(url, { headers: { accept: 'text/event-stream' }, agent: false }, resolve).on('error', () =>
        resolve(undefined),
      );
    });
    if (answer?.statusCode === 200) return answer;
    answer?.resume();
    if (!patient()) throw new Error(`no event stream: ${answer?.statusCode ?? 'not reached'}`);
    await setTimeout(AGAIN_MS);
  }
}

/** An event ends with an empty line; JSON holds none. */
function eachEvent(stream, take) {
  let parts = [];
  stream.on('data', (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(EVENT_END); at !== -1; at = chunk.indexOf(EVENT_END, from)) {
      take([...parts, chunk.subarray(from, at)]);
      parts = [];
      from = at + EVENT_END.length;
    }
    if (from < chunk.length) parts.push(chunk.subarray(from));
  });
}

const startOf = ([first], size) => first.latin1Slice(0, Math.min(first.length, size));

function endOf(parts) {
  const end = Buffer.concat(parts.slice(-2));
  return end.latin1Slice(Math.max(0, end.length - LOOKED_AT));
}

function fault(parts, call) {
  const size = parts.reduce((sum, part) => sum + part.length, 0);
  const start = startOf(parts, 4 * LOOKED_AT);
  return start.includes(call.opens) && size > call.text.length ? undefined : new Error(`wrong answer: ${start}`);
}
