/** Gateways with one state have one baseline, whatever they are called. */
export const SHARED_PINS = 'shared';
