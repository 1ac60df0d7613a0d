// What a run plays: everything, what was asked for, or a seeded sample in which each conversation and each end of a cell appears.
import { CELLS, endName, isPlayable, nameOf } from './cells.mjs';
import { CONVERSATIONS } from './conversations/all.mjs';

/** `{ conversation, cell }`, in a fixed order. */
export function whole() {
  return CONVERSATIONS.flatMap((conversation) =>
    CELLS.filter((cell) => isPlayable(conversation, cell)).map((cell) => ({ conversation, cell })),
  );
}

export function titleOf({ conversation, cell }) {
  return `${nameOf(cell)}: ${conversation.name}`;
}

export function chosen(only) {
  const exact = whole().filter((item) => titleOf(item) === only);
  return exact.length > 0 ? exact : whole().filter((item) => titleOf(item).includes(only));
}

/** The one with exactly this title. */
export function titled(title) {
  const found = whole().find((item) => titleOf(item) === title);
  if (!found) throw new Error(`no conversation has the title "${title}"`);
  return found;
}

/** As many of each conversation as there is room for, so chosen that the ends that were played least come first. */
export function sample(seed, size) {
  const random = seeded(seed);
  const played = new Map();
  const items = [];
  const times = (cell) => (played.get(endName(cell.client)) ?? 0) + (played.get(`to ${endName(cell.server)}`) ?? 0);
  while (items.length < size) {
    const before = items.length;
    for (const conversation of CONVERSATIONS) {
      const free = CELLS.filter(
        (cell) =>
          isPlayable(conversation, cell) &&
          !items.some((one) => one.conversation === conversation && one.cell === cell),
      );
      if (free.length === 0 || items.length >= size) continue;
      const cell = free.map((one) => [times(one) + random() * 3, one]).reduce((a, b) => (b[0] < a[0] ? b : a))[1];
      for (const end of [endName(cell.client), `to ${endName(cell.server)}`])
        played.set(end, (played.get(end) ?? 0) + 1);
      items.push({ conversation, cell });
    }
    if (items.length === before) break;
  }
  return items;
}

/** Mulberry32. */
export function seeded(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
