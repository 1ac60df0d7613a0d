// Whether the body still looks at what it has asked for. Of a question that has lost a race nobody wants an answer any more, and nothing in
// JavaScript says so; but `Promise.race` gives the same two functions to each of its members, and so it is known when all that a promise was
// used for is races that others have won.

/** The members of one `Promise.race` or `Promise.any` hand their outcome to the same function. */
interface Joint {
  readonly onRejected: unknown;
  members: number;
  /** All have the same `onRejected` as well: an error ends it, too. */
  isRace: boolean;
  isOver: boolean;
}

const joints = new WeakMap<object, Joint>();
const NATIVE = 'function () { [native code] }';

export class Interest {
  /** `await`, `Promise.resolve` and whatever takes several promises look for the constructor of each once. */
  looks = 0;
  /** For each call of `then`; undefined where it is no joint. */
  #thens: (Joint | undefined)[] | undefined;
  #settled: 'fulfilled' | 'rejected' | undefined;

  get isAwaited(): boolean {
    return this.looks > 0 || this.#thens !== undefined;
  }

  /** All that it was used for is races that are over. */
  get isLost(): boolean {
    const thens = this.#thens;
    if (!thens || this.looks !== thens.length) return false;
    return thens.every((joint) => joint !== undefined && joint.members > 1 && joint.isOver);
  }

  /** Somebody calls `then`. */
  join(onFulfilled: unknown, onRejected: unknown): void {
    const joint = toJoint(onFulfilled, onRejected);
    if (joint && this.#settled) end(joint, this.#settled);
    (this.#thens ??= []).push(joint);
  }

  settle(how: 'fulfilled' | 'rejected'): void {
    this.#settled = how;
    for (const joint of this.#thens ?? []) if (joint) end(joint, how);
  }
}

/** Handlers of an author, which he may use twice, are no joint. */
function toJoint(onFulfilled: unknown, onRejected: unknown): Joint | undefined {
  if (typeof onFulfilled !== 'function' || Function.prototype.toString.call(onFulfilled) !== NATIVE) return undefined;
  const known = joints.get(onFulfilled);
  if (!known) {
    const joint = { onRejected, members: 1, isRace: true, isOver: false };
    joints.set(onFulfilled, joint);
    return joint;
  }
  known.members++;
  known.isRace &&= known.onRejected === onRejected;
  return known;
}

function end(joint: Joint, how: 'fulfilled' | 'rejected'): void {
  joint.isOver ||= how === 'fulfilled' || joint.isRace;
}
