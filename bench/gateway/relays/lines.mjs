// Lines out of chunks, as bytes; the parts of a line that came in several are joined once.

export function eachLine(stream, take) {
  let rest = [];
  stream.on('data', (chunk) => {
    let from = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, from)) {
      const end = chunk.subarray(from, at);
      take(rest.length === 0 ? end : Buffer.concat([...rest, end]));
      if (rest.length > 0) rest = [];
      from = at + 1;
    }
    if (from < chunk.length) rest.push(from === 0 ? chunk : chunk.subarray(from));
  });
}

/** `{"jsonrpc":"2.0","id":N,…}`: the id, and where it begins and ends. The servers of the bench write it first. */
export function idAt(line) {
  const from = line.indexOf('"id":') + 5;
  let to = from;
  while (line[to] !== 44 && line[to] !== 125) to += 1;
  return { id: line.latin1Slice(from, to), from, to };
}
