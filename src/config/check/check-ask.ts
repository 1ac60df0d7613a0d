// What must hold within `ask` and `roots`. Keys, headers and URLs are never repeated: they may be secrets.
import { isFileUri } from '../ask-form.ts';
import type { ModelInput, RootInput } from './ask-shape.ts';
import type { Conforming } from './conform.ts';
import { toId } from '../read/places.ts';
import type { Path } from '../read/places.ts';
import type { Problems } from './problems.ts';
import type { ConfigInput } from './schema.ts';

export function checkAsk({ ask, roots = [] }: ConfigInput, context: Conforming): void {
  if (ask?.model) checkModel(ask.model, context);
  roots.forEach((root, index) => root !== undefined && checkRoot(root, ['roots', index], context));
}

function checkModel({ url, model: names }: ModelInput, { problems, missing }: Conforming): void {
  const at = ['ask', 'model'];
  if (url === undefined) problems.error(at, '"url" is missing', 'Such as https://api.example.com/v1.');
  else if (!missing.has(toId([...at, 'url'])) && !(URL.canParse(url) && /^https?:/i.test(url))) {
    problems.error([...at, 'url'], 'this is not an http:// or https:// URL', 'Such as https://api.example.com/v1.');
  }
  const isNamed = typeof names === 'string' ? names.trim() !== '' : (names?.length ?? 0) > 0;
  if (!isNamed) problems.error(at, '"model" is missing', 'Say what the endpoint calls the model.');
}

function checkRoot(root: RootInput, path: Path, { problems, missing }: Conforming): void {
  if (typeof root === 'string') return checkUri(root, path, { problems, missing, isPath: true });
  const { uri, path: folder } = root;
  const hint = 'Give "path", or "uri".';
  if (uri === undefined && folder === undefined) problems.error(path, 'neither "path" nor "uri" is given', hint);
  if (uri !== undefined && folder !== undefined) problems.error(path, 'both "path" and "uri" are given', 'Keep one.');
  if (uri !== undefined) checkUri(uri, [...path, 'uri'], { problems, missing, isPath: false });
}

interface UriCheck {
  problems: Problems;
  missing: ReadonlySet<string>;
  /** It may be a path as well. */
  isPath: boolean;
}

function checkUri(text: string, path: Path, { problems, missing, isPath }: UriCheck): void {
  if (missing.has(toId(path)) || isFileUri(text)) return;
  if (isPath && !/^[a-z][a-z\d+.-]+:\/\//i.test(text)) return;
  problems.error(path, 'this is not a file:// URI', 'Roots are folders, such as file:///srv/project.');
}
