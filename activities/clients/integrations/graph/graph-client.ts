import type { OpeningContext, ProviderContext } from '../definition.ts';
import { keptText } from '../oauth/kept-tokens.ts';
import { invalidAnswer, readAnswer, remedies } from '../provider-answer.ts';
import { ProviderError } from '../provider-error.ts';

const usualUrl = 'https://graph.microsoft.com';

/** Maximum length of a link to a next page. */
const maxLinkLength = 8_192;

/** Errors by which the graph says with status 400 that the position of a page is not valid any more; else it answers with 410. */
const expired: ReadonlySet<string> = new Set([
  'Directory_ExpiredPageToken',
  'Directory_ResyncRequired',
  'resyncRequired',
]);

export type GraphContext = Pick<OpeningContext, 'http' | 'now' | 'baseUrl'>;

export interface GraphPage {
  readonly records: readonly unknown[];
  /** URL of the next page, at the host of the graph. */
  readonly next?: string;
}

/** A request to the graph. @param path from the version on, such as `/organization` @throws ProviderError */
export async function askGraph(
  context: GraphContext,
  accessToken: string,
  path: string,
  body?: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  return send(context, accessToken, `${rootOf(context)}${path}`, body);
}

/**
 * A page of a collection.
 * @param from path of the first page, or the URL of a later one
 * @throws ProviderError cursor_expired; invalid_answer for one that is no page, or names a next page elsewhere
 */
export async function readGraphPage(context: ProviderContext, from: string): Promise<GraphPage> {
  const url = from.startsWith('/') ? `${rootOf(context)}${from}` : checkedLink(context, from);
  const answer = await send(context, keptText(context.credential, 'accessToken'), url);
  const { value, '@odata.nextLink': next } = (answer ?? {}) as Readonly<Record<string, unknown>>;
  if (!Array.isArray(value)) throw invalidAnswer('its answer is no page of records');
  if (next === undefined || next === null) return { records: value };
  if (next === url) throw invalidAnswer('its page names itself as the next one');
  return { records: value, next: checkedLink(context, next) };
}

/** The tenant whose directory the token opens. @throws ProviderError */
export async function tenantOf(
  context: GraphContext,
  accessToken: string,
): Promise<{ readonly id: string; readonly name: string | null }> {
  const answer = await askGraph(context, accessToken, '/organization?$select=id,displayName');
  const { value } = (answer ?? {}) as { readonly value?: readonly { id?: unknown; displayName?: unknown }[] };
  const tenant = Array.isArray(value) ? value[0] : undefined;
  if (typeof tenant?.id !== 'string' || tenant.id === '') throw invalidAnswer('it does not name the tenant');
  const { displayName } = tenant;
  return { id: tenant.id.toLowerCase(), name: typeof displayName === 'string' ? displayName.slice(0, 255) : null };
}

/** A link is part of the answer of the other system: it is followed only to the graph itself. @throws ProviderError invalid_answer */
function checkedLink(context: GraphContext, link: unknown): string {
  const root = new URL(rootOf(context));
  const url = typeof link === 'string' && link.length <= maxLinkLength ? URL.parse(link) : null;
  const isOfGraph =
    url?.origin === root.origin &&
    url.username === '' &&
    url.password === '' &&
    url.pathname.startsWith(`${root.pathname}/`);
  if (!url || !isOfGraph) throw invalidAnswer('the link to its next page leads elsewhere');
  return url.href;
}

async function send(
  { http, now }: GraphContext,
  accessToken: string,
  url: string,
  body?: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const response = await http.fetch(url, {
    headers: {
      accept: 'application/json',
      authorization: `Bearer ${accessToken}`,
      // Casts of collections are advanced queries, which the graph answers with this header alone.
      consistencylevel: 'eventual',
      ...(body ? { 'content-type': 'application/json' } : {}),
    },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  });
  if (response.status === 400 && expired.has(await errorCodeOf(response)))
    throw new ProviderError(
      'cursor_expired',
      `The position in the directory is not valid any more. ${remedies.cursor_expired}`,
    );
  return readAnswer(response, now());
}

async function errorCodeOf(response: Response): Promise<string> {
  const document = (await response
    .clone()
    .json()
    .catch(() => undefined)) as { readonly error?: { readonly code?: unknown } } | null | undefined;
  const code = document?.error?.code;
  return typeof code === 'string' ? code : '';
}

function rootOf({ baseUrl }: GraphContext): string {
  return `${baseUrl(usualUrl)}/v1.0`;
}
