// Checks `ask` and `roots`. Problems never repeat keys, headers and URLs, which may be secrets.
import { isFileUri } from '../normalize-ask.ts';
import type { ModelInput, RootInput } from './ask-shape.ts';
import type { CheckContext } from './check-shape.ts';
import { toPathId } from '../read/source-positions.ts';
import type { ConfigPath } from '../read/source-positions.ts';
import type { ConfigProblems } from './config-problems.ts';
import type { ConfigInput } from './schema.ts';

export function checkAsk({ ask, roots = [] }: ConfigInput, context: CheckContext): void {
  if (ask?.model) checkModel(ask.model, context);
  if (Array.isArray(ask?.trust)) checkTrust(ask.trust, context);
  roots.forEach((root, index) => root !== undefined && checkRoot(root, ['roots', index], context));
}

function checkTrust(trust: readonly unknown[], { problems }: CheckContext): void {
  trust.forEach((word, index) => {
    if (word === 'stdio' || (typeof word === 'string' && /^(key|user):./.test(word))) return;
    const hint = 'Write "stdio", "key:NAME" or "user:NAME"; the name that a client gives itself proves nothing.';
    problems.error(['ask', 'trust', index], 'this names no client that can be trusted', hint);
  });
}

function checkModel({ url, model: names }: ModelInput, { problems, missing }: CheckContext): void {
  const at = ['ask', 'model'];
  if (url === undefined) problems.error(at, '"url" is missing', 'Such as https://api.example.com/v1.');
  else if (!missing.has(toPathId([...at, 'url'])) && !(URL.canParse(url) && /^https?:/i.test(url))) {
    problems.error([...at, 'url'], 'this is not an http:// or https:// URL', 'Such as https://api.example.com/v1.');
  }
  const isNamed = typeof names === 'string' ? names.trim() !== '' : (names?.length ?? 0) > 0;
  if (!isNamed) problems.error(at, '"model" is missing', 'Say what the endpoint calls the model.');
}

function checkRoot(root: RootInput, path: ConfigPath, { problems, missing }: CheckContext): void {
  if (typeof root === 'string') return checkUri(root, path, { problems, missing, isPath: true });
  const { uri, path: folder } = root;
  const hint = 'Give "path", or "uri".';
  if (uri === undefined && folder === undefined) problems.error(path, 'neither "path" nor "uri" is given', hint);
  if (uri !== undefined && folder !== undefined) problems.error(path, 'both "path" and "uri" are given', 'Keep one.');
  if (uri !== undefined) checkUri(uri, [...path, 'uri'], { problems, missing, isPath: false });
}

interface UriCheck {
  problems: ConfigProblems;
  missing: ReadonlySet<string>;
  /** The text may also be a path. */
  isPath: boolean;
}

function checkUri(text: string, path: ConfigPath, { problems, missing, isPath }: UriCheck): void {
  if (missing.has(toPathId(path)) || isFileUri(text)) return;
  if (isPath && !/^[a-z][a-z\d+.-]+:\/\//i.test(text)) return;
  problems.error(path, 'this is not a file:// URI', 'Roots are folders, such as file:///srv/project.');
}
