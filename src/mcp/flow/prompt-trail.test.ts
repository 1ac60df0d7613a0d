import { describe, expect, it } from 'vitest';
import { nextArrival } from '../../kernel/arrival.ts';
import { PromptTrail } from './prompt-trail.ts';

const always = () => true;
const never = () => false;

describe('an answer that names no prompt', () => {
  it('is for the prompt that was sent before it arrived, and not for one that was sent while it waited', () => {
    const trail = new PromptTrail();
    trail.send({ promptId: 'draft' }, nextArrival());
    const arrival = nextArrival();
    trail.send({ promptId: 'send' }, nextArrival());
    expect(trail.sentBefore(arrival)).toEqual({ prompt: { promptId: 'draft' }, isSure: true });
    expect(trail.meantAt(arrival, never)).toEqual({ promptId: 'draft' });
    expect(trail.sentBefore(nextArrival())).toEqual({ prompt: { promptId: 'send' }, isSure: true });
  });

  it('is a consent only if the acknowledgement arrived before it', () => {
    const trail = new PromptTrail();
    trail.send({ promptId: 'draft' }, nextArrival());
    const next = trail.send({ promptId: 'send' });
    const arrival = nextArrival();
    next.acknowledgedAt = nextArrival();
    expect(trail.meantAt(arrival, always)).toEqual({ promptId: 'draft' });
    expect(trail.meantAt(arrival, never)).toEqual({ promptId: 'send' });
    expect(trail.sentBefore(arrival)).toMatchObject({ isSure: false });
    expect(trail.meantAt(nextArrival(), always)).toEqual({ promptId: 'send' });
  });

  it('is for the first prompt of a session without an acknowledgement, and for none before that was sent', () => {
    const trail = new PromptTrail();
    const early = nextArrival();
    trail.send({ promptId: 'draft' });
    expect(trail.meantAt(early, never)).toBeUndefined();
    expect(trail.meantAt(nextArrival(), always)).toEqual({ promptId: 'draft' });
  });

  it('is for none if it waited so long that its prompt is forgotten', () => {
    const trail = new PromptTrail();
    trail.send({ promptId: 'first' }, nextArrival());
    const arrival = nextArrival();
    for (let more = 0; more < 20; more++) trail.send({ promptId: `more-${more}` });
    expect(trail.sentBefore(arrival)).toBeUndefined();
    expect(trail.meantAt(nextArrival(), always)).toBeUndefined();
  });
});
