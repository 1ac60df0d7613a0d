// Whether a changed resource is the subscribed one or lies below it: a server may report either.

export function isWithin(uri: string, whole: string): boolean {
  if (uri === whole) return true;
  return uri.startsWith(whole) && (whole.endsWith('/') || /[/?#]/.test(uri[whole.length]!));
}

export function isWithinAny(uri: string, wholes: Set<string>): boolean {
  if (wholes.has(uri)) return true;
  for (const whole of wholes) if (isWithin(uri, whole)) return true;
  return false;
}
