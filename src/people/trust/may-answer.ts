// Whose questions a browser may answer.
/** Whether this browser may answer the question. `user`: the login of the caller whose question it is; undefined where nobody logs in. */
export function mayAnswer(browser: { user?: string | undefined }, user: string | undefined): boolean {
  if (user === undefined) return true;
  // A name given to `parley pair` or `parley key` also stands for the login of its API keys.
  return browser.user !== undefined && (user === browser.user || user === `key:${browser.user}`);
}
