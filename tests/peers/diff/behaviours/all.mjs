// Every behaviour: `{ name, run(peer), only?(cell), isBridged? }`. What a behaviour gives is compared, directly and through a
// gateway. `only` leaves out cells that have no such thing; `isBridged` lets one be played where the eras of both sides differ, although
// `only` leaves out the era of the client.
import { CALLS } from './calls.mjs';
import { ERRORS } from './errors.mjs';
import { GREETING } from './greeting.mjs';
import { LISTS } from './lists.mjs';
import { NOTIFICATIONS } from './notifications.mjs';
import { QUESTIONS } from './questions.mjs';
import { RESOURCES } from './resources.mjs';
import { ROUNDS } from './rounds.mjs';
import { TASKS } from './tasks.mjs';

export const BEHAVIOURS = [GREETING, LISTS, CALLS, ERRORS, RESOURCES, NOTIFICATIONS, QUESTIONS, ROUNDS, TASKS]
  .flat()
  .map(([name, run, { only = () => true, isBridged = false } = {}]) => ({ name, run, only, isBridged }));
