// Estimates how many bytes a parsed value has as JSON, without writing it. It stops when a maximum is passed.

export function roughBytes(value: unknown, max: number): number {
  let bytes = 0;
  const rest: unknown[] = [value];
  while (rest.length > 0 && bytes <= max) {
    const node = rest.pop();
    if (typeof node === 'string') bytes += node.length + 2;
    else if (typeof node !== 'object' || node === null) bytes += 4;
    else if (Array.isArray(node)) {
      bytes += 2 + node.length;
      for (const item of node) rest.push(item);
    } else {
      bytes += 2;
      for (const key in node) {
        bytes += key.length + 4;
        rest.push((node as Record<string, unknown>)[key]);
      }
    }
  }
  return bytes;
}
