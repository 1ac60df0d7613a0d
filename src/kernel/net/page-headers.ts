// What a page for a person says to browsers, whatever it shows: that nobody may keep it, frame it, index it or read it from another origin.

/**
 * Not `no-referrer`, because then a browser sends our own form without an origin, which we refuse. Other sites get no
 * referrer either way.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'referrer-policy': 'same-origin',
  'x-frame-options': 'DENY',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow, noarchive',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
