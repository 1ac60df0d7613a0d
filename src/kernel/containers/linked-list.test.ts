import { expect, it } from 'vitest';
import { LinkedNode, LinkedList } from './linked-list.ts';

class Member extends LinkedNode<Member> {
  readonly name: string;

  constructor(name: string) {
    super();
    this.name = name;
  }
}

function setUp() {
  const list = new LinkedList<Member>();
  const [a, b, c] = ['a', 'b', 'c'].map((name) => new Member(name)) as [Member, Member, Member];
  for (const member of [a, b, c]) list.add(member);
  return { list, a, b, c, names: () => list.values().map(({ name }) => name) };
}

it('a linked list keeps the order of its members', () => {
  const { list, a, names } = setUp();
  expect(names()).toEqual(['a', 'b', 'c']);
  list.add(a);
  expect(names()).toEqual(['b', 'c', 'a']);
});

it('a linked list can remove its first, last and middle members', () => {
  const { list, a, b, c, names } = setUp();
  expect(list.delete(b)).toBe(true);
  expect(names()).toEqual(['a', 'c']);
  list.delete(a);
  expect(names()).toEqual(['c']);
  list.delete(c);
  expect(list.isEmpty).toBe(true);
});

it('a linked list ignores a member that has left or is in another list', () => {
  const { list, a, names } = setUp();
  const other = new LinkedList<Member>();
  expect(other.delete(a)).toBe(false);
  expect([list.has(a), other.has(a)]).toEqual([true, false]);
  list.delete(a);
  expect(list.delete(a)).toBe(false);
  expect(names()).toEqual(['b', 'c']);
});

it('a removed member of a linked list holds no references', () => {
  const { list, b } = setUp();
  list.delete(b);
  expect([b.list, b.before, b.after]).toEqual([undefined, undefined, undefined]);
});

it('the values of a linked list are a snapshot', () => {
  const { list, names } = setUp();
  const seen: string[] = [];
  for (const member of list.values()) {
    list.clear();
    seen.push(member.name);
  }
  expect(seen).toEqual(['a', 'b', 'c']);
  expect(names()).toEqual([]);
});
