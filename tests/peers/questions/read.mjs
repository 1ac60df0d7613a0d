// Reads results of tools.
import assert from 'node:assert/strict';

/** What a server that asks has told as JSON. */
export function readText({ content, isError }) {
  assert.ok(!isError, `the call failed: ${content?.[0]?.text}`);
  return JSON.parse(content[0].text);
}

/** A result that asks in words. */
export function readQuestion({ content, isError, _meta }) {
  const [{ text }] = content;
  assert.ok(!isError, `the call failed: ${text}`);
  const handle = _meta?.['mcp-parley/handle'];
  assert.ok(handle, `the result asks nothing: ${text}`);
  assert.ok(text.includes(handle), 'the text does not tell the handle');
  assert.match(text, /Do not guess/);
  return { text, handle };
}
