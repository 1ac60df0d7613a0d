// Where this user's gateways keep what outlives them.
import { ownFolders } from '../../shared/secrets/own-folders.ts';

/** The state folder of the user who runs this process. */
export function ownStateFolder(): string {
  return ownFolders()[0];
}
