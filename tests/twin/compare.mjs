// The differences of two views, field by field, each with its place: `client A1 tools/call /answer/result/content/0/text`.
import { Exact, canonical } from './json.mjs';

/** `[{ at, direct, through }]`. */
export function compareViews(side, direct, through) {
  const tags = new Set([...Object.keys(direct), ...Object.keys(through)]);
  return [...tags].flatMap((tag) => {
    const method = direct[tag]?.method ?? through[tag]?.method ?? '';
    const place = `${side} ${tag} ${method}`.trim();
    return differences(direct[tag], through[tag], '').map(({ at, ...both }) => ({
      at: `${place} ${at || '/'}`,
      ...both,
    }));
  });
}

function differences(direct, through, at) {
  if (canonical(direct ?? null) === canonical(through ?? null) && (direct === undefined) === (through === undefined))
    return [];
  if (isLoss(direct, through)) return [];
  if (!isTree(direct) || !isTree(through) || Array.isArray(direct) !== Array.isArray(through))
    return [{ at, direct, through }];
  const keys = new Set([...Object.keys(direct), ...Object.keys(through)]);
  return [...keys].flatMap((key) => differences(direct[key], through[key], `${at}/${key}`));
}

/** A call that a transport lost is an error of the gateway for its client. */
function isLoss(direct, through) {
  return direct?.lost === true && through?.error !== undefined;
}

function isTree(value) {
  return typeof value === 'object' && value !== null && !(value instanceof Exact);
}
