/**
 * Whether a path is one of SCIM, as a route or the description names it. It has errors of its own form, and a token instead of cookies;
 * test/api/integrations/hostile-scim.test.ts asks of it what other tests ask of all other routes.
 */
export function isScimPath(path: string): boolean {
  return /^\/v1\/integrations\/scim\/[{:]/.test(path);
}
