// Compares two answers, except for what the gateway maps by rule.
const OURS = /^mcp-parley\/|^io\.modelcontextprotocol\/serverInfo$/;
/** Servers tell the time. */
const TIMES = /\d{1,2}:\d{2}:\d{2}\s[AP]M|\w{3} \w{3} \d{2} \d{4} \d{2}:\d{2}:\d{2} GMT[^\n"]*/g;

/** `[{ at, direct, through }]`, empty when they are equal. */
export function differences(direct, through, at = '') {
  if (Object.is(direct, through)) return [];
  if (!isTree(direct) || !isTree(through) || Array.isArray(direct) !== Array.isArray(through)) {
    return [{ at: at || '/', direct, through }];
  }
  const keys = new Set([...Object.keys(direct), ...Object.keys(through)]);
  return [...keys].flatMap((key) => differences(direct[key], through[key], `${at}/${key}`));
}

/** Without what every message may have remapped: the hour, and `_meta` of ours. */
export function plain(value) {
  if (typeof value === 'string') return timeless(value);
  if (Array.isArray(value)) return value.map(plain);
  if (!isTree(value)) return value;
  const kept = Object.entries(value).flatMap(([key, inner]) => {
    if (inner === undefined) return [];
    if (key !== '_meta' || !isTree(inner)) return [[key, plain(inner)]];
    const others = Object.entries(inner).filter(([name]) => !OURS.test(name));
    return others.length > 0 ? [[key, plain(Object.fromEntries(others))]] : [];
  });
  return Object.fromEntries(kept);
}

/** Also where it is told in base64. */
function timeless(text) {
  const decoded = /^[\w+/]{16,}={0,2}$/.test(text) ? Buffer.from(text, 'base64').toString('latin1') : '';
  return decoded.match(TIMES) ? decoded.replace(TIMES, '<time>') : text.replace(TIMES, '<time>');
}

function isTree(value) {
  return typeof value === 'object' && value !== null;
}
