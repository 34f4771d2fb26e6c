import type { Config } from '#config/objects/root.ts';
import { publicApiUrl } from '#config/objects/public-api-url.ts';
import {
  mapOperations,
  mapValues,
  type OpenApiDocument,
  type Parameter,
  type Reference,
} from '../../http/description/openapi-document.ts';
import { defaultNames, securitySchemes } from '../../http/description/security.ts';

/** Parts of the configuration in the description of the API. */
interface DescribedSettings {
  /** `server.maxresultlimit` */
  readonly largestPage: number;
  readonly csrfHeader: string;
  readonly csrfCookie: string;
  /** Base of the addresses of all operations. */
  readonly url: string;
}

export function describedSettings(config: Config): DescribedSettings {
  const { maxresultlimit, csrfprotection } = config.server;
  const { header, cookie } = csrfprotection;
  return { largestPage: maxresultlimit, csrfHeader: header, csrfCookie: cookie, url: publicApiUrl(config) };
}

/**
 * Adds what the configuration says to the description of all routes: it can change while the server runs, so it is no part of the
 * definitions of the routes.
 */
export function withSettings(
  document: OpenApiDocument,
  { largestPage, csrfHeader, csrfCookie, url }: DescribedSettings,
): OpenApiDocument {
  const { components = {} } = document;
  const limited = <Each extends Parameter | Reference>(parameter: Each): Each =>
    'name' in parameter && isPageSize(parameter)
      ? { ...parameter, schema: { ...parameter.schema, minimum: 0, maximum: largestPage } }
      : parameter;
  return {
    ...document,
    servers: [{ url }],
    paths: mapOperations(document.paths, (operation) =>
      operation.parameters ? { ...operation, parameters: operation.parameters.map(limited) } : operation,
    ),
    components: {
      ...components,
      parameters: mapValues(components.parameters ?? {}, limited),
      securitySchemes: securitySchemes({ ...defaultNames, csrfHeader, csrfCookie }),
    },
  };
}

function isPageSize({ name, in: place }: Parameter): boolean {
  return place === 'query' && (name === 'first' || name === 'last');
}
