import { expect, test } from 'vitest';
import { FakeClock } from '../../mcp/eras/fake-context.contract.ts';
import { DeadlineItem, DeadlineList } from './clock.ts';

class Recorded extends DeadlineItem {
  readonly #name: string;
  readonly #rung: string[];
  onRing: (() => void) | undefined;

  constructor(name: string, rung: string[]) {
    super();
    this.#name = name;
    this.#rung = rung;
  }

  ring(): void {
    this.#rung.push(this.#name);
    this.onRing?.();
  }
}

function setUp() {
  const clock = new FakeClock();
  const deadlines = new DeadlineList(clock);
  const rung: string[] = [];
  const set = (name: string, ms: number) => {
    const deadline = new Recorded(name, rung);
    deadlines.set(deadline, ms);
    return deadline;
  };
  return { clock, deadlines, rung, set };
}

test('deadlines fire in order with one timer', () => {
  const { clock, rung, set } = setUp();
  set('late', 300);
  set('soon', 100);
  set('middle', 200);
  expect(clock.timers).toBe(1);
  clock.advance(98);
  expect(rung).toEqual([]);
  clock.advance(2);
  expect(rung).toEqual(['soon']);
  clock.advance(200);
  expect(rung).toEqual(['soon', 'middle', 'late']);
  expect(clock.timers).toBe(0);
});

test('a cancelled deadline does not fire, and the rest do', () => {
  const { clock, rung, set } = setUp();
  const [first, , third] = ['a', 'b', 'c', 'd'].map((name, index) => set(name, 100 + index * 100));
  first!.callOff();
  third!.callOff();
  third!.callOff();
  clock.advance(1000);
  expect(rung).toEqual(['b', 'd']);
});

test('the timer of a cancelled deadline finds the next, and the last leaves no timer', () => {
  const { clock, rung, set } = setUp();
  set('first', 100).callOff();
  set('next', 150);
  clock.advance(100);
  expect(rung).toEqual([]);
  expect(clock.timers).toBe(1);
  clock.advance(50);
  expect(rung).toEqual(['next']);
  expect(clock.timers).toBe(0);
});

test('a deadline that is set again fires once, at its new time', () => {
  const { clock, deadlines, rung, set } = setUp();
  const deadline = set('a', 100);
  clock.advance(90);
  deadlines.set(deadline, 100);
  clock.advance(90);
  expect(rung).toEqual([]);
  clock.advance(10);
  clock.advance(200);
  expect(rung).toEqual(['a']);
});

test('a firing deadline may set another and itself, and cancel others', () => {
  const { clock, deadlines, rung, set } = setUp();
  const other = set('other', 200);
  const deadline = set('a', 100);
  deadline.onRing = () => {
    other.callOff();
    deadline.onRing = undefined;
    deadlines.set(deadline, 70);
    set('b', 50);
  };
  clock.advance(100);
  clock.advance(50);
  clock.advance(100);
  expect(rung).toEqual(['a', 'b', 'a']);
});

test('a deadline that is too far away never fires, and none does after clear', () => {
  const { clock, deadlines, rung, set } = setUp();
  set('never', Infinity);
  set('never', 2 ** 31);
  expect(clock.timers).toBe(0);
  set('cleared', 10);
  deadlines.clear();
  expect(clock.timers).toBe(0);
  clock.advance(10);
  expect(rung).toEqual([]);
  set('set after it', 10);
  clock.advance(10);
  expect(rung).toEqual(['set after it']);
});
