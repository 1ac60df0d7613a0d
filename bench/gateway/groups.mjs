// What is measured: groups of cells that share their processes. A group is the transport a client comes with, the one the
// server has, and the era of each; gateways that can bridge are also measured between two eras.

const PAIRS = [
  { from: 'http', to: 'stdio' },
  { from: 'http', to: 'http' },
  { from: 'stdio', to: 'stdio' },
  { from: 'stdio', to: 'http' },
];

const ERAS = [
  { era: 'handshake', serverEra: 'handshake' },
  { era: 'stateless', serverEra: 'stateless' },
  { era: 'handshake', serverEra: 'stateless' },
  { era: 'stateless', serverEra: 'handshake' },
];

/** `only`: any of the transports as `http-stdio`, an era, `same` or `cross`. */
export function groups(only = []) {
  const all = PAIRS.flatMap((pair) => ERAS.map((eras) => ({ ...pair, ...eras })));
  return all.filter((group) => {
    const words = [`${group.from}-${group.to}`, group.era, isCross(group) ? 'cross' : 'same'];
    const families = [PAIRS.map(({ from, to }) => `${from}-${to}`), ['handshake', 'stateless'], ['same', 'cross']];
    return families.every((family, index) => {
      const asked = only.filter((word) => family.includes(word));
      return asked.length === 0 || asked.includes(words[index]);
    });
  });
}

export const isCross = ({ era, serverEra }) => era !== serverEra;
