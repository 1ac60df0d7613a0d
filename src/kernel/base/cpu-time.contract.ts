// Test helper: the CPU time of some work, however busy the machine is. The build leaves `*.contract.ts` out.
export function cpuMs(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
