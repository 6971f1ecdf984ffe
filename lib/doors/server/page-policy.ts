/**
 * Page policy: the headers of pages for browsers: they load nothing from another host, run no script and no style in themselves, and stand
 * in no frame.
 */

const POLICY = [
  `default-src 'none'`,
  `script-src 'self'`,
  `style-src 'self'`,
  // The icon, which is none, is data.
  `img-src 'self' data:`,
  `connect-src 'self'`,
  `base-uri 'none'`,
  `form-action 'none'`,
  `frame-ancestors 'none'`,
].join('; ')

export const PAGE_POLICY = { 'content-security-policy': POLICY, 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' }
