// For tests only (the build leaves `*.contract.ts` out): what work costs by itself, however busy the machine is with others.
export function cpuMs(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
