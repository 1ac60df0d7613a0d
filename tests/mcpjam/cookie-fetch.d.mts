export function createCookieFetch(): typeof fetch;
/** Follows redirects to the end; returns the last page. */
export function browse(link: string): Promise<string>;
