// Formats progress on one line: `  50 %  Searching…`
interface Progress {
  progress: number;
  total?: number | undefined;
  message?: string | undefined;
}

export function toProgressLine({ progress, total, message }: Progress): string {
  const share = total === undefined || total <= 0 ? String(progress) : `${Math.round((100 * progress) / total)} %`;
  return `  ${share.padStart(5)}${message === undefined ? '' : `  ${message}`}`;
}
