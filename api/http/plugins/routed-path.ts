/**
 * The path by which routing finds the route of any form of a request's target (RFC 9112, section 3.2), percent-encoding decoded; for the
 * server as a whole, `*`, its root answers. A path that is not percent-encoded UTF-8, and thus leads to no route, stays unchanged.
 */
export function routedPath(target: string): string {
  const [path = ''] = target.replace(/^https?:\/\/[^/?#]*/i, '').split(/[?#]/, 1);
  if (path === '*') return '/';
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
