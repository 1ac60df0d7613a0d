// The processes of servers/asks.mjs that this one has started, those of HTTP servers left out.
import { spawnSync } from 'node:child_process';

export function askingProcesses(): number[] {
  const { stdout } = spawnSync('ps', ['-o', 'pid=,stat=,args=', '--ppid', String(process.pid)], { encoding: 'utf8' });
  const lines = stdout.split('\n').map((line) => line.trim().split(/\s+/));
  return lines
    .filter(
      ([, stat, ...args]) => !stat?.startsWith('Z') && / \S*servers\/asks\.mjs v\d stdio /.test(` ${args.join(' ')} `),
    )
    .map(([pid]) => Number(pid));
}
