// Writes a proposal into the configuration: what stands around it, comments too, stays as it is. Only JSON can be changed in this way.
import { createRequire } from 'node:module';
import { extname } from 'node:path';
import type * as Jsonc from 'jsonc-parser';
import { isObject } from '../../../kernel/message.ts';
import type { Printer } from '../../../kernel/command/printer.ts';
import { FileChanged, digestOf, readBytes, replaceFile } from '../connect/safe-file.ts';
import { secretsIn, showDiff } from '../connect/show-diff.ts';
import { formattingOf } from '../connect/splice-json.ts';
import type { Proposal } from './proposals.ts';

/** A configuration as it is now. */
export interface WrittenConfig {
  path: string;
  bytes: Buffer;
  value: Record<string, unknown>;
}

/** Undefined without a file that can be changed here. */
export function readWritten(path: string | undefined): WrittenConfig | undefined {
  const bytes = path === undefined ? undefined : readBytes(path);
  if (path === undefined || bytes === undefined || /^\.(?:ya?ml|toml)$/.test(extname(path))) return undefined;
  const { parse } = jsonc();
  const errors: Jsonc.ParseError[] = [];
  const value: unknown = parse(textOf(bytes), errors, { allowTrailingComma: true });
  return errors.length === 0 && isObject(value) ? { path, bytes, value } : undefined;
}

export function withProposal({ bytes }: Pick<WrittenConfig, 'bytes'>, { changes }: Proposal): string {
  const { modify, applyEdits } = jsonc();
  return changes.reduce((text, { path, value }) => {
    const formattingOptions = formattingOf(text);
    return applyEdits(text, modify(text, [...path], value, { formattingOptions }));
  }, textOf(bytes));
}

/** False if the file has changed since it was read, which has been printed. */
export function applyProposal(
  config: WrittenConfig,
  { proposal, isMeant }: { proposal: Proposal; isMeant: () => Promise<boolean> },
  print: Printer,
): Promise<boolean> {
  const after = withProposal(config, proposal);
  showDiff({ path: config.path, before: textOf(config.bytes), after, secrets: secretsIn(config.value) }, print);
  return isMeant().then((yes) => {
    if (!yes) return false;
    try {
      const mark = isMarked(config.bytes) ? [MARK] : [];
      replaceFile(config.path, {
        bytes: Buffer.concat([...mark, Buffer.from(after)]),
        expected: digestOf(config.bytes),
      });
      return true;
    } catch (thrown) {
      if (!(thrown instanceof FileChanged)) throw thrown;
      print.problem(
        `${thrown.message}: nothing was written. Run the command again to see the proposal for what it is now.`,
      );
      return false;
    }
  });
}

const MARK = Buffer.from('\uFEFF');

function isMarked(bytes: Buffer): boolean {
  return bytes.subarray(0, MARK.length).equals(MARK);
}

function textOf(bytes: Buffer): string {
  return bytes.toString('utf8', isMarked(bytes) ? MARK.length : 0);
}

/** Loaded when it is needed. */
function jsonc(): typeof Jsonc {
  return createRequire(import.meta.url)('jsonc-parser') as typeof Jsonc;
}
