// All conversations. A conversation has a name, says in which cells it can be played (`only`), how its gateway is set up if not as `parley wrap`
// (`gateway`), and plays itself.
import { CANCELS } from './cancels.mjs';
import { CONFIGURED } from './configured.mjs';
import { FAULTS } from './faults.mjs';
import { JOINED } from './joined.mjs';
import { LOGINS } from './logins.mjs';
import { METHODS } from './methods.mjs';
import { SESSIONS } from './sessions.mjs';
import { TASKS } from './tasks.mjs';
import { SUBSCRIPTIONS } from './subscriptions.mjs';

export const CONVERSATIONS = [
  ...METHODS,
  ...CANCELS,
  ...SESSIONS,
  ...LOGINS,
  ...SUBSCRIPTIONS,
  ...FAULTS,
  ...CONFIGURED,
  ...JOINED,
  ...TASKS,
];
