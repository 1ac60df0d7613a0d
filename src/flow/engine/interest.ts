// Tells whether the body still uses the promise of a question, so that a question that has lost a race is withdrawn. JavaScript does not
// report this, but `Promise.race` passes the same two functions to `then` of each member. A promise is lost when all its uses are races
// that other members have won.

/** One `Promise.race` or `Promise.any`: its members pass their outcome to the same function. */
interface Joint {
  readonly onRejected: unknown;
  members: number;
  /** All members also share `onRejected`, so a rejection ends it too. */
  isRace: boolean;
  isOver: boolean;
}

const joints = new WeakMap<object, Joint>();
const NATIVE = 'function () { [native code] }';

export class Interest {
  /** `await`, `Promise.resolve` and the combinators each read the constructor of the promise once. */
  looks = 0;
  /** One for each call of `then`; undefined if it is not part of a race. */
  #thens: (Joint | undefined)[] | undefined;
  #settled: 'fulfilled' | 'rejected' | undefined;

  get isAwaited(): boolean {
    return this.looks > 0 || this.#thens !== undefined;
  }

  /** It was used only in races that are over. */
  get isLost(): boolean {
    const thens = this.#thens;
    if (!thens || this.looks !== thens.length) return false;
    return thens.every((joint) => joint !== undefined && joint.members > 1 && joint.isOver);
  }

  /** Records a call of `then`. */
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

/** An author may pass the same handlers twice; that is not a race. */
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
