// What a person does to delete something: folders and lines that go. `tests`: of what stays, which must not notice.
const FEATURES = 'src/gateway/features';

export const DELETIONS = [
  {
    name: 'delete the step screen',
    most: 2,
    remove: `${FEATURES}/screen`,
    lines: [
      [`${FEATURES}/step-order.ts`, /\bscreen\b/],
      ['src/_entries/middleware.ts', /\bscreen\b/],
    ],
    tests: [`${FEATURES}/redact`, 'src/gateway/chain'],
  },
  {
    name: 'delete the feature rate',
    most: 2,
    remove: `${FEATURES}/rate`,
    lines: [
      [`${FEATURES}/index.ts`, /\brate\b|RateFeatureOptions|RateSettings/, [/, Rate(?:Settings|FeatureOptions)/g, '']],
      [`${FEATURES}/config.ts`, /rateKey|serverRateKey/, [/ rate: rateKey,/, '']],
    ],
  },
  {
    name: 'delete the feature pins',
    most: 6,
    remove: `${FEATURES}/pins`,
    lines: [
      [
        `${FEATURES}/index.ts`,
        /\bpins\b|^ *PinsFeatureOptions|PinSettings\b.*from/,
        [/Pin(?:Settings|sFeatureOptions), (?=\w)/g, ''],
      ],
      [`${FEATURES}/config.ts`, /pinsKey|serverPinsKey/i],
      [`${FEATURES}/commands.ts`, /pinsCommand/],
      ['src/cli/commands/wrap/wrap-checks.ts', /pinsOfWrapped/],
      ['src/cli/args/serving-commands.ts', /\bpins\b/],
      ['src/cli/commands/wrap/wrapped-port.ts', /\bpins\b/],
    ],
    tests: ['src/gateway/features/rate', 'src/gateway/features/list-checks', 'src/cli/args', 'src/sdk/client'],
  },
  {
    name: 'delete WebSocket',
    most: 2,
    remove: ['src/mcp/listen/websocket', 'src/mcp/connect/websocket', 'src/mcp/wire/websocket'],
    lines: [
      ['src/mcp/listen/http/upgrades.ts', /webSocket/],
      ['src/mcp/connect/url-links.ts', /webSocket/],
    ],
    tests: ['src/mcp/listen/http', 'src/mcp/connect/http', 'src/sdk/client'],
  },
  {
    name: 'delete the draft dialect',
    most: 5,
    remove: 'src/mcp/eras/draft',
    lines: [
      ['src/mcp/eras/list.ts', /\bDRAFT\b/],
      ['src/mcp/eras/serve/session-eras.ts', /\bDRAFT_/],
      ['src/mcp/eras/speak/session-eras.ts', /\bDRAFT_/],
      ['src/mcp/eras/fake-views.contract.ts', /\bdraft\b/i],
      ['src/kernel/era/era.ts', /'draft'/],
    ],
    tests: [
      'src/mcp/eras/handshake/results.test.ts',
      'src/mcp/eras/handshake/handshake-server-dialect.test.ts',
      'src/mcp/eras/stateless/stateless-',
      'src/mcp/eras/serve/pending-asks.test.ts',
      'src/sdk/client',
    ],
  },
  {
    name: 'delete the sandbox of commands',
    most: 6,
    remove: 'src/mcp/connect/sandbox',
    lines: [
      ['src/mcp/connect/confinements.ts', /\bsandbox\b/],
      ['src/mcp/connect/confinement-keys.ts', /\bsandbox/],
      ['src/mcp/connect/confinement-options.ts', /sandbox/, [/\s+extends\s+Sandbox(?:Address|Status)/g, '']],
      ['src/config/check/server-shape.ts', /sandboxEnabled/],
      ['src/kernel/base/error-table.ts', /^$^/, [/ {2}UPSTREAM_NO_SANDBOX: row\([^]*?\]\),\n/, '']],
    ],
    tests: ['src/mcp/connect/links', 'src/gateway/servers/tasks', 'src/kernel/config'],
  },
];
