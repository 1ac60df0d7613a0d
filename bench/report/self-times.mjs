// A CPU profile as a list: µs per call that each function spent in itself, and the same by whose code it is.

export function selfTimes(profile, calls, top) {
  const byFunction = new Map();
  const byOwner = new Map();
  const nodes = new Map(profile.nodes.map((node) => [node.id, node.callFrame]));
  profile.samples.forEach((id, index) => {
    const frame = nodes.get(id);
    const micros = profile.timeDeltas[index];
    add(byFunction, placeOf(frame), micros);
    add(byOwner, ownerOf(frame), micros);
  });
  const line = ([what, micros]) => `${(micros / calls).toFixed(2).padStart(9)}  ${what}`;
  const sorted = (map) => [...map].filter(([what]) => !what.startsWith('(idle)')).sort(([, a], [, b]) => b - a);
  return [
    ' µs/call  by owner',
    ...sorted(byOwner).map(line),
    ' µs/call  by function',
    ...sorted(byFunction).slice(0, top).map(line),
  ].join('\n');
}

function add(map, key, micros) {
  map.set(key, (map.get(key) ?? 0) + micros);
}

function placeOf({ functionName, url, lineNumber }) {
  const name = functionName || '(anonymous)';
  return url ? `${name}  ${shortened(url)}:${lineNumber + 1}` : name;
}

function ownerOf({ functionName, url }) {
  if (url.startsWith('node:')) return 'Node';
  const dependency = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(url)?.[1];
  if (dependency) return dependency;
  if (url.includes('/bench/')) return 'the bench itself';
  if (url) return 'own code';
  // V8 and C++: (garbage collector), (program), and built-ins such as JSON.parse.
  return functionName.startsWith('(') ? functionName : 'built-ins';
}

const shortened = (url) => url.replace(/^.*\/(?=(dist|bench|node_modules)\/)/, '');
