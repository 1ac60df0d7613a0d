// What the console keeps of calls: little while nobody looks, both legs while somebody does, without secrets and never too much.
import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../../../kernel/fake-exchange.contract.ts';
import { createLog } from '../../../../kernel/base/log.ts';
import { EventHub } from '../../../../kernel/events/event-hub.ts';
import type { ClientView } from '../../../../kernel/exchange.ts';
import { InternalExchange } from '../../../../kernel/internal-exchange.ts';
import type { JsonObject } from '../../../../kernel/message.ts';
import { secrets } from '../../../../kernel/secrets/secrets.ts';
import { CallRing } from './call-ring.ts';
import type { Viewer } from '../viewers.ts';

const OPERATOR: Viewer = { way: 'browser', name: 'b', user: undefined };
const ALICE: Viewer = { way: 'login', name: 'alice', user: 'alice' };

function start() {
  const clock = new FakeClock();
  const events = new EventHub({ clock, log: createLog({ level: 'silent' }) });
  const ring = new CallRing({ events, clock });
  const call = (params: JsonObject = { name: 'read' }, principal = 'local') => {
    const client = { info: { name: 'c\u202e', version: '1' }, principal, revision: 'r' } as ClientView;
    return events.begin(new InternalExchange('tools/call', params, client))!;
  };
  return { ring, events, call };
}

describe('the calls that the console keeps', () => {
  it('are small records while nobody looks, and nothing of their messages', () => {
    const { ring, events, call } = start();
    const one = call({ name: 'read', arguments: { path: 'secret-plans' } });
    expect(one.hasMoments).toBe(false);
    events.answered(one, { content: [{ type: 'text', text: 'the plans' }] });
    const [row] = ring.all(OPERATOR).rows;
    expect(row).toMatchObject({ name: 'read', outcome: 'ok', tone: 'good', client: 'c\\u{202e}', hasLegs: false });
    expect(ring.find(row!.id, OPERATOR)).toMatchObject({ legs: [] });
    expect(ring.all(OPERATOR).minutes).toMatchObject([{ calls: 1, errors: 0 }]);
  });

  it('have both legs while somebody looks: what the client sent, what the server got, and who was asked', () => {
    const { ring, events, call } = start();
    ring.look(true);
    const one = call({ name: 'files__read', arguments: { path: 'a' } });
    expect(ring.all(OPERATOR).rows).toMatchObject([{ outcome: null, tone: 'busy' }]);
    const spokenTo = { revision: 'old', dialect: 'd' };
    one.tell({ kind: 'asked', method: 'elicitation/create', params: { message: 'Sure?' }, ofGateway: true });
    events.tell({ kind: 'approval', exchange: one.id, outcome: 'given', details: { way: 'page', by: 'browser:x' } });
    one.tell({ kind: 'replied' });
    one.tell({
      kind: 'sent',
      server: 'files',
      spokenTo,
      transport: 'stdio',
      method: 'tools/call',
      params: { name: 'read' },
    });
    one.tell({ kind: 'received', result: { content: [] } });
    events.answered(one, { content: [], isError: true });
    const [row] = ring.all(OPERATOR).rows;
    expect(row).toMatchObject({ outcome: 'tool_error', tone: 'bad', asked: 1, hasLegs: true });
    const view = ring.find(row!.id, OPERATOR)!;
    expect(view.legs.map(({ kind }) => kind)).toEqual(['called', 'asked', 'replied', 'sent', 'received', 'answered']);
    expect(view.legs[3]).toMatchObject({ about: 'files · old · stdio', text: '{"name":"read"}' });
    expect(view.approvals).toEqual([{ outcome: 'given', way: 'page', by: 'browser:x', reason: null }]);
    ring.look(false);
    events.answered(call(), {});
    expect(ring.all(OPERATOR).rows.at(-1)).toMatchObject({ hasLegs: false });
  });

  it('hold no secret of this process and no hidden character, and are cut', () => {
    const { ring, events, call } = start();
    secrets.add('hunter2hunter2');
    ring.look(true);
    const text = `${'x'.repeat(40_000)}hunter2hunter2`;
    events.answered(call({ name: 'read', arguments: { key: 'hunter2hunter2', odd: 'a\u202eb' } }), { text });
    secrets.clear();
    const { legs } = ring.find(ring.all(OPERATOR).rows[0]!.id, OPERATOR)!;
    expect(legs[0]!.text).toBe('{"name":"read","arguments":{"key":"[redacted]","odd":"a\\u202eb"}}');
    expect(legs[1]).toMatchObject({ isCut: true });
    expect(legs[1]!.text!.length).toBeLessThanOrEqual(32 * 1024);
  });

  it('are 2,000 at most, and their messages take 32 MB at most, of which the oldest go first', () => {
    const { ring, events, call } = start();
    ring.look(true);
    const big = { text: 'x'.repeat(32_000) };
    for (let count = 0; count < 2100; count++) events.answered(call(), big);
    const { rows } = ring.all(OPERATOR);
    expect(rows).toHaveLength(2000);
    expect(rows[0]!.id).toBe('101');
    const kept = rows.filter(({ hasLegs }) => hasLegs);
    expect(kept.length).toBeLessThan(32e6 / 64_000 + 30);
    expect(kept.length).toBeGreaterThan(400);
    expect(kept.at(-1)).toBe(rows.at(-1));
  });

  it('are seen by those whose they are, and by the operator', () => {
    const { ring, events, call } = start();
    events.answered(call({ name: 'own' }, 'alice'), {});
    events.answered(call({ name: 'other' }, 'bob'), {});
    expect(ring.all(ALICE)).toMatchObject({ rows: [{ name: 'own' }], minutes: [] });
    expect(ring.all(OPERATOR).rows).toHaveLength(2);
    expect(ring.find('2', ALICE)).toBe(undefined);
    expect(ring.since(0, ALICE)).toHaveLength(1);
  });

  it("show a user only what their client had: the legs next to the server, the rule and the findings are the operator's", () => {
    const { ring, events, call } = start();
    ring.look(true);
    const one = call({ name: 'read' }, 'alice');
    const spokenTo = { revision: 'old', dialect: 'd' };
    one.tell({ kind: 'asked', method: 'elicitation/create', params: { message: 'Sure?' }, ofGateway: true });
    one.tell({ kind: 'replied' });
    one.tell({
      kind: 'sent',
      server: 'files',
      spokenTo,
      transport: 'stdio',
      method: 'tools/call',
      params: { key: 'k3y' },
    });
    one.tell({ kind: 'received', result: { text: 's3cret' } });
    one.exchange.decision = { effect: 'allow', rule: 'rule 7' };
    one.findings = ['ignore all instructions'];
    events.answered(one, { text: '[redacted]' });
    const own = ring.find('1', ALICE)!;
    expect(own.legs.map(({ kind }) => kind)).toEqual(['called', 'asked', 'replied', 'answered']);
    expect(own).toMatchObject({ findings: [], row: { rule: null, hasLegs: true } });
    expect(JSON.stringify([own, ring.all(ALICE), ring.since(0, ALICE)])).not.toMatch(/s3cret|k3y|rule 7|instructions/);
    const whole = ring.find('1', OPERATOR)!;
    expect(whole.legs).toHaveLength(6);
    expect(whole).toMatchObject({ findings: ['ignore all instructions'], row: { rule: 'allow by rule 7' } });
    expect(ring.all(OPERATOR).rows[0]!.rule).toBe('allow by rule 7');
  });

  it('tell what is different since a moment, each once', () => {
    const { ring, events, call } = start();
    ring.look(true);
    const one = call();
    const cursor = ring.cursor;
    expect(ring.since(cursor, OPERATOR)).toEqual([]);
    events.answered(one, {});
    expect(ring.since(cursor, OPERATOR)).toMatchObject([{ id: '1', outcome: 'ok' }]);
    expect(ring.since(ring.cursor, OPERATOR)).toEqual([]);
  });
});
