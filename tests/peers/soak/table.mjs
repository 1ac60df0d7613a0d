// The figures of a soak as a table.
const megabytes = (bytes) => (bytes === undefined ? '' : `${Math.round(bytes / 1024 / 1024)} MB`);

export function toTable(figures, { served, minutes, faults }) {
  const head = ['', ...figures.map(({ when }) => when)];
  const lines = [
    ['processes of servers', ...figures.map(({ processes }) => processes)],
    ['file handles of the gateway', ...figures.map(({ handles }) => handles)],
    ['heap of the gateway', ...figures.map(({ heapUsed }) => megabytes(heapUsed))],
    ['resident memory of the gateway', ...figures.map(({ rss }) => megabytes(rss))],
  ];
  const rows = [head, head.map((_, index) => (index === 0 ? '---' : '--:')), ...lines].map(
    (line) => `| ${line.join(' | ')} |`,
  );
  return `${minutes} minutes, ${served} clients, ${faults} went wrong.\n\n${rows.join('\n')}`;
}
