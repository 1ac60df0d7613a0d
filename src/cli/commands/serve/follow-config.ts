// Follows the file of a gateway that runs: a change restarts only what has to be, and a file with errors changes nothing.
import { applyConfig } from '../../../config/apply/apply-config.ts';
import type { UpdatableGateway } from '../../../config/apply/apply-config.ts';
import type { BuiltSteps, BuildStepOptions } from '../../../config/apply/build-gateway.ts';
import { watchConfig } from '../../../config/apply/watch-config.ts';
import type { ConfigChange } from '../../../config/apply/watch-config.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { partsOf } from '../../../config/read/load-several.ts';
import type { LoadedConfig } from '../../../config/read/load-config.ts';
import { readEnvironment, displayPath } from '../../environment.ts';
import type { ServeCommand } from '../../args/serving-commands.ts';
import { acceptTrust } from '../../trust/accept-trust.ts';
import { isUsable, isOwnConfig, trustFile, howTo, whyNot } from '../../trust/judge-trust.ts';
import type { CommandConfig } from '../../trust/load-command-config.ts';
import { toOwnAddress } from './own-address.ts';
import type { OwnListener } from './own-address.ts';
import { tellProblems } from './tell-problems.ts';

interface FollowContext {
  command: ServeCommand;
  found: CommandConfig & { own: OwnListener };
  gateway: UpdatableGateway;
  steps: BuiltSteps;
  making: BuildStepOptions;
  /** Called when a changed file has been applied. It must not fail. */
  onApplied(change: ConfigChange): void;
}

export function followConfig(context: FollowContext, print: Printer): { close(): void } {
  const { command, found, gateway, making } = context;
  let running = context.steps;
  let shown = found.texts;
  const watch = watchConfig(found, {
    ...readEnvironment(),
    own: toOwnAddress(command, found.own),
    share: command.share,
    ...found.ownRules,
    besides: partsOf(found).every(({ path = '' }) => isOwnConfig(path, readEnvironment())) ? [] : [trustFile()],
    async onChange(change) {
      const { previous, next, difference, loaded } = change;
      await requireStillTrusted(loaded);
      found.startChecks.accept(partsOf(loaded));
      tellProblems(loaded, print);
      running = await applyConfig(gateway, { previous, next, difference, steps: running }, making);
      context.onApplied(change);
      const changed = partsOf(loaded).filter(({ texts }) =>
        [...texts].some(([file, text]) => shown.get(file) !== text),
      );
      shown = loaded.texts;
      for (const line of describeChange(change, changed)) print.news(line);
    },
    onProblems(problems) {
      tellProblems({ path: found.path, problems }, print);
      const wrong = new Set(problems.flatMap(({ level, file = found.path }) => (level === 'error' ? file : [])));
      const named = listOf([...(wrong.size === 0 ? [found.path] : wrong)]);
      print.problem(`${named} has changed and cannot be used; the previous configuration keeps running.`);
    },
  });
  return {
    close() {
      watch.close();
      running.close();
    },
  };
}

/** Each file for itself. */
async function requireStillTrusted(loaded: LoadedConfig): Promise<void> {
  for (const part of partsOf(loaded)) {
    const { path = '' } = part;
    const verdict = await acceptTrust(part, readEnvironment());
    if (!isUsable(verdict)) throw new Error(`${whyNot(path, verdict)} ${howTo(path)}`);
  }
}

function listOf(paths: (string | undefined)[]): string {
  return paths.map((path) => displayPath(path)).join(' and ');
}

function describeChange({ difference, loaded }: ConfigChange, parts: LoadedConfig[]): string[] {
  const { added, removed, changed, settled, restart, live } = difference;
  const named = (verb: string, list: readonly string[]): string[] =>
    list.length > 0 ? [`${verb} ${list.join(', ')}`] : [];
  const what = [
    ...named('started', added),
    ...named('restarted', changed),
    ...named('stopped', removed),
    ...named('renewed the settings of', settled),
    ...named('renewed', live),
  ].join('; ');
  return [
    `${listOf(parts.length > 0 ? parts.map(({ path }) => path) : [loaded.path])} has changed${what === '' ? '' : `: ${what}`}.`,
    ...(restart.length > 0 ? [`${restart.join(', ')} will take effect at the next start.`] : []),
  ];
}
