// The link with which one browser gets into the console.
import type { PairingCode } from '../../../people/trust/pairings.ts';

/** The code stands behind the `#`, where no server and no log sees it. Undefined if browsers cannot reach the pages. */
export function toConsoleLink({ code, link }: PairingCode & { link: string | undefined }): string | undefined {
  return link?.replace(/\/ask\?.*$/, `/#code=${code}`);
}
