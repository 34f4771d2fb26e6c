/** That callers of a route should use another one. */
export interface Deprecation {
  /** Since when. */
  readonly since: Date;
  /** When the route will be gone, if that is known. */
  readonly goneAt?: Date;
  /** Address of a page that says what to use instead. */
  readonly page?: string;
}

/** The headers that say so, to programs: Deprecation (RFC 9745), Sunset (RFC 8594) and Link. */
export function deprecationHeaders({ since, goneAt, page }: Deprecation): Record<string, string> {
  return {
    deprecation: `@${Math.floor(since.getTime() / 1_000)}`,
    ...(goneAt ? { sunset: goneAt.toUTCString() } : {}),
    ...(page === undefined ? {} : { link: `<${page}>; rel="deprecation"; type="text/html"` }),
  };
}
