// Checks whether a URI may come from a URI template (RFC 6570): its literal parts occur in order, the first at the start and the
// last at the end. For literals without escapes there are no false negatives, but there may be false positives.
const EXPRESSION = /\{[^{}]*\}/;

export function fitsTemplate(uri: string, template: unknown): boolean {
  if (typeof template !== 'string') return false;
  const [head = '', ...rest] = template.split(EXPRESSION);
  const tail = rest.pop();
  if (tail === undefined) return uri === head;
  if (!uri.startsWith(head)) return false;
  let at = head.length;
  for (const literal of rest) {
    const found = uri.indexOf(literal, at);
    if (found === -1) return false;
    at = found + literal.length;
  }
  return uri.length - tail.length >= at && uri.endsWith(tail);
}
