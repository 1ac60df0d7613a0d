// What is measured: every cell is one transport, era, size and number of calls in flight, on every subject.

export const SUBJECTS = ['bare', 'parley', 'sdk'];

/** The program and arguments of a subject on a transport. */
export const PROGRAMS = {
  bare: { http: ['bare-http.mjs'], stdio: ['bare-stdio.mjs'] },
  parley: { http: ['parley.mjs', '--port', '0'], stdio: ['parley.mjs', '--stdio'] },
  sdk: { http: ['sdk-http.mjs'], stdio: ['sdk-stdio.mjs'] },
  before: { http: ['parley.mjs', '--before', '--port', '0'], stdio: ['parley.mjs', '--before', '--stdio'] },
};

// Pipes carry fewer calls at once in practice: one client, not many.
const MANY = { http: 64, stdio: 16 };

/** Cells that share their processes: one per transport and era, since a stdio server is pinned to its client's era. */
export function groups(only = []) {
  const chosen = (kind, all) => (all.some((one) => only.includes(one)) ? only.includes(kind) : true);
  const found = [];
  for (const transport of ['http', 'stdio'].filter((one) => chosen(one, ['http', 'stdio'])))
    for (const era of ['handshake', 'stateless']) {
      const cells = [
        { size: 'small', inFlight: 1 },
        { size: 'small', inFlight: MANY[transport] },
        { size: 'large', inFlight: 1 },
      ].filter(({ size }) => chosen(size, ['small', 'large']));
      found.push({ transport, era, cells: cells.map((cell) => ({ transport, era, ...cell })) });
    }
  return found;
}
