import { soleExports, sourceModules } from '#entities/kit/base/source-modules.ts';
import type { Route } from '../../http/route.ts';

/** The routes of all receivers: of each `api/rest/<area>/<name>.receiver.ts`. */
export const receivers: readonly Route[] = soleExports(
  await sourceModules('api/rest', '.receiver.ts'),
  'receiver',
  isRoute,
).map(({ value }) => value);

function isRoute(value: unknown): value is Route {
  return typeof value === 'object' && value !== null && 'operationId' in value;
}
