import { describe, expect, it } from 'vitest';
import { toUriRule, uriForms } from './uri-rule.ts';

const origin = (name: string) => ({ server: 's', name });

describe('a rule about a host', () => {
  const isAllowed = toUriRule([{ deny: ['note://secret/*', 'https://intern.example/*'] }])!;

  it.each([
    'note://secret/1',
    'note://secret:80/1',
    'note://secret:/1',
    'note://secret./1',
    'note://secret.:8080/1',
    'note://SECRET.:8080/1',
    'note://user@secret.:8080/1',
    'note://secret%2e/1',
    'note://secret%3a80/1',
    'https://intern.example:443/x',
    'https://intern.example:8443/x?y',
    'https://intern.example./x#y',
  ])('that forbids it counts for all of its ports, and with a dot at its end: %s', (uri) => {
    expect(isAllowed(uri, origin(uri))).toBe(false);
  });

  it.each(['note://secrets/1', 'note://open:80/1', 'note://open./secret/1', 'https://intern.example.org/x'])(
    'a rule about a host that forbids it leaves others alone: %s',
    (uri) => expect(isAllowed(uri, origin(uri))).toBe(true),
  );

  it('a rule about a host that names a port forbids that port only, unless it is the usual one, which means the host', () => {
    const isOpen = toUriRule([{ deny: ['note://h:81/*', 'https://h:443/*'] }])!;
    const urls = ['note://h:81/1', 'note://h/1', 'note://h:82/1', 'https://h:443/1', 'https://h/1', 'https://h:444/1'];
    expect(urls.filter((uri) => !isOpen(uri, origin(uri)))).toEqual([
      'note://h:81/1',
      'https://h:443/1',
      'https://h/1',
      'https://h:444/1',
    ]);
  });

  it('a rule about a host that permits it does not count for other ports', () => {
    const isPermitted = toUriRule([{ allow: ['note://open/*', 'https://h:443/*'] }])!;
    const urls = [
      'note://open/1',
      'note://open:80/1',
      'note://open./1',
      'https://h:443/1',
      'https://h/1',
      'https://h:444/1',
    ];
    const permitted = urls.filter((uri) => isPermitted(uri, origin(uri)));
    expect(permitted).toEqual(['note://open/1', 'https://h:443/1', 'https://h/1']);
  });
});

describe('the forms of a URI', () => {
  it.each([
    ['with dots', `note://h/${'a/../b%2f./'.repeat(180)}`],
    ['with layers of escapes', `note://h/${'%252541'.repeat(290)}`],
    ['with slashes', `note:\\\\h\\${'%5c..//a?b#'.repeat(180)}`],
    ['with all of it', `NOTE://User@H.:80//${'%5C%2e%2e/%41?x#'.repeat(120)}`],
  ])('have a limit in all (%s)', (_, uri) => {
    const { same, cut, loose } = uriForms(uri) ?? { same: [], cut: [], loose: [] };
    const chars = [...same, ...cut, ...loose].reduce((sum, form) => sum + form.length, 0);
    expect(chars).toBeLessThanOrEqual(2 * 32_768);
  });

  it('the forms of a URI are all there for a long harmless URL', () => {
    const query = Array.from({ length: 60 }, (__, n) => `filter${n}=value%20${n}`).join('&');
    expect(uriForms(`https://example.com:8443/Some/Path?${query}`)).toBeDefined();
  });
});
