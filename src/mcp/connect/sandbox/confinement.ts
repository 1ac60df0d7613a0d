// The sandbox as a row of confinements.ts. What finds one is loaded with the first command that asks for one.
import type { Confinement } from '../confinement.ts';
import { noteSandbox } from './fixed-paths.ts';

export const sandbox: Confinement = {
  key: 'sandbox',
  isWanted: (command) => Boolean(command.sandbox),
  note: noteSandbox,
  async confine(command) {
    const chosen = await choose(command.sandbox || true);
    const { kind, holds, isWhole } = chosen;
    return { kind, holds, isWhole, ...chosen.wrap(command) };
  },
  async describe({ sandbox: wanted }) {
    if (!wanted) return { kind: 'none' };
    const { kind, holds } = await choose(wanted);
    return { kind, holds };
  },
};

async function choose(wanted: object | true) {
  const { chooseSandbox } = await import('./sandbox.ts');
  return chooseSandbox(wanted);
}
