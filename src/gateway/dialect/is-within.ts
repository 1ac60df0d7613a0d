// Whether a resource is the one that somebody is subscribed to, or a part of it: a server may tell of either.

export function isWithin(uri: string, whole: string): boolean {
  if (uri === whole) return true;
  return uri.startsWith(whole) && (whole.endsWith('/') || /[/?#]/.test(uri[whole.length]!));
}

export function isWithinAny(uri: string, wholes: Set<string>): boolean {
  if (wholes.has(uri)) return true;
  for (const whole of wholes) if (isWithin(uri, whole)) return true;
  return false;
}
