// A linked list for short-lived members, in order of arrival. Members come and go with every call, so there is no table
// to look up or rebuild.
// 1. A removed member holds no references, because old dead objects would keep young ones alive.

/** A member is in one list at a time. */
export abstract class LinkedNode<T extends LinkedNode<T>> {
  list: LinkedList<T> | undefined;
  before: T | undefined;
  after: T | undefined;
}

export class LinkedList<T extends LinkedNode<T>> {
  #first: T | undefined;
  #last: T | undefined;

  get isEmpty(): boolean {
    return this.#first === undefined;
  }

  has(member: T): boolean {
    return member.list === this;
  }

  /** Appends a member, and removes it from any other list. */
  add(member: T): void {
    member.list?.delete(member);
    member.list = this;
    member.before = this.#last;
    if (this.#last) this.#last.after = member;
    else this.#first = member;
    this.#last = member;
  }

  /** False if it was not in this list. */
  delete(member: T): boolean {
    if (member.list !== this) return false;
    const { before, after } = member;
    if (before) before.after = after;
    else this.#first = after;
    if (after) after.before = before;
    else this.#last = before;
    member.list = member.before = member.after = undefined;
    return true;
  }

  /** A snapshot of the members. */
  values(): T[] {
    const values: T[] = [];
    for (let member = this.#first; member; member = member.after) values.push(member);
    return values;
  }

  clear(): void {
    while (this.#first) this.delete(this.#first);
  }
}
