// A function that has changed under an open session so that what was a step is now a question, or the other way round. What has been done
// cannot be taken for an answer: such a turn fails and writes nothing, unless the author says that it may be asked anew.
import type { AnyFlow } from '../define.ts';
import type { Told } from '../fold.ts';
import { PREFILLED } from '../journal.ts';
import { GatewayError } from '../../shared/errors.ts';
import type { Incoming } from './fit.ts';

interface Failed {
  kind: 'failed';
  error: GatewayError;
}

export function toMismatch(flow: AnyFlow, told: Told | Incoming, isStep: boolean): Failed | undefined {
  if ((told.t === 'step') === isStep || flow.options.onMismatch === 'reask') return undefined;
  // An argument that is called like a step is only an argument.
  if (told.t === 'ans' && told.ty === PREFILLED) return undefined;
  const [was, is] = isStep ? ['a question', 'a step'] : ['a step', 'a question'];
  return { kind: 'failed', error: new GatewayError('FLOW_CHANGED', { tool: flow.name, key: told.k, was, is }) };
}

export function isMismatch(error: unknown): error is GatewayError {
  return error instanceof GatewayError && error.code === 'FLOW_CHANGED';
}
