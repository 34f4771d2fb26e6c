/** That an operation is going to be removed. Clients learn it from its answers and from the description of the API. */
export interface Deprecation {
  /** Since when clients should no longer use it: a day, such as `2026-05-01`. */
  readonly since: string;
  /** From which day on it may be missing; absent: not decided yet. */
  readonly sunset?: string;
  /** Path of the operation that takes its place. */
  readonly successor?: string;
  /** URL of a page that explains what to do; default: the operation in `/docs`. */
  readonly explainedAt?: string;
}

/**
 * Headers of every answer of a deprecated operation: Deprecation (RFC 9745), Sunset (RFC 8594) and Link (RFC 8288).
 * @param anchor of the operation in `/docs`
 * @throws TypeError for what is no day, and for a sunset before the deprecation
 */
export function deprecationHeaders(
  { since, sunset, successor, explainedAt }: Deprecation,
  anchor: string,
): readonly (readonly [name: string, value: string])[] {
  const from = dayOf(since);
  const until = sunset === undefined ? undefined : dayOf(sunset);
  if (until && until < from) throw new TypeError(`the sunset ${sunset} is before the deprecation, ${since}`);
  const links = [
    `<${explainedAt ?? `/docs#${anchor}`}>; rel="deprecation"; type="text/html"`,
    ...(successor === undefined ? [] : [`<${successor}>; rel="successor-version"`]),
  ];
  return [
    ['deprecation', `@${from.getTime() / 1_000}`],
    ...(until ? [['sunset', until.toUTCString()] as const] : []),
    ['link', links.join(', ')],
  ];
}

/** The beginning of a day. */
function dayOf(text: string): Date {
  const day = new Date(`${text}T00:00:00Z`);
  if (!/^\d{4}-\d\d-\d\d$/.test(text) || Number.isNaN(day.getTime()) || !day.toISOString().startsWith(text))
    throw new TypeError(`"${text}" is no day; write it as 2026-05-01`);
  return day;
}
