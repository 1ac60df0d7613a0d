// All routes of the console's API below /console/api, and who may use them. A route for the operator is refused to all others before it does anything.

interface Route {
  /** `POST` changes something: only our own page does that, and no program. */
  readonly method: 'GET' | 'POST';
  readonly isForOperator: boolean;
}

export const ROUTES = {
  now: { method: 'GET', isForOperator: false },
  calls: { method: 'GET', isForOperator: false },
  call: { method: 'GET', isForOperator: false },
  events: { method: 'GET', isForOperator: false },
  tools: { method: 'GET', isForOperator: true },
  flows: { method: 'GET', isForOperator: false },
  flow: { method: 'GET', isForOperator: false },
  'flow-request': { method: 'POST', isForOperator: true },
  settings: { method: 'GET', isForOperator: true },
  access: { method: 'GET', isForOperator: true },
  judge: { method: 'GET', isForOperator: true },
  answer: { method: 'POST', isForOperator: false },
  accept: { method: 'POST', isForOperator: true },
  try: { method: 'POST', isForOperator: true },
  repeat: { method: 'POST', isForOperator: true },
  forget: { method: 'POST', isForOperator: true },
} as const satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;

export function findRoute(name: string): { readonly name: RouteName; readonly route: Route } | undefined {
  return Object.hasOwn(ROUTES, name) ? { name: name as RouteName, route: ROUTES[name as RouteName] } : undefined;
}
