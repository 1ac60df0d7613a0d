// The pages of an authorization server in front (mcp/listen/auth/front), which are made like our other pages (page/).
import type { LoadFrontPages } from '../kernel/login-pages.ts';

export const loadFrontPages: LoadFrontPages = async () =>
  (await import('./page/consent-pages.ts')).createConsentPages();
