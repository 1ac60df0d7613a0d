// Where several gateways may differ from one, and why. `name` fits the name of the scenario.
const EXPECTED = [
  {
    suite: 'conformance',
    name: /^\S+ 2026-07-28 .* stdio server-stateless$/,
    reason:
      'each gateway has a process of its own of a server on stdio: what a call changes in one stays there, and a stream of changes may be open to another. A server over HTTP is one, and tells all of them',
  },
];

export function reasonFor(suite, name) {
  return EXPECTED.find((entry) => entry.suite === suite && entry.name.test(name))?.reason;
}
