// Whose questions a browser may answer.

/** `user`: the login of the caller whose question it is; undefined where nobody logs in. */
export function mayAnswer(browser: { user?: string | undefined }, user: string | undefined): boolean {
  if (user === undefined) return true;
  // A name given to `parley pair` or `parley key` stands for the login of its API keys, too.
  return browser.user !== undefined && (user === browser.user || user === `key:${browser.user}`);
}
