// The manifest of an MCP bundle (MCPB, version 0.3): how an application starts Parley out of it, and what it asks its user before.
export interface BundleContent {
  name: string;
  title: string;
  version: string;
  /** The words after `parley`. */
  words: readonly string[];
  /** The names of variables that a configuration needs; with the text after ":-", if there is one. */
  variables: ReadonlyMap<string, string | undefined>;
  /** Whether it brings a configuration. */
  hasConfig: boolean;
}

/** Where the application has unpacked the bundle. */
export const BUNDLE_FOLDER = '${__dirname}';
export const ROOT = 'server';
const MAIN = `${ROOT}/dist/cli/main.js`;

export function toManifest({ name, title, version, words, variables, hasConfig }: BundleContent): object {
  const names = [...variables.keys()];
  const env = Object.fromEntries(names.map((one) => [one, `\${user_config.${one}}`]));
  return {
    manifest_version: '0.3',
    name,
    display_name: title,
    version,
    description: 'One entry for all your MCP servers, with rules, approvals and an audit log.',
    author: { name: 'Parley' },
    license: 'MIT',
    keywords: ['mcp', 'gateway'],
    server: {
      type: 'node',
      entry_point: MAIN,
      mcp_config: {
        command: 'node',
        args: [`${BUNDLE_FOLDER}/${MAIN}`, ...words],
        // Who installs a bundle has been asked by the application.
        env: { ...env, ...(hasConfig && { PARLEY_TRUST: BUNDLE_FOLDER }) },
      },
    },
    tools_generated: true,
    prompts_generated: true,
    compatibility: { platforms: ['darwin', 'win32', 'linux'], runtimes: { node: '>=20.19' } },
    ...(names.length > 0 && { user_config: Object.fromEntries([...variables].map(toQuestion)) }),
  };
}

function toQuestion([name, otherwise]: [string, string | undefined]): [string, object] {
  const about = { type: 'string', title: name, description: `The value of ${name} in the configuration of Parley` };
  const answer = otherwise === undefined ? { required: true } : { required: false, default: otherwise };
  return [name, { ...about, sensitive: true, ...answer }];
}

const VARIABLE = /\$\{(?:env:)?([A-Za-z_]\w*)(?::-([^{}]*))?\}/g;

/** One that is written with a default somewhere and without elsewhere is needed. */
export function variablesIn(text: string): Map<string, string | undefined> {
  const found = new Map<string, string | undefined>();
  for (const [, name = '', otherwise] of text.matchAll(VARIABLE)) {
    if (name === 'workspaceFolder' || name === 'userHome') continue;
    found.set(name, found.has(name) ? found.get(name) && otherwise : otherwise);
  }
  return found;
}
