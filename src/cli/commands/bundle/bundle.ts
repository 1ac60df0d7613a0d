// `parley bundle`: writes an MCP bundle (.mcpb), which Claude Desktop and other applications install: Parley with all that it needs, and a configuration
// or the command of one server. No value of a variable gets into it.
import { writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig } from '../../../config/read/load-config.ts';
import type { LoadedConfig } from '../../../config/read/load-config.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { PACKAGE_FOLDER, version } from '../../../kernel/version.ts';
import type { BundleCommand } from '../../args/connect-commands.ts';
import { displayPath, readEnvironment } from '../../environment.ts';
import { printProblems } from '../../trust/load-command-config.ts';
import { BUNDLE_FOLDER, ROOT, toManifest, variablesIn } from './manifest.ts';
import type { BundleContent } from './manifest.ts';
import { packageFiles } from './package-files.ts';
import { notPortable } from './portable-config.ts';
import { toZip } from './zip.ts';
import type { ZipEntry } from './zip.ts';

type Content = Pick<BundleContent, 'words' | 'variables' | 'hasConfig'> & { files: ZipEntry[] };

export async function runBundle(command: BundleCommand, print: Printer): Promise<number> {
  const content = await contentOf(command, print);
  if (!content) return 1;
  const { title: name, out = `${name}.mcpb` } = command;
  const title = name === 'parley' ? 'Parley' : name;
  const manifest = toManifest({ ...content, name, title, version: version() });
  const text = Buffer.from(`${JSON.stringify(manifest, undefined, 2)}\n`);
  const files = packageFiles(fileURLToPath(PACKAGE_FOLDER), ROOT);
  const zip = toZip([{ path: 'manifest.json', content: text }, ...content.files, ...files]);
  const path = resolve(out);
  try {
    writeFileSync(path, zip);
  } catch (thrown) {
    print.problem(`${displayPath(path)} cannot be written: ${(thrown as NodeJS.ErrnoException).code ?? 'unknown'}.`);
    return 1;
  }
  print.line(
    `Written: ${displayPath(path)} (${(zip.length / 1e6).toFixed(1)} MB). Open it with Claude Desktop to install it.`,
  );
  if (content.variables.size > 0)
    print.line(`It asks for ${[...content.variables.keys()].join(', ')} when it is installed.`);
  return 0;
}

/** Undefined if there is a reason against it, which has been printed. */
async function contentOf({ server, config }: BundleCommand, print: Printer): Promise<Content | undefined> {
  const nothing = { variables: new Map<string, undefined>(), hasConfig: false, files: [] };
  if (server) return { ...nothing, words: ['wrap', '--', ...server] };
  if (config === undefined) return { ...nothing, words: ['serve', '--stdio'] };
  const loaded = loadConfig(config, readEnvironment());
  if (!loaded.config || loaded.path === undefined) {
    await printProblems(loaded, print);
    return undefined;
  }
  const reason = notPortable(loaded);
  if (reason !== undefined) {
    print.problem(`${displayPath(loaded.path)} would not work on another machine: ${reason}.`);
    return undefined;
  }
  return withConfig(loaded, loaded.path);
}

function withConfig({ texts }: LoadedConfig, path: string): Content {
  const text = texts.get(path) ?? '';
  const name = basename(path);
  return {
    words: ['serve', `${BUNDLE_FOLDER}/${name}`, '--stdio'],
    variables: variablesIn(text),
    hasConfig: true,
    files: [{ path: name, content: Buffer.from(text) }],
  };
}
