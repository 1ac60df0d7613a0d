// The pages of an authorization server in front (accept/auth/front), which are made like our other pages (ask/page).
import type { LoadFrontPages } from '../protocol/login-pages.ts';

export const loadFrontPages: LoadFrontPages = async () =>
  (await import('./ask/page/consent-pages.ts')).createConsentPages();
