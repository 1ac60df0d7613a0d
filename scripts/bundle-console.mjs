// The pages of the console for browsers: one script, one stylesheet and the page that loads them. The names of the files are made of their content,
// so that browsers may keep them for ever. What they take from others is in their first lines, as its licence asks.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const NOTICE = `/*! With Preact and @preact/signals (MIT License), Copyright (c) 2015-present Jason Miller, (c) 2022-present Preact Team */\n`;

export async function bundleConsole({ from, to }) {
  const bundle = await rolldown({
    input: join(from, 'main.tsx'),
    platform: 'browser',
    transform: { target: 'es2022' },
    onLog(level, log) {
      throw new Error(`${level}: ${log.message}`);
    },
  });
  const { output } = await bundle.generate({ format: 'es', minify: true, codeSplitting: false });
  const script = NOTICE + output[0].code;
  const style = toSmall(readFileSync(join(from, 'console.css'), 'utf8'));
  const [js, css] = [`app-${digestOf(script)}.js`, `app-${digestOf(style)}.css`];
  const page = readFileSync(join(from, 'index.html'), 'utf8').replace('app.js', js).replace('app.css', css);
  rmSync(to, { recursive: true, force: true });
  mkdirSync(to, { recursive: true });
  writeFileSync(join(to, js), script);
  writeFileSync(join(to, css), style);
  writeFileSync(join(to, 'index.html'), page);
}

/** Without comments and line breaks, which are all that can be left out without reading the rules. */
function toSmall(css) {
  return css
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .replaceAll(/\s*\n\s*/g, '')
    .trim();
}

function digestOf(text) {
  return createHash('sha256').update(text).digest('hex').slice(0, 12);
}
