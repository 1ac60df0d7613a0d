// Sessions that are answered as fast as they ask. An api is { start(), answer(turn, value) }, each of which resolves with the next
// question ({ key, … }), or without a key at the end.
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'node:http';
import { quantile } from '../report/quantile.mjs';
import { ANSWERS, TURNS } from './plain-trip.mjs';

/** Until so many turns were made, or so many milliseconds have gone by, whichever comes first. */
export async function drive(api, { inFlight, turns = Infinity, ms }) {
  const latencies = [];
  const began = performance.now();
  const loop = async () => {
    while (latencies.length < turns && performance.now() - began < ms) await session(api, latencies);
  };
  await Promise.all(Array.from({ length: inFlight }, loop));
  const seconds = (performance.now() - began) / 1000;
  latencies.sort((a, b) => a - b);
  return { turns: latencies.length, seconds, p50: quantile(latencies, 0.5), p99: quantile(latencies, 0.99) };
}

async function session(api, latencies) {
  let made = 0;
  let last = performance.now();
  for (let turn = await api.start(); ; turn = await api.answer(turn, ANSWERS[turn.key])) {
    const now = performance.now();
    latencies.push(now - last);
    last = now;
    made++;
    if (turn.key === undefined) break;
  }
  if (made !== TURNS) throw new Error(`${made} turns instead of ${TURNS}`);
}

/** An app behind node:http (app.mjs). */
export function overHttp(url) {
  const post = poster(url);
  return { start: () => post('/start', {}), answer: (turn, value) => post('/answer', { turn, value }) };
}

/** Restate's workflow. */
export function asWorkflow(ingress) {
  const post = poster(ingress);
  return {
    async start() {
      const id = randomUUID();
      await post(`/trip/${id}/run/send`, {});
      return { id, ...(await post(`/trip/${id}/question`, 0)) };
    },
    answer: async ({ id, at }, value) => ({ id, ...(await post(`/trip/${id}/answer`, { at, value })) }),
  };
}

/** Restate's virtual object. */
export function asObject(ingress) {
  const post = poster(ingress);
  const answer = async ({ id }, value) => ({ id, ...(await post(`/tripObject/${id}/answer`, { value })) });
  return { start: () => answer({ id: randomUUID() }, undefined), answer };
}

/** JSON in, JSON out, on connections that are kept. */
export function poster(url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 });
  return (path, body) =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
      const sent = request(new URL(path, url), { method: 'POST', agent, headers }, (response) => {
        let answer = '';
        response.setEncoding('utf8').on('data', (chunk) => (answer += chunk));
        response.on('end', () => {
          if (response.statusCode >= 300) reject(new Error(`${path}: ${response.statusCode} ${answer}`));
          else resolve(answer === '' ? undefined : JSON.parse(answer));
        });
      });
      sent.on('error', reject).end(text);
    });
}
