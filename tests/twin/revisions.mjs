// What the revisions of MCP differ in, as far as the raw peers need it.
export const REVISIONS = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25', '2026-07-28', 'draft'];
export const STATELESS = '2026-07-28';
export const DRAFT = 'draft';
export const META = 'io.modelcontextprotocol/';

/** handshake, stateless or draft. */
export function eraOf(revision) {
  if (revision === STATELESS) return 'stateless';
  return revision === DRAFT ? 'draft' : 'handshake';
}

/** Whether a dated revision is this one or newer; the draft dialect has nothing of what came later. */
export function isSince(revision, first) {
  return revision !== DRAFT && revision >= first;
}

/** `_meta` without what the protocol itself keeps there. */
export function ownMeta(meta = {}) {
  const kept = Object.entries(meta).filter(([key]) => key !== 'progressToken' && !key.startsWith(META));
  return Object.fromEntries(kept);
}

export const TAG = 'com.example/tag';

/** Which request of which client a message belongs to: `A3` is the third of client A. */
export function tagOf(message) {
  return message.params?._meta?.[TAG];
}
